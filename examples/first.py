import sapwood as torch

x = torch.tensor(3.0, requires_grad=True)
square = x**2
y = 3 * square + 4 * x + 2
square.retain_grad()
x.register_hook(lambda grad: print("the hook sees", grad))

print(torch.graph(y))
y.backward()
print(square.grad, x.grad)

weights = torch.ones(3, requires_grad=True)
loss = torch.exp(weights)
with torch.no_grad():
    loss += 1
try:
    loss.sum().backward()
except RuntimeError as error:
    print(error)
