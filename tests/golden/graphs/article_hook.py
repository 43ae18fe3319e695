"""The first article's program: the gradient of y, which is no leaf, by a hook."""
# fmt: off

import sapwood as torch
from sapwood.autograd import Variable


def hook_y(grad):
    print(grad)


x = Variable(torch.ones(2, 2), requires_grad=True)
y = x + 2
z = y * y * 3
y.register_hook(hook_y)
out = z.mean()
print(torch.graph(out))
