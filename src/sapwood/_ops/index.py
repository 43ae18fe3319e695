"""PICK by what stands in brackets: x[key], exactly as PyTorch has it.

A key is taken apart from left to right. Its basic parts (ints, slices, None) are views, one step
each; what is left (masks, integer tensors, lists) then picks from that view. So ints are applied
first, and x[0, :, idx] differs from NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from sapwood._core import where
from sapwood._core.border import METHODS
from sapwood._core.door import primitive
from sapwood._core.memory import version_of
from sapwood._core.mode import MODE
from sapwood._core.op import PICK
from sapwood._core.slow import explain
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.adding import add_at
from sapwood._ops.keys import Array, Keys, extent, is_tuple, mask_or_integers, misfit, part
from sapwood._ops.layout import ordered
from sapwood._ops.parts import aliased, select, slice_, step
from sapwood._ops.views import unsqueeze

# ---- picking and its transpose ---------------------------------------------------------------


def pick(x: Array, keys: Keys) -> Array:
    """x[keys], with PyTorch's words for what does not fit."""
    key = keys.key()
    try:
        out = x[key]
    except IndexError as e:
        raise misfit(x, keys, e) from None
    if x.flags.c_contiguous:
        return np.asarray(out, order="C")
    return ordered(np.asarray(out), keys.strides(x, out.ndim))


def add_picked(buffer: Array, g: Array, keys: Keys) -> None:
    """Add g where keys pick from the buffer; what is picked twice gets both."""
    if keys.single_mask:
        buffer[keys.key()] += g
    elif g.size:
        add_at(buffer, keys.integers(), g)


def unpick_run(x: Array, keys: Keys, shape: tuple) -> Array:
    """Zeros of `shape` with x added where keys pick."""
    out = np.zeros(shape, x.dtype)
    add_picked(out, x, keys)
    return out


index = primitive(
    "_index",
    "x; indices",
    kind=PICK,
    keeps=True,
    run=pick,
    dtype="keep",
    title="IndexBackward0",
    grad=dict(x=lambda g, indices, x_shape: unpick(g, indices, x_shape)),
    add_into=lambda buffer, g, indices: add_picked(buffer, g, indices),
    alias=False,
    doc="What masks and integer tensors pick.",
)
unpick = primitive(
    "_unindex",
    "x; indices shape",
    kind=PICK,
    keeps=True,
    run=unpick_run,
    dtype="keep",
    title="IndexPutBackward0",
    grad=dict(x=lambda g, indices: index(g, indices)),
    alias=False,
    doc="Zeros with x added where masks and integer tensors pick.",
)


def write(x: Array, y: Any, keys: Keys) -> None:
    """x[keys] = y."""
    key = keys.key()
    try:
        x[key] = y
    except (IndexError, ValueError) as e:
        raise unwritten(x, y, keys, e) from None


def write_sum(x: Array, y: Any, keys: Keys) -> None:
    """x[keys] += y, counting what is picked twice."""
    key = keys.integers()
    try:
        if x.size:
            np.add.at(x, key, y) if x.dtype.kind == "b" else add_at(x, key, np.asarray(y))
    except (IndexError, ValueError) as e:
        raise unwritten(x, y, keys, e) from None


def unwritten(x: Array, y: Any, keys: Keys, e: Exception) -> Exception:
    """PyTorch's error for a value that does not fit what is picked."""
    if isinstance(e, ValueError):
        shape = list(pick(x, keys).shape)
        return RuntimeError(
            f"shape mismatch: value tensor of shape {list(np.shape(y))} cannot be "
            f"broadcast to indexing result of shape {shape}"
        )
    return misfit(x, keys, e)


def on_copy(into: Callable, order: Any = "K") -> Callable:
    """`run` of a record whose in-place form is `into`."""

    def run(x: Array, *values: Any) -> Array:
        out = np.array(x, order=order)
        into(out, *values)
        return out

    return run


def erase_picked(g: Array, indices: Keys) -> Array:
    """g with zeros where keys pick, in its own memory."""
    g[indices.key()] = 0
    return g


put = primitive(
    "_index_put",
    "x y; indices",
    kind=PICK,
    keeps=True,
    run=on_copy(write),
    into=write,
    dtype="keep",
    title="IndexPutBackward0",
    in_place="_index_put_",
    erase=erase_picked,
    alias=False,
    grad=dict(
        x=lambda g, indices, x_dtype: put(g, np.zeros((), x_dtype), indices),
        y=lambda g, indices: index(g, indices),
    ),
    doc="x with y written where masks and integer tensors pick.",
)
put_sum = primitive(
    "_index_put_sum",
    "x y; indices",
    kind=PICK,
    keeps=True,
    run=on_copy(write_sum),
    into=write_sum,
    dtype="keep",
    title="IndexPutBackward0",
    in_place="_index_put_sum_",
    alias=False,
    grad=dict(x=lambda g: g, y=lambda g, indices: index(g, indices)),
    doc="x with y added where masks and integer tensors pick.",
)


# ---- keys taken apart ------------------------------------------------------------------------


class Apart:
    """A tensor and a key, taken apart step by step."""

    def __init__(self, x: Tensor, key: Any, site: tuple) -> None:
        self.x, self.site = x, site
        self.dim = 0  # of the view that the next item is about
        self.real = 0  # of the tensor itself, for messages
        self.picks: dict[int, Array] = {}  # by dimension of the view
        self.cells: list = []
        items = key if type(key) is tuple else tuple(key) if is_tuple(key) else (key,)
        items = tuple(map(part, items))
        used = sum(map(extent, items))
        ndim = x.array.ndim
        if used > ndim:
            if len(items) == 1 and not ndim and type(items[0]) is int:
                raise IndexError(
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                    "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
                )
            if len(items) == 1 and not ndim and type(items[0]) is slice:
                raise IndexError("slice() cannot be applied to a 0-dim tensor.")
            raise IndexError(f"too many indices for tensor of dimension {ndim}")
        self.free = ndim - used
        for k in items:
            self.item(k, alone=len(items) == 1)

    def item(self, k: Any, *, alone: bool) -> None:
        """One item of the key."""
        t = type(k)
        if t is int:
            self.integer(k)
        elif t is slice:
            self.range(k, alone=alone)
        elif k is Ellipsis:
            self.dim += self.free
            self.real += self.free
        elif k is None:
            self.x = step(unsqueeze.op, self.x, (self.dim,), self.site)
            self.dim += 1
        elif t is bool:
            self.x = step(unsqueeze.op, self.x, (self.dim,), self.site)
            self.picks[self.dim] = np.zeros(int(k), np.int64)
            self.dim += 1
        else:
            a = mask_or_integers(k, self.x.array.shape, self.dim)
            if a is k.array:
                self.cells.append((version_of(k), a))
            self.picks[self.dim] = a
            n = a.ndim if a.dtype.kind == "b" else 1
            self.dim += n
            self.real += n

    def here(self) -> int:
        """The extent of the current dimension."""
        shape = self.x.array.shape
        if self.dim >= len(shape):  # after a second ellipsis
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-len(shape)}, "
                f"{len(shape) - 1}], but got {self.dim})"
            )
        return shape[self.dim]

    def integer(self, k: int) -> None:
        """One index of a dimension."""
        n = self.here()
        if not -n <= k < n:
            if abs(k) >= 2**63:
                raise ValueError("Overflow when unpacking long long")
            raise IndexError(f"index {k} is out of bounds for dimension {self.real} with size {n}")
        self.x = step(select.op, self.x, (self.dim, k % n), self.site)
        self.real += 1

    def range(self, k: slice, *, alone: bool) -> None:
        """A slice; what keeps everything is no step unless it stands alone."""
        n = self.here()
        start, stop, by = k.indices(n)
        if by <= 0:
            raise ValueError("step must be greater than zero")
        whole = k.start is None or k.start == 0
        if alone or not whole or stop != n or by != 1:
            self.x = step(slice_.op, self.x, (self.dim, start, max(start, stop), by), self.site)
        self.dim += 1
        self.real += 1

    def keys(self) -> Keys | None:
        """What is left to pick; None where the view is all."""
        if not self.picks:
            return None
        parts: list[Array | None] = []
        for d in range(max(self.picks) + 1):
            a = self.picks.get(d)
            if a is not None:
                parts.append(a)
            elif not any(
                d0 < d < d0 + p.ndim for d0, p in self.picks.items() if p.dtype.kind == "b"
            ):
                parts.append(None)
        return Keys(parts, self.cells, self.site)


def take_apart(x: Tensor, key: Any, site: tuple) -> Apart:
    """A key taken apart; errors name the tensor and the user's line."""
    try:
        return Apart(x, key, site)
    except (IndexError, ValueError, TypeError) as e:
        raise type(e)(
            f"{e} [index] of a tensor of shape {list(x.array.shape)} at {where.at(*site)}"
        ) from None


BASIC = frozenset({int, slice, type(None), type(...)})


def simple(x: Tensor, key: Any, site: tuple, *, write: bool = False) -> Tensor | None:
    """The view of ints, slices, ... and None, the frequent case; None for everything else.

    write: the tensor itself, not a view of it, where the key keeps everything.
    """
    items = key if type(key) is tuple else (key,)
    kinds = [type(k) for k in items]
    free = x.array.ndim - kinds.count(int) - kinds.count(slice)
    if free < 0 or not BASIC.issuperset(kinds):
        return None
    start, dim = x, 0
    for k, t in zip(items, kinds, strict=True):
        shape = x.array.shape
        if t is int:
            if dim >= len(shape) or not -shape[dim] <= k < shape[dim]:
                return None
            x = step(select.op, x, (dim, k % shape[dim]), site)
        elif t is slice:
            if dim >= len(shape):
                return None
            first, stop, by = k.indices(shape[dim])
            if by <= 0:
                return None
            if first or stop != shape[dim] or by != 1 or k.start or len(items) == 1:
                x = step(slice_.op, x, (dim, first, max(first, stop), by), site)
            dim += 1
        elif k is None:
            x = step(unsqueeze.op, x, (dim,), site)
            dim += 1
        else:
            dim += free
    return step(aliased.op, x, (), site) if x is start and not write else x


def alone(x: Tensor, key: Any, site: tuple) -> Keys | None:
    """The keys of one int64 tensor, or of one mask of x's shape, the frequent case."""
    if type(key) not in KINDS:
        return None
    a = key.array
    mask = a.dtype.kind == "b" and a.shape == x.array.shape
    if ((a.dtype == np.int64 and x.array.ndim) or mask) and a.ndim:
        return Keys((a,), [(version_of(key), a)], site)
    return None


def getitem(self: Tensor, key: Any) -> Tensor:
    """x[key]: a view where key holds only ints, slices, ... and None; else a copy."""
    frame = _getframe(1)
    site = MODE.get().site or (frame.f_code, frame.f_lasti)
    shape = self.array.shape
    if type(key) is int and shape and -shape[0] <= key < shape[0]:
        return step(select.op, self, (0, key % shape[0]), site)
    keys = alone(self, key, site)
    if keys is None:
        x = simple(self, key, site)
        if x is not None:
            return x
        apart = take_apart(self, key, site)
        x, keys = apart.x, apart.keys()
        if keys is None:
            return step(aliased.op, x, (), site) if x is self else x
    else:
        x = self
    try:
        return step(index.op, x, (keys,), site)
    except IndexError as e:
        raise explain(index.op, e, (x,), (), site) from None


METHODS["__getitem__"] = getitem
