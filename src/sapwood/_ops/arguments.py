"""Arguments of creation functions: sizes, numbers, dtypes; PyTorch's errors for wrong ones."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.device import check_device, check_layout, memory_format
from sapwood._core.tensor import Tensor


def resolve(
    name: str, dtype: Any = None, layout: Any = None, device: Any = None, *, pin: bool = False
) -> dt.dtype | None:
    """Check the common keywords; the dtype that was asked for, or None."""
    check_device(device)
    check_layout(layout)
    if pin:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory "
            f"allocator is available on this system. [{name}] sapwood computes on the CPU only."
        )
    return None if dtype is None else dt.as_dtype(dtype, name)


def whole(value: Any, name: str, what: str) -> int:
    """An integer argument: ints, NumPy's integers and 0-d integer tensors, but no bool."""
    if type(value) is int:
        return value
    if isinstance(value, Tensor):
        value = value.array
    integer = (
        isinstance(value, (np.integer, np.ndarray)) and value.ndim == 0 and value.dtype.kind in "iu"
    )
    if not integer and (isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__")):
        raise TypeError(f"{name}(): argument {what} must be int, not {type(value).__name__}")
    return int(value) if integer else operator.index(value)


def sizes(name: str, given: tuple, size: Any = None) -> tuple[int, ...]:
    """The shape from `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`."""
    if size is not None:
        if given:
            raise TypeError(f"{name}() got multiple values for argument 'size'")
        given = (size,)
    elif not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    items = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    shape = []
    for i, item in enumerate(items):
        if isinstance(item, (tuple, list)):
            raise TypeError(f"{name}() takes 1 positional argument but {len(given)} were given")
        try:
            shape.append(whole(item, name, "'size'"))
        except TypeError:
            raise TypeError(
                f"{name}(): argument 'size' (position 1) must be tuple of ints, not "
                f"{type(item).__name__} (at pos {i + 1}: {item!r:.60})"
            ) from None
    if any(n < 0 for n in shape):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(shape)}: {shape}. {name}: "
            f"Dimension size must be non-negative. At {where.here()}"
        )
    return tuple(shape)


def number(value: Any, name: str, what: str) -> Any:
    """A Python number from a number, a NumPy scalar or a 0-d tensor without graph."""
    if type(value) in (int, float, bool, complex):
        return value
    found = value
    if isinstance(value, Tensor) and not value.requires_grad:
        found = value.array
    if isinstance(found, (np.generic, np.ndarray)) and found.ndim == 0:
        found = found.item()
    if isinstance(found, (int, float, complex)):
        return found
    hint = ""
    if isinstance(value, Tensor) and value.requires_grad:
        hint = ": it requires grad, which a number would lose; use detach()"
    raise TypeError(f"{name}(): argument {what} must be Number, not {type(value).__name__}{hint}")


FLOAT32_MAX = float(np.finfo("f4").max)


def fits(value: Any, kind: dt.dtype, name: str) -> Any:
    """The number as an array of the dtype can be filled with it, or PyTorch's overflow error."""
    if isinstance(value, complex) and not kind.is_complex and kind is not dt.bool_:
        if value.imag:
            raise no_room(value, kind, name)
        value = value.real
    if kind is dt.bool_:
        return bool(value)
    if kind.category == dt.INT:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise no_room(value, kind, name)
            value = int(value)
        least, most = integer_range(kind)
        if not least <= value <= most:
            raise no_room(value, kind, name)
        return value + most + 1 if value < 0 and not kind.is_signed else value
    if kind is dt.float32 and abs(value) > FLOAT32_MAX and math.isfinite(value):
        raise no_room(value, kind, name)
    return value


def no_room(x: Any, kind: dt.dtype, name: str) -> RuntimeError:
    """The error for a number that a dtype does not hold."""
    return RuntimeError(
        f"value cannot be converted to type {kind.name} without overflow: {x} in {name}() at "
        f"{where.here()}"
    )


def integer_range(kind: dt.dtype) -> tuple[int, int]:
    """What integers may be written into an integer dtype: unsigned ones take negatives, wrapped."""
    info = np.iinfo(dt.numpy_of(kind))
    return (int(info.min) if kind.is_signed else -int(info.max)), int(info.max)


def check_format(given: Any, name: str) -> None:
    """Refuse what is no memory format."""
    if not isinstance(given, memory_format):
        raise TypeError(
            f"{name}(): argument 'memory_format' must be torch.memory_format, not "
            f"{type(given).__name__}"
        )
