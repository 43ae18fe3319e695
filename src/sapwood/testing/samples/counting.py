"""Samples of unique values, histograms and places in sorted sequences."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.reduce import BOOLS, ODD

ROWS = np.array([[1, 2], [0, 1], [1, 2], [1, 2], [0, 1]])
BOUNDS = np.array([-1.0, 0.0, 0.5, 0.5, 1.5])
TABLE = np.sort(f(2, 5), 1)
ALL = {"return_inverse": True, "return_counts": True}
UNIQUE = [
    sample(i(9), grad=False),
    sample(i(3, 4), **ALL),
    sample(i(3, 4).T, return_counts=True),
    sample(BOOLS, return_inverse=True),
    sample(ROWS, dim=0, **ALL),
    sample(ROWS.T, dim=1, **ALL),
    sample(np.array([1.0, np.nan, 1.0, np.nan], "f4")),
    sample(i(0), **ALL),
    sample(i(), **ALL),
    sample(f(3).astype("f4")),
    sample(i(0, 3), dim=0),
    sample(np.array([2, 2, 1, 1, 2]), **ALL),
]

SAMPLES = {
    "unique": UNIQUE,
    "unique_consecutive": UNIQUE,
    "_unique2": [private(i(5))],
    "_unique_consecutive": [private(i(5))],
    "bincount": [
        sample(i(9)),
        sample(i(9), minlength=9),
        sample(i(0)),
        sample(i(9, dtype="u1")),
        sample(i(9), f(9).astype("f4")),
        sample(i(9), i(9)),
        sample(i(18)[::2]),
    ],
    "_bincount": [private(i(5))],
    "_bincount_weighed": [private(i(5), f(5).astype("f4"))],
    "histc": [
        sample(f(20), 4, grad=False),
        sample(f(20), 5, -1, 1, grad=False),
        sample(f(3, 4).T, 3, grad=False),
        sample(np.ones(3), 4, grad=False),
        sample(f(0), 3, grad=False),
        sample(f(9).astype("f4"), 4),
        sample(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), 4, 0, 2, grad=False),
        sample(f(20), grad=False),
    ],
    "searchsorted": [
        sample(BOUNDS, f(3, 4)),
        sample(BOUNDS, BOUNDS),
        sample(BOUNDS, BOUNDS, right=True),
        sample(BOUNDS, BOUNDS, side="right"),
        sample(BOUNDS, 0.5),
        sample(BOUNDS, g(2), out_int32=True),
        sample(TABLE, g(2, 3)),
        sample(TABLE[:, ::-1], g(2, 3), sorter=np.tile(np.arange(4, -1, -1), (2, 1))),
        sample(BOUNDS, f(0)),
        sample(np.arange(4), 1.5),
        sample(np.arange(4), f(3)),
        sample(BOUNDS, f(4, 3).T),
    ],
    "bucketize": [
        sample(f(3, 4), BOUNDS),
        sample(0.5, BOUNDS),
        sample(BOUNDS, BOUNDS, right=True),
        sample(i(3), BOUNDS, out_int32=True),
        sample(ODD, BOUNDS),
    ],
    "isin": [
        sample(i(3, 4), i(2)),
        sample(i(3, 4), 2),
        sample(2, i(3)),
        sample(f(3), f(3)),
        sample(i(3), i(2), invert=True),
        sample(i(0), i(3)),
    ],
}
