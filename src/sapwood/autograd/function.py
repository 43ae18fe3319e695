"""Custom operations: subclass `Function`, write forward and backward, call `F.apply(...)`.

Two styles: forward(ctx, ...) keeps what backward needs on ctx; or forward(...) and
setup_context(ctx, inputs, output) do so apart. The graph side is in function_node.py.
"""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from sys import _getframe
from typing import Any

from sapwood import errors
from sapwood._core import where
from sapwood._core.inside import Inside, made_inside
from sapwood._core.memory import CUSTOM, MULTI, bump, heal, rebase, refused_view
from sapwood._core.mode import MODE
from sapwood._core.node import Hooks, Released, next_seq
from sapwood._core.tensor import Tensor
from sapwood.autograd.function_node import (
    HIDDEN,
    OUTPUT,
    PLAN,
    FunctionNode,
    attribute,
    function_op,
    keep,
    refusing,
    source_of,
    taken,
)


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
        """Keep tensors (or None) for backward, where `saved_tensors` gives them; the last call wins.

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

    def set_materialize_grads(self, value: bool) -> None:  # noqa: FBT001 (PyTorch's signature)
        """Whether absent gradients arrive as zeros (the default) or as None."""
        self.materialize_grads = bool(value)

    @property
    def saved_tensors(self) -> tuple:
        """The tensors that forward saved; raises where one was written, or all were freed."""
        flat = self._saved
        if type(flat) is Released:
            node = self._node()
            if node is None:
                raise errors.second_backward("a custom Function", where.UNKNOWN,
                                             where.at(flat.code, flat.lasti))
            raise node.second_backward()
        if self._once is None:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            )
        found = tuple(taken(self, flat, self._sources, i, f"saved_tensors[{i}]")
                      for i in range(len(self._sources)))
        if self._once:
            self._saved, self._once = (), None  # type: ignore[assignment]
        return found

    @property
    def saved_variables(self) -> tuple:
        """The old name of saved_tensors."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning,
                      stacklevel=2)
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
        cls.node_class = type(f"{name}Backward", (FunctionNode,),
                              {"__slots__": (), "function": cls})
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
            DeprecationWarning, stacklevel=2,
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
        """Compute the outputs: forward(ctx, ...), or forward(...) with setup_context."""
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


def arranged(cls: type[Function], args: tuple, kwargs: dict) -> tuple:
    """All arguments by position: each is an input, also those given by name."""
    separate = not hasattr(cls.setup_context, "is_default")
    if not kwargs and not separate:
        return args
    ctx = () if separate else (None,)
    bound = inspect.signature(cls.forward).bind(*ctx, *args, **kwargs)
    if separate:
        bound.apply_defaults()
    if bound.kwargs:
        name = next(iter(bound.kwargs))
        raise TypeError(
            f"{cls.__name__}.forward() got an unexpected keyword argument {name!r}: arguments of "
            "apply are inputs by position, so those before it must be given, too"
        )
    return bound.args[len(ctx):]


class Call:
    """One run of a Function: forward without a graph, then the node and what it keeps."""

    def __init__(self, function: type[Function], args: tuple, site: tuple) -> None:
        self.function, self.args, self.site = function, args, site
        self.mode = MODE.get()
        self.inside = Inside(f"{function.__name__}.forward")
        self.ctx = function.ctx_class()
        self.ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        self.separate = not hasattr(function.setup_context, "is_default")

    def result(self) -> Any:
        """What apply returns."""
        made = self.forward()
        outputs = list(made) if isinstance(made, tuple) else [made]
        self.check_dirty(outputs)
        ctx = self.ctx
        raw = list(outputs)
        node = None
        if self.mode.grad and any(ctx.needs_input_grad) and outputs:
            node = self.node(outputs)
            self.attach(node, outputs)
        else:
            self.without_graph(outputs)
        if node is not None:
            ctx._saved, ctx._sources = keep(
                self.function, ctx.to_save, self.args, self.saved_outputs(raw, outputs),
                self.inside)
            ctx._once = self.function.clear_saved_tensors_on_access
            self.hide(outputs)
        ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = ()
        return tuple(outputs) if isinstance(made, tuple) else outputs[0]

    def forward(self) -> Any:
        """Run the user's forward (and setup_context), grad mode off."""
        inside = self.mode.but(grad=False, site=None, why=self.inside)
        try:
            MODE.set(inside)
            if not self.separate:
                return self.function.forward(self.ctx, *self.args)
            made = self.function.forward(*self.args)
            self.function.setup_context(self.ctx, self.args, made)
            return made
        finally:
            MODE.set(self.mode)

    def saved_outputs(self, raw: list, outputs: list) -> list:
        """The outputs as forward knew them, None where apply returns another tensor instead."""
        if self.separate and self.mode.grad:
            for t in self.ctx.to_save:
                if isinstance(t, Tensor) and any(t is o for o in raw) and self.is_input(t) \
                        and not any(t is o for o in outputs):
                    raise RuntimeError(
                        "An input that has been returned as-is as output is being saved for "
                        "backward. This is not supported if you override setup_context. You should "
                        "return and save a view of the input instead, e.g. with x.view_as(x) or "
                        f"setup ctx inside the forward function itself. [{self.function.__name__}]"
                    )
        return [o if o is r else None for o, r in zip(outputs, raw, strict=True)]

    # ---- outputs ----

    def is_input(self, t: Any) -> bool:
        """Whether a tensor is one of the arguments."""
        return any(t is a for a in self.args)

    def is_dirty(self, t: Any) -> bool:
        """Whether forward said that it wrote into this tensor."""
        return any(t is d for d in self.ctx.dirty_tensors)

    def check_dirty(self, outputs: list) -> None:
        """Every tensor that was written must be returned; the write is counted."""
        for d in self.ctx.dirty_tensors:
            bump(d)
            if not any(d is o for o in outputs):
                raise RuntimeError(
                    "Some elements marked as dirty during the forward method were not returned as "
                    "output. The inputs that are modified inplace must all be outputs of the "
                    f"Function. [{self.function.__name__}]"
                )

    def without_graph(self, outputs: list) -> None:
        """Outputs where no gradient is wanted: an input that is returned becomes another tensor."""
        wanted = any(self.ctx.needs_input_grad)
        for k, t in enumerate(outputs):
            if not isinstance(t, Tensor):
                continue
            if self.is_input(t):
                if not self.is_dirty(t):
                    outputs[k] = t.detach() if t.node is not None else self.alias(t)
            else:
                if wanted and t.node is None:
                    t.cuts = ((self.mode.why, *self.site, t.array.shape),)
                if t.path_of():
                    t.view_kind = CUSTOM

    def alias(self, t: Tensor) -> Tensor:
        """A view of all of a tensor, made as forward makes views."""
        try:
            MODE.set(self.mode.but(grad=False))
            view = t.view(t.array.shape)  # type: ignore[attr-defined]
        finally:
            MODE.set(self.mode)
        view.view_kind = CUSTOM
        return view

    def node(self, outputs: list) -> FunctionNode:
        """The node of this call."""
        Hooks.used = True  # the reverse pass must look: user code runs in it and may raise
        function, ctx = self.function, self.ctx
        node = function.node_class()
        node.ctx, node.plan = ctx, PLAN  # type: ignore[assignment]
        node.op = function_op(function, len(outputs))
        needs = ctx.needs_input_grad
        node.inputs = tuple(a.node if n else None for a, n in zip(self.args, needs, strict=True))
        node.ports = tuple(a.port if isinstance(a, Tensor) else -1 for a in self.args)
        node.attrs = ()
        tensors = [isinstance(t, Tensor) for t in outputs]
        node.shape = tuple(t.array.shape if y else () for t, y in zip(outputs, tensors, strict=True))
        node.dtype = tuple(t.array.dtype if y else None
                           for t, y in zip(outputs, tensors, strict=True))
        node.differentiable = frozenset(
            k for k, t in enumerate(outputs)
            if tensors[k] and t.array.dtype.kind in "fcV"
            and not any(t is o for o in ctx.non_differentiable)
        )
        node.code, node.lasti = self.site
        node.scope, node.seq, node.hooks = self.mode.scope, next_seq(), None
        ctx._edges, ctx._node = (node.inputs, node.ports), weakref.ref(node)
        return node

    def attach(self, node: FunctionNode, outputs: list) -> None:
        """Give the node to the outputs; an input that is returned becomes a view of itself."""
        several = len(node.differentiable) > 1
        for k, t in enumerate(outputs):
            if not isinstance(t, Tensor):
                continue
            given = self.is_input(t)
            if k not in node.differentiable:
                if t.node is not None and t.node is not node:
                    outputs[k] = t.detach()
                elif given and not self.is_dirty(t):
                    outputs[k] = self.alias(t)
                continue
            if self.is_dirty(t):
                self.rewritten(t, node, k, given=given, count=len(node.differentiable))
                continue
            foreign = t.node not in (None, node) and not made_inside(t.cuts, self.inside)
            if given or foreign:
                t = outputs[k] = self.alias(t)
            if t.path_of():
                t.view_kind = MULTI if several else CUSTOM
            elif t.memory is not None:
                t.memory.node, t.memory.port = node, k
            t.node, t.port, t.cuts = node, k, None

    def rewritten(
        self, t: Tensor, node: FunctionNode, k: int, *, given: bool, count: int
    ) -> None:
        """An input that forward wrote: from now on it is output k of this node."""
        name = f"{self.function.__name__}.apply"
        if t.is_leaf and t.node is not None:
            raise errors.GraphError(
                "a leaf Variable that requires grad has been used in an in-place operation. "
                f"[{name}] at {where.at(*self.site)}"
            )
        if not given:
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                "have been mutated should be passed to ctx.mark_dirty().", stacklevel=4)
        if t.path_of() and count > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your "
                "Function cannot return more than one Tensor. This is not supported by the current "
                "autograd engine. You should either make sure the input is not a view (using "
                ".clone() for example) or make your Function only return one Tensor (potentially "
                "splitting it into two Functions). "
                f"[{name}] at {where.at(*self.site)}"
            )
        if t.view_kind is not None:
            raise refused_view(t, name)
        old = MODE.get()
        try:
            MODE.set(old.at(self.site))
            rebase(t, node, k)
        finally:
            MODE.set(old)
        heal(t)
        t.cuts = None

    def hide(self, outputs: list) -> None:
        """Set apart what is on ctx and may not be there as such.

        An output on ctx would be a cycle (tensor, node, ctx, tensor), and a second derivative
        through a value that forward computed is not known.
        """
        ctx = self.ctx
        for name, t in list(vars(ctx).items()):
            if isinstance(t, Tensor):
                source = source_of(t, self.args, outputs, self.inside)
                if source[0] in (OUTPUT, HIDDEN):
                    ctx._kept[name] = (*source, weakref.ref(t) if source[0] is OUTPUT else t,
                                       t.array)
                    del vars(ctx)[name]


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
            if isinstance(o, Tensor) and o.array.dtype.kind in "fcV" else o for o in outs
        )
        return outs if isinstance(made, tuple) else outs[0]

    return wrapped
