"""MAP of two operands: the larger and the smaller, and functions of two variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import alias
from sapwood._core.door import primitive
from sapwood._core.op import MAP
from sapwood._ops.checks import no_derivative, only
from sapwood._ops.compare import eq, ge, gt, isnan, le, logical_and, logical_or, lt, where
from sapwood._ops.elementwise import overload
from sapwood._ops.power import log_of
from sapwood._ops.rules import cj
from sapwood._ops.unary import exp, exp2, neg, nothing

NO_COMPLEX = "{} not implemented for complex tensors."


def extreme(name: str, run: Callable, worse: Callable, doc: str) -> Callable:
    """The record of maximum or minimum: NaN wins; equal operands share the gradient."""

    def share(g: Any, mine: Any, theirs: Any) -> Any:
        return where(eq(mine, theirs), g / 2, where(worse(mine, theirs), 0, g))

    return primitive(
        name,
        "x y",
        kind=MAP,
        run=run,
        in_place=False,
        doc=doc,
        grad=dict(x=lambda g, x, y: share(g, x, y), y=lambda g, x, y: share(g, y, x)),
        check=only(name, "bif", error=RuntimeError, c=NO_COMPLEX.format(name)),
    )


def extreme_without_nan(name: str, run: Callable, better: Callable, doc: str) -> Callable:
    """The record of fmax or fmin: numbers win over NaN; equal operands: the first one's."""

    def first(x: Any, y: Any) -> Any:
        return logical_or(better(x, y), isnan(y))

    return primitive(
        name,
        "x y",
        kind=MAP,
        run=run,
        in_place=False,
        doc=doc,
        grad=dict(
            x=lambda g, x, y: where(first(x, y), g, 0), y=lambda g, x, y: where(first(x, y), 0, g)
        ),
        check=only(name, "bif", error=RuntimeError, c=NO_COMPLEX.format(name)),
    )


maximum = extreme("maximum", np.maximum, lt, "The larger of two elements; NaN if one is NaN.")
minimum = extreme("minimum", np.minimum, gt, "The smaller of two elements; NaN if one is NaN.")
fmax = extreme_without_nan("fmax", np.fmax, ge, "The larger of two elements, NaN counting least.")
fmin = extreme_without_nan("fmin", np.fmin, le, "The smaller of two elements, NaN counting least.")


# ---- functions of two floating operands ----------------------------------------------------


def per_square(g: Any, x: Any, y: Any) -> Any:
    """g / (x^2 + y^2), zero at the origin."""
    size = x * x + y * y
    return where(eq(size, 0), 0, g / size)


def logaddexp_run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """log(exp(x) + exp(y)) without overflow."""
    if np.asarray(x).dtype.kind != "c":
        return np.logaddexp(x, y)
    top = np.where(x.real >= y.real, x, y)
    return top + np.log1p(np.exp(np.where(x.real >= y.real, y, x) - top))


def xlogy_run(x: Any, y: Any) -> np.ndarray:
    """x log(y); zero for x = 0 unless y is NaN."""
    dtype = (x if isinstance(x, np.ndarray) else y).dtype
    x, y = np.asarray(x, dtype), np.asarray(y, dtype)  # numbers
    return np.where(np.isnan(y), y, np.where(x == 0, x.dtype.type(0), x * np.log(y)))


def heaviside_run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The step function, `y` at zero; zero for NaN."""
    return np.where(np.equal(x, 0), y, np.greater(x, 0).astype(np.asarray(y).dtype))


def same_dtype(common: dt.dtype, x: Any, y: Any) -> None:
    """PyTorch's heaviside does not promote."""
    if getattr(x, "dtype", None) != getattr(y, "dtype", None):
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    if common.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")


atan2 = primitive(
    "atan2",
    "x y",
    kind=MAP,
    run=np.arctan2,
    dtype="float",
    check=only("atan2", "bif"),
    grad=dict(
        x=lambda g, x, y: per_square(g, x, y) * y, y=lambda g, x, y: neg(per_square(g, x, y) * x)
    ),
    doc="The angle of the point (other, input), in (-pi, pi].",
)
hypot = primitive(
    "hypot",
    "x y",
    kind=MAP,
    run=np.hypot,
    check=only("hypot", "f"),
    grad=dict(x=lambda g, x, out: g * (x / out), y=lambda g, y, out: g * (y / out)),
    doc="sqrt(input^2 + other^2) without overflow.",
)
logaddexp = primitive(
    "logaddexp",
    "x y",
    kind=MAP,
    run=logaddexp_run,
    in_place=False,
    check=only("logaddexp", "fc"),
    grad=dict(x=lambda g, x, y: g / cj(exp(y - x) + 1), y=lambda g, x, y: g / cj(exp(x - y) + 1)),
    doc="log(exp(input) + exp(other)).",
)
logaddexp2 = primitive(
    "logaddexp2",
    "x y",
    kind=MAP,
    run=np.logaddexp2,
    in_place=False,
    check=only("logaddexp2", "f"),
    grad=dict(x=lambda g, x, y: g / (exp2(y - x) + 1), y=lambda g, x, y: g / (exp2(x - y) + 1)),
    doc="log2(2^input + 2^other).",
)
copysign = primitive(
    "copysign",
    "x y",
    kind=MAP,
    run=np.copysign,
    dtype="float",
    check=only("copysign", "bif"),
    title=overload("Copysign", 0, 0, 1),
    weak=True,
    grad=dict(x=lambda g, x, out: where(eq(x, 0), 0, g * (out / x)), y=nothing),
    doc="input's magnitude with other's sign.",
)
xlogy = primitive(
    "xlogy",
    "x y",
    kind=MAP,
    run=xlogy_run,
    dtype="float",
    check=only("xlogy", "bif"),
    title=overload("Xlogy", 0, 1, 2),
    weak=True,
    grad=dict(
        x=lambda g, x, y: g * where(logical_and(eq(x, 0), y == y), 0, log_of(y)),
        y=lambda g, x, y: g * (x / y),
    ),
    doc="input * log(other), zero where input is zero.",
)
heaviside = primitive(
    "heaviside",
    "x y",
    kind=MAP,
    run=heaviside_run,
    sig="input, values",
    check=same_dtype,
    title="torch::autograd::NotImplemented",
    grad=dict(x=no_derivative("heaviside"), y=no_derivative("heaviside")),
    doc="0 below zero, 1 above, values at zero.",
)
nextafter = primitive(
    "nextafter",
    "x y",
    kind=MAP,
    run=np.nextafter,
    dtype="exact",
    check=only("nextafter", "f"),
    grad=dict(x=lambda g, x, y: where(eq(x, y), 0, g), y=nothing),
    doc="The next floating number from input towards other.",
)
alias(atan2, "arctan2")
