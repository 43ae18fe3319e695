"""What users attached: hooks and retained gradients."""

import sapwood as torch

w = torch.ones(3, requires_grad=True)
w.name = "encoder.weight"
h = torch.tanh(w)
h.retain_grad()
h.register_hook(lambda grad: None)
scaled = h * 0.5
scaled.grad_fn.register_prehook(lambda grads: None)
scaled.grad_fn.register_hook(lambda inputs, outputs: None)
w.register_post_accumulate_grad_hook(lambda tensor: None)
loss = scaled.sum()
print(torch.graph(loss))
