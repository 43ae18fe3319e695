"""Views and in-place writes: through the base, through a view, and a view that must catch up."""

import sapwood as torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
base = x * 2
row = base[0]
column = base[:, 1]
row.mul_(10)
base += 1
base[1, 0] = x.sum()
loss = (column * row).sum()
print(torch.graph(loss))
