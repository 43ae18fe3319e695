"""Samples of norms and distances: every order, zeros, ties, dtypes."""

from __future__ import annotations

import numpy as np

from sapwood._core import dtype as dt
from sapwood.testing.sample import f, g, sample
from sapwood.testing.samples.reduce import INF, ODD
from sapwood.testing.samples.unary import z

ORDERS = (0, 0.5, 1, 1.5, 2, 3, INF, -INF, -1, -2.5)
ZEROS = np.array([[0.0, 2.0, -3.0], [0.0, 0.0, 0.0]])
TIES = np.array([[3.0, -3.0, 1.0], [2.0, 2.0, 2.0]])

SAMPLES = {
    "norm": [
        sample(f(3, 4)),
        sample(f(3, 4), 2),
        sample(f(3, 4), 2, 0),
        sample(f(3, 4), dim=1),
        sample(f(3, 4), "fro", (0, 1)),
        sample(f(2, 3, 4), 3.5, (0, 2), True),
        sample(f()),
        sample(f(4, 3).T, 1, 1),
        sample(f(6)[::-1]),
        sample(f(0)),
        sample(f(0, 3), 2, 0),
        sample(f(0, 3), 1),
        sample(f(3, 4).astype("f4")),
        sample(f(3, 4).astype("f4"), dtype=dt.float64),
        *(sample(f(3, 4), p, 1) for p in ORDERS),
        *(sample(f(3, 4), p) for p in ORDERS),
        *(sample(ZEROS, p, 1, grad=False) for p in ORDERS),
        sample(ODD, grad=False),
        sample(np.zeros(3), grad=False),
        *(sample(TIES, p, 1, grad=False) for p in (INF, -INF)),
        *(sample(z(3, 2), p, 0) for p in (1, 2, 3, INF)),
        sample(z(3, 2), 0),
    ],
    "_vector_norm": [
        sample(f(3, 4), torch="linalg.vector_norm"),
        sample(f(3, 4), 3, 0, torch="linalg.vector_norm"),
        sample(f(2, 3, 4), 1, (0, 1), True, torch="linalg.vector_norm"),
        sample(f(2, 0), 2, 1, torch="linalg.vector_norm"),
    ],
    "dist": [
        sample(f(3, 4), g(3, 4)),
        sample(f(3, 4), g(4)),
        sample(f(4), g(3, 1), 3),
        sample(f(), g(3)),
        sample(f(4, 3).T, g(3, 4)[::-1]),
        sample(f(0), g(0)),
        sample(f(3), g(3).astype("f4")),
        *(sample(f(3), g(3), p) for p in (0.5, 1, 1.5, 2, 3, INF, -INF)),
        sample(z(3), z(2, 1)),
        sample(f(3), g(3), 0, torch=""),
        *(sample(f(3), f(3), p, grad=False) for p in (1, 1.5, 2, 3)),
    ],
}
