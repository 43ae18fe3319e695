"""PICK that writes slices or elements: index_add, index_copy, index_fill, put, masked_scatter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.adding import add_rows
from sapwood._ops.axes import axis
from sapwood._ops.index import on_copy
from sapwood._ops.movement import constant_pad
from sapwood._ops.picking import (
    add_flat,
    flat_index,
    index_select_of,
    integers,
    mask_shape,
    masked_select,
    picking,
    take,
    title,
    within,
)
from sapwood._ops.scatter import offered, reduce_args, reduce_into, reduce_x, reduce_y, writing
from sapwood._ops.select import convert, masked_fill
from sapwood._ops.views import tensor

Array = np.ndarray


# ---- along one dimension ---------------------------------------------------------------------


def vector(x: Array, index: Array, dim: Any, name: str) -> int:
    """A vector (or one position) within the dimension."""
    d = axis(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {index.ndim} "
            f"with type: {title(index)} and size: {list(index.shape)}"
        )
    integers(index, f"{name}_(): Expected dtype int32/int64 for index but got: {title(index)}")
    return d


def rows(x: Array, index: Array, dim: int) -> tuple[Array, tuple]:
    """The array and the key of whole slices."""
    x = x if x.ndim else x.reshape(1)
    return x, (*(slice(None),) * dim, index.reshape(-1))


def index_add_args(x: Array, index: Array, y: Array, dim: Any, alpha: Any) -> tuple:
    """One slice of the source per position."""
    d = vector(x, index, dim, "index_add")
    if y.dtype != x.dtype:
        raise RuntimeError(
            f"index_add_(): self ({title(x)}) and source ({title(y)}) must have the "
            "same scalar type"
        )
    n = y.shape[d] if y.ndim else 1
    if index.size != n:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.size}) should be equal to "
            f"source.size(dim): ({n}), for dim: {d}"
        )
    if x.ndim != y.ndim or x.shape[:d] + x.shape[d + 1 :] != y.shape[:d] + y.shape[d + 1 :]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(x.shape)} source.shape = {list(y.shape)}"
        )
    within(index, x.shape[d] if x.ndim else 1, d)
    return d, alpha


def index_add_into(x: Array, index: Array, y: Array, dim: int, alpha: Any) -> None:
    """Add alpha times the slices of y."""
    add_rows(x, dim, index, y if alpha == 1 else y * np.asarray(alpha).astype(y.dtype))


def scaled(g: Any, index: Any, dim: int, alpha: Any, shape: tuple) -> Any:
    """The slices of the gradient, times alpha."""
    found = index_select_of(g, index, dim)
    return (found if alpha == 1 else found * alpha).reshape(shape)


index_sum = writing(
    "_index_add",
    "x index y; dim alpha",
    index_add_into,
    bind=index_add_args,
    title="IndexAddBackward0",
    grad=dict(
        x=lambda g: g, y=lambda g, index, dim, alpha, y_shape: scaled(g, index, dim, alpha, y_shape)
    ),
    doc="x with slices added along a dimension by position.",
)


@offered
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> tuple:
    """input with alpha times the slices of source added at the positions in index."""
    return index_sum, input, index, tensor(source, "index_add"), dim, alpha


def index_copy_args(x: Array, index: Array, y: Array, dim: Any) -> tuple:
    """One slice of the source per position."""
    d = axis(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if y.dtype != x.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got "
            f"(self) {title(x)} and (source) {title(y)}"
        )
    if index.dtype != np.int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {title(index)}"
        )
    if y.ndim != x.ndim and y.ndim and x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({y.ndim}), destination dimensionality ({x.ndim})"
        )
    n = y.shape[d] if y.ndim else 1
    if index.size != n:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to "
            f"source.size(dim) ({n})"
        )
    a, b = (v.shape[:d] + v.shape[d + 1 :] for v in (x, y))
    if a != b and y.ndim and x.ndim:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, a))} at dimension {d} and source slice shape: "
            f"{' '.join(map(str, b))} at dimension {d}."
        )
    n = x.shape[d] if x.ndim else 1
    if index.size and (index.min() < 0 or index.max() >= n):
        bad = index.reshape(-1)[(index.reshape(-1) < 0) | (index.reshape(-1) >= n)][0]
        raise IndexError(
            f"index_copy_(): index {bad} is out of bounds for dimension {d} with size {n}"
        )
    return (d,)


def index_copy_into(x: Array, index: Array, y: Array, dim: int) -> None:
    """Write the slices of y."""
    target, key = rows(x, index, dim)
    target[key] = y if y.ndim == target.ndim else y.reshape(target[key].shape)


def fill_args(x: Array, index: Array, dim: Any, value: Any) -> tuple:
    """Positions, negative ones from the end, and a number."""
    d = axis(dim, x.ndim)
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if isinstance(value, complex) and x.dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    n = x.shape[d] if x.ndim else 1
    flat = index.reshape(-1)
    if flat.size and (flat.min() < -n or flat.max() >= n):
        bad = flat[(flat < -n) | (flat >= n)][0]
        raise IndexError(f"index {bad} is out of bounds for dimension {d} with size {n}")
    return d, convert(value, x.dtype)


def fill_into(x: Array, index: Array, dim: int, value: Any) -> None:
    """Write a number into slices."""
    target, key = rows(x, index, dim)
    target[key] = value


def erase_rows(g: Array, index: Array, dim: int) -> Array:
    """g with zeros in slices."""
    fill_into(g, index, dim, 0)
    return g


def tensor_fill_args(x: Array, index: Array, y: Array, dim: Any) -> tuple:
    """As for a number."""
    if y.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor "
            f"with {y.ndim} dimension(s)."
        )
    return fill_args(x, index, dim, y.item())[:1]


index_copy_of = writing(
    "_index_copy",
    "x index y; dim",
    index_copy_into,
    bind=index_copy_args,
    title="IndexCopyBackward0",
    grad=dict(
        x=lambda g, index, dim: index_fill_value(g, index, dim, 0),
        y=lambda g, index, dim, y_shape: scaled(g, index, dim, 1, y_shape),
    ),
    erase=erase_rows,
    doc="x with slices written along a dimension by position.",
)
index_fill_value = writing(
    "_index_fill",
    "x index; dim value",
    fill_into,
    order="K",
    bind=fill_args,
    title="IndexFillBackward0",
    grad=dict(x=lambda g, index, dim: index_fill_value(g, index, dim, 0)),
    erase=erase_rows,
    doc="x with a number in the slices at some positions.",
)
index_fill_tensor = writing(
    "_index_fill_tensor",
    "x index y; dim",
    lambda x, index, y, dim: fill_into(x, index, dim, convert(y, x.dtype)),
    order="K",
    bind=tensor_fill_args,
    title="IndexFillBackward1",
    grad=dict(
        x=lambda g, index, dim: index_fill_value(g, index, dim, 0),
        y=lambda g, index, dim: filled(g, index, dim),
    ),
    erase=erase_rows,
    doc="x with a 0-d tensor in the slices at some positions.",
)


def filled(g: Any, index: Any, dim: int) -> Any:
    """The gradient in the slices that were filled; the pass sums it up."""
    a, i = (v.array if type(v) in KINDS else v for v in (g, index))
    at = np.unique(i % (a.shape[dim] if a.ndim else 1))  # once each, none from the end
    return index_select_of(g, plain(at) if type(g) in KINDS else at, dim)


@offered
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> tuple:
    """input with the slices of source written at the positions in index."""
    return index_copy_of, input, index, tensor(source, "index_copy"), dim


@offered
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> tuple:
    """input with a number, or a 0-d tensor, in the slices at the positions in index."""
    if type(value) in KINDS:
        return index_fill_tensor, input, index, value, dim
    return index_fill_value, input, index, dim, value


# ---- in the flattened tensor, and by a mask --------------------------------------------------


def put_args(x: Array, index: Array, y: Array, accumulate: Any) -> tuple:
    """One element of the source per position."""
    flat_index(x, index, "put_")
    if y.dtype != x.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got "
            f"self.dtype = {title(x)} and source.dtype = {title(y)}"
        )
    if y.size != index.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {y.size}, index.numel() = {index.size}"
        )
    return (bool(accumulate),)


def put_into(x: Array, index: Array, y: Array, accumulate: bool) -> None:
    """Write (or add) by position in the flattened tensor."""
    if accumulate:
        add_flat(x, y, index.reshape(-1))
    elif x.flags.c_contiguous:
        x.reshape(-1)[index.reshape(-1)] = y.reshape(-1)
    else:
        np.put(x, index, y)


def put_rule(g: Any, index: Any, accumulate: bool, x_dtype: Any) -> Any:
    """The gradient, zero where something was written."""
    if accumulate:
        return g
    shape = (index.array if type(index) in KINDS else index).shape
    return put_of(g, index, np.zeros(shape, x_dtype), False)


put_of = writing(
    "_put",
    "x index y; accumulate",
    put_into,
    order="K",
    bind=put_args,
    title="PutBackward0",
    grad=dict(x=put_rule, y=lambda g, index, y_shape: take(g, index).reshape(y_shape)),
    doc="x with elements written (or added) by position in the flattened tensor.",
)


@offered
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> tuple:
    """input with elements written (or added) by position in the flattened tensor."""
    return put_of, input, index, tensor(source, "put"), accumulate


def masked_args(x: Array, mask: Any, y: Array) -> None:
    """Enough elements for the mask."""
    if not isinstance(mask, np.ndarray) or mask.dtype.kind != "b":
        kind = title(mask) if isinstance(mask, np.ndarray) else type(mask).__name__
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {kind}"
        )
    if x.dtype != y.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{title(x)} and {title(y)}"
        )


def masked_into(x: Array, mask: Array, y: Array) -> None:
    """Write the elements of y, in order, where mask holds."""
    masked_args(x, mask, y)
    mask = np.broadcast_to(mask, x.shape)
    n = int(np.count_nonzero(mask))
    if n > y.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    x[mask] = y.reshape(-1)[:n]


def masked_scatter_run(x: Array, mask: Array, y: Array) -> Array:
    """The same on a copy, broadcast to the mask."""
    masked_args(x, mask, y)
    out = np.array(np.broadcast_to(x, mask_shape(mask, x)), order="C")
    masked_into(out, mask, y)
    return out


def of_elements(g: Any, mask: Any, shape: tuple) -> Any:
    """The gradient where mask holds, in the first places of a source."""
    found = masked_select(g, mask)
    return constant_pad(found, (0, math.prod(shape) - found.shape[0]), 0).reshape(shape)


masked_scatter = picking(
    "masked_scatter",
    "x mask y",
    run=masked_scatter_run,
    into=masked_into,
    in_place=True,
    sig="input, mask, source",
    grad=dict(
        x=lambda g, mask: masked_fill(g, mask, 0),
        y=lambda g, mask, y_shape: of_elements(g, mask, y_shape),
    ),
    doc="input with the elements of source, in order, where mask holds.",
)


# ---- index_reduce ----------------------------------------------------------------------------

index_reduce_of = picking(  # no `into`: its rules read x and the result
    "_index_reduce",
    "x index y; dim reduce include_self",
    run=on_copy(reduce_into),
    bind=reduce_args,
    in_place="_index_reduce_",
    title="IndexReduceBackward0",
    grad=dict(x=reduce_x, y=reduce_y),
    source="as scatter_reduce",
    doc="x with slices reduced into it along a dimension by position.",
)


@offered
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> tuple:
    """input with slices of source reduced into it (prod, mean, amax, amin) at positions."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    x, y, at = input.array, tensor(source, "index_reduce").array, index.array
    d = vector(x, at, dim, "index_reduce")
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"index_reduce(): self ({title(x)}) and source ({title(y)}) must have "
            "the same scalar type"
        )
    n = y.shape[d] if y.ndim else 1
    if at.size != n:
        raise RuntimeError(
            f"index_reduce(): Number of indices ({at.size}) should be equal to "
            f"source.size(dim): ({n}), for dim: {d}"
        )
    if x.shape[:d] + x.shape[d + 1 :] != y.shape[:d] + y.shape[d + 1 :]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(x.shape)} source.shape = {list(y.shape)}"
        )
    line = at.reshape(-1, *(1,) * (y.ndim - d - 1)) if y.ndim else at.reshape(())
    return (
        index_reduce_of,
        input,
        plain(np.broadcast_to(line, y.shape)),
        source,
        d,
        reduce,
        include_self,
    )
