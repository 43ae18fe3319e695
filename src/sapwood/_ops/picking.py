"""PICK by an index operand or a mask: gather, index_select, take, masked_select; nonzero.

The records have operands first; the public functions keep PyTorch's order (input, dim, index).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import function
from sapwood._core.door import primitive
from sapwood._core.op import PICK
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.adding import add_along, add_at, add_rows, along
from sapwood._ops.axes import axis
from sapwood._ops.joining import common_shape
from sapwood._ops.views import expand, flatten, tensor

Array = np.ndarray


def picking(name: str, spec: str, **fields: Any) -> Any:
    """The record of an operation that picks; only x has a dtype to keep."""
    return primitive(name, spec, kind=PICK, dtype="keep x", alias=False, **fields)


def title(a: Any) -> str:
    """The dtype of an array in the words of PyTorch's messages."""
    return dt.of(a.dtype).title


# ---- along a dimension -----------------------------------------------------------------------


def integers(index: Array, text: str) -> None:
    """Refuse what is no int32 or int64."""
    if index.dtype.kind not in "iu" or index.itemsize < 4:
        raise RuntimeError(text)


def within(index: Array, n: int, dim: int) -> None:
    """Refuse negative and too large positions."""
    if index.size and (index.min() < 0 or index.max() >= n):
        bad = index[(index < 0) | (index >= n)][0] if index.ndim else index
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {n}")


def gather_args(x: Array, index: Array, dim: Any) -> tuple:
    """An index that fits the tensor in all dimensions but one."""
    d = axis(dim, x.ndim)
    integers(index, "gather(): Expected dtype int32/int64 for index")
    if not index.size:
        return (d,)
    if max(index.ndim, 1) != max(x.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for k, (n, m) in enumerate(zip(index.shape, x.shape, strict=False)):
        if k != d and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(index.shape)} to be no "
                f"larger than self {list(x.shape)} apart from dimension {d}"
            )
    within(index, x.shape[d] if x.ndim else 1, d)
    return (d,)


def gather_run(x: Array, index: Array, dim: int) -> Array:
    """x[..., index, ...] along dim."""
    if not index.size:
        return np.empty(index.shape, x.dtype)
    if not x.ndim:
        return np.full(index.shape, x)
    if not index.ndim:
        return np.asarray(x[index])
    return np.asarray(x[along(x.shape, dim, index)], order="C")


def ungather_run(x: Array, index: Array, dim: int, shape: tuple) -> Array:
    """Zeros of `shape` with x added where gather picks."""
    out = np.zeros(shape, x.dtype)
    add_along(out, dim, index, x)
    return out


gather_of = picking(
    "_gather",
    "x index; dim",
    run=gather_run,
    bind=gather_args,
    title="GatherBackward0",
    grad=dict(x=lambda g, index, dim, x_shape: ungather(g, index, dim, x_shape)),
    add_into=lambda buffer, g, index, dim: add_along(buffer, dim, index, g),
    doc="Elements along a dimension by position.",
)
ungather = picking(
    "_ungather",
    "x index; dim shape",
    run=ungather_run,
    title="ScatterAddBackward0",
    grad=dict(x=lambda g, index, dim: gather_of(g, index, dim)),
    doc="Zeros with x added where gather picks.",
)


@function
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Elements along a dimension by position: out[i, j] = input[index[i, j], j] for dim 0."""
    return gather_of(input, tensor(index, "gather", "argument 'index' (position 3)"), dim)


@function
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """As gather, with both broadcast to each other; without dim in the flattened tensor."""
    if indices.array.dtype != np.int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{title(indices.array)}"
        )
    if dim is None:
        return gather_of(flatten(input), flatten(indices), 0)
    n, m = input.array.ndim, indices.array.ndim
    if n != m:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {n} dimensions for input, and {m} dimensions for indices"
        )
    d = axis(dim, n)
    sizes = [list(x.array.shape) for x in (input, indices)]
    for s in sizes:
        s[d : d + 1] = [1]
    shape = list(common_shape([plain(np.empty(s, bool)) for s in sizes], "take_along_dim"))
    parts = []
    for x in (input, indices):
        want = (*shape[:d], x.array.shape[d], *shape[d + 1 :])
        parts.append(x if x.array.shape == want else expand(x, want))
    return gather_of(parts[0], parts[1], d)


# ---- slices by index -------------------------------------------------------------------------


def index_select_args(x: Array, index: Array, dim: Any) -> tuple:
    """A vector of positions."""
    d = axis(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    integers(index, "index_select(): Expected dtype int32 or int64 for index")
    if index.size and (index.min() < 0 or index.max() >= (x.shape[d] if x.ndim else 1)):
        raise IndexError("index out of range in self")
    if not x.ndim and index.size != 1:
        raise IndexError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    return (d,)


def index_select_run(x: Array, index: Array, dim: int) -> Array:
    """Slices along a dimension by position."""
    if not x.ndim:
        return np.array(x)
    return np.asarray(x[(*(slice(None),) * dim, index.reshape(-1))], order="C")


def unselect_run(x: Array, index: Array, dim: int, shape: tuple) -> Array:
    """Zeros of `shape` with x added where index_select picks."""
    out = np.zeros(shape, x.dtype)
    add_rows(out, dim, index, x)
    return out


index_select_of = picking(
    "_index_select",
    "x index; dim",
    run=index_select_run,
    bind=index_select_args,
    title="IndexSelectBackward0",
    grad=dict(x=lambda g, index, dim, x_shape: unselect(g, index, dim, x_shape)),
    add_into=lambda buffer, g, index, dim: add_rows(buffer, dim, index, g),
    doc="Slices along a dimension by position.",
)
unselect = picking(
    "_index_unselect",
    "x index; dim shape",
    run=unselect_run,
    title="IndexAddBackward0",
    grad=dict(x=lambda g, index, dim: index_select_of(g, index, dim)),
    doc="Zeros with x added where index_select picks.",
)


@function
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Slices along a dimension by position."""
    return index_select_of(
        input, tensor(index, "index_select", "argument 'index' (position 3)"), dim
    )


# ---- in the flattened tensor -----------------------------------------------------------------


def flat_index(x: Array, index: Any, name: str) -> Array:
    """int64 positions in the flattened tensor, negative ones from the end."""
    if not isinstance(index, np.ndarray):
        raise TypeError(
            f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {title(index)}")
    if index.size:
        bad = index[(index < -x.size) | (index >= x.size)] if index.ndim else index.reshape(1)
        bad = bad[(bad < -x.size) | (bad >= x.size)]
        if bad.size and not x.size:
            raise IndexError(f"{name}(): tried to {name} from an empty tensor")
        if bad.size:
            raise IndexError(
                f"out of range: tried to access index {bad[0]} on a tensor of {x.size} elements."
            )
    return index


def untake_run(x: Array, index: Array, shape: tuple) -> Array:
    """Zeros of `shape` with x added where take picks."""
    out = np.zeros(shape, x.dtype)
    add_flat(out, x, index)
    return out


def add_flat(buffer: Array, g: Array, index: Array) -> None:
    """Add g where take picks."""
    if not index.size:
        return
    if buffer.flags.c_contiguous:
        np.add.at(buffer.reshape(-1), index.reshape(-1), g.reshape(-1))
    else:
        add_at(buffer, np.unravel_index(index % buffer.size, buffer.shape), g)


take = picking(
    "take",
    "x index",
    run=lambda x, index: np.take(x, flat_index(x, index, "take")),
    grad=dict(x=lambda g, index, x_shape: untake(g, index, x_shape)),
    sig="input, index",
    add_into=lambda buffer, g, index: add_flat(buffer, g, index),
    doc="Elements by position in the flattened tensor.",
)
untake = picking(
    "_untake",
    "x index; shape",
    run=untake_run,
    title="PutBackward0",
    grad=dict(x=lambda g, index: take(g, index)),
    doc="Zeros with x added where take picks.",
)


# ---- by a mask -------------------------------------------------------------------------------


def mask_shape(mask: Array, x: Array) -> tuple:
    """The shape that both broadcast to."""
    for d, (n, m) in enumerate(zip(reversed(mask.shape), reversed(x.shape), strict=False), 1):
        if n != m and 1 not in (n, m):
            at = max(mask.ndim, x.ndim) - d
            raise RuntimeError(
                f"The size of tensor a ({n}) must match the size of tensor b ({m}) "
                f"at non-singleton dimension {at}"
            )
    return np.broadcast_shapes(mask.shape, x.shape)


def select_masked(x: Array, mask: Any) -> Array:
    """The elements where mask holds; both broadcast."""
    if not isinstance(mask, np.ndarray):
        raise TypeError(
            "masked_select(): argument 'mask' (position 2) must be Tensor, not "
            f"{type(mask).__name__}"
        )
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = mask_shape(mask, x)
    return np.broadcast_to(x, shape)[np.broadcast_to(mask, shape)]


def unmask_run(x: Array, mask: Array, shape: tuple) -> Array:
    """Zeros of `shape` with the elements of x where mask holds."""
    out = np.zeros(shape, x.dtype)
    out[np.broadcast_to(mask, shape)] = x
    return out


masked_select = picking(
    "masked_select",
    "x mask",
    run=select_masked,
    sig="input, mask",
    grad=dict(x=lambda g, mask, x_shape: unmask(g, mask, np.broadcast_shapes(x_shape, mask.shape))),
    doc="The elements where mask holds, in one dimension.",
)
unmask = picking(
    "_unmask",
    "x mask; shape",
    run=unmask_run,
    title="MaskedScatterBackward0",
    grad=dict(x=lambda g, mask: masked_select(g, mask)),
    doc="Zeros with the elements of x where mask holds.",
)


# ---- where something is ----------------------------------------------------------------------


@function
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of elements that are not zero: one row each, or a tensor per dimension."""
    a = input.array
    if as_tuple:
        found = np.nonzero(a if a.ndim else a.reshape(1))
        return tuple(plain(np.ascontiguousarray(k)) for k in found)
    if not a.ndim:
        return plain(np.empty((int(bool(a)), 0), np.int64))
    return plain(np.stack(np.nonzero(a), 0).T)


@function
def argwhere(input: Tensor) -> Tensor:
    """The positions of elements that are not zero, one row each."""
    return nonzero(input)
