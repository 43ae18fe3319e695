"""Tensors from values that exist: numbers, lists, arrays, buffers, other libraries' tensors.

`tensor` always copies; `as_tensor`, `asarray`, `from_numpy`, `frombuffer` and `from_dlpack` share
memory where they can.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.border import FUNCTIONS, METHODS, NAMES, function_only
from sapwood._core.inside import merge_cuts
from sapwood._core.mode import MODE
from sapwood._core.tensor import Tensor
from sapwood._ops.arguments import integer_range, no_room, resolve
from sapwood._ops.make import Array, made

NUMBERS = frozenset({bool, int, float, complex})
TEXT = (str, bytes)


# ---- nested lists -----------------------------------------------------------------------------


def is_row(x: Any) -> bool:
    """Whether `x` is a sequence of elements; tensors are elements themselves."""
    if type(x) in (list, tuple):
        return True
    return (
        hasattr(x, "__getitem__")
        and hasattr(x, "__len__")
        and not isinstance(x, (Tensor, dict, np.generic, *TEXT))
        and not (isinstance(x, np.ndarray) and x.ndim == 0)
    )


def extents(data: Any) -> list[int]:
    """The shape of nested sequences, read off their first elements."""
    shape: list[int] = []
    while is_row(data):
        shape.append(len(data))
        if len(shape) > 64:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not shape[-1]:
            break
        data = data[0]
    return shape


def flatten(data: Any, shape: list[int]) -> list:
    """The elements of nested sequences in order; refuses ragged ones with PyTorch's phrase."""
    rows = [data]
    for dim, n in enumerate(shape):
        below: list = []
        for row in rows:
            if not is_row(row):
                raise TypeError(
                    f"not a sequence: {row!r:.60} stands at dim {dim}, where its neighbours are "
                    f"sequences of length {n}, at {where.here()}"
                )
            if len(row) != n:
                raise ValueError(
                    f"expected sequence of length {n} at dim {dim} (got {len(row)}): rows differ "
                    f"in length, at {where.here()}"
                )
            below.extend(row)
        rows = below
    return rows


def kind_of_element(x: Any) -> dt.dtype:
    """The dtype that one element has by itself."""
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, (np.generic, np.ndarray)):
        return dt.of(x.dtype)
    if isinstance(x, (bool, int, float, complex)):
        return dt.of_number(x)
    if isinstance(x, TEXT):
        raise invalid(x)
    if is_row(x):
        raise TypeError(
            f"'{type(x).__name__}' object cannot be interpreted as an integer: {x!r:.60} stands "
            f"where its neighbours are numbers, at {where.here()}"
        )
    raise RuntimeError(f"Could not infer dtype of {type(x).__name__}: {x!r:.60} at {where.here()}")


def invalid(x: Any) -> TypeError:
    """The error for text."""
    return TypeError(f"new(): invalid data type '{type(x).__name__}': {x!r:.40} at {where.here()}")


def element(x: Any) -> Any:
    """One element as a Python number."""
    if isinstance(x, Tensor):
        if x.array.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars: a list of tensors "
                f"of shape {list(x.array.shape)} is made into one by stack() or cat()"
            )
        return x.array.item()
    return x.item() if isinstance(x, (np.generic, np.ndarray)) else x


def from_sequence(data: Any, kind: dt.dtype | None) -> Array:
    """An array from a number or nested sequences of numbers, arrays and 1-element tensors."""
    if type(data) is float and (kind is None or kind.is_floating_point):
        return as_floats(data, dt.numpy_of(kind or dt.default()))
    if isinstance(data, (list, tuple)) and data and all(type(x) is np.ndarray for x in data):
        return from_arrays(data, kind)
    shape = extents(data)
    flat = flatten(data, shape)
    types = set(map(type, flat))
    if not types <= NUMBERS:
        kinds = {kind_of_element(x) for x in flat}
        flat = [element(x) for x in flat]
    else:
        kinds = {dt.of_number(t()) for t in types}
    if kind is None:
        for found in kinds:
            kind = found if kind is None else dt.promote_types(kind, found)
    kind = kind or dt.default()
    return numbers_to_array(flat, kind).reshape(shape)


def from_arrays(data: Any, kind: dt.dtype | None) -> Array:
    """A list of arrays, stacked."""
    first = data[0]
    for x in data:
        if x.shape != first.shape:
            have, want = (len(y) if y.ndim else 0 for y in (x, first))
            raise ValueError(
                f"expected sequence of length {want} at dim 1 (got {have}): arrays of "
                f"shapes {list(first.shape)} and {list(x.shape)}"
            )
    common = dt.of(first.dtype)
    for x in data[1:]:
        common = dt.promote_types(common, dt.of(x.dtype))
    return np.stack(data).astype(dt.numpy_of(kind or common), copy=False)


def numbers_to_array(flat: list, kind: dt.dtype) -> Array:
    """Python numbers as an array of `kind`; integers that do not fit are an error."""
    target = dt.numpy_of(kind)
    if kind is dt.bool_:
        return np.array([bool(x) for x in flat], target)
    types = set(map(type, flat))
    if complex in types and not kind.is_complex:
        raise TypeError(f"must be real number, not complex, for dtype {kind.name}")
    if kind.category != dt.INT:
        return as_floats(flat, target)
    if kind is dt.uint64:
        return np.array([as_unsigned(x) for x in flat], target)
    if float in types:
        flat = [as_whole(x, kind) for x in flat]
    try:
        wide = np.array(flat, np.int64)
    except OverflowError:
        raise ValueError(
            f"Overflow when unpacking long long: {max(flat, key=abs)} at {where.here()}"
        ) from None
    least, most = integer_range(kind)
    if wide.size and not (wide.min() >= least and wide.max() <= most):
        raise no_room(int(wide.max() if wide.max() > most else wide.min()), kind, "tensor")
    return wide.astype(target, copy=False)


def as_unsigned(x: Any) -> int:
    """A number for uint64, which takes no negative ones."""
    if x < 0:
        raise OverflowError(f"can't convert negative int to unsigned: {x}")
    if x >= 2**64:
        raise OverflowError(f"int too big to convert: {x}")
    return as_whole(x, dt.uint64)


def as_whole(x: Any, kind: dt.dtype) -> int:
    """A number rounded towards zero."""
    if x != x or x in (float("inf"), float("-inf")):
        raise no_room(x, kind, "tensor")
    return int(x)


def as_floats(flat: Any, target: np.dtype) -> Array:
    """Numbers as floats: large integers too, values out of range as infinities."""
    wide = np.complex128 if target.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        return np.array(flat, wide).astype(target, copy=False)


# ---- arrays -----------------------------------------------------------------------------------


def shared(array: Array) -> Array:
    """The array itself where a tensor can be it; else PyTorch's error."""
    dt.of(array.dtype)
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion "
            "between byte orders is currently not supported."
        )
    size = array.dtype.itemsize
    for stride, n in zip(array.strides, array.shape, strict=True):
        if stride < 0 and n > 1:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with "
                "negative strides are not currently supported. (You can probably work around this "
                "by making a copy of your array with array.copy().) "
            )
        if stride % size:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size. Copy the numpy "
                "array to reallocate the memory."
            )
    return dt.canonical(array)


def copied(array: Array, kind: dt.dtype | None = None) -> Array:
    """A copy in native byte order and without negative strides, in the same order of dimensions."""
    target = dt.numpy_of(kind or dt.of(array.dtype))
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(target, order="K", copy=True)


def foreign(data: Any) -> Array | None:
    """The array behind an object of another library, if it offers one."""
    if hasattr(data, "__dlpack__") and not isinstance(data, (Tensor, np.ndarray, np.generic)):
        return dt.canonical(np.from_dlpack(data))
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        return np.asarray(data)
    return None


# ---- the public functions ---------------------------------------------------------------------


def read(data: Any, kind: dt.dtype | None, name: str) -> Array:
    """A fresh array from anything that `tensor` takes."""
    if isinstance(data, np.ndarray):
        return copied(data, kind)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), "
            f"rather than {name}(sourceTensor).",
            UserWarning,
            stacklevel=4,
        )
        return copied(data.array, kind)
    if isinstance(data, TEXT):
        raise invalid(data)
    if not is_row(data) and not isinstance(data, np.generic):
        array = foreign(data)
        if array is not None:
            return copied(array, kind)
    return from_sequence(data, kind)


def cut_by(t: Tensor, data: Any, name: str) -> Tensor:
    """Note on a result that the graph of its sources ends here."""
    sources = [data] if isinstance(data, Tensor) else []
    if isinstance(data, (list, tuple)):
        sources = [x for x in data if isinstance(x, Tensor)]
    cuts = None
    for source in sources:
        if source.requires_grad:
            site = MODE.get().site or where.user_site()
            cuts = merge_cuts(cuts, ((name, *site, source.array.shape),))
        elif source.cuts is not None:
            cuts = merge_cuts(cuts, source.cuts)
    if t.node is None:
        t.cuts = cuts
    return t


@function_only
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new leaf tensor with a copy of `data`: a number, nested lists, an array, a tensor.

    Integers become int64, floats the default dtype; arrays and tensors keep their dtype.
    """
    kind = resolve("tensor", dtype, None, device, pin=pin_memory)
    array = read(data, kind, "torch.tensor")
    return cut_by(made(array, requires_grad=requires_grad), data, "tensor")


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """As `tensor(data)`, in the dtype of this tensor where none is given."""
    kind = resolve("new_tensor", dtype, layout, device, pin=pin_memory) or self.dtype
    array = read(data, kind, "tensor.new_tensor")
    return cut_by(made(array, requires_grad=requires_grad), data, "new_tensor")


METHODS["new_tensor"] = new_tensor


@function_only
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, sharing memory and graph where it already is an array or a tensor."""
    kind = resolve("as_tensor", dtype, None, device)
    if isinstance(data, Tensor):
        if kind is None or kind is data.dtype:
            return data
        return data.to(kind)  # type: ignore[attr-defined]
    if isinstance(data, np.ndarray):
        return made(shared(data).astype(dt.numpy_of(kind or dt.of(data.dtype)), copy=False))
    return cut_by(made(read(data, kind, "torch.as_tensor")), data, "as_tensor")


@function_only
def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """`obj` as a tensor: shares memory if it can (copy=None), must (False) or must not (True)."""
    kind = resolve("asarray", dtype, None, device)
    if isinstance(obj, Tensor):
        return asarray_tensor(obj, kind, copy, requires_grad)
    source = obj if isinstance(obj, np.ndarray) else foreign(obj)
    if source is None and not is_row_or_number(obj):
        source = np.frombuffer(obj, dt.numpy_of(kind or dt.default()))
    if source is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        t = made(from_sequence(obj, kind), requires_grad=bool(requires_grad))
        return cut_by(t, obj, "asarray")
    have = dt.of(source.dtype)
    if copy is False and kind not in (None, have):
        raise ValueError(f"can't alias tensor with dtype '{have.title}' into dtype '{kind.title}'.")
    array = copied(source, kind) if copy or kind not in (None, have) else shared(source)
    return made(array, requires_grad=bool(requires_grad))


def is_row_or_number(obj: Any) -> bool:
    """Whether asarray reads `obj` element by element; else it must offer a buffer."""
    if isinstance(obj, (bytes, bytearray, memoryview)):
        return False
    return is_row(obj) or isinstance(obj, (bool, int, float, complex, np.generic))


def asarray_tensor(
    obj: Tensor, kind: dt.dtype | None, copy: bool | None, requires_grad: bool | None
) -> Tensor:
    """asarray of a tensor: requires_grad=False detaches it, otherwise the graph goes on."""
    if kind not in (None, obj.dtype):
        if copy is False:
            raise ValueError(
                f"can't alias tensor with dtype '{obj.dtype.title}' into dtype '{kind.title}'."
            )
        obj = obj.to(kind)  # type: ignore[attr-defined]
    elif copy:
        obj = obj.clone()  # type: ignore[attr-defined]
    if requires_grad is False and obj.requires_grad:
        return obj.detach()
    if requires_grad and not obj.requires_grad:
        return obj.detach().requires_grad_()
    return obj


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares the memory of an array. A read-only array makes a read-only tensor."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return made(shared(ndarray))


NAMES["from_numpy"] = from_numpy


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-D tensor that shares the memory of a buffer: bytearray, memoryview, array.array."""
    kind = dt.as_dtype(dtype, "frombuffer")
    try:
        total = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size = kind.itemsize
    if not total or not count:
        raise ValueError(f"both buffer length ({total}) and count ({count}) must not be 0")
    if not 0 <= offset < total:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({total} bytes) minus 1"
        )
    if count > 0 and offset + count * size > total:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({total} bytes)"
        )
    if count < 0 and (total - offset) % size:
        raise ValueError(
            f"buffer length ({total - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({size})"
        )
    array = np.frombuffer(buffer, dt.numpy_of(kind), count, offset)
    return made(dt.canonical(array), requires_grad=requires_grad)


FUNCTIONS["frombuffer"] = frombuffer
