"""MOVE without copying: parts of a tensor. select, slices, diagonals, windows.

The derivative of a view that selects is its transpose, `unview`: zeros with the gradient where the
view looks; the derivative of that is the view again. In a first-order pass the gradient is added
straight into its region of the whole gradient, so that T slices make no T full-size gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from sapwood._core.border import function
from sapwood._core.door import TABLE, apply, primitive
from sapwood._core.mode import MODE
from sapwood._core.op import MOVE, Op
from sapwood._core.slow import general, viewed
from sapwood._core.tensor import Tensor
from sapwood._ops.axes import axis, whole


def view_record(name: str, spec: str, *, view: bool | str = True, **fields: Any) -> Any:
    """The record of a view of one operand, in its dtype."""
    return primitive(name, spec, kind=MOVE, view=view, dtype="keep", **fields)


def step(op: Op, x: Tensor, attrs: tuple, site: tuple) -> Tensor:
    """A view with ready attributes: what the door does, without looking at arguments."""
    mode = MODE.get()
    if mode.plain:
        return viewed(op, x, op.run(x.array, *attrs), attrs, mode, site)
    return general(op, (x,), attrs, site)


# ---- the transpose of a view -----------------------------------------------------------------

ADD: dict[str, Callable] = {}  # views that look at elements more than once add in their own way


def add_region(buffer: np.ndarray, g: np.ndarray, op: Op, attrs: tuple) -> None:
    """Add g into the part of `buffer` that the view looks at."""
    if op.name in ADD:
        ADD[op.name](buffer, g, *attrs)
    else:
        region = op.run(buffer, *attrs)
        np.add(region, g, out=region)


def unview_run(x: np.ndarray, name: str, where: tuple, shape: tuple) -> np.ndarray:
    """Zeros of `shape` with x added where the view looks."""
    out = np.zeros(shape, x.dtype)
    add_region(out, x, TABLE[name], where)
    return out


unview = primitive(
    "_unview",
    "x; name where shape",
    kind=MOVE,
    run=unview_run,
    dtype="keep",
    alias=False,
    title=lambda node: TABLE[node.attrs[0]].node_class.__name__.replace("0", "Backward0"),
    grad=dict(x=lambda g, name, where: apply(TABLE[name], g, where)),
    doc="Zeros with x where a view looks: the transpose of the view.",
)


def selecting(name: str, attrs: str, **fields: Any) -> Any:
    """The record of a view that selects: its gradient goes into a region of zeros."""
    return view_record(
        name,
        f"x; {attrs}",
        grad=dict(x=lambda g, attrs, x_shape: unview(g, name, attrs, x_shape)),
        add_into=lambda buffer, g, attrs: add_region(buffer, g, TABLE[name], attrs),
        **fields,
    )


# ---- one index, a range, everything ----------------------------------------------------------


def select_run(a: np.ndarray, dim: int, index: int) -> np.ndarray:
    """One index of a dimension; an array also where nothing is left."""
    return a[(index, ...)] if dim == 0 else a[(slice(None),) * dim + (index, ...)]


def select_args(a: np.ndarray, dim: Any, index: Any) -> tuple:
    """An index within its dimension."""
    if not a.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, i = axis(dim, a.ndim), whole(index, "index")
    n = a.shape[d]
    if not -n <= i < n:
        raise IndexError(
            f"select(): index {i} out of range for tensor of size {list(a.shape)} at dimension {d}"
        )
    return d, i % n


def slice_run(a: np.ndarray, dim: int, start: int, end: int, step: int) -> np.ndarray:
    """A range of a dimension."""
    part = slice(start, end, step)
    return a[part] if dim == 0 else a[(slice(None),) * dim + (part,)]


select = selecting(
    "select", "dim index", run=select_run, bind=select_args, doc="One index of a dimension."
)
slice_ = selecting(
    "_slice",
    "dim start end step",
    run=slice_run,
    title="SliceBackward0",
    doc="A range of a dimension.",
)
aliased = view_record(
    "_alias",
    "x",
    run=lambda a: a[...],
    title="AliasBackward0",
    grad=dict(x=lambda g: g),
    doc="A view of everything.",
)


basic = selecting(
    "_index_basic",
    "key",
    run=lambda a, key: a[(*key, ...)],
    title="SliceBackward0",
    doc="A part by several ints, slices and None at once: for rules.",
)


@function
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`length` slices along a dimension from `start`."""
    if not input.array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d, first, length = axis(dim, input.array.ndim), whole(start, "start"), whole(length, "length")
    n = input.array.shape[d]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -n <= first <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {first})"
        )
    first += n if first < 0 else 0
    if first + length > n:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({n}).")
    return slice_(input, d, first, first + length, 1)


# ---- diagonals and windows -------------------------------------------------------------------


def diagonal_run(a: np.ndarray, offset: int, dim1: int, dim2: int) -> np.ndarray:
    """A diagonal as the last dimension; as writable as the array."""
    out = a.diagonal(offset, dim1, dim2)
    if a.flags.writeable:
        out.flags.writeable = True
    return out


def diagonal_args(a: np.ndarray, offset: Any, dim1: Any, dim2: Any) -> tuple:
    """Two different dimensions."""
    d1, d2 = axis(dim1, a.ndim), axis(dim2, a.ndim)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return whole(offset, "offset"), d1, d2


def unfold_run(a: np.ndarray, dimension: int, size: int, step: int) -> np.ndarray:
    """Windows along a dimension, as the last dimension."""
    if not a.ndim:
        return a.reshape(1)[:size]
    n = (a.shape[dimension] - size) // step + 1
    s = a.strides[dimension]
    shape = (*a.shape[:dimension], n, *a.shape[dimension + 1 :], size)
    strides = (*a.strides[:dimension], s * step, *a.strides[dimension + 1 :], s)
    return as_strided(a, shape, strides)


def unfold_args(a: np.ndarray, dimension: Any, size: Any, step: Any) -> tuple:
    """Windows that fit."""
    d, size, step = axis(dimension, a.ndim), whole(size, "size"), whole(step, "step")
    extent = a.shape[d] if a.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > extent:
        raise RuntimeError(
            f"maximum size for tensor at dimension {d} is {extent} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return d, size, step


def add_windows(buffer: np.ndarray, g: np.ndarray, dimension: int, size: int, step: int) -> None:
    """Add windows where they come from: one offset within all windows at a time."""
    if not buffer.ndim:
        buffer += g.sum()
        return
    n = g.shape[dimension]
    for k in range(size):
        region = slice_run(buffer, dimension, k, k + (n - 1) * step + 1, step)
        np.add(region, g[..., k], out=region)


ADD["unfold"] = add_windows
diagonal = selecting(
    "diagonal",
    "offset dim1 dim2",
    run=diagonal_run,
    bind=diagonal_args,
    sig="input, offset=0, dim1=0, dim2=1",
    doc="The elements of a diagonal, as the last dimension.",
)
unfold = selecting(
    "unfold",
    "dimension size step",
    run=unfold_run,
    bind=unfold_args,
    doc="Windows of `size` every `step` along a dimension, as the last dimension.",
)
