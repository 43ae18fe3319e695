"""Special functions on NumPy arrays: erf, erfc, erfinv, lgamma, digamma, polygamma.

NumPy has none of them. Polynomials from special_constants.py, within about 2 ulp in float64;
float32 goes through float64. This file knows arrays only: no tensors, no derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._ops import special_constants as k

BLOCK = 1 << 13  # elements at a time: the intermediate arrays stay in the cache
Array = np.ndarray


def blockwise(fn: Callable[..., Array]) -> Callable[..., Any]:
    """Make fn, which maps flat float64 arrays, take arrays of any shape and floating dtype."""

    def whole(x: Any, *args: Any) -> Array:
        a = np.asarray(x)
        flat = np.ascontiguousarray(a, np.float64).reshape(-1)
        out = np.empty_like(flat)
        with np.errstate(all="ignore"):
            for i in range(0, flat.size, BLOCK):
                out[i : i + BLOCK] = fn(flat[i : i + BLOCK], *args)
        return out.reshape(a.shape).astype(a.dtype if a.dtype.kind == "f" else np.float64)

    whole.__name__, whole.__doc__ = fn.__name__, fn.__doc__
    return whole


def horner(coefficients: tuple, t: Array) -> Array:
    """The polynomial with these coefficients, lowest power first, at t."""
    r = coefficients[-1] * t
    for c in coefficients[-2:0:-1]:
        r += c
        r *= t
    r += coefficients[0]
    return r


def mapped(coefficients: tuple, span: tuple, x: Array, centre: float = 0.0) -> Array:
    """The polynomial in x, or (x - centre) / (x + centre), which `span` maps to [-1, 1]."""
    u = (x - centre) / (x + centre) if centre else x
    u = u - span[0]
    u *= span[1]
    return horner(coefficients, u)


def split(out: Array, x: Array, where: Array, fn: Callable[[Array], Array]) -> None:
    """out[where] = fn(x[where]), without work where nothing is selected."""
    if where.all():
        out[...] = fn(x)
    elif where.any():
        out[where] = fn(x[where])


def erf_near(x: Array) -> Array:
    """Erf for |x| < 1."""
    return x * horner(k.ERF, x * x)


def erfc_far(x: Array) -> Array:
    """Erfc for x >= 1. exp(-x^2) is a product of two: x^2 alone would lose digits."""
    x = np.minimum(x, 28.0)
    top = x.astype(np.float32).astype(np.float64)
    scale = np.exp(-top * top) * np.exp((top - x) * (top + x))
    return scale * mapped(k.ERFCX, k.ERFCX_RANGE, x, 3.0) / x


@blockwise
def erf(x: Array) -> Array:
    """The error function."""
    out = np.empty_like(x)
    near = np.abs(x) < 1.0
    split(out, x, near, erf_near)
    split(out, x, ~near, lambda v: np.copysign(1.0 - erfc_far(np.abs(v)), v))
    return out


@blockwise
def erfc(x: Array) -> Array:
    """1 - erf(x), exact also where erf(x) is close to 1."""
    out = np.empty_like(x)
    split(out, x, (x > -1.0) & (x < 0.5), lambda v: 1.0 - erf_near(v))
    split(out, x, (x >= 0.5) & (x < 1.0), lambda v: mapped(k.ERFC, k.ERFC_RANGE, v))
    split(out, x, x <= -1.0, lambda v: 2.0 - erfc_far(-v))
    split(out, x, ~(x < 1.0), erfc_far)  # NaN too
    return out


def erfinv_far(y: Array) -> Array:
    """Erfinv for |y| > 0.75."""
    s = np.sqrt(-np.log1p(-np.abs(y)))
    r = s * mapped(k.ERFINV_TAIL, k.ERFINV_TAIL_RANGE, s, 2.0)
    r = np.where(np.abs(y) == 1.0, np.inf, r)
    return np.copysign(np.where(np.abs(y) > 1.0, np.nan, r), y)


@blockwise
def erfinv(y: Array) -> Array:
    """The x with erf(x) = y; infinite at -1 and 1, NaN outside."""
    out = np.empty_like(y)
    near = np.abs(y) <= 0.75
    split(out, y, near, lambda v: v * horner(k.ERFINV, v * v))
    split(out, y, ~near, erfinv_far)
    return out


def lgamma_mid(x: Array) -> Array:
    """log(gamma(x)) for 1.5 <= x < 8."""
    return (x - 1.0) * (x - 2.0) * mapped(k.LGAMMA, k.LGAMMA_RANGE, x, 3.0)


def lgamma_low(x: Array) -> Array:
    """log|gamma(x)| for -0.5 < x < 0.5, from gamma(x + 2) = x (x + 1) gamma(x)."""
    value = (x + 1.0) * x * mapped(k.LGAMMA, k.LGAMMA_RANGE, x + 2.0, 3.0)
    return value - np.log1p(x) - np.log(np.abs(x))


def lgamma_one(x: Array) -> Array:
    """log(gamma(x)) for 0.5 <= x < 1.5."""
    return (x - 1.0) * (x - 2.0) * mapped(k.LGAMMA_ONE, k.LGAMMA_ONE_RANGE, x)


def lgamma_high(x: Array) -> Array:
    """log(gamma(x)) for x >= 8: Stirling's series."""
    start = (x - 0.5) * (np.log(x) - 1.0) + (0.5 * math.log(2.0 * math.pi) - 0.5)
    return np.where(x == np.inf, x, start + horner(k.STIRLING, 1.0 / (x * x)) / x)


def lgamma_negative(x: Array) -> Array:
    """log|gamma(x)| for x <= -0.5: Euler's reflection; infinite at the poles."""
    sine = np.abs(np.sin(math.pi * (x - np.round(x))))
    pole = (sine == 0.0) | (x == -np.inf)
    value = math.log(math.pi) - np.log(-x * sine) - lgamma(-x)
    return np.where(pole, np.inf, value)


@blockwise
def lgamma(x: Array) -> Array:
    """The logarithm of |gamma(x)|."""
    out = np.full_like(x, np.nan)
    split(out, x, np.abs(x) < 0.5, lgamma_low)
    split(out, x, (x >= 0.5) & (x < 1.5), lgamma_one)
    split(out, x, (x >= 1.5) & (x < 8.0), lgamma_mid)
    split(out, x, x >= 8.0, lgamma_high)
    split(out, x, x <= -0.5, lgamma_negative)
    return out


def digamma_one(x: Array) -> Array:
    """Digamma for 1 <= x < 2.5, exact near its zero."""
    distance = (x - k.DIGAMMA_ZERO[0]) - k.DIGAMMA_ZERO[1]
    return distance * mapped(k.DIGAMMA_ONE, k.DIGAMMA_ONE_RANGE, x)


def digamma_high(x: Array) -> Array:
    """Digamma for x >= 8: the asymptotic series."""
    w = 1.0 / (x * x)
    return np.log(x) - (0.5 / x - w * horner(k.DIGAMMA_TAIL, w))


def digamma_negative(x: Array) -> Array:
    """Digamma for x <= 0: reflection; NaN at the poles, signed infinity at signed zero."""
    whole = x == np.round(x)
    value = digamma(1.0 - x) - math.pi / np.tan(math.pi * (x - np.round(x)))
    value = np.where(whole | (x == -np.inf), np.nan, value)
    return np.where(x == 0.0, np.copysign(np.inf, -x), value)


@blockwise
def digamma(x: Array) -> Array:
    """The derivative of lgamma."""
    out = np.full_like(x, np.nan)
    split(out, x, (x > 0.0) & (x < 1.0), lambda v: digamma_one(v + 1.0) - 1.0 / v)
    split(out, x, (x >= 1.0) & (x < 2.5), digamma_one)
    split(out, x, (x >= 2.5) & (x < 8.0), lambda v: mapped(k.DIGAMMA, k.DIGAMMA_RANGE, v, 4.0))
    split(out, x, x >= 8.0, digamma_high)
    split(out, x, x <= 0.0, digamma_negative)
    return out


BERNOULLI = (  # B_2k / (2k)!
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
)


def zeta(s: int, x: Array) -> Array:
    """Hurwitz' zeta, the sum of (x + j)^-s over j >= 0, for x > 0.

    Some terms as they are, the rest by the formula of Euler and Maclaurin.
    """
    start = s + 10.0
    total = np.zeros_like(x)
    a = x.copy()
    while (small := a < start).any():  # few rounds: at most `start`
        total[small] += a[small] ** -s
        a[small] += 1.0
    tail = a ** (1 - s) / (s - 1) + 0.5 * a**-s
    factor, power = float(s), a ** (-s - 1)
    for j, b in enumerate(BERNOULLI):
        tail += b * factor * power
        factor *= (s + 2 * j + 1) * (s + 2 * j + 2)
        power = power / (a * a)
    return total + tail


def cotangent_derivative(n: int, x: Array) -> Array:
    """The n-th derivative of pi cot(pi x): a polynomial in the cotangent."""
    p = np.array([0.0, 1.0])  # in c: d/dx = -pi (1 + c^2) d/dc
    for _ in range(n):
        p = -np.polynomial.polynomial.polymul(np.polynomial.polynomial.polyder(p), [1.0, 0.0, 1.0])
    c = 1.0 / np.tan(math.pi * (x - np.round(x)))
    return math.pi ** (n + 1) * np.polynomial.polynomial.polyval(c, p)


@blockwise
def polygamma(x: Array, n: int) -> Array:
    """The n-th derivative of digamma, n >= 1."""
    sign = 1.0 if n % 2 else -1.0
    size = math.factorial(n) if n <= 170 else math.inf
    out = np.full_like(x, np.nan)
    split(out, x, x > 0.0, lambda v: sign * size * zeta(n + 1, v))

    def negative(v: Array) -> Array:
        mirrored = size * zeta(n + 1, 1.0 - v)
        value = -cotangent_derivative(n, v) - mirrored
        return np.where(v == np.round(v), sign * np.inf, value)

    split(out, x, (x <= 0.0) & (x > -np.inf), negative)
    return out
