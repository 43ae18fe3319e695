"""A step of a network with one hidden layer, its weights in an object."""

import sapwood as torch


class Network:
    def __init__(self):
        self.w1 = torch.zeros(4, 8, requires_grad=True)
        self.b1 = torch.zeros(8, requires_grad=True)
        self.w2 = torch.zeros(8, 3, requires_grad=True)
        self.b2 = torch.zeros(3, requires_grad=True)

    def __call__(self, images):
        hidden = (images @ self.w1 + self.b1).relu()
        return hidden @ self.w2 + self.b2


def cross_entropy(scores, labels):
    log_p = scores - scores.logsumexp(1, keepdim=True)
    return -log_p.gather(1, labels.unsqueeze(1)).mean()


images = torch.ones(16, 4)
labels = torch.zeros(16, dtype=torch.int64)
net = Network()
loss = cross_entropy(net(images), labels)
print(torch.graph(loss))
