"""One run of a custom Function: forward without a graph, then its node and what it keeps."""

from __future__ import annotations

import inspect
import warnings
import weakref
from typing import Any

from sapwood import errors
from sapwood._core import where
from sapwood._core.inside import Inside, made_inside
from sapwood._core.memory import CUSTOM, MULTI, bump, heal, rebase, refused_view
from sapwood._core.mode import MODE
from sapwood._core.node import Hooks, next_seq
from sapwood._core.tensor import Tensor
from sapwood.autograd.function_node import (
    HIDDEN,
    OUTPUT,
    PLAN,
    FunctionNode,
    function_op,
    keep,
    source_of,
)


def arranged(cls: Any, args: tuple, kwargs: dict) -> tuple:
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
    return bound.args[len(ctx) :]


class Call:
    """Everything that one `apply` knows; `result` is what it returns."""

    def __init__(self, function: Any, args: tuple, site: tuple) -> None:
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
                self.function, ctx.to_save, self.args, self.saved_outputs(raw, outputs), self.inside
            )
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
                if (
                    isinstance(t, Tensor)
                    and any(t is o for o in raw)
                    and self.is_input(t)
                    and not any(t is o for o in outputs)
                ):
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
            view = t.view(t.array.shape)
        finally:
            MODE.set(self.mode)
        view.view_kind = CUSTOM
        return view

    def node(self, outputs: list) -> FunctionNode:
        """The node of this call."""
        Hooks.used = True  # the reverse pass must look: user code runs in it and may raise
        function, ctx = self.function, self.ctx
        node = function.node_class()
        node.ctx, node.plan = ctx, PLAN
        node.op = function_op(function, len(outputs))
        needs = ctx.needs_input_grad
        node.inputs = tuple(a.node if n else None for a, n in zip(self.args, needs, strict=True))
        node.ports = tuple(a.port if isinstance(a, Tensor) else -1 for a in self.args)
        node.attrs = ()
        node.shape = tuple(t.array.shape if isinstance(t, Tensor) else () for t in outputs)
        node.dtype = tuple(t.array.dtype if isinstance(t, Tensor) else None for t in outputs)
        node.differentiable = frozenset(
            k
            for k, t in enumerate(outputs)
            if isinstance(t, Tensor)
            and t.array.dtype.kind in "fcV"
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

    def rewritten(self, t: Tensor, node: FunctionNode, k: int, *, given: bool, count: int) -> None:
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
                "have been mutated should be passed to ctx.mark_dirty().",
                stacklevel=4,
            )
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
                    ctx._kept[name] = (
                        *source,
                        weakref.ref(t) if source[0] is OUTPUT else t,
                        t.array,
                    )
                    del vars(ctx)[name]
