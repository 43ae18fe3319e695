"""Samples of extremes with places, sorting, medians and modes: ties, NaN, dtypes, layouts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.reduce import BOOLS, ODD, TIES

MIXED = np.random.default_rng(5).permutation(24).reshape(2, 3, 4)  # all different


def forms(*extra: Any, **kwargs: Any) -> list[Sample]:
    """Samples along a dimension; `extra` comes before it."""
    return [
        sample(f(3, 4), *extra, 0, **kwargs),
        sample(f(3, 4), *extra, -1, True, **kwargs),
        sample(f(2, 3, 4), *extra, dim=1, **kwargs),
        sample(f(4, 3).T, *extra, 1, **kwargs),
        sample(f(3, 4)[::-1, ::2], *extra, 0, **kwargs),
        sample(f(), *extra, 0, **kwargs),
        sample(f(0, 3), *extra, 1, **kwargs),
        sample(f(3, 4).astype("f4"), *extra, 1, **kwargs),
        sample(MIXED, *extra, 1, **kwargs),
        sample(MIXED.astype("i2"), *extra, -1, **kwargs),
    ]


WHOLE = [
    sample(f(3, 4)),
    sample(f()),
    sample(f(4, 3).T),
    sample(f(5)[::-1]),
    sample(i(3, 4)),
    sample(f(3).astype("f4")),
]
ODDITIES = [sample(a, d, grad=False) for a in (TIES, ODD, -ODD) for d in (0, 1)]
PAIRS = [
    sample(f(3, 4), g(4)),
    sample(f(4), g(3, 1)),
    sample(f(3), other=g(3)),
    sample(TIES, TIES[::-1].copy(), grad=False),
]
EXTREMES = [
    *WHOLE,
    *forms(),
    *ODDITIES,
    *PAIRS,
    sample(TIES, grad=False),
    sample(ODD, grad=False),
    sample(BOOLS),
    sample(BOOLS, 1),
]
PLACES = [*WHOLE, *forms(), *ODDITIES, sample(TIES), sample(ODD), sample(f(3, 4), keepdim=True)]
SORTED = [
    *forms(),
    *ODDITIES,
    sample(f(3, 4)),
    sample(f(3, 4), descending=True),
    sample(BOOLS, 1),
    sample(f(6)[::-1]),
    sample(TIES, 1, True, grad=False),
    sample(f(0), 0),
    sample(f(3, 0)),
]
MEDIANS = [
    *WHOLE,
    *forms(),
    sample(np.array([3.0, 1.0, 3.0, 1.0]), grad=False),
    sample(np.array([4.0, 1.0, 3.0, 2.0])),
    sample(f(0), grad=False),
]
NANS = np.array([[4.0, np.nan, 1.0, 3.0], [np.nan, 2.0, np.nan, 7.0]])

SAMPLES = {
    "max": EXTREMES,
    "min": EXTREMES,
    "argmax": PLACES,
    "argmin": PLACES,
    "sort": [
        *SORTED,
        *(sample(a, stable=True, dim=0) for a in (f(3, 4), i(5))),
        sample(TIES, stable=True, descending=True, grad=False),
    ],
    "argsort": [*SORTED, sample(f(3, 4), stable=True)],
    "msort": [sample(f(3, 4)), sample(f(4, 3).T), sample(f(0, 2)), sample(i(2, 2))],
    "topk": [
        *(sample(f(3, 4), k) for k in (0, 1, 3, 4)),
        sample(f(3, 4), 2, 0),
        sample(f(3, 4), 2, 1, False),
        sample(f(40), 3),
        sample(f(40), 3, largest=False),
        sample(f(2, 40)[:, ::-1], 4),
        sample(f(4, 3).T, 2),
        sample(f(0, 3), 2),
        sample(f(), 1),
        sample(MIXED, 2, 0),
        sample(ODD[:1, :2], 1, grad=False),
        sample(f(3).astype("f4"), 2),
    ],
    "median": [*MEDIANS, sample(NANS, grad=False), sample(NANS[:1], 1, grad=False)],
    "nanmedian": [*MEDIANS, sample(NANS, grad=False), sample(NANS, 1, grad=False)],
    "kthvalue": [
        *forms(1),
        sample(f(3, 4), 3),
        sample(f(3, 4), 4),
        sample(f(5), 2),
        sample(NANS[:1], 4, grad=False),
    ],
    "mode": [
        *forms(),
        sample(np.array([[3.0, 1.0, 3.0, 1.0], [2.0, 2.0, 1.0, 0.0]]), grad=False),
        sample(i(3, 9)),
        sample(i(3, 9), 0, True),
        sample(BOOLS),
    ],
}
for _name in ("max", "min", "median", "nanmedian"):  # records of the form with a dimension
    SAMPLES[f"_{_name}"] = [Sample(s.args, s.kwargs, s.grad, _name) for s in forms()]
