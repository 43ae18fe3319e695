"""MAP of two operands: arithmetic, powers, extremes. Broadcasts.

Where PyTorch has an overload of its own for a number as operand, the node's name says so: a port
of -1 marks the number (see Node.next_functions).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import METHODS, alias, border, function
from sapwood._core.door import primitive
from sapwood._core.mode import MODE
from sapwood._core.op import MAP
from sapwood._core.slow import common_dtype
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.checks import no_derivative, only
from sapwood._ops.compare import eq, ge, gt, isnan, le, logical_and, logical_or, lt, where
from sapwood._ops.complex import real
from sapwood._ops.rules import cj
from sapwood._ops.unary import exp, exp2, log, neg, nothing

NUMBERS = frozenset({int, float, bool, complex})


def overload(name: str, plain: int, first: int, second: int) -> Callable:
    """A node's name by which operand was a number: none, the first, the second."""

    def title(node: Any) -> str:
        digit = plain
        if node.ports[0] < 0:
            digit = first
        elif node.ports[1] < 0:
            digit = second
        return f"{name}Backward{digit}"

    return title


# ---- sums ----------------------------------------------------------------------------------


def check_alpha(x: Any, y: Any, alpha: Any) -> tuple:
    """Refuse an alpha that the operands' dtype cannot hold."""
    if type(alpha) is not float and type(alpha) is not int:
        alpha = alpha.item() if hasattr(alpha, "item") else alpha
        if type(alpha) not in NUMBERS:
            raise TypeError(f"argument 'alpha' must be Number, not {type(alpha).__name__}")
    highest = max(
        dt.of(v.dtype).category if isinstance(v, np.ndarray) else dt.of_number(v).category
        for v in (x, y)
    )
    if isinstance(alpha, bool) and highest > dt.BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and highest < dt.COMPLEX:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    if isinstance(alpha, float) and highest < dt.FLOAT:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    return (alpha,)


def no_bool(common: dt.dtype, *values: Any) -> None:
    """Refuse to subtract booleans."""
    kinds = [isinstance(v, bool) or getattr(v, "dtype", None) == np.bool_ for v in values]
    if all(kinds):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(kinds):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` "
            "operator instead."
        )


def relay(frame: Any, door: Callable, *args: Any) -> Any:
    """Call a door as if the caller of `frame`'s function had: with its line as the site."""
    mode = MODE.get()
    if mode.site is not None:
        return door(*args)
    MODE.set(mode.at((frame.f_code, frame.f_lasti)))
    try:
        return door(*args)
    finally:
        MODE.set(mode)


def detour(record: Callable, attribute: str, unless: str) -> dict[str, Any]:
    """Fields of a record: send calls with a rare attribute to a record of its own.

    So the usual call has nothing to do with alpha= or rounding_mode=.
    """
    text = f"if not ({unless}): return relay(getframe(1), DETOUR, input, other, {attribute})"
    return {"prologue": text, "env": {"DETOUR": record, "relay": relay}}


def scaled(record: Callable) -> dict[str, Any]:
    """The detour for alpha=."""
    fields = detour(record, "alpha", "alpha == 1 and alpha is not True")
    return {"sig": "input, other, *, alpha=1", "saved": {"alpha": 1}, **fields}


add_scaled = primitive(
    "_add",
    "x y; alpha",
    kind=MAP,
    run=lambda x, y, alpha: x + alpha * y,
    in_place=False,
    bind=check_alpha,
    title="AddBackward0",
    alias=True,
    grad=dict(x=lambda g: g, y=lambda g, alpha: g * cj(alpha)),
    doc="input + alpha * other.",
)
sub_scaled = primitive(
    "_sub",
    "x y; alpha",
    kind=MAP,
    run=lambda x, y, alpha: x - alpha * y,
    in_place=False,
    bind=check_alpha,
    title="SubBackward0",
    grad=dict(x=lambda g: g, y=lambda g, alpha: neg(g * cj(alpha))),
    alias=True,
    check=no_bool,
    doc="input - alpha * other.",
)
rsub_scaled = primitive(
    "_rsub",
    "x y; alpha",
    kind=MAP,
    run=lambda x, y, alpha: y - alpha * x,
    in_place=False,
    bind=check_alpha,
    title=overload("Rsub", 0, 0, 1),
    alias=True,
    check=no_bool,
    grad=dict(x=lambda g, alpha: neg(g * cj(alpha)), y=lambda g: g),
    doc="other - alpha * input.",
)
add = primitive(
    "add",
    "x y",
    kind=MAP,
    run=np.add,
    alias=True,
    grad=dict(x=lambda g: g, y=lambda g: g),
    **scaled(add_scaled),
    doc="input + alpha * other.",
)
sub = primitive(
    "sub",
    "x y",
    kind=MAP,
    run=np.subtract,
    alias=True,
    grad=dict(x=lambda g: g, y=lambda g: neg(g)),
    **scaled(sub_scaled),
    check=no_bool,
    doc="input - alpha * other.",
)
rsub = primitive(
    "rsub",
    "x y",
    kind=MAP,
    run=lambda x, y: np.subtract(y, x),
    alias=True,
    in_place=False,
    title=overload("Rsub", 0, 0, 1),
    grad=dict(x=lambda g: neg(g), y=lambda g: g),
    **scaled(rsub_scaled),
    check=no_bool,
    doc="other - alpha * input.",
)
alias(sub, "subtract")


# ---- products and quotients ----------------------------------------------------------------


def refuse_zero(y: Any) -> None:
    """Integers have no infinity: PyTorch raises where NumPy would return 0."""
    if getattr(y, "dtype", np.dtype(float)).kind in "iu" and np.any(np.equal(y, 0)):
        raise RuntimeError("ZeroDivisionError")


def div_mode_run(x: Any, y: Any, rounding_mode: str) -> np.ndarray:
    """Quotient rounded toward zero or down; integers stay integers."""
    refuse_zero(y)
    if rounding_mode == "floor":
        return np.floor_divide(x, y)
    if np.asarray(x).dtype.kind in "fc":
        return np.trunc(np.true_divide(x, y))
    down = np.floor_divide(x, y)  # exact; the next integer up where signs differ
    return down + ((down < 0) & (down * y != x)).astype(down.dtype)


def floor_divide_run(x: Any, y: Any) -> np.ndarray:
    """Quotient rounded down."""
    refuse_zero(y)
    return np.floor_divide(x, y)


def check_mode(x: Any, y: Any, rounding_mode: Any) -> tuple:
    """Rounding_mode is 'trunc' or 'floor' (None does not come here)."""
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
            f"found '{rounding_mode}'"
        )
    return (rounding_mode,)


def remainder_run(x: Any, y: Any) -> np.ndarray:
    """The remainder with the divisor's sign."""
    refuse_zero(y)
    return np.remainder(x, y)


def fmod_run(x: Any, y: Any) -> np.ndarray:
    """The remainder with the dividend's sign."""
    refuse_zero(y)
    return np.fmod(x, y)


mul = primitive(
    "mul",
    "x y",
    kind=MAP,
    run=np.multiply,
    grad=dict(x=lambda g, y: g * cj(y), y=lambda g, x: g * cj(x)),
    doc="input * other.",
)
div_mode = primitive(
    "_div",
    "x y; rounding_mode",
    kind=MAP,
    run=div_mode_run,
    in_place=False,
    bind=check_mode,
    title="DivBackward2",
    grad=dict(x=nothing, y=nothing),
    check=only("div_floor", "if"),
    doc="input / other, rounded toward zero ('trunc') or down ('floor').",
)
div = primitive(
    "div",
    "x y",
    kind=MAP,
    run=np.true_divide,
    dtype="float",
    grad=dict(x=lambda g, y: g / cj(y), y=lambda g, x, y: neg(g * cj((x / y) / y))),
    sig="input, other, *, rounding_mode=None",
    **detour(div_mode, "rounding_mode", "rounding_mode is None"),
    doc="input / other.",
)
floor_divide = primitive(
    "floor_divide",
    "x y",
    kind=MAP,
    run=floor_divide_run,
    check=only("div_floor", "if"),
    title="torch::autograd::NotImplemented",
    grad=dict(x=no_derivative("floor_divide"), y=no_derivative("floor_divide")),
    doc="input / other, rounded down. Without derivative, as in PyTorch: use div with a mode.",
)
remainder = primitive(
    "remainder",
    "x y",
    kind=MAP,
    run=remainder_run,
    title=overload("Remainder", 1, 1, 0),
    grad=dict(x=lambda g: g, y=lambda g, x, y: neg(g * div_mode(x, y, "floor"))),
    alias=True,
    check=only("remainder", "if"),
    doc="The remainder of a division, with other's sign.",
)
fmod = primitive(
    "fmod",
    "x y",
    kind=MAP,
    run=fmod_run,
    title=overload("Fmod", 1, 1, 0),
    grad=dict(x=lambda g: g, y=lambda g, x, y: neg(g * div_mode(x, y, "trunc"))),
    alias=True,
    check=only("fmod", "if"),
    doc="The remainder of a division, with input's sign.",
)
ldexp = primitive(
    "ldexp",
    "x y",
    kind=MAP,
    run=lambda x, y: x * np.exp2(y),
    dtype="float",
    grad=dict(x=lambda g, y: g * cj(exp2(y)), y=lambda g, out: g * cj(out) * math.log(2)),
    doc="input * 2^other.",
)
alias(mul, "multiply")
alias(div, "divide", "true_divide")


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


# ---- extremes ------------------------------------------------------------------------------

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
