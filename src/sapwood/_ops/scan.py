"""FOLD along one dimension that keeps its extent: running sums, products, extremes.

`_recur` and `_shift` are what derivatives of running products are made of; both are closed under
differentiation, so zeros are right at every order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core.border import alias, function, function_only
from sapwood._core.door import primitive
from sapwood._core.op import FOLD
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.axes import axis
from sapwood._ops.checks import only
from sapwood._ops.compare import eq, where
from sapwood._ops.folds import as_asked, as_operand, dtype_first, in_dtype
from sapwood._ops.joining import cat
from sapwood._ops.movement import flip
from sapwood._ops.picking import ungather
from sapwood._ops.rules import cj
from sapwood._ops.unary import exp

STEPS = 1024  # longer recurrences are computed by doubling


def along(name: str) -> Callable:
    """The bind of a scan: a dimension and a dtype."""
    return lambda a, dim, dtype: (axis(dim, np.ndim(a)), as_asked(a, dtype, name))


def accumulated(ufunc: Any) -> Callable:
    """The run of a scan: integers in int64, single precision carried in double precision."""

    def run(a: np.ndarray, dim: int, dtype: np.dtype | None) -> np.ndarray:
        if dtype is None and a.dtype.kind in "biu":
            dtype = np.dtype(np.int64)
        a = in_dtype(a, dtype)
        if not a.ndim:
            return a.copy()
        carry = {"f": np.float64, "F": np.complex128}.get(a.dtype.char)
        return ufunc.accumulate(a, dim, carry).astype(a.dtype, copy=False)

    return run


def backwards(v: Any, dim: int) -> Any:
    """The order along a dimension turned round."""
    return np.flip(v, dim) if type(v) is np.ndarray else flip(v, (dim,))


def late_sum(g: Any, dim: int) -> Any:
    """The sum of this and all later elements: the transpose of cumsum."""
    return backwards(cumsum(backwards(g, dim), dim), dim) if g.ndim else g


cumsum = primitive(
    "cumsum",
    "x; dim dtype",
    kind=FOLD,
    run=accumulated(np.add),
    in_place=True,
    grad=dict(x=lambda g, x_dtype, dim, dtype: late_sum(as_operand(g, x_dtype, dtype), dim)),
    sig="input, dim, *, dtype=None",
    bind=along("cumsum"),
    **dtype_first("cumsum"),
    doc="The running sum along a dimension.",
)


# ---- recurrences -----------------------------------------------------------------------------


def shift_run(x: np.ndarray, dim: int, by: int, fill: float) -> np.ndarray:
    """Elements moved by `by` places, `fill` where none comes from."""
    out = np.full(x.shape, fill, x.dtype)
    head = (slice(None),) * dim
    if by > 0:
        out[(*head, slice(by, None))] = x[(*head, slice(None, -by))]
    else:
        out[(*head, slice(None, by))] = x[(*head, slice(-by, None))]
    return out


shift = primitive(
    "_shift",
    "x; dim by fill",
    kind=FOLD,
    run=shift_run,
    sig="input, dim, by, fill=0.0",
    grad=dict(x=lambda g, dim, by: shift(g, dim, -by)),
    dtype="keep",
    doc="Elements moved along a dimension.",
)


def recur_run(x: np.ndarray, y: np.ndarray, dim: int, back: bool) -> np.ndarray:
    """out[k] = y[k] + x[k] out[k-1]; back: out[k] = y[k] + x[k+1] out[k+1]."""
    n = x.shape[dim]
    out = np.moveaxis(np.array(y), dim, 0)
    steps = np.moveaxis(x, dim, 0)
    if back:
        steps, turned = np.roll(steps[::-1], 1, 0), out[::-1]
    else:
        turned = out
    if n <= STEPS:
        for k in range(1, n):
            turned[k] += steps[k] * turned[k - 1]
    else:
        steps = np.array(steps)
        steps[0] = 0
        d = 1
        while d < n:
            turned[d:] += steps[d:] * turned[:-d]
            steps[d:] *= steps[:-d].copy()
            d *= 2
    return np.moveaxis(out, 0, dim)


def recur_x(g: Any, x: Any, out: Any, dim: int, back: bool) -> Any:
    """The gradient of the factors: what each passed on."""
    carried = recur(cj(x), g, dim, not back)
    if back:
        return shift(carried, dim, 1) * cj(out)
    return carried * cj(shift(out, dim, 1))


recur = primitive(
    "_recur",
    "x y; dim back",
    kind=FOLD,
    run=recur_run,
    sig="input, other, dim, back",
    grad=dict(x=recur_x, y=lambda g, x, dim, back: recur(cj(x), g, dim, not back)),
    doc="A linear recurrence along a dimension: out[k] = y[k] + x[k] out[k-1], or from the end.",
)


# ---- running products ------------------------------------------------------------------------


def first_zero(g: np.ndarray, x: np.ndarray, out: np.ndarray, dim: int) -> np.ndarray:
    """The gradient of cumprod with zeros: by division before the first, one sum at it, then 0."""
    zero = x == 0
    first = zero & (np.cumsum(zero, dim) == 1)
    without = np.cumprod(np.where(first, 1, x), dim)
    at = backwards(np.cumsum(backwards(g * without, dim), dim), dim)
    before = late_sum(g * out, dim) / np.where(zero, 1, x)
    return np.where(first, at, np.where(np.cumsum(zero, dim) == 0, before, 0))


def cumprod_rule(g: Any, x: Any, out: Any, x_dtype: Any, dim: int, dtype: Any) -> Any:
    """late_sum(g out) / x where nothing is zero; else without division."""
    g = as_operand(g, x_dtype, dtype)
    if not x.ndim:
        return g
    if (x.array if type(x) in KINDS else x).all():
        return late_sum(g * cj(out), dim) / cj(x)
    if type(x) is np.ndarray:
        return first_zero(g, cj(x), cj(out), dim)
    return cj(shift(out, dim, 1, 1.0)) * recur(cj(x), g, dim, True)


cumprod = primitive(
    "cumprod",
    "x; dim dtype",
    kind=FOLD,
    run=accumulated(np.multiply),
    in_place=True,
    grad=dict(x=cumprod_rule),
    sig="input, dim, *, dtype=None",
    bind=along("cumprod"),
    **dtype_first("cumprod"),
    doc="The running product along a dimension.",
)


# ---- running logarithms of sums --------------------------------------------------------------


def logcumsumexp_run(a: np.ndarray, dim: int) -> np.ndarray:
    """log(cumsum(exp(x))), carried in double precision."""
    if not a.size or not a.ndim:
        return a.copy()
    if a.dtype.kind != "c":
        return np.logaddexp.accumulate(a, dim, np.float64).astype(a.dtype)
    top = np.maximum.reduce(a.real, dim, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return (np.log(np.cumsum(np.exp(a - top), dim)) + top).astype(a.dtype)


def logcumsumexp_rule(g: Any, x: Any, out: Any, dim: int) -> Any:
    """The sum over later outputs of g exp(x - out), as a recurrence of ratios of at most 1."""
    if not x.ndim:
        return g
    before = shift(out, dim, 1, -math.inf)
    ratio = exp(where(eq(before, out), 0, before - out))  # infinities, too
    return cj(exp(x - out)) * recur(cj(ratio), g, dim, True)


logcumsumexp = primitive(
    "logcumsumexp",
    "x; dim",
    kind=FOLD,
    run=logcumsumexp_run,
    check=only("logcumsumexp_out", "fc"),
    grad=dict(x=logcumsumexp_rule),
    sig="input, dim",
    bind=lambda a, dim: (axis(dim, np.ndim(a)),),
    doc="log(cumsum(exp(input))) along a dimension, without overflow.",
)


# ---- running extremes ------------------------------------------------------------------------


def running(name: str, ufunc: Any, doc: str) -> Callable:
    """The record of cummax or cummin: (values, indices); of equal ones the last, NaN stays."""

    def run(a: np.ndarray, dim: int) -> tuple:
        if not a.ndim:
            return a.copy(), np.zeros((), np.int64)
        values = ufunc.accumulate(a, dim)
        at = np.arange(a.shape[dim]).reshape([-1 if d == dim else 1 for d in range(a.ndim)])
        met = a == values
        if a.dtype.kind == "f":
            met |= np.isnan(a)
        return values, np.maximum.accumulate(np.where(met, at, 0), dim)

    def rule(g: Any, indices: Any, x_shape: tuple, dim: int) -> Any:
        return ungather(g[0], indices, dim, x_shape) if x_shape else g[0]

    return primitive(
        name,
        "x; dim",
        kind=FOLD,
        run=run,
        out="values indices",
        named=name,
        dtype="keep",
        sig="input, dim",
        bind=lambda a, dim: (axis(dim, np.ndim(a)),),
        grad=dict(x=rule),
        check=only(name, "bif"),
        doc=doc,
    )


cummax = running("cummax", np.maximum, "The running maximum along a dimension, and where it is.")
cummin = running("cummin", np.minimum, "The running minimum along a dimension, and where it is.")


# ---- differences and areas -------------------------------------------------------------------


def part(x: Tensor, dim: int, start: int | None, stop: int | None) -> Tensor:
    """A slice along one dimension."""
    return x[(*(slice(None),) * dim, slice(start, stop))]  # type: ignore[index]


@function
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """The n-th difference along a dimension."""
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    d = axis(dim, input.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    ends = [t for t in (prepend, input, append) if t is not None]
    x = cat(ends, d) if len(ends) > 1 and n else input
    for _ in range(min(n, x.array.shape[d])):
        later, earlier = part(x, d, 1, None), part(x, d, None, -1)
        x = later ^ earlier if x.array.dtype.kind == "b" else later - earlier  # type: ignore[operator]
    return x if n else x.clone()  # type: ignore[attr-defined]


def panels(y: Tensor, x: Any, dx: Any, dim: int) -> tuple[Tensor, int]:
    """Twice the areas between neighbours, and the dimension."""
    if not y.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = axis(dim, y.ndim)
    heights = part(y, d, 1, None) + part(y, d, None, -1)  # type: ignore[operator]
    if x is None:
        return heights * dx, d
    shape = [1] * y.ndim
    if x.ndim == 1:
        if x.array.shape[0] != y.array.shape[d]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        shape[d] = -1
        x = x.reshape(shape)
    return heights * diff(x, dim=dim), d


@function_only
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Tensor:
    """The area under samples by the trapezoidal rule."""
    if y.ndim and not y.array.shape[axis(dim, y.ndim)]:
        return y.detach().sum(dim)  # type: ignore[attr-defined]
    found, d = panels(y, x, dx, dim)
    return found.sum(d) / 2.0  # type: ignore[attr-defined]


@function_only
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Tensor:
    """The running area under samples by the trapezoidal rule."""
    found, d = panels(y, x, dx, dim)
    return cumsum(found / 2.0, d)


alias(trapezoid, "trapz")
