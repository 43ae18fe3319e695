"""Operations with several results."""

import sapwood as torch

x = torch.tensor([[1.0, 5.0], [4.0, 3.0], [2.0, 6.0]], requires_grad=True)
top, middle, bottom = x.unbind()
best, where = torch.max(x, dim=1)
loss = (top * bottom).sum() + best.sum()
print(torch.graph(loss))
