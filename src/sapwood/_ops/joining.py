"""MOVE of several tensors: joined along a dimension, or brought to a common shape."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood import errors
from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.border import alias, function_only
from sapwood._core.door import apply, primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.axes import axis, whole
from sapwood._ops.parts import basic, slice_
from sapwood._ops.splits import unbind
from sapwood._ops.views import expand, flatten, reshape, unsqueeze


def only_tensors(xs: list) -> None:
    """Refuse what is no tensor."""
    for i, x in enumerate(xs):
        if not isinstance(x, np.ndarray):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}"
            )


# ---- along a dimension that exists -----------------------------------------------------------

SKIPPED = (0,)  # empty 1-d tensors join anything


def cat_args(xs: list, dim: Any, axis_: Any = None, out: Any = None) -> tuple:
    """The dimension and the extents along it; None for what is skipped."""
    only_tensors(xs)
    shape = xs[0].shape
    if len(shape) > 1 and all(x.shape == shape for x in xs):
        d = axis(dim if axis_ is None else axis_, len(shape))
        return d, (shape[d],) * len(xs)
    for i, x in enumerate(xs):
        if x.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    first = next((x for x in xs if x.shape != SKIPPED), xs[0])
    d = axis(dim if axis_ is None else axis_, first.ndim)
    rest = first.shape[:d] + first.shape[d + 1 :]
    lengths: list[int | None] = []
    for i, x in enumerate(xs):
        if x.shape == SKIPPED != first.shape:
            lengths.append(None if first.ndim > 1 else 0)
            continue
        if x.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}"
            )
        if x.shape[:d] + x.shape[d + 1 :] != rest:
            n, m = next(
                (n, m)
                for k, (n, m) in enumerate(zip(first.shape, x.shape, strict=True))
                if k != d and n != m
            )
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {d}. Expected size {n} but got "
                f"size {m} for tensor number {i} in the list."
            )
        lengths.append(x.shape[d])
    return d, tuple(lengths)


def cat_run(xs: list, dim: int, lengths: tuple) -> np.ndarray:
    """np.concatenate without what is skipped."""
    if None in lengths:
        xs = [x for x, n in zip(xs, lengths, strict=True) if n is not None]
    return joined(xs, dim)


def joined(xs: list, dim: int) -> np.ndarray:
    """np.concatenate into row-major memory."""
    out = np.concatenate(xs, dim)
    return out if out.flags.c_contiguous else np.ascontiguousarray(out)


def cat_rule(g: Any, dim: int, lengths: tuple) -> list:
    """Consecutive slices of the gradient."""
    parts, at = [], 0
    for n in lengths:
        if n is None:
            parts.append(np.zeros(SKIPPED))
        else:
            parts.append(apply(slice_.op, g, (dim, at, at + n, 1)))
            at += n
    return parts


LIST = """
if type(tensors) in KINDS:
    raise TypeError("{0}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
tensors = list(tensors)
if not tensors:
    raise {1}
if out is not None:
    return into(out, {0}(tensors, dim, axis=axis), OP, getframe(1))
"""
SIGNATURE = "tensors, dim=0, *, axis=None, out=None"
cat = primitive(
    "cat",
    "*xs; dim lengths",
    kind=MOVE,
    run=cat_run,
    bind=cat_args,
    alias=False,
    grad=dict(xs=cat_rule),
    sig=SIGNATURE,
    prologue=LIST.format("cat", "ValueError('torch.cat(): expected a non-empty list of Tensors')"),
    doc="Tensors joined along a dimension.",
)
alias(cat, "concat", "concatenate")


def stack_args(xs: list, dim: Any, axis_: Any = None, out: Any = None) -> tuple:
    """The new dimension; equal shapes."""
    only_tensors(xs)
    shape = xs[0].shape
    for i, x in enumerate(xs):
        if x.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(x.shape)} at entry {i}"
            )
    return (axis(dim if axis_ is None else axis_, len(shape) + 1),)


def stack_run(xs: list, dim: int) -> np.ndarray:
    """Joined along a new dimension."""
    shape = xs[0].shape
    shape = (*shape[:dim], 1, *shape[dim:])
    return joined([x.reshape(shape) for x in xs], dim)


stack = primitive(
    "stack",
    "*xs; dim",
    kind=MOVE,
    run=stack_run,
    bind=stack_args,
    alias=False,
    grad=dict(xs=lambda g, dim: unbind(g, dim)),
    sig=SIGNATURE,
    prologue=LIST.format("stack", "RuntimeError('stack expects a non-empty TensorList')"),
    doc="Tensors joined along a new dimension.",
)


# ---- with at least so many dimensions --------------------------------------------------------


def raised(x: Tensor, n: int) -> Tensor:
    """One tensor with at least n dimensions."""
    if type(x) not in KINDS:
        raise TypeError(f"atleast_{n}d(): argument must be Tensor, not {type(x).__name__}")
    have = x.array.ndim
    if have == 0:
        return reshape(x, (1,) * n)
    if have == 1 and n > 1:
        x = unsqueeze(x, 0)
    return unsqueeze(x, -1) if n == 3 and have < 3 else x


def at_least(n: int) -> Callable:
    """atleast_1d and its like."""

    def fn(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
            return raised(tensors[0], n)
        given = tensors[0] if len(tensors) == 1 else tensors
        return tuple(raised(x, n) for x in given)

    fn.__name__ = fn.__qualname__ = f"atleast_{n}d"
    fn.__doc__ = f"Each tensor with at least {n} dimension{'s' * (n > 1)}."
    return function_only(fn)


atleast_1d, atleast_2d, atleast_3d = at_least(1), at_least(2), at_least(3)


def stacker(name: str, prepare: Callable, dim: Callable[[list], int], doc: str) -> Callable:
    """hstack and its like: cat along one dimension of prepared tensors."""

    def fn(tensors: Any, *, out: Tensor | None = None) -> Tensor:
        if not len(tensors):
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        parts = [prepare(x) for x in tensors]
        return cat(parts, dim(parts), out=out)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = doc
    return function_only(fn)


def as_column(x: Tensor) -> Tensor:
    """Vectors as columns."""
    return reshape(x, (x.array.size, 1)) if x.array.ndim < 2 else x


hstack = stacker("hstack", atleast_1d, lambda xs: int(xs[0].array.ndim > 1), "Side by side.")
vstack = stacker("vstack", atleast_2d, lambda xs: 0, "One above the other, vectors as rows.")
dstack = stacker("dstack", atleast_3d, lambda xs: 2, "One behind the other.")
column_stack = stacker("column_stack", as_column, lambda xs: 1, "Vectors side by side as columns.")
alias(vstack, "row_stack")


# ---- blocks ----------------------------------------------------------------------------------


def blocks_args(xs: list) -> tuple:
    """Where each block goes: (rows, columns, its own shape)."""
    only_tensors(xs)
    places, row, col = [], 0, 0
    for i, x in enumerate(xs):
        if x.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {x.ndim} dimensions"
            )
        n, m = x.shape if x.ndim == 2 else (1, x.size)
        places.append(((slice(row, row + n), slice(col, col + m)), x.shape))
        row, col = row + n, col + m
    return (tuple(places),)


def blocks_run(xs: list, places: tuple) -> np.ndarray:
    """Zeros with the blocks on the diagonal."""
    rows, cols = places[-1][0]
    out = np.zeros((rows.stop, cols.stop), xs[0].dtype)
    for x, (key, _) in zip(xs, places, strict=True):
        out[key] = x
    return out


blocks = primitive(
    "_block_diag",
    "*xs; places",
    kind=MOVE,
    run=blocks_run,
    bind=blocks_args,
    alias=False,
    title="BlockDiagBackward0",
    sig="tensors",
    grad=dict(
        xs=lambda g, places: [apply(basic.op, g, (key,)).reshape(shape) for key, shape in places]
    ),
    doc="Matrices along the diagonal of a larger one.",
)


@function_only
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along the diagonal of a larger one, vectors as rows."""
    if not tensors:
        return plain(np.zeros((1, 0), dt.numpy_of(dt.default())))
    return blocks(tensors)


# ---- a common shape --------------------------------------------------------------------------


def common_shape(tensors: Any, name: str) -> tuple:
    """The shape that all broadcast to."""
    shapes = [x.array.shape for x in tensors]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        so_far: tuple = ()
        for shape in shapes:
            try:
                so_far = np.broadcast_shapes(so_far, shape)
            except ValueError:
                raise errors.bad_broadcast(name, [so_far, shape], where.here()) from None
        raise


@function_only
def broadcast_tensors(*tensors: Any) -> tuple:
    """All tensors expanded to their common shape."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    shape = common_shape(given, "broadcast_tensors")
    return tuple(x if x.array.shape == shape else expand(x, shape) for x in given)


@function_only
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple:
    """Coordinates as grids: one grid per vector. indexing: "ij" (rows first) or "xy"."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.",
            UserWarning,
            stacklevel=3,
        )
        indexing = "ij"
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x in given:
        if x.array.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: shape "
                f"{list(x.array.shape)}"
            )
        if x.array.dtype != given[0].array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    places = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        places[:2] = 1, 0
    shape = [1] * len(given)
    for x, d in zip(given, places, strict=True):
        shape[d] = x.array.size
    grids = []
    for x, d in zip(given, places, strict=True):
        line = reshape(x, (1,) * d + (-1,) + (1,) * (len(given) - 1 - d))
        grids.append(expand(line, tuple(shape)))
    return tuple(grids)


def vectors(xs: Any) -> None:
    """Refuse what is no vector."""
    for x in xs:
        if x.array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.array.shape)}")


@function_only
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, one row each."""
    vectors(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(grid) for grid in meshgrid(*tensors, indexing="ij")], 1)


@function_only
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All selections of r elements of a vector, one row each."""
    vectors([input])
    if whole(r, "r") < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return plain(np.empty(0, input.array.dtype))
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(pick(range(input.array.size), r)), np.int64).reshape(-1, r)
    picks = [plain(np.ascontiguousarray(rows[:, k])) for k in range(r)]
    return stack([input.index_select(0, k) for k in picks], 1)  # type: ignore[attr-defined]
