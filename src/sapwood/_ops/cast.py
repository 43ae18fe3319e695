"""Conversions: `to` and its short forms. A conversion to the same dtype is the tensor itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import METHODS, border, method
from sapwood._core.device import check_device, device
from sapwood._core.door import primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import Tensor


def cast_run(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy in another dtype, in the same memory order; complex numbers give their real part."""
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    return x.astype(dtype, order="K")


# MOVE, not MAP: nothing is computed, so that half precision is not widened before
to_copy = primitive(
    "_to_copy",
    "x; dtype",
    kind=MOVE,
    run=cast_run,
    dtype="keep",
    alias=False,
    title="ToCopyBackward0",
    grad=dict(x=lambda g: g),
    doc="A copy in another dtype.",
)


to_discrete = primitive(
    "_to_discrete",
    "x; dtype",
    kind=MOVE,
    run=cast_run,
    dtype="keep",
    alias=False,
    grad={},
    doc="A copy as integers or booleans: the gradient ends here.",
)


def converted(x: Tensor, kind: dt.dtype, *, copy: bool = False) -> Tensor:
    """x in a dtype; x itself where nothing changes and no copy is asked for."""
    if x.dtype is kind and not copy:
        return x
    return (to_copy if kind.category >= dt.FLOAT else to_discrete)(x, dt.numpy_of(kind))


def wrong_arguments(args: tuple, kwargs: dict) -> TypeError:
    """The error for arguments that `to` has no meaning for."""
    names = [type(a).__name__ for a in args]
    given = ", ".join([*names, *(f"{k}={v!r}" for k, v in kwargs.items())])
    return TypeError(
        f"to() received an invalid combination of arguments - got ({given}), but expected one of: "
        "(device, dtype, non_blocking, copy), (dtype, non_blocking, copy), (other, non_blocking, "
        "copy)"
    )


def target(args: tuple, kwargs: dict) -> tuple[dt.dtype | None, bool]:
    """The dtype and `copy=` that the arguments of `to` ask for, in any of its three forms."""
    args_left, left = list(args), dict(kwargs)
    kind: Any = left.pop("dtype", None)
    where: Any = left.pop("device", None)
    left.pop("memory_format", None)
    if args_left:
        first = args_left.pop(0)
        if isinstance(first, Tensor):
            kind = first.dtype
        elif isinstance(first, dt.dtype) or (isinstance(first, type) and first is not device):
            kind = first
        else:
            where = first
            if args_left and (args_left[0] is None or not isinstance(args_left[0], bool)):
                kind = args_left.pop(0)
    elif isinstance(left.get("other"), Tensor):
        kind = left.pop("other").dtype
    for name in ("non_blocking", "copy"):
        if args_left:
            left[name] = args_left.pop(0)
    left.pop("non_blocking", None)
    copy = bool(left.pop("copy", False))
    if args_left or left:
        raise wrong_arguments(args, kwargs)
    check_device(where)
    return None if kind is None else dt.as_dtype(kind, "to"), copy


@method
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype (or device: there is only the CPU), or like another tensor."""
    kind, copy = target(args, kwargs)
    return converted(self, kind or self.dtype, copy=copy)


@method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in another one's dtype."""
    return converted(self, other.dtype)


@method
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself: there is only the CPU."""
    return self


@method
def cuda(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Refused: there is only the CPU."""
    check_device("cuda")
    return self  # pragma: no cover


SHORT = {
    "float": dt.float32,
    "double": dt.float64,
    "half": dt.float16,
    "bfloat16": dt.bfloat16,
    "int": dt.int32,
    "long": dt.int64,
    "short": dt.int16,
    "char": dt.int8,
    "byte": dt.uint8,
    "bool": dt.bool_,
    "cfloat": dt.complex64,
    "cdouble": dt.complex128,
}


def short_form(name: str, kind: dt.dtype) -> None:
    """`x.float()` and the like."""

    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return converted(self, kind)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor in {kind.name}; itself where it is that already."
    METHODS[name] = border(convert)


for _name, _kind in SHORT.items():
    short_form(_name, _kind)
