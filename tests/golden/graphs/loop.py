"""A recurrent network over a thousand steps: one step is shown."""

import sapwood as torch

w = torch.zeros(5, 5, requires_grad=True)
u = torch.zeros(2, 5, requires_grad=True)
sequence = torch.ones(1000, 7, 2)
h = torch.zeros(7, 5)
for step in sequence:
    h = torch.tanh(h @ w + step @ u)
loss = h.square().sum()
print(torch.graph(loss))
