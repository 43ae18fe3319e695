"""A custom Function, and a graph whose saved values were released."""

import sapwood as torch


class Cube(torch.autograd.Function):
    """The third power, scaled."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return scale * x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * ctx.scale * x * x * g, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
weights = torch.tensor([1.0, 0.0], dtype=torch.float64)
loss = (Cube.apply(x, 2) * weights).sum()
print(torch.graph(loss))
print()
print(torch.graph(loss.detach()))
print()
loss.backward()
print(torch.graph(loss))
