"""The second article's formula."""
# fmt: off

import sapwood as torch

x = torch.tensor(3., requires_grad=True)
y = 3*x**2 + 4*x + 2
print(torch.graph(y))
