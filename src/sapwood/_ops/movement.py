"""MOVE with a copy: the same elements in other places, some of them several times or not at all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sapwood._core.border import function, method
from sapwood._core.device import channels_last, channels_last_3d, contiguous_format, preserve_format
from sapwood._core.device import memory_format as format_type
from sapwood._core.door import apply, primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.axes import axis, different, named, sizes, whole
from sapwood._ops.layout import ordered
from sapwood._ops.overlay import fit
from sapwood._ops.parts import diagonal, diagonal_args, diagonal_run, unview
from sapwood._ops.views import expand, flatten, unsqueeze, view


def moving(name: str, spec: str, **fields: Any) -> Any:
    """The record of a rearranged copy of one operand."""
    return primitive(name, spec, kind=MOVE, dtype="keep", alias=False, **fields)


# ---- copies ----------------------------------------------------------------------------------

RANKS = {channels_last: 4, channels_last_3d: 5}


def memory_order(a: np.ndarray, memory_format: Any) -> tuple:
    """NumPy's letter for a memory format; L for channels last."""
    if memory_format is None or memory_format is preserve_format:
        return ("K",)
    if memory_format is contiguous_format:
        return ("C",)
    if not isinstance(memory_format, format_type):
        raise TypeError(
            "argument 'memory_format' must be torch.memory_format, not "
            f"{type(memory_format).__name__}"
        )
    if a.ndim != RANKS[memory_format]:
        raise RuntimeError(
            f"required rank {RANKS[memory_format]} tensor to use {memory_format.name} format"
        )
    return ("L",)


def clone_run(a: np.ndarray, order: str) -> np.ndarray:
    """A copy in some order of memory."""
    if order == "L":
        return np.moveaxis(np.array(np.moveaxis(a, 1, -1), order="C"), -1, 1)
    if order == "K" and not a.flags.forc and 0 in a.strides:
        return ordered(a, [a.strides])
    return np.array(a, order=order)  # type: ignore[call-overload]


clone = moving(
    "clone",
    "x; order",
    run=clone_run,
    bind=memory_order,
    sig="input, *, memory_format=None",
    grad=dict(x=lambda g: g),
    doc="A copy through which gradients flow.",
)


def lies(a: np.ndarray, memory_format: Any) -> bool:
    """Whether the elements lie in memory in the order of a memory format."""
    if memory_format in (None, contiguous_format, preserve_format):
        return a.flags.c_contiguous
    rank = RANKS.get(memory_format)
    return a.ndim == rank and np.moveaxis(a, 1, -1).flags.c_contiguous


@method
def contiguous(self: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """The tensor itself where its elements lie in row-major order, else a copy that does."""
    if lies(self.array, memory_format):
        return self
    return clone(self, memory_format=memory_format)


# ---- other places ----------------------------------------------------------------------------


def flip_args(a: np.ndarray, dims: tuple, keywords: dict | None = None) -> tuple:
    """Different dimensions."""
    return (different(sizes(named(dims, keywords, "flip", "dims"), "flip", "dims"), a.ndim),)


def flip_run(a: np.ndarray, dims: tuple) -> np.ndarray:
    """Some dimensions backwards."""
    turn = slice(None, None, -1)
    return np.array(a[tuple(turn if d in dims else slice(None) for d in range(a.ndim))], order="K")


flip = moving(
    "flip",
    "x; dims",
    run=flip_run,
    bind=flip_args,
    sig="input, *dims, **keywords",
    grad=dict(x=lambda g, dims: apply(flip.op, g, (dims,))),
    doc="Some dimensions in reverse order.",
)


@function
def fliplr(input: Tensor) -> Tensor:
    """Columns in reverse order."""
    if input.array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


@function
def flipud(input: Tensor) -> Tensor:
    """Rows in reverse order."""
    if input.array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


def roll_args(a: np.ndarray, shifts: Any, dims: Any) -> tuple:
    """One shift per dimension; no dimensions: the flattened tensor is shifted."""
    s = sizes(
        shifts if isinstance(shifts, (tuple, list)) else named((shifts,), None, "roll", "shifts"),
        "roll",
        "shifts",
    )
    d = () if dims is None else dims if isinstance(dims, (tuple, list)) else (dims,)
    if not s:
        raise RuntimeError("`shifts` required")
    if len(s) != len(d) and (d or len(s) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(s)}, dims:{len(d)}")
    if d and not a.ndim:
        raise IndexError(f"Dimension specified as {d[0]} but tensor has no dimensions")
    return s, tuple(axis(k, a.ndim) for k in d)


def roll_run(a: np.ndarray, shifts: tuple, dims: tuple) -> np.ndarray:
    """Elements shifted round."""
    if not dims:
        return roll_run(a.reshape(-1), shifts, (0,)).reshape(a.shape)
    out = a
    for shift, d in zip(shifts, dims, strict=True):
        n = out.shape[d]
        k = shift % n if n else 0
        if k:
            lead = (slice(None),) * d
            out = np.concatenate((out[(*lead, slice(n - k, n))], out[(*lead, slice(n - k))]), d)
    return np.array(out, order="C")


roll = moving(
    "roll",
    "x; shifts dims",
    run=roll_run,
    bind=roll_args,
    sig="input, shifts, dims=None",
    grad=dict(x=lambda g, shifts, dims: apply(roll.op, g, (tuple(-s for s in shifts), dims))),
    doc="Elements shifted round, along dimensions or in the flattened tensor.",
)


def rot90_args(a: np.ndarray, k: Any, dims: Any) -> tuple:
    """Two different dimensions."""
    k, dims = whole(k, "k"), tuple(dims)
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if a.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {a.ndim}")
    d = tuple(axis(i, a.ndim) for i in dims)
    if d[0] == d[1]:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return k, d


def rot90_run(a: np.ndarray, k: int, dims: tuple) -> np.ndarray:
    """k quarter turns from the first towards the second dimension."""
    k %= 4
    out = flip_run(a, ((), (dims[1],), dims, (dims[0],))[k])
    return out.swapaxes(*dims) if k % 2 else out


rot90 = moving(
    "rot90",
    "x; k dims",
    run=rot90_run,
    bind=rot90_args,
    sig="input, k=1, dims=(0, 1)",
    grad=dict(x=lambda g, k, dims: apply(rot90.op, g, (-k, dims))),
    doc="k quarter turns in the plane of two dimensions.",
)


# ---- padding and triangles -------------------------------------------------------------------


def pad_args(a: np.ndarray, pad: Any, value: Any) -> tuple:
    """Pairs of numbers, at most one per dimension; extents stay non-negative."""
    found = sizes(tuple(pad), "constant_pad_nd", "pad")
    if len(found) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(found)}")
    if len(found) > 2 * a.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad "
            f"length is {len(found)} while the input has {a.ndim} dimensions."
        )
    for i in range(len(found) // 2):
        n, low, high = a.shape[a.ndim - 1 - i], found[2 * i], found[2 * i + 1]
        if n + low + high < 0:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {low} and {high} resulted in a "
                "negative output size, which is invalid. Check dimension "
                f"{a.ndim - 1 - i} of your input."
            )
    return found, 0 if value is None else value


def pad_run(a: np.ndarray, pad: tuple, value: Any) -> np.ndarray:
    """Padded, or where a number is negative cut, from the last dimension backwards."""
    shape, inner, outer = list(a.shape), [slice(None)] * a.ndim, [slice(None)] * a.ndim
    for i in range(len(pad) // 2):
        d, low, high = a.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        n = shape[d]
        shape[d] += low + high
        inner[d] = slice(max(-low, 0), n - max(-high, 0))
        outer[d] = slice(max(low, 0), shape[d] - max(high, 0))
    out = np.full(shape, value, a.dtype) if value else np.zeros(shape, a.dtype)
    out[tuple(outer)] = a[tuple(inner)]
    return out


constant_pad = moving(
    "constant_pad_nd",
    "x; pad value",
    run=pad_run,
    bind=pad_args,
    sig="input, pad, value=0",
    grad=dict(x=lambda g, pad: apply(constant_pad.op, g, (tuple(-p for p in pad), 0))),
    doc="Padded with a number, pairs from the last dimension backwards; negative ones cut.",
)


def triangle(name: str, run: Any, doc: str) -> Any:
    """The record of a triangle."""

    def args(a: np.ndarray, diagonal: Any) -> tuple:
        if a.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return (whole(diagonal, "diagonal"),)

    door = moving(
        name,
        "x; diagonal",
        run=run,
        bind=args,
        sig="input, diagonal=0",
        in_place=True,
        grad=dict(x=lambda g, attrs: apply(door.op, g, attrs)),
        doc=doc,
    )
    return door


tril = triangle("tril", np.tril, "The lower triangle of matrices, zeros above.")
triu = triangle("triu", np.triu, "The upper triangle of matrices, zeros below.")


# ---- diagonals -------------------------------------------------------------------------------


def embed_args(a: np.ndarray, offset: Any, dim1: Any, dim2: Any) -> tuple:
    """Two different dimensions of the result."""
    if not a.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    offset, d1, d2 = whole(offset, "offset"), axis(dim1, a.ndim + 1), axis(dim2, a.ndim + 1)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return offset, d1, d2


def embed_run(a: np.ndarray, offset: int, dim1: int, dim2: int) -> np.ndarray:
    """Zeros with the last dimension on a diagonal."""
    shape = list(a.shape[:-1])
    for d in sorted((dim1, dim2)):
        shape.insert(d, a.shape[-1] + abs(offset))
    out = np.zeros(shape, a.dtype)
    diagonal_run(out, offset, dim1, dim2)[...] = a
    return out


diag_embed = moving(
    "diag_embed",
    "x; offset dim1 dim2",
    run=embed_run,
    bind=embed_args,
    sig="input, offset=0, dim1=-2, dim2=-1",
    grad=dict(x=lambda g, attrs: apply(diagonal.op, g, attrs)),
    doc="Matrices of zeros with the last dimension on a diagonal.",
)
diagonal_copy = moving(
    "diagonal_copy",
    "x; offset dim1 dim2",
    title="DiagonalBackward0_copy",
    bind=diagonal_args,
    run=lambda a, offset, dim1, dim2: np.array(diagonal_run(a, offset, dim1, dim2)),
    sig="input, offset=0, dim1=0, dim2=1",
    grad=dict(x=lambda g, attrs, x_shape: unview(g, "diagonal", attrs, x_shape)),
    doc="A copy of a diagonal, as the last dimension.",
)


@function
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix from its diagonal, or the diagonal of a matrix."""
    n = input.array.ndim
    if n not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
    return diag_embed(input, diagonal) if n == 1 else diagonal_copy(input, diagonal)


@function
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with the flattened input on a diagonal."""
    return diag_embed(view(contiguous(input), (-1,)), offset)


# ---- repetition ------------------------------------------------------------------------------


def repeat_args(a: np.ndarray, repeats: tuple, keywords: dict | None = None) -> tuple:
    """One number per dimension of the result."""
    found = sizes(named(repeats, keywords, "repeat", "repeats"), "repeat", "repeats")
    if len(found) < a.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    shape = [n * k for n, k in zip((1,) * (len(found) - a.ndim) + a.shape, found, strict=True)]
    if min(shape, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {shape}")
    return (found,)


def woven(shape: tuple, repeats: tuple) -> tuple[list, list]:
    """Shapes with a dimension of repetitions before each dimension: of extent 1, and in full."""
    shape = (1,) * (len(repeats) - len(shape)) + shape
    pairs = list(zip(repeats, shape, strict=True))
    return [k for _, n in pairs for k in (1, n)], [k for pair in pairs for k in pair]


def repeat_run(a: np.ndarray, repeats: tuple) -> np.ndarray:
    """The whole, again and again along each dimension."""
    one, full = woven(a.shape, repeats)
    out = np.empty(full, a.dtype)
    out[...] = a.reshape(one)
    return out.reshape([n * k for k, n in zip(full[::2], full[1::2], strict=True)])


def repeat_rule(g: Any, repeats: tuple, x_shape: tuple, x_dtype: Any) -> Any:
    """The sum over repetitions."""
    one, full = woven(x_shape, repeats)
    return fit(g.reshape(tuple(full)), tuple(one), x_dtype).reshape(x_shape)


repeat = moving(
    "repeat",
    "x; repeats",
    run=repeat_run,
    bind=repeat_args,
    grad=dict(x=repeat_rule),
    sig="input, *repeats, **keywords",
    doc="The whole tensor, again and again.",
)


@function
def tile(input: Tensor, *dims: Any, **keywords: Any) -> Tensor:
    """As repeat; missing numbers are 1."""
    found = named(dims, keywords, "tile", "dims")
    return repeat(input, (1,) * (input.array.ndim - len(found)) + found)


@function
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Every element several times in a row; with one argument, each index that often."""
    if repeats is None:
        return plain(counted(input.array, input.array.size))
    if type(repeats) is int or not hasattr(repeats, "array"):
        return interleave_equally(input, whole(repeats, "repeats"), dim)
    if dim is None:
        input, dim = flatten(input), 0
    d = axis(dim, input.array.ndim)
    n = input.array.shape[d] if input.array.ndim else 1
    times = repeats.array
    if times.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if times.size not in (1, n):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{times.size} and input.size({d}) = {n}"
        )
    index = counted(np.broadcast_to(times.reshape(-1), (n,)), n)
    if output_size is not None and output_size != index.size:
        raise RuntimeError("allocated size does not match required size")
    return input.index_select(d, plain(index))  # type: ignore[attr-defined]


def counted(times: np.ndarray, n: int) -> np.ndarray:
    """Each of n indices as often as `times` says."""
    if times.dtype.kind not in "iu" or times.itemsize < 4:
        kind = plain(times).dtype.title
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{kind}'")
    if times.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if times.size and times.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return np.repeat(np.arange(n, dtype=times.dtype), times)


def interleave_equally(input: Tensor, times: int, dim: int | None) -> Tensor:
    """Every element equally often."""
    if times < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        input, dim = flatten(input), 0
    if not input.array.ndim:
        input = flatten(input)
    d = axis(dim, input.array.ndim)
    shape = input.array.shape
    wide = expand(unsqueeze(input, d + 1), (*shape[: d + 1], times, *shape[d + 1 :]))
    copy = clone(wide, memory_format=contiguous_format)
    return view(copy, (*shape[:d], math.prod((shape[d], times)), *shape[d + 1 :]))
