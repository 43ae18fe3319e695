"""Complex numbers: parts, conjugates, angles. Gradients are PyTorch's, dL/d conj(z)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.border import FUNCTIONS, METHODS, alias, border, function_only
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import MAP, MOVE
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.compare import eq, where

NUMBERS = frozenset({int, float, bool})


def conj_run(x: Any) -> Any:
    """The complex conjugate; real values as they are."""
    return np.conjugate(x) if isinstance(x, (np.ndarray, complex)) else x


conj = primitive(
    "conj",
    "x",
    kind=MAP,
    run=conj_run,
    grad=dict(x=lambda g: conj(g)),
    alias=True,
    in_place="conj_physical_",
    env={"KINDS": KINDS},
    prologue="if type(input) in KINDS and input.array.dtype.kind != 'c': return input",
    doc="The complex conjugate; real tensors themselves.",
)
alias(conj, "conj_physical")


def itself(self: Tensor) -> Tensor:
    """The tensor itself: conjugates and negatives are computed at once here."""
    return self


def no(self: Tensor) -> bool:
    """False: conjugates and negatives are computed at once here."""
    return False


for _name in ("resolve_conj", "resolve_neg"):
    FUNCTIONS[_name] = METHODS[_name] = itself
for _name in ("is_conj", "is_neg"):
    FUNCTIONS[_name] = METHODS[_name] = no


# ---- parts as views ------------------------------------------------------------------------


def parts_run(x: np.ndarray) -> np.ndarray:
    """Real and imaginary parts side by side along a new last dimension, in x's memory."""
    strides = (*x.strides, x.itemsize // 2)
    return np.lib.stride_tricks.as_strided(x.real, (*x.shape, 2), strides)


def refuse_real(x: Any) -> tuple:
    """view_as_real wants a complex tensor."""
    if x.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return ()


def pairs_run(x: np.ndarray) -> np.ndarray:
    """Pairs along the last dimension as complex numbers, in x's memory where it fits."""
    kind = np.dtype(f"c{2 * x.itemsize}")
    if not x.size:
        return np.empty(x.shape[:-1], kind)
    fits = all(s % kind.itemsize == 0 for s in x.strides[:-1])
    x = x if fits and x.strides[-1] == x.itemsize else np.ascontiguousarray(x)
    return x.view(kind)[..., 0]


def refuse_single(x: Any) -> tuple:
    """view_as_complex wants pairs of neighbours."""
    if x.dtype.kind != "f" or x.itemsize < 4:
        raise RuntimeError("view_as_complex is only supported for floating point tensors")
    if x.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if x.size and x.strides[-1] != x.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if x.size and any(s % (2 * x.itemsize) for s in x.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return ()


pairs = primitive(
    "_pairs",
    "x",
    kind=MOVE,
    run=pairs_run,
    dtype="keep",
    title="ViewAsComplexBackward0",
    grad=dict(x=lambda g: view_as_real(g)),
    doc="Pairs along the last dimension as complex numbers.",
)
view_as_real = primitive(
    "view_as_real",
    "x",
    kind=MOVE,
    run=parts_run,
    dtype="keep",
    view=True,
    bind=refuse_real,
    grad=dict(x=lambda g: pairs(g)),
    doc="A real view: a last dimension of size 2 for the parts.",
)
view_as_complex = primitive(
    "view_as_complex",
    "x",
    kind=MOVE,
    run=pairs_run,
    dtype="keep",
    view=True,
    bind=refuse_single,
    grad=dict(x=lambda g: view_as_real(g)),
    doc="A complex view of pairs along the last dimension.",
)


def part(x: Any, index: int) -> Any:
    """The real (0) or imaginary (1) part of a complex array or tensor, as a view."""
    if type(x) not in KINDS:
        return np.asarray(x.imag if index else x.real)
    return TABLE["select"].door(view_as_real(x), -1, index)


@function_only
def real(input: Any) -> Any:
    """The real part, as a view; real tensors themselves."""
    array = input.array if type(input) in KINDS else input
    return part(input, 0) if array.dtype.kind == "c" else input


@function_only
def imag(input: Any) -> Any:
    """The imaginary part of a complex tensor, as a view."""
    array = input.array if type(input) in KINDS else input
    if array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return part(input, 1)


def put_real(self: Tensor, value: Any) -> None:
    """x.real = value: written into x's memory."""
    real(self).copy_(as_tensor(value))


def put_imag(self: Tensor, value: Any) -> None:
    """x.imag = value: written into x's memory."""
    imag(self).copy_(as_tensor(value))


def as_tensor(value: Any) -> Tensor:
    """A tensor, or a number as one."""
    return value if isinstance(value, Tensor) else FUNCTIONS["as_tensor"](value)


METHODS["real"] = property(real, border(put_real), doc=real.__doc__)  # type: ignore[assignment]
METHODS["imag"] = property(imag, border(put_imag), doc=imag.__doc__)  # type: ignore[assignment]


# ---- made from parts -----------------------------------------------------------------------


def join_run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """X + iy without arithmetic: infinities stay in their part."""
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), np.dtype(f"c{2 * x.itemsize}"))
    out.real, out.imag = x, y
    return out


def same_floats(x: Any, y: Any) -> tuple:
    """Both parts must be floating and of one dtype."""
    if not (hasattr(x, "dtype") and hasattr(y, "dtype")):
        raise TypeError("complex(): arguments 'real' and 'imag' must be Tensor, not numbers")
    if x.dtype != y.dtype or x.dtype.kind != "f" or x.itemsize < 4:
        raise RuntimeError(
            "Expected both inputs to be Float or Double tensors of the same dtype but got "
            f"{x.dtype} and {y.dtype}"
        )
    return ()


complex_ = primitive(
    "complex",
    "x y",
    kind=MAP,
    run=join_run,
    sig="real, imag",
    bind=same_floats,
    in_place=False,
    grad=dict(x=lambda g: real(g), y=lambda g: imag(g)),
    alias=True,
    doc="The complex tensor with these parts.",
)


def turn(g: Any, y: Any, *, across: bool) -> Any:
    """The part of g along the direction y, or across it (a quarter turn further)."""
    cos, sin = TABLE["cos"].door(y), TABLE["sin"].door(y)
    return imag(g) * cos - real(g) * sin if across else real(g) * cos + imag(g) * sin


polar = primitive(
    "polar",
    "x y",
    kind=MAP,
    run=lambda x, y: join_run(x * np.cos(y), x * np.sin(y)),
    sig="abs, angle",
    bind=same_floats,
    in_place=False,
    grad=dict(
        x=lambda g, y: turn(g, y, across=False), y=lambda g, x, y: x * turn(g, y, across=True)
    ),
    doc="The complex tensor with this absolute value and angle.",
)


def angle_run(x: np.ndarray) -> np.ndarray:
    """The argument of complex numbers; pi for negative real ones."""
    if x.dtype.kind == "c":
        return np.arctan2(x.imag, x.real)
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0)))


def angle_rule(g: Any, x: Any) -> Any:
    """i z / |z|^2; zero at zero and for real numbers."""
    array = x.array if type(x) in KINDS else x
    if array.dtype.kind != "c":
        return np.zeros((g.array if type(g) in KINDS else g).shape, array.dtype)
    size = TABLE["abs"].door(x)
    return where(eq(x, 0), 0, g * (x * 1j) / (size * size))


angle = primitive(
    "angle",
    "x",
    kind=MAP,
    run=angle_run,
    dtype="float",
    grad=dict(x=angle_rule),
    in_place=False,
    doc="The argument of complex numbers, in radians.",
)
