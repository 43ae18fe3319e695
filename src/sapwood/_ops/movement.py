"""MOVE with a copy: joining, repeating, padding, triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.border import function, function_only, method
from sapwood._core.door import TABLE, apply, primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.axes import axes, axis, flat, sizes
from sapwood._ops.views import expand, reshape, unview

clone = primitive(
    "clone", "x", kind=MOVE, run=lambda a: np.array(a, order="K"), dtype="keep", alias=True,
    grad=dict(x=lambda g: g), sig="input, *, memory_format=None", bind=lambda a, memory_format: (),
    doc="A copy with the gradient passed on.")


@method
def contiguous(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor itself where its elements lie in row-major order, else a copy that does."""
    return self if self.array.flags.c_contiguous else compact(self)


compact = primitive(
    "_contiguous", "x", kind=MOVE, run=lambda a: np.array(a, order="C"), dtype="keep",
    alias=True, title="CloneBackward0", grad=dict(x=lambda g: g), doc="A row-major copy.")

# ---- joining ---------------------------------------------------------------------------------


def cat_args(xs: list, dim: Any) -> tuple:
    """The dimension and the extents along it."""
    if not xs:
        raise ValueError("expected a non-empty list of Tensors")
    for i, x in enumerate(xs):
        if not isinstance(x, np.ndarray):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
        if x.ndim == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    first = next((x for x in xs if x.shape != (0,)), xs[0])
    d = axis(dim, first.ndim)
    for i, x in enumerate(xs):
        if x.shape == (0,):
            continue
        if x.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for k, (n, m) in enumerate(zip(first.shape, x.shape, strict=True)):
            if k != d and n != m:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {d}. Expected size {n} but "
                    f"got size {m} for tensor number {i} in the list."
                )
    return d, tuple(x.shape[d] if x.shape != (0,) or first.ndim == 1 else -1 for x in xs)


def cat_run(xs: list, dim: int, lengths: tuple) -> np.ndarray:
    """np.concatenate without the empty 1-d tensors that PyTorch skips."""
    return np.concatenate([x for x, n in zip(xs, lengths, strict=True) if n >= 0] or xs[:1], dim)


def cat_parts(g: Any, dim: int, lengths: tuple) -> list:
    """The slices of the gradient, one per input."""
    basic = TABLE["_index_basic"]
    parts, start = [], 0
    for n in lengths:
        if n < 0:
            parts.append(None)
            continue
        key = (slice(None),) * dim + (slice(start, start + n),)
        parts.append(apply(basic, g, (key,)))
        start += n
    return parts


cat = primitive(
    "cat", "*xs; dim lengths", kind=MOVE, run=cat_run, dtype="promote", alias=True,
    grad=dict(xs=cat_parts), sig="tensors, dim=0", bind=cat_args,
    doc="Tensors joined along a dimension.")


def stack_args(xs: list, dim: Any) -> tuple:
    """The new dimension; equal shapes."""
    if not xs:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, x in enumerate(xs):
        if not isinstance(x, np.ndarray):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
        if x.shape != xs[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(xs[0].shape)} at "
                f"entry 0 and {list(x.shape)} at entry {i}"
            )
    return (axis(dim, xs[0].ndim + 1),)


stack = primitive(
    "stack", "*xs; dim", kind=MOVE, run=lambda xs, dim: np.stack(xs, dim), dtype="promote",
    alias=True, grad=dict(xs=lambda g, dim: TABLE["unbind"].door(g, dim)),
    sig="tensors, dim=0", bind=stack_args, doc="Tensors joined along a new dimension.")


@function_only
def concat(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors joined along a dimension."""
    return cat(tensors, dim)


@function_only
def concatenate(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors joined along a dimension."""
    return cat(tensors, dim)


def at_least(tensors: Any, n: int) -> list:
    """Each tensor with at least n dimensions, as NumPy's atleast_nd adds them."""
    return [expand_dims(t, n) for t in tensors]


def expand_dims(t: Tensor, n: int) -> Tensor:
    """One tensor with at least n dimensions."""
    shape = t.array.shape
    if len(shape) >= n:
        return t
    if n == 3 and len(shape) == 2:
        return reshape(t, (*shape, 1))
    if n == 3:
        return reshape(t, (1, *(shape or (1,)), 1))
    return reshape(t, (1,) * (n - len(shape)) + shape)


@function_only
def hstack(tensors: Any) -> Tensor:
    """Joined along columns."""
    parts = at_least(tensors, 1)
    return cat(parts, 0 if parts[0].array.ndim == 1 else 1)


@function_only
def vstack(tensors: Any) -> Tensor:
    """Joined along rows."""
    return cat(at_least(tensors, 2), 0)


@function_only
def row_stack(tensors: Any) -> Tensor:
    """Joined along rows."""
    return cat(at_least(tensors, 2), 0)


@function_only
def dstack(tensors: Any) -> Tensor:
    """Joined along depth."""
    return cat(at_least(tensors, 3), 2)


@function_only
def column_stack(tensors: Any) -> Tensor:
    """1-d tensors as columns."""
    return cat([reshape(t, (t.array.size, 1)) if t.array.ndim <= 1 else t for t in tensors], 1)


def at_least_n(n: int) -> Any:
    """atleast_1d, atleast_2d, atleast_3d."""

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return expand_dims(tensors[0], n)
        return tuple(at_least(flat(tensors), n))

    call.__name__ = f"atleast_{n}d"
    call.__doc__ = f"Tensors with at least {n} dimensions."
    return function_only(call)


atleast_1d, atleast_2d, atleast_3d = at_least_n(1), at_least_n(2), at_least_n(3)

# ---- repeating and turning ---------------------------------------------------------------------


def repeat_sizes(a: np.ndarray, repeats: tuple) -> tuple:
    """One count per dimension, new ones in front."""
    found = sizes(repeats, "repeat")
    if len(found) < a.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    if any(n < 0 for n in found):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(found)}")
    return (found,)


def unrepeat(g: Any, repeats: tuple, shape: tuple) -> Any:
    """The sum over all repetitions."""
    lead = len(repeats) - len(shape)
    full = (1,) * lead + tuple(shape)
    split = [v for r, n in zip(repeats, full, strict=True) for v in (r, n)]
    total = TABLE["sum"].door(reshape(g, tuple(split)), tuple(range(0, len(split), 2)))
    return reshape(total, shape)


repeat = primitive(
    "repeat", "x; repeats", kind=MOVE, run=np.tile, dtype="keep", alias=False,
    grad=dict(x=lambda g, repeats, x_shape: unrepeat(g, repeats, x_shape)),
    sig="input, *repeats", bind=repeat_sizes, doc="The tensor repeated along each dimension.")


@function
def tile(input: Tensor, *dims: Any) -> Tensor:
    """As repeat, with ones added in front of too few counts."""
    found = sizes(dims, "tile")
    return repeat(input, (1,) * (input.array.ndim - len(found)) + found)


@function
def repeat_interleave(
    input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice repeated in place."""
    x = reshape(input, (-1,)) if dim is None else input
    d = axis(dim or 0, x.array.ndim)
    counts = repeats.array if isinstance(repeats, Tensor) else repeats
    index = np.repeat(np.arange(x.array.shape[d]), counts)
    return x.index_select(d, plain(index))  # type: ignore[attr-defined]


def flip_dims(a: np.ndarray, dims: tuple) -> tuple:
    """The dimensions to turn round."""
    found = flat(dims)
    return (axes(found, a.ndim) if found else (),)


flip = primitive(
    "flip", "x; dims", kind=MOVE, run=lambda a, dims: np.array(np.flip(a, dims), order="C"),
    dtype="keep", alias=False, grad=dict(x=lambda g, dims: flip(g, dims)), sig="input, *dims",
    bind=flip_dims, doc="The order of elements turned round along dimensions.")


@function
def fliplr(input: Tensor) -> Tensor:
    """Columns turned round."""
    return flip(input, (1,))


@function
def flipud(input: Tensor) -> Tensor:
    """Rows turned round."""
    return flip(input, (0,))


def roll_args(a: np.ndarray, shifts: Any, dims: Any) -> tuple:
    """Shifts and dimensions of equal number."""
    s = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    if dims is None or dims == ():
        return tuple(s), None
    d = dims if isinstance(dims, (tuple, list)) else (dims,)
    if len(s) != len(d):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(s)}, dims:{len(d)}")
    return tuple(s), tuple(axis(k, a.ndim) for k in d)


roll = primitive(
    "roll", "x; shifts dims", kind=MOVE, dtype="keep", alias=False,
    run=lambda a, shifts, dims: np.roll(a, shifts if dims is not None else shifts[0], dims),
    grad=dict(x=lambda g, shifts, dims: roll(g, tuple(-s for s in shifts), dims)),
    sig="input, shifts, dims=None", bind=roll_args, doc="Elements shifted round.")


@function
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Turned by 90 degrees k times."""
    a, b = axes(dims, input.array.ndim)
    if k % 4 == 1:
        return flip(input.transpose(a, b), (a,))  # type: ignore[attr-defined]
    if k % 4 == 2:
        return flip(input, (a, b))
    if k % 4 == 3:
        return flip(input.transpose(a, b), (b,))  # type: ignore[attr-defined]
    return clone(input)


# ---- padding and triangles ---------------------------------------------------------------------


def pad_run(a: np.ndarray, pad: tuple, value: float) -> np.ndarray:
    """Pad (or, with negative numbers, cut) the last dimensions."""
    pairs = [(0, 0)] * (a.ndim - len(pad) // 2) + [
        (pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    cut = tuple(slice(max(-lo, 0), n - max(-hi, 0))
                for (lo, hi), n in zip(pairs, a.shape, strict=True))
    wide = [(max(lo, 0), max(hi, 0)) for lo, hi in pairs]
    return np.pad(a[cut], wide, constant_values=value)


def pad_args(a: np.ndarray, pad: Any, value: Any) -> tuple:
    """An even number of pads, no more than fit."""
    found = tuple(int(p) for p in pad)
    if len(found) % 2 or len(found) // 2 > a.ndim:
        raise RuntimeError(
            f"Length of pad should be even and no more than twice the number of dimensions of the "
            f"input. Pad length is {len(found)} while the input has {a.ndim} dimensions."
        )
    return found, value


constant_pad = primitive(
    "constant_pad_nd", "x; pad value", kind=MOVE, run=pad_run, dtype="keep", alias=False,
    grad=dict(x=lambda g, pad: constant_pad(g, tuple(-p for p in pad), 0.0)),
    sig="input, pad, value=0", bind=pad_args, title="ConstantPadNdBackward0",
    doc="Padded with a value; pads are given from the last dimension backwards.")

tril = primitive(
    "tril", "x; k", kind=MOVE, run=np.tril, dtype="keep", alias=False, in_place=True,
    grad=dict(x=lambda g, k: tril(g, k)), sig="input, diagonal=0",
    bind=lambda a, diagonal: (matrix(a, "tril", diagonal),), doc="The lower triangle; zeros above.")
triu = primitive(
    "triu", "x; k", kind=MOVE, run=np.triu, dtype="keep", alias=False, in_place=True,
    grad=dict(x=lambda g, k: triu(g, k)), sig="input, diagonal=0",
    bind=lambda a, diagonal: (matrix(a, "triu", diagonal),), doc="The upper triangle; zeros below.")


def matrix(a: np.ndarray, name: str, k: int) -> int:
    """Triangles need two dimensions."""
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return k


@function
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension as the diagonal of new matrices."""
    shape = input.array.shape
    n = shape[-1] + abs(offset)
    a, b = axis(dim1, len(shape) + 1), axis(dim2, len(shape) + 1)
    full = list(shape[:-1])
    for d in sorted((a, b)):
        full.insert(d, n)
    return unview(input, "diagonal", (offset, a, b), tuple(full))


@function
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix from its diagonal, or the diagonal of a matrix."""
    if input.array.ndim == 1:
        return diag_embed(input, diagonal)
    if input.array.ndim != 2:
        raise RuntimeError(
            "diag(): Supports 1D or 2D tensors. Got " + f"{input.array.ndim}D")
    return clone(TABLE["diagonal"].door(input, diagonal, 0, 1))


@function
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with the flattened input as diagonal."""
    return diag_embed(reshape(input, (-1,)), offset)


@function_only
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along the diagonal of a larger one."""
    parts = [expand_dims(t, 2) for t in tensors]
    width = sum(p.array.shape[1] for p in parts)
    rows, at = [], 0
    for p in parts:
        n = p.array.shape[1]
        rows.append(constant_pad(p, (at, width - at - n), 0))
        at += n
    return cat(rows, 0)


# ---- grids -------------------------------------------------------------------------------------


@function_only
def broadcast_tensors(*tensors: Any) -> tuple:
    """All tensors expanded to their common shape."""
    parts = flat(tensors)
    shape = np.broadcast_shapes(*(t.array.shape for t in parts))
    return tuple(expand(t, shape) for t in parts)


@function_only
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple:
    """Coordinate grids of 1-d tensors."""
    parts = list(flat(tensors))
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"torch.meshgrid: indexing must be one of \"xy\" or \"ij\", got {indexing}")
    swap = indexing == "xy" and len(parts) >= 2
    if swap:
        parts[:2] = parts[1::-1]
    shape = tuple(p.array.size for p in parts)
    grids = []
    for i, p in enumerate(parts):
        view = reshape(p, tuple(n if k == i else 1 for k, n in enumerate(shape)))
        grids.append(expand(view, shape))
    if swap:
        grids = [g.transpose(0, 1) for g in grids]
        grids[:2] = grids[1::-1]
    return tuple(grids)


@function_only
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of elements, one row each."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(g, (-1,)) for g in meshgrid(*tensors)], 1)


def narrow_key(input: Tensor, dim: int, start: Any, length: int) -> tuple:
    """The key of a narrow view."""
    d = axis(dim, input.array.ndim)
    n = input.array.shape[d]
    start = int(start.item() if isinstance(start, Tensor) else start)  # type: ignore[attr-defined]
    if not -n <= start <= n:
        raise IndexError(
            f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start += n if start < 0 else 0
    if length < 0 or start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return (slice(None),) * d + (slice(start, start + length),)


@function
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`length` slices along a dimension from `start`."""
    return TABLE["_index_basic"].door(input, narrow_key(input, dim, start, length))


@function
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One slice along a dimension."""
    if input.array.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = axis(dim, input.array.ndim)
    n = input.array.shape[d]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.array.shape)} "
            f"at dimension {d}"
        )
    return TABLE["_index_basic"].door(input, (slice(None),) * d + (index % n,))
