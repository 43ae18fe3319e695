"""The second article's vector: mean((2x + 3)^2)."""
# fmt: off

import sapwood as torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x*2 + 3
z = y**2
out = z.mean()
print(torch.graph(out))
