"""MAP: powers, in all three forms of number and tensor."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import METHODS, border, function
from sapwood._core.door import primitive
from sapwood._core.op import MAP
from sapwood._core.slow import common_dtype
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.compare import eq, ge, logical_and, where
from sapwood._ops.complex import real
from sapwood._ops.elementwise import NUMBERS, overload
from sapwood._ops.rules import cj
from sapwood._ops.unary import log, nothing

# ---- powers --------------------------------------------------------------------------------


def pow_run(x: Any, y: Any) -> np.ndarray:
    """x to the power of y; the usual exponents without a general power."""
    if type(y) is not np.ndarray and x.dtype.kind in "fc":
        if y == 2 and type(x) not in KINDS:  # first order: the same bits, without a power
            return np.square(x)
        if y == 1:
            return x.copy()
        if y == 3:
            return x * x * x
        if y == 0.5:
            return np.sqrt(x)
        if y == -1:
            return np.reciprocal(x)
    kind = np.asarray(y).dtype.kind
    if kind == "i" and np.asarray(x).dtype.kind == "i" and np.any(np.less(y, 0)):
        x, y = np.asarray(x), np.asarray(y)  # 1 and -1 have integer inverses, all others give 0
        unit = np.where(x == -1, np.where(y % 2 == 0, 1, -1), np.where(x == 1, 1, 0))
        return np.where(y < 0, unit.astype(x.dtype), np.power(x, np.where(y < 0, 0, y)))
    return np.logical_or(x, np.logical_not(y)) if kind == "b" else np.power(x, y)


def check_pow(common: dt.dtype, x: Any, y: Any) -> None:
    """Integers to negative numbers are refused; so are powers of booleans."""
    if common.category == dt.BOOL and type(y) is not bool:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if common.category == dt.INT and type(y) is int and y < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def log_of(x: Any) -> Any:
    """The logarithm of a base: numbers stay numbers, so that they do not widen float32."""
    if type(x) not in NUMBERS:
        return log(x)
    if type(x) is complex:
        return cmath.log(x) if x else complex(-math.inf)
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def pow_x(g: Any, x: Any, y: Any) -> Any:
    """Exponent times x^(exponent - 1); zero for exponent 0, also at x = 0."""
    if type(y) in NUMBERS:
        if y == 2 and type(x) not in KINDS:  # first order: the same bits, without a power
            return g * cj(x + x)
        return nothing(g) if y == 0 else g * cj(pow_(x, y - 1) * y)
    return where(eq(y, 0), 0, g * cj(pow_(x, y - 1) * y))


def pow_y(g: Any, x: Any, y: Any, out: Any) -> Any:
    """x^y log(x); zero for base 0 and exponents that are not negative."""
    if type(x) in NUMBERS:
        slope = g * cj(out * log_of(x))
        return slope if x else where(ge(y, 0), 0, slope)
    y_real = y if is_real(y) else real(y)
    base = where(logical_and(eq(x, 0), ge(y_real, 0)), 1, x)  # log(1) = 0, also in its derivatives
    return g * cj(out * log(base))


def is_real(v: Any) -> bool:
    """Whether an array or tensor is not complex."""
    return (v.array if type(v) in KINDS else v).dtype.kind != "c"


pow_ = primitive(
    "pow",
    "x y",
    kind=MAP,
    run=pow_run,
    weak=True,
    sig="input, exponent",
    check=check_pow,
    title=overload("Pow", 1, 2, 0),
    saved={"exponent": "y"},
    grad=dict(x=pow_x, y=pow_y),
    doc="input to the power of exponent; either may be a number.",
)


@function
def float_power(input: Any, exponent: Any) -> Tensor:
    """`pow` computed in float64 (or complex128)."""
    found = common_dtype([input, exponent])
    target = dt.complex128 if found.is_complex else dt.float64
    input, exponent = (v.to(target) if type(v) in KINDS else v for v in (input, exponent))
    return pow_(input, exponent)


def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """`float_power` in place: only for tensors that are float64 (or complex128) already."""
    found = common_dtype([self, exponent])
    target = dt.complex128 if found.is_complex else dt.float64
    if self.dtype is not target:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.title} but the operation's "
            f"result requires dtype {target.title.removeprefix('Complex') or target.title}"
        )
    return self.pow_(exponent)  # type: ignore[attr-defined]


METHODS["float_power_"] = border(float_power_)
