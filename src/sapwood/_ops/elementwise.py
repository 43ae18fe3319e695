"""MAP of two operands: arithmetic, powers, extremes. Broadcasts.

Where PyTorch has an overload of its own for a number as operand, the node's name says so: a port
of -1 marks the number (see Node.next_functions).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import alias
from sapwood._core.door import primitive
from sapwood._core.mode import MODE
from sapwood._core.op import MAP
from sapwood._ops.checks import no_derivative, only
from sapwood._ops.rules import cj
from sapwood._ops.unary import exp2, neg, nothing

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
