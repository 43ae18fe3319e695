"""Samples of sums, means, extremes and norms: every form of dim, ties, zeros, NaN, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

import sapwood
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.unary import z

L = np.array
F4 = f(3, 4).astype("f4")
BOOLS = L([[True, False, True], [False, False, False]])
NANS = L([[1.0, np.nan, 3.0], [np.nan, np.nan, 2.0]])
INFS = L([[np.inf, 1.0, 2.0], [-np.inf, -np.inf, -np.inf], [np.inf, -np.inf, 0.0]])
TIES = L([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
ZEROS = L([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])


def dims(*first: Any, values: Any = f, every: bool = True, **kwargs: Any) -> list[Sample]:
    """Samples of shapes and of all forms of dim and keepdim."""
    found = [
        sample(values(3, 4), *first, 0, **kwargs), sample(values(3, 4), *first, -1, True, **kwargs),
        sample(values(2, 3, 4), *first, dim=(0, -1), **kwargs),
        sample(values(2, 3, 4), *first, dim=[1], keepdim=True, **kwargs),
        sample(values(4, 3).T, *first, 1, **kwargs), sample(values(3, 4)[::-1, ::2], *first, 0, **kwargs),
        sample(values(), *first, 0, **kwargs), sample(values(3, 4), *first, (0, 1), **kwargs),
        sample(values(3, 4), *first, (0, 1), True, **kwargs),
        sample(values(3, 4).astype("f4"), *first, 1, **kwargs), sample(values(0, 3), *first, 1, **kwargs),
        sample(values(3), *first, -1, **kwargs), sample(values(1, 4), *first, 0, **kwargs),
    ]
    if every:
        found += [sample(values(3, 4), *first, **kwargs), sample(values(), *first, **kwargs)]
    return found


def several(samples: list[Sample]) -> list[Sample]:
    """Those whose first array has no dimension 1: where the spread of one element is no matter."""
    return [s for s in samples if s.args[0].ndim and s.args[0].shape[0] != 1]


def one(*, empty: bool = True) -> list[Sample]:
    """Samples of functions that take one dimension."""
    found = [sample(f(3, 4)), sample(f()), sample(f(3, 4), 0), sample(f(3, 4), -1, True),
             sample(f(4, 3).T, 1), sample(f(3, 4)[::-1, ::2], dim=0, keepdim=True), sample(f(), 0), sample(F4, 0)]
    return [*found, sample(f(0, 3), 0)] if empty else found


INTS = [sample(i(3, 4)), sample(i(3, 4).astype("u1"), 0), sample(i(3, 4, low=-5).astype("i4"), 1),
        sample(BOOLS), sample(BOOLS, 1), sample(i(0))]
COMPLEX = [sample(z(3, 4)), sample(z(3, 4), 0), sample(z(3).astype("c8"), 0, True)]
KINDS = [sample(F4, dtype=sapwood.complex128), sample(i(3, 4), dtype=sapwood.float64),
         sample(i(3), 0, dtype=sapwood.float32), sample(f(3, 4), 0, True, dtype=sapwood.float64)]
SPECIAL = [sample(NANS, 1, grad=False), sample(INFS, 1, grad=False)]
def nothing(**kwargs: Any) -> list[Sample]:
    """Samples of folds over nothing."""
    return [sample(f(0), **kwargs), sample(f(0, 3), 0, **kwargs), sample(f(0, 3), (0, 1), **kwargs),
            sample(f(2, 0), 1, True, **kwargs)]



SPREAD = [
    *several(dims()), *COMPLEX, sample(f(), 0, grad=False), sample(f(), grad=False), sample(f(3, 4), False), sample(f(3, 4), 0, unbiased=False), sample(f(3, 4), 0, False),
    sample(f(3, 4), correction=0), sample(f(3, 4), 1, correction=2), sample(f(3, 4), dim=1, correction=0.5),
    sample(f(3, 4), dim=(0,), unbiased=True, keepdim=True), sample(f(3, 4), None, correction=0, keepdim=True),
    sample(f(1), grad=False), sample(f(3, 1), 1, grad=False), sample(f(0), grad=False), sample(TIES, 1, grad=False),
]
ORDERS = (2, 1, 3, 1.5, 0.5, 0, -1, np.inf, -np.inf)
LESS = L([[1.0, 0.0, -3.0], [0.0, 0.0, 0.0]])

SAMPLES = {
    "sum": [*dims(), *INTS, *COMPLEX, *KINDS, *SPECIAL, *nothing(), sample(f(3, 4), dim=None, keepdim=True),
            sample(f(3, 4), []), sample(i(3), dtype=sapwood.int32), sample(f(3, 4), 0, dtype=sapwood.float32)],
    "mean": [*dims(), *COMPLEX, *KINDS, *SPECIAL, *nothing(grad=False), sample(f(3, 4), []), sample(f(3, 4), None, True)],
    "prod": [*one(), *INTS, *COMPLEX, *KINDS, *SPECIAL, sample(ZEROS, 1), sample(ZEROS), sample(ZEROS, 0),
             sample(f(0)), sample(L([0.0, 2.0, 3.0])), sample(L([0.0, 0.0, 3.0])), sample(z(3) * L([1, 0, 1])),
             sample(f(2, 0), 1, True), sample(f(2, 1, 3), 1), sample(f(2, 3, 2), 1)],
    "amax": [*dims(), *SPECIAL, sample(TIES, 1, grad=False), sample(TIES, grad=False), *INTS[:5], sample(TIES, [], grad=False)],
    "amin": [*dims(), *SPECIAL, sample(TIES, 1, grad=False), sample(TIES, grad=False), *INTS[:5]],
    "aminmax": [sample(f(3, 4)), sample(f(3, 4), dim=0), sample(f(3, 4), dim=-1, keepdim=True), sample(f()),
                sample(i(3, 4), dim=0), sample(f(4, 3).T), sample(TIES, dim=1, grad=False), sample(BOOLS),
                sample(NANS, dim=1, grad=False), sample(f(3, 0), dim=0)],
    "all": [sample(BOOLS), sample(BOOLS, 0), sample(BOOLS, (0, 1)), sample(BOOLS.T, 1, True), sample(f(3, 4)),
            sample(i(3, 4).astype("u1"), 0), sample(f(0)), sample(f(0, 3), 0), sample(f()), sample(NANS, 1),
            sample(ZEROS, 1), sample(z(3)), sample(i(3, 4), 0), sample(BOOLS, dim=None, keepdim=True)],
    "any": [sample(BOOLS), sample(BOOLS, 0), sample(BOOLS, (0, 1)), sample(BOOLS.T, 1, True), sample(f(3, 4)),
            sample(i(3, 4).astype("u1"), 0), sample(f(0)), sample(f(0, 3), 0), sample(f()), sample(NANS, 1),
            sample(ZEROS, 1), sample(z(3)), sample(i(3, 4), 0)],
    "count_nonzero": [sample(ZEROS), sample(ZEROS, 1), sample(ZEROS, (0, 1)), sample(BOOLS, 0), sample(i(3, 4), -1),
                      sample(NANS, 1), sample(z(3)), sample(f()), sample(f(0, 3), 0), sample(f(0))],
    "logsumexp": [*dims(every=False), sample(f(3, 4) * 400, 1), sample(INFS, 1, grad=False), sample(i(3, 4), 0),
                  sample(f(0, 3), 0), sample(L([-np.inf, -np.inf]), 0, grad=False), sample(NANS, 1, grad=False),
                  sample(BOOLS, 1)],
    "var": SPREAD, "std": SPREAD, "var_mean": SPREAD, "std_mean": SPREAD,
    "_vector_norm": [private(f(3, 4), p, (1,), False) for p in ORDERS] + [private(LESS, 2.0, (1,), True, grad=False)],
    "norm": [
        *(sample(f(3, 4), p) for p in ORDERS), *(sample(f(3, 4), p, 1) for p in ORDERS),
        *(sample(LESS, p, 1, grad=False) for p in ORDERS if p > 0),
        *dims("fro"), *several(dims(3)), sample(f(3, 4)), sample(z(3, 4)), sample(z(3, 4), 1, 0), sample(z(3, 4), np.inf, 0),
        sample(z(3, 4), 3), sample(f(0)), sample(f(0, 3), 2, 0), sample(F4, dtype=sapwood.float64),
        sample(TIES, np.inf, 1, grad=False), sample(TIES, -np.inf, 1, grad=False), sample(NANS, 2, 1, grad=False),
        sample(INFS, 2, 1, grad=False), sample(f(3, 4), "fro", (0, 1), keepdim=True), sample(f(0), 1), sample(f(0), 0),
    ],
    "dist": [sample(f(3, 4), g(3, 4)), sample(f(3, 4), g(4)), sample(f(4), g(3, 1), 1), sample(f(3), g(3), 3),
             sample(f(3), f(3), grad=False), sample(f(), g()), sample(f(4, 3).T, g(3, 4)),
             sample(f(3), g(3), np.inf), sample(F4, F4[::-1], 1.5), sample(f(0), g(0))],
    "nansum": [*dims(), sample(NANS, grad=False), sample(NANS, 1, grad=False), sample(i(3, 4)), sample(BOOLS),
               sample(f(3), dtype=sapwood.float32), sample(f(0)), sample(i(3, 4).astype("u1"), 0)],
    "nanmean": [*dims(), sample(NANS, grad=False), sample(NANS, 1, grad=False), sample(f(0), grad=False),
                sample(f(3), dtype=sapwood.float32), sample(L([np.nan, np.nan]), 0, grad=False)],
}
