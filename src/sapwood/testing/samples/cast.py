"""Samples of conversions."""

from __future__ import annotations

import numpy as np

from sapwood._core import dtype as dt
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.unary import z

BOOLS = np.array([True, False])


def short(*, exact: bool) -> list[Sample]:
    """Samples of `x.float()` and the like; `exact`: float64 is not rounded on the way."""
    whole = np.array([1.7, -1.7, 0.0, 3.0])
    values = [f(2, 3), whole, i(3), BOOLS, f(3, 2).T, f(4)[::-1], f(0), f(), whole.astype("f4")]
    return [sample(v, method=True, grad=exact) for v in values]


SAMPLES = {
    "to": [
        sample(f(2, 3), dt.float32, method=True, grad=False),
        sample(f(2, 3), dt.float64, method=True),
        sample(f(2, 3), dt.float64, copy=True, method=True),
        sample(f(3), "cpu", method=True),
        sample(f(3), "cpu", dt.int32, method=True),
        sample(f(3), g(2).astype("f4"), method=True),
        sample(f(3), dtype=dt.float16, method=True, grad=False),
        sample(f(3), device="cpu", method=True),
        sample(i(3), float, method=True),
        sample(f(3), dt.complex128, method=True),
        sample(f(3), None, dt.float32, method=True, grad=False),
        sample(z(3), dt.complex64, method=True, grad=False),
        sample(f(3, 2).T, dt.float32, method=True, grad=False),
        sample(f(), dt.float64, False, True, method=True),
    ],
    "_to_copy": [
        sample(f(2, 3), np.dtype("f4"), torch="", grad=False),
        sample(f(3)[::-1], np.dtype("f8"), torch=""),
    ],
    "_to_discrete": [
        sample(f(2, 3), np.dtype("i8"), torch=""),
        sample(i(3), np.dtype("?"), torch=""),
    ],
    "type_as": [
        sample(f(3), g(2).astype("f4"), method=True),
        sample(f(3), i(2), method=True),
        sample(f(3), g(2), method=True),
    ],
    "cpu": [sample(f(3), method=True)],
    **{name: short(exact=True) for name in ("double", "cdouble")},
    **{
        name: short(exact=False)
        for name in ("float", "half", "bfloat16", "cfloat", "int", "long", "short", "char", "bool")
    },
    "byte": [sample(i(3), method=True), sample(np.array([1.7, 3.0]), method=True)],
}
