"""`x.op_()`: the same operation, written into the tensor's memory.

The gradient is that of `x = op(x)`. Whatever can be refused is refused before anything changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from sys import _getframe
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.door import make_entry
from sapwood._core.inside import merge_cuts, wrote
from sapwood._core.memory import bump, check_overlap, check_write, heal, rebase, replay, version_of
from sapwood._core.mode import MODE
from sapwood._core.op import DOT, MAP, Op
from sapwood._core.quiet import IGNORE, restore, silence
from sapwood._core.seal import seal
from sapwood._core.slow import why_cut
from sapwood._core.tensor import KINDS, Tensor, with_node

FILLS = frozenset({"fill_", "masked_fill_"})  # they read a 0-d tensor as a number, then write


def in_place(op: Op, door: Callable) -> Callable:
    """The method `name_` of an operation."""
    name = op.in_place if isinstance(op.in_place, str) else f"{op.name}_"
    direct = isinstance(op.run, np.ufunc) and len(op.args) <= 2 and op.dtype in (None, "float")
    if op.into is not None:
        door = writing(op)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        mode = MODE.get()
        if mode.site is not None:
            return run(self, args, kwargs)
        frame = _getframe(1)
        try:
            MODE.set(mode.at((frame.f_code, frame.f_lasti)))
            return run(self, args, kwargs)
        finally:
            MODE.set(mode)

    def run(self: Tensor, args: tuple, kwargs: dict) -> Tensor:
        tensors = [a for a in args if isinstance(a, Tensor)]
        graph = any(t.requires_grad for t in tensors)
        check_write(self, name, graph=graph)
        for t in tensors:
            if op.kind != DOT and (t.array.ndim or name not in FILLS):
                check_overlap(self.array, t.array, name, same=op.kind == MAP)
            if op.into is not None:
                heal(t)  # an operand that is no longer valid is refused before the write
        tracked = MODE.get().grad and (graph or self.node is not None)
        if direct and not tracked and not kwargs and write_direct(op, self, args):
            return self
        return write(self, op, door, args, kwargs, tracked=tracked)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{op.doc or op.name}, in place; returns self."
    return method


def writing(op: Op) -> Callable:
    """The door of an operation that writes into its first operand instead of a copy."""

    def run(x: np.ndarray, *values: Any) -> np.ndarray:
        into: Any = op.into
        into(x, *values)
        return x

    return make_entry(replace(op, run=run), "function")


def write_direct(op: Op, self: Tensor, args: tuple) -> bool:
    """Without a graph and within one floating dtype NumPy writes straight into the array."""
    a = self.array
    values = [x.array if type(x) in KINDS else x for x in args]
    if a.dtype not in (dt.F32, dt.F64) or len(values) != len(op.args) - 1:
        return False
    for v in values:
        if isinstance(v, np.ndarray):
            if v.dtype != a.dtype or v.ndim > a.ndim or np.broadcast(a, v).shape != a.shape:
                return False
        elif type(v) not in (int, float):
            return False
    token = silence(IGNORE)
    try:
        op.run(a, *values, out=a)
    finally:
        restore(token)
    bump(self)
    note_cut(self, op, [x for x in args if type(x) in KINDS])
    return True


def write(
    self: Tensor, op: Op, door: Callable, args: tuple, kwargs: dict, *, tracked: bool
) -> Tensor:
    """Compute out of place, write the result, and move the graph to the new content."""
    stand_in = with_node(self.array, *value_edge(self))
    if tracked and keeps_first(op):
        stand_in.array = self.array.copy()  # the rules need the value before the write
    result = door(stand_in, *args, **kwargs)
    check_result(self, result, op)
    put(self, result, tracked=tracked)
    return self


def value_edge(self: Tensor) -> tuple[Any, int]:
    """Where the gradient of the overwritten value goes: through the base, past hooks on views.

    A hook on a view is a hook on that view's own uses; a write through it takes the view steps
    anew from the content of the whole.
    """
    node, memory = self.node, self.memory
    if node is None or memory is None or memory.node is None or not self.path or self.turned:
        return node, self.port
    step: Any = node
    for _ in self.path:
        if step is None or step.hooks is not None:
            return replay(memory.array, memory.node, memory.port, self.path)
        step = step.inputs[0] if step.inputs else None
    if step is not memory.node:  # more steps than the path has: as_strided of a view
        return replay(memory.array, memory.node, memory.port, self.path)
    return node, self.port


def put(self: Tensor, result: Tensor, *, tracked: bool) -> None:
    """Write `result` into the memory of `self` and make its node the node of that content."""
    if result.array is not self.array:
        np.copyto(self.array, result.array, casting="unsafe")
    bump(self)
    node = result.node
    if tracked and node is not None:
        keep_written(node, result, self)
        if not node.op.out:
            node.dtype = self.array.dtype
        rebase(self, node, result.port)
    elif self.node is None:
        self.cuts = merge_cuts(result.cuts, self.cuts)
        wrote(self, result.cuts)


def note_cut(self: Tensor, op: Op, xs: list) -> None:
    """A write without a graph: the tensor has no history for the same reasons as its operands."""
    if self.node is None and any(x.node is not None or x.cuts is not None for x in xs):
        mode = MODE.get()
        wanted = any(x.node is not None for x in xs)
        cuts = why_cut(op, xs, wanted, mode, mode.site or where.user_site(), [self])
        self.cuts = merge_cuts(cuts, self.cuts)
        wrote(self, cuts)


def keeps_first(op: Op) -> bool:
    """Whether some rule of the op reads its first operand."""
    return any(op.args[0] in op.plan(1 << i).saves for i, a in enumerate(op.args) if a in op.grad)


def keep_written(node: Any, result: Tensor, self: Tensor) -> None:
    """A saved output is the tensor's own memory now, at its new version."""
    flat = list(node.saved)
    for i in range(0, len(flat), 3):
        if flat[i] is result.array:
            version = version_of(self)
            flat[i : i + 3] = [self.array, version, version.n]
    node.saved = tuple(seal(flat)) if MODE.get().checked else tuple(flat)


def check_result(self: Tensor, result: Tensor, op: Op) -> None:
    """The result must have the tensor's shape and a dtype that fits into its own."""
    if result.array.shape != self.array.shape:
        raise RuntimeError(
            f"output with shape {list(self.array.shape)} doesn't match the broadcast shape "
            f"{list(result.array.shape)}. [{op.name}_] writes into its first operand, at "
            f"{where.here()}"
        )
    have, want = dt.of(result.array.dtype), dt.of(self.array.dtype)
    if have.category > want.category:
        raise RuntimeError(
            f"result type {have.title} can't be cast to the desired output type {want.title}. "
            f"[{op.name}_] at {where.here()}"
        )
