"""PyTorch's torch.autograd: backward, grad, grad modes, custom Functions, the graph's hooks."""

from sapwood.autograd import function as function
from sapwood.autograd import graph as graph
from sapwood.autograd.backward import backward as backward
from sapwood.autograd.backward import grad as grad
from sapwood.autograd.edge import GradientEdge as GradientEdge
from sapwood.autograd.edge import get_gradient_edge as get_gradient_edge
from sapwood.autograd.function import Function as Function
from sapwood.autograd.grad_mode import enable_grad as enable_grad
from sapwood.autograd.grad_mode import inference_mode as inference_mode
from sapwood.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from sapwood.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from sapwood.autograd.grad_mode import no_grad as no_grad
from sapwood.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from sapwood.autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from sapwood.autograd.variable import Variable as Variable
