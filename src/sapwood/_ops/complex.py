"""MAP: complex numbers from their parts, or from a length and an angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import MAP

WIDE = {dt.F32: dt.complex64.np, dt.F64: dt.complex128.np}


def check_parts(name: str, first: str) -> Any:
    """The check of two real operands of one dtype."""

    def bind(x: Any, y: Any) -> tuple:
        for what, part in ((f"'{first}' (position 1)", x), ("(position 2)", y)):
            if not isinstance(part, np.ndarray):
                raise TypeError(
                    f"{name}(): argument {what} must be Tensor, not {type(part).__name__}"
                )
        a, b = dt.of(x.dtype), dt.of(y.dtype)
        if a not in (dt.float32, dt.float64):
            raise RuntimeError(
                "Expected both inputs to be Half, Float or Double tensors but got "
                f"{a.title} and {b.title} (half precision has no complex dtype here)"
            )
        if a is not b:
            raise RuntimeError(
                f"Expected object of scalar type {a.title} but got scalar type {b.title} for "
                "second argument"
            )
        return ()

    return bind


def complex_run(real: Any, imag: Any) -> Any:
    """Both parts as they are: real + 1j * imag would turn an infinite part into NaN."""
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), WIDE[real.dtype])
    out.real, out.imag = real, imag
    return out


def polar_run(length: Any, angle: Any) -> Any:
    """length * (cos(angle) + i sin(angle))."""
    return complex_run(np.asarray(length * np.cos(angle)), np.asarray(length * np.sin(angle)))


def real_part(z: Any) -> Any:
    """The real part, of an array or a tensor."""
    return TABLE["real"].door(z)


def imag_part(z: Any) -> Any:
    """The imaginary part, of an array or a tensor."""
    return TABLE["imag"].door(z)


def direction(angle: Any) -> Any:
    """cos(angle) + i sin(angle)."""
    return complex_(TABLE["cos"].door(angle), TABLE["sin"].door(angle))


complex_ = primitive(
    "complex", "real imag", kind=MAP, run=complex_run, dtype="keep", sig="real, imag",
    in_place=False, bind=check_parts("complex", "real"),
    grad=dict(real=lambda g: real_part(g), imag=lambda g: imag_part(g)),
    doc="real + i * imag, from two real tensors of one dtype.")
polar = primitive(
    "polar", "abs angle", kind=MAP, run=polar_run, dtype="keep", sig="abs, angle",
    in_place=False, bind=check_parts("polar", "abs"),
    # PyTorch takes the direction from the result, which has none where abs is 0.
    grad=dict(abs=lambda g, angle: real_part(TABLE["conj"].door(g) * direction(angle)),
              angle=lambda g, out: real_part(TABLE["conj"].door(g) * (out * 1j))),
    doc="abs * (cos(angle) + i * sin(angle)), from two real tensors of one dtype.")
