"""MAP without derivative: comparisons, predicates, logic, bits; and `where`, which they feed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import METHODS, alias, border, function
from sapwood._core.door import primitive
from sapwood._core.op import MAP
from sapwood._core.slow import common_dtype
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.checks import only


def comparison(name: str, run: Callable, doc: str, *, ordered: bool = True) -> Callable:
    """The record of a comparison; half precision is compared as it is."""
    return primitive(
        name,
        "x y",
        kind=MAP,
        run=run,
        grad={},
        dtype="exact",
        doc=doc,
        check=only(name, "bif") if ordered else None,
    )


eq = comparison("eq", np.equal, "input == other, element by element.", ordered=False)
ne = comparison("ne", np.not_equal, "input != other, element by element.", ordered=False)
lt = comparison("lt", np.less, "input < other, element by element.")
le = comparison("le", np.less_equal, "input <= other, element by element.")
gt = comparison("gt", np.greater, "input > other, element by element.")
ge = comparison("ge", np.greater_equal, "input >= other, element by element.")
alias(ne, "not_equal")
alias(lt, "less")
alias(le, "less_equal")
alias(gt, "greater")
alias(ge, "greater_equal")


# ---- predicates ----------------------------------------------------------------------------


def predicate(name: str, run: Callable, doc: str, **fields: Any) -> Callable:
    """The record of a property of each element."""
    return primitive(
        name, "x", kind=MAP, run=run, grad={}, dtype="exact", in_place=False, doc=doc, **fields
    )


def without_imaginary_part(x: np.ndarray) -> np.ndarray:
    """Whether each element is real."""
    return x.imag == 0 if x.dtype.kind == "c" else np.ones(x.shape, bool)


def no_complex(name: str, error: type[Exception], text: str) -> Callable[..., None]:
    """A check that refuses complex operands."""
    return only(name, "bif", error=error, c=text)


isnan = predicate("isnan", np.isnan, "Where input is NaN.")
isinf = predicate("isinf", np.isinf, "Where input is infinite, of either sign.")
isfinite = predicate("isfinite", np.isfinite, "Where input is neither infinite nor NaN.")
isposinf = predicate(
    "isposinf",
    lambda x: np.isinf(x) & (x > 0),
    "Where input is positive infinity.",
    check=no_complex("isposinf", RuntimeError, "isposinf does not support complex inputs."),
)
isneginf = predicate(
    "isneginf",
    lambda x: np.isinf(x) & (x < 0),
    "Where input is negative infinity.",
    check=no_complex("isneginf", RuntimeError, "isneginf does not support complex inputs."),
)
isreal = predicate("isreal", without_imaginary_part, "Where input has no imaginary part.")
signbit = predicate(
    "signbit",
    lambda x: np.signbit(x) if x.dtype.kind in "fV" else x < 0,
    "Where the sign bit of input is set: also for -0.0.",
    check=no_complex(
        "signbit", NotImplementedError, "signbit is not implemented for complex tensors."
    ),
)


# ---- logic and bits ------------------------------------------------------------------------

logical_and = primitive(
    "logical_and",
    "x y",
    kind=MAP,
    run=np.logical_and,
    grad={},
    dtype="exact",
    doc="Where both are non-zero.",
)
logical_or = primitive(
    "logical_or",
    "x y",
    kind=MAP,
    run=np.logical_or,
    grad={},
    dtype="exact",
    doc="Where at least one is non-zero.",
)
logical_xor = primitive(
    "logical_xor",
    "x y",
    kind=MAP,
    run=np.logical_xor,
    grad={},
    dtype="exact",
    doc="Where exactly one is non-zero.",
)
logical_not = primitive(
    "logical_not",
    "x",
    kind=MAP,
    run=np.logical_not,
    grad={},
    dtype="exact",
    doc="Where input is zero.",
)


def bits(name: str, spec: str, run: Callable, doc: str, letters: str = "bi") -> Callable:
    """The record of an operation on integers (and, mostly, booleans)."""
    short = {"bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift"}.get(name, name)
    return primitive(name, spec, kind=MAP, run=run, grad={}, doc=doc, check=only(short, letters))


def shift_left(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x << y; zero where y is no valid number of bits (C leaves that open)."""
    bad = (y < 0) | (y >= 8 * x.dtype.itemsize)
    return np.where(bad, x.dtype.type(0), np.left_shift(x, np.where(bad, y.dtype.type(0), y)))


def shift_right(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x >> y, keeping the sign; all bits are shifted out where y is no valid number of bits."""
    most = 8 * x.dtype.itemsize - 1
    bad = (y < 0) | (y > most)
    if x.dtype.kind == "u":
        return np.where(bad, x.dtype.type(0), np.right_shift(x, np.where(bad, y.dtype.type(0), y)))
    return np.right_shift(x, np.where(bad, y.dtype.type(most), y))


bitwise_and = bits("bitwise_and", "x y", np.bitwise_and, "input & other, bit by bit.")
bitwise_or = bits("bitwise_or", "x y", np.bitwise_or, "input | other, bit by bit.")
bitwise_xor = bits("bitwise_xor", "x y", np.bitwise_xor, "input ^ other, bit by bit.")
bitwise_not = bits("bitwise_not", "x", np.bitwise_not, "~input; the opposite for booleans.")
bitwise_left_shift = bits("bitwise_left_shift", "x y", shift_left, "input * 2^other.", "i")
bitwise_right_shift = bits(
    "bitwise_right_shift", "x y", shift_right, "input / 2^other, rounded down.", "i"
)
gcd = bits("gcd", "x y", np.gcd, "The greatest common divisor.", "i")
lcm = bits("lcm", "x y", np.lcm, "The least common multiple.", "i")


# ---- closeness -----------------------------------------------------------------------------


def same_dtype(common: dt.dtype, *values: Any) -> None:
    """Refuse operands of different dtypes."""
    titles = [dt.of(v.dtype).title for v in values if isinstance(v, np.ndarray)]
    if len(set(titles)) > 1:
        raise RuntimeError(f"{titles[0]} did not match {titles[1]}")


def tolerances(x: Any, y: Any, rtol: float, atol: float, equal_nan: bool) -> tuple:
    """Check the tolerances of isclose."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    return float(rtol), float(atol), bool(equal_nan)


def isclose_run(x: Any, y: Any, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    """|x - y| <= atol + rtol |y|, in the operands' precision; infinities only equal themselves."""
    close = x == y
    if equal_nan:
        close = close | (np.isnan(x) & np.isnan(y))
    if x.dtype.kind in "biu":
        x, y = (np.asarray(v).astype(dt.numpy_of(dt.default())) for v in (x, y))
    distance = np.abs(x - y)
    return close | (np.isfinite(distance) & (distance <= atol + np.abs(rtol * y)))


isclose = primitive(
    "isclose",
    "x y; rtol atol equal_nan",
    kind=MAP,
    run=isclose_run,
    grad={},
    bind=tolerances,
    in_place=False,
    check=same_dtype,
    sig="input, other, rtol=1e-05, atol=1e-08, equal_nan=False",
    doc="Where |input - other| <= atol + rtol |other|.",
)


@function
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close: see isclose."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


@function
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape and the same elements. NaN equals nothing."""
    for t in (input, other):
        if not isinstance(t, Tensor):
            raise TypeError(f"equal(): argument must be Tensor, not {type(t).__name__}")
    return input.array.shape == other.array.shape and bool(eq(input, other).array.all())


# ---- choice --------------------------------------------------------------------------------

NUMBERS = frozenset({int, float, bool, complex})


def indices(condition: Tensor, input: Any, other: Any) -> tuple:
    """`where` of one argument: the positions of the non-zero elements, one tensor per dimension."""
    if input is not None or other is not None:
        raise TypeError("where(): give both input and other, or none of them")
    if type(condition) not in KINDS:
        return np.atleast_1d(condition).nonzero()
    return tuple(plain(a) for a in np.atleast_1d(condition.array).nonzero())


def number_tensor(input: Any, other: Any) -> Tensor:
    """The first of two numbers as a tensor of their common dtype."""
    return plain(np.asarray(input, dt.numpy_of(common_dtype([input, other]))))


def where_run(cond: np.ndarray, x: Any, y: Any) -> np.ndarray:
    """np.where with a boolean condition."""
    if cond.dtype.kind != "b":
        if cond.dtype != np.uint8:
            raise RuntimeError(
                "where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{dt.of(cond.dtype).title}"
            )
        cond = cond.astype(bool)
    return np.where(cond, x, y)


where = primitive(
    "where",
    "cond x y",
    kind=MAP,
    run=where_run,
    dtype="promote x y",
    in_place=False,
    sig="condition, input=None, other=None",
    saved={"condition": "cond"},
    prologue="""
if input is None or other is None: return indices(condition, input, other)
if type(input) in NUMBERS and type(other) in NUMBERS and type(condition) in KINDS:
    input = number_tensor(input, other)
""",
    env={"indices": indices, "NUMBERS": NUMBERS, "KINDS": KINDS, "number_tensor": number_tensor},
    grad=dict(x=lambda g, cond: where(cond, g, 0), y=lambda g, cond: where(cond, 0, g)),
    doc="input where condition holds, else other; alone: where condition is non-zero.",
)


def where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Self where condition holds, else other."""
    return where(condition, self, other)


METHODS["where"] = border(where_method)
