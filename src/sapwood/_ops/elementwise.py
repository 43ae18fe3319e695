"""MAP: element by element, broadcasting. Unary mathematics and binary arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.door import primitive
from sapwood._core.op import MAP
from sapwood._ops.rules import cj


def real_conj(a: Any) -> Any:
    """Complex conjugate; real values as they are, without a copy."""
    return np.conjugate(a) if getattr(a, "dtype", None) is not None and a.dtype.kind == "c" else (
        a.conjugate() if isinstance(a, complex) else a)


conj = primitive("conj", "x", kind=MAP, run=real_conj, grad=dict(x=lambda g: conj(g)), alias=True,
                 doc="The complex conjugate; real tensors as they are.")
zeros_like_of = primitive(
    "zero", "x", kind=MAP, run=lambda x: np.zeros_like(x), grad=dict(x=lambda g: zeros_like_of(g)),
    doc="Zeros of the same shape.")
add = primitive("add", "x y", kind=MAP, run=np.add, alias=True,
                grad=dict(x=lambda g: g, y=lambda g: g), doc="input + alpha * other.")
sub = primitive("sub", "x y", kind=MAP, run=np.subtract, alias=True,
                grad=dict(x=lambda g: g, y=lambda g: neg(g)), doc="input - alpha * other.")
mul = primitive("mul", "x y", kind=MAP, run=np.multiply,
                grad=dict(x=lambda g, y: g * y.conjugate(), y=lambda g, x: g * x.conjugate()),
                doc="input * other.")
div = primitive("div", "x y", kind=MAP, run=np.true_divide, dtype="float",
                grad=dict(x=lambda g, y: g / cj(y), y=lambda g, out, y: neg(g * cj(out / y))),
                doc="input / other.")
neg = primitive("neg", "x", kind=MAP, run=np.negative, grad=dict(x=lambda g: neg(g)), doc="-input.")
exp = primitive("exp", "x", kind=MAP, run=np.exp, dtype="float",
                grad=dict(x=lambda g, out: g * cj(out)), doc="e to the power of input.")
tanh = primitive("tanh", "x", kind=MAP, run=np.tanh, dtype="float",
                 grad=dict(x=lambda g, out: g * cj(1 - out * out)), doc="Hyperbolic tangent.")
