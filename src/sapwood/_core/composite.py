"""Composites: functions of primitives, written once, that are one node of the graph.

The body runs on arrays when nothing needs a gradient, and is differentiated by the engine: the
derived backward runs the body again on the saved operands and takes the reverse pass through it.
No backward formula is written by hand; `grad=` may give one where numerics ask for it, and a test
then holds it against the derived one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sapwood._core.door import primitive
from sapwood._core.mode import MODE
from sapwood._core.node import Node
from sapwood._core.op import CALL, Op, Plan
from sapwood._core.reverse import Pass
from sapwood._core.tensor import Tensor, plain


class DerivedPlan(Plan):
    """A plan whose rules are derived from the body."""

    __slots__ = ()

    def __init__(self, op: Op, mask: int, *, low: bool) -> None:
        super().__init__(op, mask, low=low)
        self.saves = list(op.args)
        self.back = self.derive

    def derive(self, g: Any, node: Node) -> tuple:
        """Operand gradients from arrays: the body again, on leaves of its own."""
        flat = node.saved
        if any(cell.n != n for cell, n in zip(flat[1::3], flat[2::3], strict=True)):
            node.raise_stale()
        operands = [leaf(value, self.mask >> i & 1) for i, value in enumerate(flat[::3])]
        return self.through(node, operands, g, graph=False)

    def traced(self, g: Tensor, node: Node) -> tuple:
        """Operand gradients as tensors with history."""
        return self.through(node, [node.unpack(name) for name in self.op.args], g, graph=True)

    def through(self, node: Node, operands: list, g: Any, *, graph: bool) -> tuple:
        """Run the body with a graph and the reverse pass over that graph only."""
        old = MODE.get()
        inside = old.but(grad=True, site=(node.code, node.lasti), scope=node.scope)
        try:
            MODE.set(inside)
            out = self.op.run(*operands, *node.attrs)
            wanted = [
                (t.node, t.port) if self.mask >> i & 1 else None for i, t in enumerate(operands)
            ]
            targets = {edge: True for edge in wanted if edge is not None}
            run = Pass(graph=graph, retain=graph, accumulate=False, targets=targets)
            MODE.set(inside.but(grad=graph))
            if out.node is not None:
                run.run([(out.node, out.port, g)])
        finally:
            MODE.set(old)
        return tuple(None if edge is None else run.captured.get(edge) for edge in wanted)


def leaf(value: Any, needed: int) -> Any:
    """A saved operand as a tensor; numbers stay numbers."""
    if not hasattr(value, "dtype"):
        return value
    t = plain(value)
    return t.requires_grad_() if needed else t


def composite(
    body: Callable | None = None,
    *,
    title: Any = None,
    grad: dict | None = None,
    dtype: str = "float",
    sig: str | None = None,
    bind: Callable | None = None,
) -> Any:
    """Make one operation of a function of operations.

    Parameters annotated `Tensor` are operands; all others are attributes. The body may use only
    public functions and operators, so that it runs on arrays and on tensors alike.
    """
    if body is None:
        return lambda fn: composite(fn, title=title, grad=grad, dtype=dtype, sig=sig, bind=bind)
    parameters = inspect.signature(body).parameters.values()
    operands = [p.name for p in parameters if p.annotation in ("Tensor", Tensor)]
    attrs = [p.name for p in parameters if p.name not in operands]
    return primitive(
        body.__name__,
        f"{' '.join(operands)}; {' '.join(attrs)}",
        kind=CALL,
        run=body,
        grad=grad if grad is not None else dict.fromkeys(operands, placeholder),
        title=title,
        dtype=dtype,
        sig=sig,
        bind=bind,
        doc=(body.__doc__ or "").split("\n")[0],
        planner=None if grad is not None else DerivedPlan,
    )


def placeholder(g: Any) -> Any:
    """Stands for a derived rule: says only that the operand is differentiable."""
    raise AssertionError("derived plans do not run rules")
