"""MOVE without copying: the same elements, seen through another shape.

The derivative of every view is its transpose: put the gradient where the elements came from.
`unview` does that for all views that select (`embed` in the gradient of a gradient is the view).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as np_as_strided

from sapwood._core.border import function, method
from sapwood._core.door import TABLE, apply, primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import Tensor
from sapwood._ops.axes import axes, axis, flat, infer, sizes


def overlaps(a: np.ndarray) -> bool:
    """Whether two positions of a view may be one element (unfold, expand, as_strided)."""
    order = sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1)
    reach = 0
    for stride, n in order:
        if stride < reach + a.itemsize:
            return True
        reach += stride * (n - 1)
    return False


def add_region(buffer: np.ndarray, g: np.ndarray, op: Any, attrs: tuple) -> None:
    """Add g into the part of `buffer` that the view step selects, in place."""
    region = op.run(buffer, *attrs)
    if overlaps(region):
        index = op.run(np.arange(buffer.size).reshape(buffer.shape), *attrs)
        np.add.at(buffer.reshape(-1), index.reshape(-1), g.reshape(-1))
    else:
        region += g


def unview_run(x: np.ndarray, name: str, attrs: tuple, shape: tuple) -> np.ndarray:
    """Zeros of `shape` with x added where the view `name(attrs)` looks."""
    out = np.zeros(shape, x.dtype)
    add_region(out, x, TABLE[name], attrs)
    return out


unview = primitive(
    "_unview", "x; name values shape", kind=MOVE, run=unview_run, dtype="keep", alias=False,
    title=lambda node: f"{TABLE[node.attrs[0]].node_class.__name__}Backward",
    grad=dict(x=lambda g, name, values: apply(TABLE[name], g, values)),
    doc="Zeros with x where a view looks: the transpose of the view.",
)


def selecting(name: str, attrs: str, **record: Any) -> Any:
    """The record of a view that selects: its gradient goes into a region of zeros."""
    names = attrs.split()
    text = f"lambda g, {', '.join([*names, 'x_shape'])}: " \
           f"unview(g, {name!r}, ({''.join(n + ', ' for n in names)}), x_shape)"
    rule = eval(text, {"unview": unview})  # noqa: S307 (a lambda with the attributes' names)
    return primitive(
        name, f"x; {attrs}", kind=MOVE, view=True, dtype="keep", grad=dict(x=rule),
        add_into=eval(f"lambda buffer, g, {', '.join(names)}: add(buffer, g, TABLE[{name!r}], "
                      f"({''.join(n + ', ' for n in names)}))",
                      {"add": add_region, "TABLE": TABLE}), **record)


# ---- other shapes ----------------------------------------------------------------------------


def view_run(a: np.ndarray, shape: tuple) -> np.ndarray:
    """Reshape without a copy, or PyTorch's error."""
    try:
        return np.reshape(a, shape, copy=False)
    except ValueError:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        ) from None


reshape = primitive(
    "reshape", "x; shape", kind=MOVE, view="maybe", dtype="keep", title="ViewBackward0",
    run=np.reshape, grad=dict(x=lambda g, x_shape: reshape(g, x_shape)),
    sig="input, *shape", bind=lambda a, shape: (infer(sizes(shape, "reshape"), a.size),),
    doc="The elements in another shape: a view where memory allows, else a copy.")
view_shape = primitive(
    "_view", "x; shape", kind=MOVE, view=True, dtype="keep", title="ViewBackward0",
    run=view_run, grad=dict(x=lambda g, x_shape: reshape(g, x_shape)),
    sig="input, *shape", bind=lambda a, shape: (infer(sizes(shape, "view"), a.size),),
    doc="The elements in another shape, always a view.")
view_bits = primitive(
    "_view_dtype", "x; np_dtype", kind=MOVE, view=True, dtype="keep", grad={},
    title="ViewBackward1", run=lambda a, np_dtype: a.view(np_dtype),
    doc="The bytes as another dtype.")


@method
def view(self: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """The same elements in another shape, or the same bytes in another dtype; always a view."""
    from sapwood._core import dtype as dt

    kind = dtype if dtype is not None else shape[0] if len(shape) == 1 else None
    if isinstance(kind, dt.dtype):
        return view_bits(self, dt.numpy_of(kind))
    return view_shape(self, *shape)


@method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of another tensor."""
    return view_shape(self, other.array.shape)


@method
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Reshape to the shape of another tensor."""
    return reshape(self, other.array.shape)


@function
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from start_dim to end_dim into one."""
    shape = input.array.shape
    if not shape:
        return reshape(input, (1,))
    a, b = axis(start_dim, len(shape)), axis(end_dim, len(shape))
    if a > b:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if a == b:
        return input
    return reshape(input, shape[:a] + (math.prod(shape[a : b + 1]),) + shape[b + 1 :])


@function
def ravel(input: Tensor) -> Tensor:
    """One dimension; a view where memory allows."""
    return reshape(input, (-1,)) if input.array.ndim != 1 else input


@function
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Split one dimension into several."""
    shape = input.array.shape
    d = axis(dim, len(shape))
    return reshape(input, shape[:d] + infer(tuple(sizes), shape[d]) + shape[d + 1 :])


def squeeze_axes(a: np.ndarray, dim: Any) -> tuple:
    """The dimensions of extent 1 among those asked for."""
    chosen = axes(dim, a.ndim) if dim is not None else range(a.ndim)
    return (tuple(d for d in chosen if a.shape[d] == 1),)


squeeze = primitive(
    "squeeze", "x; dims", kind=MOVE, view=True, dtype="keep", title="SqueezeBackward0",
    run=lambda a, dims: a.squeeze(dims) if dims else a.view(),
    grad=dict(x=lambda g, x_shape: reshape(g, x_shape)), sig="input, dim=None",
    bind=squeeze_axes, doc="Without the dimensions of extent 1 (all, or those given).")
unsqueeze = primitive(
    "unsqueeze", "x; dim", kind=MOVE, view=True, dtype="keep", title="UnsqueezeBackward0",
    run=lambda a, dim: a[(slice(None),) * dim + (None,)],
    grad=dict(x=lambda g, x_shape: reshape(g, x_shape)),
    bind=lambda a, dim: (axis(dim, a.ndim + 1),), doc="With a dimension of extent 1 at `dim`.")

# ---- other orders ----------------------------------------------------------------------------


def permutation(a: np.ndarray, dims: tuple) -> tuple:
    """The order of dimensions, checked."""
    found = tuple(axis(d, a.ndim) for d in flat(dims))
    if len(found) != a.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {a.ndim} is not "
            f"equal to len(dims) = {len(found)}"
        )
    if len(set(found)) != len(found):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return (found,)


def inverse(dims: tuple) -> tuple:
    """The permutation that undoes `dims`."""
    out = [0] * len(dims)
    for i, d in enumerate(dims):
        out[d] = i
    return tuple(out)


permute = primitive(
    "permute", "x; dims", kind=MOVE, view=True, dtype="keep",
    run=lambda a, dims: a.transpose(dims) if a.ndim else a.view(),
    grad=dict(x=lambda g, dims: permute(g, inverse(dims))), sig="input, *dims",
    bind=permutation, doc="The dimensions in another order.")
transpose = primitive(
    "transpose", "x; dim0 dim1", kind=MOVE, view=True, dtype="keep",
    run=lambda a, dim0, dim1: a.swapaxes(dim0, dim1) if a.ndim else a.view(),
    grad=dict(x=lambda g, dim0, dim1: transpose(g, dim0, dim1)),
    bind=lambda a, dim0, dim1: (axis(dim0, a.ndim), axis(dim1, a.ndim)),
    doc="Two dimensions swapped.")


def at_most_2d(a: np.ndarray) -> tuple:
    """t() is for matrices."""
    if a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return ()


t = primitive("t", "x", kind=MOVE, view=True, dtype="keep", run=lambda a: a.T, title="TBackward0",
              grad=dict(x=lambda g: t(g)), bind=at_most_2d, doc="The transpose of a matrix.")


@function
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions swapped."""
    return transpose(input, axis0, axis1)


@function
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped."""
    return transpose(input, dim0, dim1)


@function
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the rest in order."""
    n = input.array.ndim
    one = not isinstance(source, (tuple, list))
    a = axes((source,) if one else source, n)
    b = axes((destination,) if one else destination, n)
    if len(a) != len(b):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({list(a)} dims) should contain the same number of dims as destination "
            f"({list(b)} dims)"
        )
    rest = iter(d for d in range(n) if d not in a)
    places = dict(zip(b, a, strict=True))
    return permute(input, tuple(places[i] if i in places else next(rest) for i in range(n)))


@function
def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the rest in order."""
    return movedim(input, source, destination)


@function
def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of the last two dimensions."""
    return transpose(input, -2, -1).conj()  # type: ignore[attr-defined]


# ---- broadcasting ----------------------------------------------------------------------------


def expand_shape(a: np.ndarray, size: tuple) -> tuple:
    """The expanded shape; -1 keeps an extent."""
    want = list(sizes(size, "expand"))
    lead = len(want) - a.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand(torch.{a.dtype}{{{list(a.shape)}}}, size={want}): the number of sizes "
            f"provided ({len(want)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({a.ndim})"
        )
    for i, n in enumerate(want):
        have = a.shape[i - lead] if i >= lead else None
        if n == -1:
            if have is None:
                raise RuntimeError(
                    f"The expanded size of the tensor (-1) isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            want[i] = have
        elif n < 0 or (have not in (None, 1) and have != n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  Target sizes: {want}.  Tensor sizes: "
                f"{list(a.shape)}"
            )
    return (tuple(want),)


def expand_run(a: np.ndarray, shape: tuple) -> np.ndarray:
    """Stride 0 where an extent of 1 is repeated; writable where nothing is."""
    lead = len(shape) - a.ndim
    strides = tuple(
        0 if i < lead or (a.shape[i - lead] == 1 and n != 1) else a.strides[i - lead]
        for i, n in enumerate(shape)
    )
    return np_as_strided(a, shape, strides)


expand = primitive(
    "expand", "x; shape", kind=MOVE, view=True, dtype="keep", run=expand_run,
    grad=dict(x=lambda g, x_shape, x_dtype: TABLE["_fit"].door(g, x_shape, x_dtype)),
    sig="input, *size", bind=expand_shape, doc="Repeated along dimensions of extent 1, no copy.")


@method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expanded to the shape of another tensor."""
    return expand(self, other.array.shape)


@function
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """Expanded to a shape."""
    return expand(input, tuple(size))


# ---- parts -----------------------------------------------------------------------------------


def diagonal_run(a: np.ndarray, offset: int, dim1: int, dim2: int) -> np.ndarray:
    """A writable view of a diagonal, as the last dimension."""
    shape = [n for i, n in enumerate(a.shape) if i not in (dim1, dim2)]
    strides = [s for i, s in enumerate(a.strides) if i not in (dim1, dim2)]
    rows, cols = a.shape[dim1], a.shape[dim2]
    n = max(min(rows + min(offset, 0), cols - max(offset, 0)), 0)
    start = [slice(None)] * a.ndim
    start[dim1 if offset < 0 else dim2] = slice(abs(offset), None)
    part = a[tuple(start)] if n else a
    return np_as_strided(part, (*shape, n), (*strides, a.strides[dim1] + a.strides[dim2]))


def diagonal_dims(a: np.ndarray, offset: int, dim1: int, dim2: int) -> tuple:
    """Two different dimensions."""
    d1, d2 = axis(dim1, a.ndim), axis(dim2, a.ndim)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return offset, d1, d2


diagonal = selecting(
    "diagonal", "offset dim1 dim2", run=diagonal_run, sig="input, offset=0, dim1=0, dim2=1",
    bind=diagonal_dims, doc="The elements of a diagonal, as the last dimension.")


def windows(a: np.ndarray, dim: int, size: int, step: int) -> np.ndarray:
    """Overlapping windows along a dimension, as the last dimension."""
    if a.ndim == 0:
        return a.reshape(1)[:size]
    n = (a.shape[dim] - size) // step + 1
    shape = a.shape[:dim] + (n,) + a.shape[dim + 1 :] + (size,)
    strides = a.strides[:dim] + (a.strides[dim] * step,) + a.strides[dim + 1 :]
    return np_as_strided(a, shape, (*strides, a.strides[dim]))


def window_args(a: np.ndarray, dimension: int, size: int, step: int) -> tuple:
    """Windows that fit."""
    d = axis(dimension, a.ndim)
    extent = a.shape[d] if a.ndim else 1
    if not 0 <= size <= extent:
        raise RuntimeError(
            f"maximum size for tensor at dimension {d} is {extent} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return d, size, step


unfold = selecting("unfold", "dimension size step", run=windows, bind=window_args,
                   doc="Windows of `size` every `step` along a dimension, as the last dimension.")


def strided_run(a: np.ndarray, size: tuple, stride: tuple, storage_offset: int) -> np.ndarray:
    """Any strides over the memory that the array is a part of."""
    whole = a
    while isinstance(whole.base, np.ndarray) and whole.base.dtype == a.dtype:
        whole = whole.base
    base = np_as_strided(whole, (whole.size,), (a.itemsize,))
    return np_as_strided(base[storage_offset:], size, tuple(s * a.itemsize for s in stride))


def strided_args(a: np.ndarray, size: Any, stride: Any, storage_offset: Any) -> tuple:
    """Strides within the memory."""
    size, stride = sizes(tuple(size), "as_strided"), sizes(tuple(stride), "as_strided")
    whole = a
    while isinstance(whole.base, np.ndarray) and whole.base.dtype == a.dtype:
        whole = whole.base
    start = storage_offset
    if start is None:
        start = (a.__array_interface__["data"][0] - whole.__array_interface__["data"][0])
        start //= a.itemsize
    last = start + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if len(size) != len(stride) or min((*stride, start), default=0) < 0:
        raise RuntimeError(f"as_strided: bad size {size}, stride {stride} or offset {start}")
    if math.prod(size) and last >= whole.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and "
            f"itemsize {a.itemsize} requiring a storage size of {(last + 1) * a.itemsize} are out "
            f"of bounds for storage of size {whole.size * a.itemsize}"
        )
    return size, stride, start


as_strided = selecting(
    "as_strided", "size stride storage_offset", run=strided_run,
    sig="input, size, stride, storage_offset=None", bind=strided_args, title="AsStridedBackward0",
    doc="Any size and strides over the same memory.")

Tensor.T = property(lambda self: permute(self, tuple(range(self.array.ndim))[::-1]))  # type: ignore[attr-defined]
Tensor.mT = property(lambda self: transpose(self, -2, -1))  # type: ignore[attr-defined]
Tensor.H = property(lambda self: t(self).conj())  # type: ignore[attr-defined]
Tensor.mH = property(lambda self: adjoint(self))  # type: ignore[attr-defined]
