"""Samples of extremes in all forms, sorting, counting and quantiles: ties, NaN, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.reduce import BOOLS, F4, INFS, NANS, TIES

L = np.array
DOUBLES = L([3, 1, 1, 2, 3, 3, 0])
STEPS = L([[1.0, 3.0, 5.0, 7.0], [2.0, 4.0, 6.0, 8.0]])


def along(*first: Any, empty: bool = True, edges: Any = (NANS, INFS), **kwargs: Any) -> list[Sample]:
    """Samples of functions along one dimension; `first`: arguments before it."""
    found = [
        sample(f(3, 4), *first, 0, **kwargs), sample(f(3, 4), *first, -1, **kwargs),
        sample(f(2, 3, 4), *first, dim=1, **kwargs), sample(f(4, 3).T, *first, 1, **kwargs),
        sample(f(3, 4)[::-1, ::2], *first, 0, **kwargs), sample(F4, *first, 1, **kwargs),
        *(sample(a, *first, 1, grad=False, **kwargs) for a in edges),
        sample(i(3, 4), *first, 0, **kwargs),
    ]
    if empty:
        found.append(sample(f(3, 0), *first, 0, **kwargs))
    return found


WHOLE = [sample(f(3, 4)), sample(f()), sample(f(4, 3).T), sample(f(3, 4)[::-1]), sample(i(3, 4)), sample(F4),
         sample(NANS, grad=False)]
FOLDS = [*along(), sample(f(3, 4), 1, True), sample(f(), 0), sample(f(), -1, True), sample(f(2, 3, 4), 1, keepdim=True)]
EXTREMES = [*WHOLE, *FOLDS, sample(TIES, grad=False), sample(TIES, 1, grad=False), sample(f(3, 4), g(3, 4)),
            sample(f(3, 4), g(4)), sample(f(3, 4), other=g(3, 4)), sample(BOOLS), sample(BOOLS, 1)]
ONE = private(f(3, 4), 1, False)
Q = L([0.1, 0.3, 0.5, 0.9])
QS = [
    sample(f(3, 4), 0.5), sample(f(3, 4), 0.3, 1), sample(f(3, 4), 0.3, dim=0, keepdim=True), sample(f(5), 0.0),
    sample(f(5), 1), sample(f(4, 3).T, 0.7, 1), sample(F4, 0.25, 1), sample(f(3, 4)[::-1], 0.6, keepdim=True),
    *(sample(f(3, 4), 0.4, 1, interpolation=m) for m in ("lower", "higher", "midpoint", "nearest")),
    sample(f(), 0.5), sample(f(1), 0.5), sample(NANS, 0.5, 1, grad=False), sample(NANS, 0.5, grad=False),
]

SAMPLES = {
    "max": EXTREMES, "min": EXTREMES,
    "_max_dim": [ONE], "_min_dim": [ONE], "_max_all": [private(f(3, 4))], "_min_all": [private(f(3, 4))],
    "argmax": [*WHOLE, *FOLDS, sample(TIES), sample(TIES, 1), sample(f(3, 4), None, True), sample(i(3, 4).astype("u1"))],
    "argmin": [*WHOLE, *FOLDS, sample(TIES), sample(TIES, 1), sample(f(3, 4), None, True)],
    "_sort": [ONE], "_topk": [private(f(3, 4), 2, 1, True)], "_median_dim": [ONE], "_nanmedian_dim": [ONE],
    "_median_all": [private(f(3, 4))], "_nanmedian_all": [private(f(3, 4))],
    "_kthvalue": [private(f(3, 4), 1, False, 2)], "_mode": [ONE],
    "sort": [*along(), sample(f(3, 4)), sample(f()), sample(f(3, 4), 0, True), sample(NANS, 1, True, grad=False),
             sample(TIES, dim=1, descending=True, stable=True, grad=False), sample(TIES, dim=1, stable=True, grad=False),
             sample(BOOLS, dim=1, stable=True), sample(f(0)), sample(f(3, 4), stable=True, dim=0),
             sample(DOUBLES.astype("u1"), stable=True)],
    "argsort": [sample(f(3, 4)), sample(f(3, 4), 0), sample(f(3, 4), 0, True), sample(f(4, 3).T), sample(f()),
                sample(DOUBLES, stable=True), sample(f(0)), sample(NANS, dim=1, stable=True), sample(F4)],
    "msort": [sample(f(3, 4)), sample(f(4, 3).T), sample(i(3, 4)), sample(F4), sample(f(0, 3)), sample(f(3)[::-1])],
    "topk": [sample(f(3, 4), 2), sample(f(3, 4), 2, 0), sample(f(3, 4), 1, -1, False), sample(f(), 1), sample(f(5), 5),
             sample(f(3, 4), 0), sample(f(4, 3).T, 2, 1), sample(i(3, 4, high=90), 2), sample(NANS, 2, 1, grad=False),
             sample(F4, 2, dim=0, largest=False, sorted=True), sample(f(3, 4)[::-1], 3), sample(f(0, 3), 2)],
    "median": [*WHOLE, *along(), sample(f(3, 4), 1, True), sample(f(), 0), sample(f(0), grad=False), sample(f(5)),
               sample(L([1.0, np.nan, np.nan]), grad=False)],
    "nanmedian": [*WHOLE, *along(), sample(f(3, 4), 1, True), sample(f(), 0), sample(f(0), grad=False), sample(f(5)),
                  sample(L([np.nan, np.nan]), grad=False)],
    "kthvalue": [*along(2, empty=False, edges=[NANS]), sample(f(3, 4), 1), sample(f(3, 4), 4, 1, True), sample(f(), 1),
                 sample(f(3, 0), 2, 0)],
    "mode": [sample(DOUBLES), sample(i(3, 8, high=3)), sample(i(8, 3, high=3), 0), sample(f(3, 4)), sample(f(), 0),
             sample(TIES, 1, True, grad=False), sample(i(3, 8).T, 0), sample(F4, 1), sample(BOOLS, 1)],
    "unique": [sample(DOUBLES), sample(i(3, 4)), sample(DOUBLES, return_inverse=True, return_counts=True),
               sample(DOUBLES.reshape(7, 1), return_inverse=True), sample(DOUBLES, return_counts=True), sample(BOOLS),
               sample(L([[1, 2], [0, 1], [1, 2]]), dim=0, return_inverse=True, return_counts=True),
               sample(L([[1, 1, 2], [0, 0, 1]]), dim=1), sample(i(0)), sample(F4.T), sample(i()), sample(i(3)[::-1])],
    "unique_consecutive": [
        sample(DOUBLES), sample(DOUBLES, return_inverse=True, return_counts=True), sample(i(0)), sample(F4),
        sample(L([[1, 2], [1, 2], [0, 1]]), dim=0, return_inverse=True, return_counts=True), sample(BOOLS),
        sample(L([[1, 1, 2], [0, 0, 1]]), dim=1), sample(DOUBLES.reshape(7, 1), return_inverse=True),
    ],
    "bincount": [sample(DOUBLES), sample(DOUBLES, minlength=6), sample(DOUBLES, f(7).astype("f4")),
                 sample(DOUBLES, i(7)), sample(i(0)), sample(DOUBLES.astype("u1")), sample(i(0), minlength=3)],
    "histc": [sample(F4, 4), sample(F4, 5, -1, 1), sample(F4.T), sample(F4[0], bins=3, min=0, max=2),
              sample(L([2.0, 2.0], "f4"), 3)],
    "searchsorted": [
        sample(STEPS[0], f(3, low=0, high=9)), sample(STEPS[0], L([3.0, 8.0]), right=True), sample(STEPS[0], 3.0),
        sample(STEPS, f(2, 3, low=0, high=9)), sample(STEPS[0], L([[3.0], [1.0]]), side="right"), sample(STEPS[0], f(0)),
        sample(STEPS[0], f(3), out_int32=True), sample(L([1, 3, 5]), L([3, 6])), sample(f(0), f(2)),
        sample(L([5.0, 1.0, 3.0]), L([2.0, 5.0]), sorter=L([1, 2, 0])),
    ],
    "bucketize": [sample(f(3, 4, low=0, high=9), STEPS[0]), sample(L([3.0, 1.0]), STEPS[0], right=True),
                  sample(3.0, STEPS[0]), sample(L([3, 1]), STEPS[0].astype("i8"), out_int32=True), sample(f(0), STEPS[0]),
                  sample(f(4, 3).T, STEPS[0])],
    "quantile": [*QS, sample(f(3, 4), Q), sample(f(3, 4), Q, 1), sample(f(3, 4), Q, 1, True), sample(f(5), Q[:1])],
    "nanquantile": [*QS, sample(f(3, 4), Q), sample(f(3, 4), Q, 1), sample(f(3, 4), Q, 1, True),
                    sample(L([[np.nan, np.nan], [1.0, np.nan]]), 0.5, 1, grad=False)],
    "isin": [sample(DOUBLES, L([1, 3])), sample(f(3, 4), f(3, 4)[0]), sample(DOUBLES, 3), sample(3, DOUBLES),
             sample(DOUBLES, L([1, 3]), invert=True), sample(f(0), f(2)), sample(i(3, 4).T, i(0)),
             sample(DOUBLES, L([[1], [3]]), assume_unique=False)],
}
