"""MAP of one operand: exponentials, trigonometry, special functions, rounding, signs.

Integers become the default floating dtype where the result is not integral. Rules keep what
PyTorch keeps (the result where that is enough), so that in-place writes are judged alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core.border import METHODS, alias, border, function_only
from sapwood._core.door import primitive
from sapwood._core.op import MAP
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops import special
from sapwood._ops.checks import only
from sapwood._ops.compare import eq, ge, le, logical_and, where
from sapwood._ops.complex import real
from sapwood._ops.rules import cj


def smooth(name: str, run: Callable, rule: Callable, doc: str, **fields: Any) -> Callable:
    """The record of a floating function; complex where NumPy has it."""
    return primitive(
        name, "x", kind=MAP, run=run, dtype="float", grad=dict(x=rule), doc=doc, **fields
    )


def real_only(name: str) -> Callable[..., None]:
    """A check that refuses complex operands."""
    return only(name, "bif")


def no_complex(name: str) -> Callable[..., None]:
    """The same in the words that some operations have for it."""
    return only(name, "bif", c=f"{name} is not supported for complex tensors.", error=RuntimeError)


def nothing(g: Any) -> Any:
    """A gradient that is zero everywhere, without history."""
    a = g.array if type(g) in KINDS else g
    return np.zeros(a.shape, a.dtype)


# ---- exponentials and powers ---------------------------------------------------------------


def sigmoid_run(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), in one buffer."""
    out = np.negative(x)
    out = np.exp(out, out=out if type(out) is np.ndarray else None)
    out += 1
    return np.reciprocal(out, out=out if type(out) is np.ndarray else None)


def square_run(x: np.ndarray) -> np.ndarray:
    """x * x; booleans count as integers."""
    return np.square(x.astype(np.int64) if x.dtype.kind == "b" else x)


def logit_run(x: np.ndarray, eps: float | None) -> np.ndarray:
    """log(x / (1 - x)), x clamped to [eps, 1 - eps]."""
    if eps is not None:
        x = np.minimum(np.maximum(x, eps), 1 - eps)
    return np.log(x / (1 - x))


def logit_rule(g: Any, x: Any, eps: float | None) -> Any:
    """g / (x (1 - x)) inside the range; outside zero where clamped, else NaN."""
    low, high, outside = (0.0, 1.0, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    return where(logical_and(ge(x, low), le(x, high)), g / (x * (1 - x)), outside)


exp = smooth("exp", np.exp, lambda g, out: g * cj(out), "e to the power of input.")
exp2 = smooth("exp2", np.exp2, lambda g, out: g * cj(out) * math.log(2), "2 to the power of input.")
expm1 = smooth(
    "expm1", np.expm1, lambda g, out: g * cj(out + 1), "exp(input) - 1, exact also near zero."
)
log = smooth("log", np.log, lambda g, x: g / cj(x), "The natural logarithm.")
log1p = smooth(
    "log1p",
    np.log1p,
    lambda g, x: g / cj(x + 1),
    "log(1 + input), exact also near zero.",
    title="Log1PBackward0",
)
log2 = smooth("log2", np.log2, lambda g, x: g / (cj(x) * math.log(2)), "The logarithm of base 2.")
log10 = smooth(
    "log10", np.log10, lambda g, x: g / (cj(x) * math.log(10)), "The logarithm of base 10."
)
sqrt = smooth("sqrt", np.sqrt, lambda g, out: g / (2 * cj(out)), "The square root.")
rsqrt = smooth(
    "rsqrt",
    lambda x: np.reciprocal(np.sqrt(x)),
    lambda g, out: g * cj(out * out * out) * -0.5,
    "1 / sqrt(input).",
)
reciprocal = smooth(
    "reciprocal", np.reciprocal, lambda g, out: neg(g * cj(out * out)), "1 / input."
)
square = primitive(
    "square",
    "x",
    kind=MAP,
    run=square_run,
    title="PowBackward0",
    saved={"exponent": 2},
    grad=dict(x=lambda g, x: g * (cj(x) * 2)),
    doc="input * input.",
)
sigmoid = smooth(
    "sigmoid", sigmoid_run, lambda g, out: g * cj((1 - out) * out), "1 / (1 + exp(-input))."
)
logit = primitive(
    "logit",
    "x; eps",
    kind=MAP,
    run=logit_run,
    dtype="float",
    sig="input, eps=None",
    grad=dict(x=logit_rule),
    check=real_only("logit"),
    doc="log(input / (1 - input)), the inverse of sigmoid; with eps clamped before.",
)
alias(sigmoid, "expit")


# ---- trigonometry --------------------------------------------------------------------------


def sinc_rule(g: Any, x: Any) -> Any:
    """(cos(pi x) pi x - sin(pi x)) / (pi x^2); zero at zero."""
    y = x * math.pi
    return where(eq(x, 0), 0, g * cj((cos(y) * y - sin(y)) / (y * x)))


def acosh_rule(g: Any, x: Any) -> Any:
    """1 / sqrt(x^2 - 1), on the branch of two roots for complex x."""
    dtype = (x.array if type(x) in KINDS else x).dtype
    return g * cj(rsqrt(x + 1) * rsqrt(x - 1) if dtype.kind == "c" else rsqrt(x * x - 1))


sin = smooth("sin", np.sin, lambda g, x: g * cj(cos(x)), "The sine.")
cos = smooth("cos", np.cos, lambda g, x: neg(g * cj(sin(x))), "The cosine.")
tan = smooth("tan", np.tan, lambda g, out: g * cj(out * out + 1), "The tangent.")
asin = smooth("asin", np.arcsin, lambda g, x: g * cj(rsqrt(1 - x * x)), "The arc sine.")
acos = smooth("acos", np.arccos, lambda g, x: neg(g * cj(rsqrt(1 - x * x))), "The arc cosine.")
atan = smooth("atan", np.arctan, lambda g, x: g / cj(x * x + 1), "The arc tangent.")
sinh = smooth("sinh", np.sinh, lambda g, x: g * cj(cosh(x)), "The hyperbolic sine.")
cosh = smooth("cosh", np.cosh, lambda g, x: g * cj(sinh(x)), "The hyperbolic cosine.")
tanh = smooth("tanh", np.tanh, lambda g, out: g * cj(1 - out * out), "The hyperbolic tangent.")
asinh = smooth(
    "asinh", np.arcsinh, lambda g, x: g * cj(rsqrt(x * x + 1)), "The inverse hyperbolic sine."
)
acosh = smooth("acosh", np.arccosh, acosh_rule, "The inverse hyperbolic cosine.")
atanh = smooth(
    "atanh", np.arctanh, lambda g, x: g / cj(1 - x * x), "The inverse hyperbolic tangent."
)
sinc = smooth("sinc", np.sinc, sinc_rule, "sin(pi input) / (pi input); 1 at zero.")
deg2rad = smooth(
    "deg2rad",
    lambda x: x * (math.pi / 180),
    lambda g: g * (math.pi / 180),
    "Degrees to radians.",
    title="Deg2RadBackward0",
    check=no_complex("deg2rad"),
)
rad2deg = smooth(
    "rad2deg",
    lambda x: x * (180 / math.pi),
    lambda g: g * (180 / math.pi),
    "Radians to degrees.",
    title="Rad2DegBackward0",
    check=no_complex("rad2deg"),
)
for _fn in (asin, acos, atan, asinh, acosh, atanh):
    alias(_fn, "arc" + _fn.__name__[1:])


# ---- special functions ---------------------------------------------------------------------

ROOT = math.sqrt(math.pi)
erf = smooth(
    "erf",
    special.erf,
    lambda g, x: g * (exp(neg(x * x)) * (2 / ROOT)),
    "The error function.",
    check=real_only("erf"),
)
erfc = smooth(
    "erfc",
    special.erfc,
    lambda g, x: g * (exp(neg(x * x)) * (-2 / ROOT)),
    "1 - erf(input), exact also where that is tiny.",
    check=real_only("erfc"),
)
erfinv = smooth(
    "erfinv",
    special.erfinv,
    lambda g, x: g * (exp(square(erfinv(x))) * (ROOT / 2)),
    "The inverse of erf.",
    check=real_only("erfinv"),
)
lgamma = smooth(
    "lgamma",
    special.lgamma,
    lambda g, x: g * digamma(x),
    "log|gamma(input)|.",
    check=real_only("lgamma"),
)
digamma = smooth(
    "digamma",
    special.digamma,
    lambda g, x: g * polygamma_of(x, 1),
    "The derivative of lgamma.",
    check=real_only("digamma"),
)
polygamma_of = primitive(
    "_polygamma",
    "x; n",
    kind=MAP,
    dtype="float",
    in_place="polygamma_",
    run=lambda x, n: special.polygamma(x, n) if n else special.digamma(x),
    title="PolygammaBackward0",
    grad=dict(x=lambda g, x, n: g * polygamma_of(x, n + 1)),
    check=real_only("polygamma"),
    doc="The n-th derivative of digamma.",
)


@function_only
def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return polygamma_of(input, n)


def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma."""
    return polygamma(n, self)


METHODS["polygamma"] = border(polygamma_method)


# ---- rounding: gradients are zeros, not absent ---------------------------------------------


def stepwise(name: str, run: Callable, doc: str) -> Callable:
    """The record of a function that is constant between its steps; integers stay as they are."""
    refused = only(
        name, "if", c=f"{name} is not supported for complex inputs", error=NotImplementedError
    )
    return primitive(name, "x", kind=MAP, run=run, grad=dict(x=nothing), check=refused, doc=doc)


def round_run(x: np.ndarray, decimals: int | None) -> np.ndarray:
    """Half to even, in decimal digits as PyTorch computes them: scale, round, scale back."""
    if x.dtype.kind in "iu":
        if decimals is None:
            return x.copy()
        raise NotImplementedError('"round_cpu" not implemented for integers with decimals=')
    if not decimals:
        return np.rint(x)
    power = 10.0 ** abs(decimals)
    return np.rint(x * power) / power if decimals > 0 else np.rint(x / power) * power


floor = stepwise("floor", np.floor, "The largest integer not above input.")
ceil = stepwise("ceil", np.ceil, "The smallest integer not below input.")
trunc = stepwise("trunc", np.trunc, "input without its fractional part.")
round_ = primitive(
    "round",
    "x; decimals",
    kind=MAP,
    run=round_run,
    grad=dict(x=nothing),
    title=lambda node: f"RoundBackward{int(node.attrs[0] is not None)}",
    sig="input, *, decimals=None",
    check=only("round", "if"),
    doc="The nearest number with that many decimals (default: integer), half to even.",
)
frac = primitive(
    "frac",
    "x",
    kind=MAP,
    run=lambda x: x - np.trunc(x),
    grad=dict(x=lambda g: g),
    alias=True,
    check=only("frac", "f"),
    doc="The fractional part, with input's sign.",
)
alias(trunc, "fix")


# ---- signs ---------------------------------------------------------------------------------


def sign_run(x: np.ndarray) -> np.ndarray:
    """-1, 0 or 1; zero for NaN."""
    if x.dtype.kind == "b":
        return x.copy()
    return np.greater(x, 0).astype(x.dtype) - np.less(x, 0).astype(x.dtype)


def sgn_run(x: np.ndarray) -> np.ndarray:
    """x / |x|, zero at zero; the sign of real numbers."""
    if x.dtype.kind != "c":
        return sign_run(x)
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)


def sgn_rule(g: Any, x: Any, out: Any) -> Any:
    """Only the part of g across the direction of x turns it, by 1 / |x|."""
    dtype = (x.array if type(x) in KINDS else x).dtype
    if dtype.kind != "c":
        return nothing(g)
    size = abs_(x)
    return where(eq(size, 0), 0, (g - real(g * cj(out)) * out) / size)


neg = primitive(
    "neg",
    "x",
    kind=MAP,
    run=np.negative,
    grad=dict(x=lambda g: neg(g)),
    doc="-input.",
    check=only(
        "neg",
        "ifc",
        error=RuntimeError,
        b=(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        ),
    ),
)
abs_ = primitive(
    "abs",
    "x",
    kind=MAP,
    run=np.abs,
    grad=dict(x=lambda g, x: g * sgn(x)),
    check=only("abs", "ifc"),
    doc="The absolute value (of complex numbers: real).",
)
sign = primitive(
    "sign",
    "x",
    kind=MAP,
    run=sign_run,
    grad=dict(x=nothing),
    doc="-1, 0 or 1.",
    check=only(
        "sign",
        "bif",
        c="Unlike NumPy, torch.sign is not intended to support complex "
        "numbers. Please use torch.sgn instead.",
        error=NotImplementedError,
    ),
)
sgn = primitive(
    "sgn", "x", kind=MAP, run=sgn_run, grad=dict(x=sgn_rule), doc="input / |input|, zero at zero."
)
threshold_backward = primitive(
    "_threshold_backward",
    "x y",
    kind=MAP,
    run=lambda x, y: np.where(np.less_equal(y, 0), np.zeros((), x.dtype), x),
    title="ThresholdBackwardBackward0",
    in_place=False,
    grad=dict(x=lambda g, y: threshold_backward(g, y), y=lambda g: nothing(g)),
    doc="x where y > 0 (or NaN), else 0: the gradient of relu, which depends on y in name only.",
)
relu = primitive(
    "relu",
    "x",
    kind=MAP,
    run=lambda x: np.maximum(x, 0),
    grad=dict(x=lambda g, out: threshold_backward(g, out)),
    doc="max(input, 0).",
    check=only(
        "relu",
        "if",
        b="Boolean inputs not supported for relu",
        error=RuntimeError,
        c="clamp is not supported for complex types",
    ),
)
alias(neg, "negative")
alias(abs_, "absolute")


@function_only
def positive(input: Tensor) -> Tensor:
    """The tensor itself: +x."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


METHODS["positive"] = METHODS["__pos__"] = positive
