"""Samples of sums, products, extremes and logsumexp: dimensions, zeros, ties, NaN, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.unary import z

INF, NAN = np.inf, np.nan
F4 = f(3, 4).astype("f4")
BOOLS = np.array([[True, False, True], [False, False, True]])
TIES = np.array([[3.0, 1.0, 3.0], [1.0, 1.0, -2.0]])
ODD = np.array([[1.0, NAN, -INF], [INF, 2.0, NAN]])
ENDS = np.array([[-INF, -INF, 1.0], [-INF, -INF, INF]])


def shapes(*, many: bool = True, none: bool = True, **kwargs: Any) -> list[Sample]:
    """Samples of a fold in every form and layout: dim, negative dim, several, keepdim, 0-d."""
    found = [
        sample(f(3, 4), 0, **kwargs),
        sample(f(3, 4), -1, keepdim=True, **kwargs),
        sample(f(2, 3, 4), dim=1, **kwargs),
        sample(f(4, 3).T, 1, **kwargs),
        sample(f(3, 4)[::-1, ::2], 0, **kwargs),
        sample(f(), 0, **kwargs),
        sample(f(3, 0), 0, **kwargs),
        sample(f(3, 4).astype("f4"), 1, **kwargs),
    ]
    if none:
        found += [
            sample(f(3, 4), **kwargs),
            sample(f(), **kwargs),
            sample(f(6)[::-1], **kwargs),
            sample(f(4, 2, 3).T, **kwargs),
        ]
    if many:
        found += [
            sample(f(2, 3, 4), (0, -1), **kwargs),
            sample(f(2, 3, 4), dim=[1, 2], keepdim=True, **kwargs),
        ]
    return found


def whole(*, dtypes: bool = True) -> list[Sample]:
    """Samples on integers, booleans and with dtype=."""
    found = [
        sample(i(3, 4), 0),
        sample(i(3, 4, dtype="i4")),
        sample(i(5, dtype="u1")),
        sample(BOOLS, 1),
        sample(BOOLS),
    ]
    if dtypes:
        found += [
            sample(i(3), dtype=dt.float32),
            sample(f(3), 0, dtype=dt.float32),
            sample(f(3).astype("f4"), dtype=dt.float64),
            sample(i(3), dtype=dt.int32),
            sample(i(3, dtype="i4"), dtype=dt.int32),
        ]
    return found


EMPTY = [sample(f(0)), sample(f(0, 3), 0), sample(f(0, 3), keepdim=True, dim=1)]
EXTREMES = [
    *shapes(),
    *whole(dtypes=False),
    sample(f(3, 4), ()),
    sample(f(0, 3), 1),
    *(sample(a, d, grad=False) for a in (TIES, ODD, -ODD) for d in ((), 0, 1)),
]
LOGICAL = [
    *shapes(),
    *whole(dtypes=False),
    *EMPTY,
    sample(f(2, 3), ()),
    sample(z(3)),
    sample(ODD, 1),
    sample(np.zeros((2, 3))),
    sample(np.array([0.0, -0.0, 1.0])),
]

SAMPLES = {
    "sum": [
        *shapes(),
        *whole(),
        *EMPTY,
        sample(z(3, 2), 0),
        sample(ODD, 0, grad=False),
        sample(f(3, 4), None, True),
        sample(f(3, 4), []),
        sample(f(700, 3).astype("f4"), 0),
        sample(f(2, 1300, 3).astype("f4"), (0, 1), True),
        sample(f(3, 1), (0, 1)),
        sample(z(2, 3), dtype=dt.complex128),
    ],
    "nansum": [*shapes(), *whole(), *EMPTY, sample(ODD, 0, grad=False), sample(ODD, grad=False)],
    "prod": [
        *shapes(many=False),
        *whole(),
        *EMPTY,
        sample(z(3, 2), 0),
        sample(z(4)),
        *(
            sample(np.array(v), d)
            for v in ([0.0, 2.0, 3.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0])
            for d in (-1, 0)
        ),
        *(sample(np.array(v)) for v in ([0.0, 2.0, 3.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0])),
        sample(np.array([[0.0, 2.0, 3.0], [1.0, 0.5, 2.0], [0.0, 3.0, 0.0]]), 1, True),
        sample(np.array([[0.0, 2.0, 3.0], [1.0, 0.5, 2.0]]).T, 0),
        sample(np.array(0.0)),
        sample(np.array([0.0, 2.0 + 1j, 3.0 - 1j])),
    ],
    "amax": EXTREMES,
    "amin": EXTREMES,
    "_ties": [private(TIES, np.array([3.0, 1.0]), (1,), False, True)],
    "aminmax": [
        sample(f(3, 4)),
        sample(f(3, 4), dim=0),
        sample(f(2, 3, 4), dim=-1, keepdim=True),
        sample(f()),
        sample(f(), dim=0),
        sample(f(4, 3).T, dim=1),
        sample(f(0, 3), dim=1),
        sample(i(3, 4)),
        sample(BOOLS, dim=0),
        sample(f(5)[::-1]),
        sample(TIES, dim=1, grad=False),
        sample(ODD, grad=False),
        sample(TIES, grad=False),
    ],
    "all": LOGICAL,
    "any": LOGICAL,
    "count_nonzero": [
        sample(f(3, 4)),
        sample(i(3, 4), 0),
        sample(i(2, 3, 4), (0, 2)),
        sample(BOOLS, -1),
        sample(f(0, 3), 0),
        sample(f(4, 3).T, 1),
        sample(f()),
        sample(z(3)),
        sample(ODD),
    ],
    "logsumexp": [
        *shapes(none=False),
        sample(f(0, 3), 0, grad=False),
        sample(i(3, 4), 0),
        sample(BOOLS, 1),
        sample(z(3, 2), 0),
        sample(z(3, 2), (0, 1)),
        sample(f(3) * 1000, 0),
        sample(ENDS, 0, grad=False),
        sample(ENDS, 1, grad=False),
        sample(ODD, 1, grad=False),
        sample(g(2, 3), (0, 1), True),
    ],
}
