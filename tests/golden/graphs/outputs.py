"""Operations with several results."""

import sapwood as torch

x = torch.tensor([[1., 5.], [4., 3.], [2., 6.]], requires_grad=True)
top, middle, bottom = x.unbind()
best, where = torch.max(x, dim=1)
loss = (top * bottom).sum() + best.sum()
print(torch.graph(loss))
