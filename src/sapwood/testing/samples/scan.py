"""Samples of running sums, products and extremes: zeros at every place, ties, NaN, dtypes."""

from __future__ import annotations

import numpy as np

from sapwood._core import dtype as dt
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.reduce import BOOLS, ENDS, INF, NAN, ODD
from sapwood.testing.samples.unary import z

ZEROS = [
    [2.0, 0.0, 3.0],
    [0.0, 2.0, 3.0],
    [2.0, 3.0, 0.0],
    [0.0, 0.0, 3.0],
    [2.0, 0.0, 0.0],
    [0.0, 2.0, 0.0],
    [0.0, 0.0, 0.0],
]


def scans(*, whole: bool = True) -> list[Sample]:
    """Samples of a scan: dimensions, layouts, dtypes."""
    found = [
        sample(f(3, 4), 0),
        sample(f(3, 4), -1),
        sample(f(2, 3, 4), dim=1),
        sample(f(4, 3).T, 0),
        sample(f(3, 4)[::-1, ::2], 0),
        sample(f(), 0),
        sample(f(3, 0), 0),
        sample(f(0), 0),
        sample(f(1), 0),
        sample(f(3, 4).astype("f4"), 1),
    ]
    if whole:
        found += [sample(i(3, 4), 0), sample(i(4, dtype="i4"), 0), sample(BOOLS, 1)]
    return found


TYPED = [
    sample(i(3), 0, dtype=dt.float32),
    sample(f(3), 0, dtype=dt.float32),
    sample(f(3).astype("f4"), 0, dtype=dt.float64),
    sample(z(3, 2), 0),
    sample(i(3, dtype="i4"), 0, dtype=dt.int32),
]
RUNNING = [
    *scans(),
    sample(ODD, 1, grad=False),
    sample(np.array([1.0, 2.0, 2.0, 1.0, 2.0]), 0, grad=False),
    sample(np.array([1.0, NAN, 3.0, NAN, 5.0]), 0, grad=False),
    sample(np.array([3, 3, 1, 1, 3]), 0),
]

SAMPLES = {
    "cumsum": [*scans(), *TYPED, sample(ODD, 1, grad=False)],
    "cumprod": [
        *scans(),
        *TYPED,
        sample(np.array(ZEROS), 1),
        sample(np.array(ZEROS), 0),
        *(sample(np.array(v), 0) for v in ZEROS),
        sample(np.array([1j, 0, 2 + 1j]), 0),
    ],
    "cumsum_": [sample(f(3, 4), 0), sample(i(3), 0), sample(f(), 0), sample(f(4, 3).T, 1)],
    "cumprod_": [sample(f(3, 4), 0), sample(i(3), 0), sample(f(), 0), sample(f(4, 3).T, 1)],
    "_shift": [
        private(f(3, 4), 0, 1, 1.0),
        private(f(3, 4), 1, -1),
        private(f(1), 0, 1),
        private(f(0), 0, 1),
    ],
    "_recur": [
        *(private(f(4, 3), g(4, 3), d, b) for d in (0, 1) for b in (False, True)),
        private(f(3, 4).T, g(4, 3), 0, True),
        private(f(1), g(1), 0, False),
        private(z(3), z(3), 0, True),
        private(f(0, 2), g(0, 2), 0, False),
    ],
    "logcumsumexp": [
        *scans(whole=False),
        sample(f(5) * 10, 0),
        sample(z(3, 2), 0),
        sample(ENDS, 1, grad=False),
        sample(np.array([1.0, INF, 2.0]), 0, grad=False),
        sample(np.array([1.0, -INF, 2.0]), 0, grad=False),
    ],
    "cummax": RUNNING,
    "cummin": RUNNING,
    "diff": [
        sample(f(5)),
        sample(f(3, 4), dim=0),
        sample(f(3, 4), 2),
        sample(f(2, 3, 4), n=1, dim=1),
        sample(f(4, 3).T),
        sample(f(6)[::-1]),
        sample(f(0)),
        sample(f(1)),
        sample(f(3), 9),
        sample(f(3, 4), prepend=g(3, 1), append=g(3, 2)),
        sample(i(5)),
        sample(BOOLS),
        sample(f(3), 0),
        sample(f(3).astype("f4")),
    ],
    "trapezoid": [
        sample(f(5)),
        sample(f(3, 4), dx=2.0),
        sample(f(3, 4), dim=0),
        sample(f(3, 4), g(4)),
        sample(f(3, 4), g(3, 4)),
        sample(f(3, 4), g(3), dim=0),
        sample(i(4)),
        sample(f(4, 3).T),
    ],
    "cumulative_trapezoid": [sample(f(5)), sample(f(3, 4), g(4)), sample(f(3, 4), dx=2.0, dim=0)],
}
