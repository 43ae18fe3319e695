"""A value that is used several times, two values that look the same, and two results."""

import sapwood as torch


def swish(t):
    return t * torch.sigmoid(t)


x = torch.tensor([0.5, -0.5], requires_grad=True)
a = torch.exp(x)
b = a + a * a
c = swish(a + 1) + swish(a + 1)
print(torch.graph(b, c))
