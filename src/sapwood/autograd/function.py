"""Custom operations: subclass `Function`, write forward and backward, call `F.apply(...)`.

Two styles: forward(ctx, ...) keeps what backward needs on ctx; or forward(...) and
setup_context(ctx, inputs, output) do so apart. One run is in function_call.py, the graph side in
function_node.py.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from sys import _getframe
from typing import Any

from sapwood import errors
from sapwood._core import where
from sapwood._core.mode import MODE
from sapwood._core.node import Released
from sapwood._core.tensor import Tensor
from sapwood.autograd.function_call import Call, arranged
from sapwood.autograd.function_node import FunctionNode, attribute, refusing, taken


class FunctionCtx:
    """What forward and backward of one call share. Any attribute may be set on it."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self.to_save: tuple = ()
        self.dirty_tensors: tuple = ()
        self.non_differentiable: tuple = ()
        self.materialize_grads = True
        self._materialize_non_diff_grads = True
        self._edges: tuple = ((), ())  # inputs and ports of the node
        self._saved: Any = ()
        self._sources: tuple = ()
        self._kept: dict[str, tuple] = {}  # attributes: outputs, and values computed in forward
        self._once = False
        self._node: Any = lambda: None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (or None) for backward, where `saved_tensors` gives them. Last call wins.

        Inputs and outputs only: a second derivative through anything else is refused.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for jvp. Forward-mode derivatives of Functions do not exist yet."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs forward wrote into; they must be returned, too."""
        for i, t in enumerate(args):
            if not isinstance(t, Tensor):
                raise RuntimeError(
                    f"mark_dirty can only accept variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient."""
        for t in args:
            if not isinstance(t, Tensor):
                raise RuntimeError(
                    "mark_non_differentiable only accepts variable arguments, but got "
                    f"{type(t).__name__}"
                )
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether absent gradients arrive as zeros (the default) or as None."""
        self.materialize_grads = bool(value)

    @property
    def saved_tensors(self) -> tuple:
        """The tensors that forward saved; raises where one was written, or all were freed."""
        flat = self._saved
        if type(flat) is Released:
            node = self._node()
            if node is None:
                raise errors.second_backward(
                    "a custom Function", where.UNKNOWN, where.at(flat.code, flat.lasti)
                )
            raise node.second_backward()
        if self._once is None:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            )
        found = tuple(
            taken(self, flat, self._sources, i, f"saved_tensors[{i}]")
            for i in range(len(self._sources))
        )
        if self._once:
            self._saved, self._once = (), None  # type: ignore[assignment]
        return found

    @property
    def saved_variables(self) -> tuple:
        """The old name of saved_tensors."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def __getattr__(self, name: str) -> Any:
        """Attributes that forward set to an output or to a value that it computed."""
        kept = self.__dict__.get("_kept", {}).get(name)
        if kept is not None:
            return attribute(self, name, *kept)
        if name in ("name", "next_functions", "metadata", "register_hook", "register_prehook"):
            node = self._node()
            if node is not None:
                return getattr(node, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class FunctionMeta(type):
    """Gives every Function the class of its nodes, FBackward."""

    node_class: type[FunctionNode]
    ctx_class: type[FunctionCtx]

    def __init__(cls, name: str, bases: tuple, space: dict) -> None:
        super().__init__(name, bases, space)
        cls.node_class = type(
            f"{name}Backward", (FunctionNode,), {"__slots__": (), "function": cls}
        )
        cls.ctx_class = type(f"{name}Backward", (FunctionCtx,), {})


def default(fn: Callable) -> Callable:
    """Mark a method of Function as not written by the user."""
    fn.is_default = True  # type: ignore[attr-defined]
    return fn


class Function(metaclass=FunctionMeta):
    """A differentiable operation of one's own: static methods forward and backward.

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return 3 * x * x * g

    y = Cube.apply(x)
    """

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: use apply."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method: "
            f"{type(self).__name__}.apply(...)"
        )

    @staticmethod
    @default
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The outputs from the arguments: after ctx, or alone where setup_context is given."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    @default
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """Keep on ctx what backward needs, where forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    @default
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the arguments of forward from gradients of its outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    @default
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The forward-mode derivative."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD. sapwood has no forward mode for Functions yet."
        )

    @staticmethod
    @default
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """How the Function behaves under vmap."""
        raise NotImplementedError("sapwood has no vmap for Functions yet.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward; the outputs belong to the graph, with backward as their derivative."""
        site = MODE.get().site
        if site is None:
            frame = _getframe(1)
            site = (frame.f_code, frame.f_lasti)
        args = arranged(cls, args, kwargs)
        return Call(cls, args, site).result()


def once_differentiable(fn: Callable) -> Callable:
    """Decorate a backward that cannot itself be differentiated: doing so raises."""

    @functools.wraps(fn)
    def wrapped(ctx: Any, *args: Any) -> Any:
        mode = MODE.get()
        try:
            MODE.set(mode.but(grad=False))
            made = fn(ctx, *args)
        finally:
            MODE.set(mode)
        if not mode.grad:
            return made
        name = type(ctx).__name__
        edges = list(zip(*ctx._edges, strict=True)) if isinstance(ctx, FunctionCtx) else []
        edges += [(a.node, a.port) for a in args if isinstance(a, Tensor)]
        edges = [edge for edge in edges if edge[0] is not None]
        if not edges:
            return made
        inputs, ports = (tuple(part) for part in zip(*edges, strict=True))
        message = (
            "trying to differentiate twice a function that was marked with @once_differentiable: "
            f"{name}. {ctx._node().made() if ctx._node() is not None else ''}"
        )
        outs = made if isinstance(made, tuple) else (made,)
        outs = tuple(
            refusing(o.array, inputs, ports, message)
            if isinstance(o, Tensor) and o.array.dtype.kind in "fcV"
            else o
            for o in outs
        )
        return outs if isinstance(made, tuple) else outs[0]

    return wrapped
