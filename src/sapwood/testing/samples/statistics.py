"""Samples of covariance, distances, rescaling and powers."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.reduce import F4
from sapwood.testing.samples.unary import z

WEIGHTS = f(4, low=0.5, high=2.0)
PLACES = np.array([0.0, 1.0, 3.0, 4.0], "f4")
SAMPLES = {
    "cov": [
        sample(f(3, 4)),
        sample(f(4)),
        sample(f(3, 4), correction=0),
        sample(f(4, 3).T),
        sample(F4),
        sample(f(3, 4)[::-1]),
        sample(f(3, 4), fweights=i(4, low=1)),
        sample(f(3, 4), aweights=WEIGHTS),
        sample(f(3, 4), fweights=i(4, low=1), aweights=WEIGHTS.astype("f4")),
        sample(z(3, 4)),
        sample(i(3, 4)),
        sample(f(3, 4), aweights=WEIGHTS, correction=0),
        sample(f(), grad=False),
    ],
    "corrcoef": [
        sample(f(3, 4)),
        sample(f(4)),
        sample(f(4, 3).T),
        sample(F4),
        sample(i(3, 4)),
        sample(z(3, 4)),
    ],
    "cdist": [
        *(sample(f(4, 3), g(2, 3), p) for p in (2.0, 1.0, 3.0, np.inf)),
        sample(f(2, 4, 3), g(2, 5, 3)),
        sample(f(0, 3), g(2, 3)),
        sample(f(4, 3).astype("f4"), g(2, 3).astype("f4")),
        sample(f(3, 4).T, g(2, 3)),
        sample(f(2, 1, 4, 3), g(3, 2, 3)),
        sample(f(4, 3), f(4, 3), grad=False),
        sample(F4, F4[::-1], 0.0),
    ],
    "renorm": [
        sample(f(3, 4), 2, 0, 1.0),
        sample(f(3, 4), 1, 1, 0.5),
        sample(f(3, 4), 2, -1, 100.0),
        sample(F4, 3, 0, 1.0),
        sample(f(4, 3).T, 2, 0, 1.0),
        sample(f(2, 3, 2), 2, 1, 1.0),
        sample(f(0, 3), 2, 0, 1.0),
    ],
    "vander": [  # float32: PyTorch cannot differentiate its own
        sample(F4[0]),
        sample(F4[0], 3),
        sample(F4[0], N=3, increasing=True),
        sample(i(4)),
        sample(F4[0, :0]),
        sample(F4[0, ::-1], 1),
        sample(F4[:, 0], 0),
        sample(f(0)),
    ],
    "renorm_": [sample(f(3, 4), 2, 0, 1.0), sample(F4, 1, 1, 0.5)],
    "pdist": [
        *(sample(f(4, 3), p) for p in (2, 1, 3, np.inf)),
        sample(f(3, 4).T),
        sample(F4, 1.5),
        sample(f(1, 3)),
        sample(np.array([[1.0, 2.0], [1.0, 2.0]]), grad=False),
    ],
    "gradient": [
        sample(f(5)),
        sample(f(4, 3)),
        sample(f(4, 3), dim=0),
        sample(f(4, 3), spacing=0.5),
        sample(i(5)),
        sample(f(4, 3), spacing=[0.5, 2.0]),
        sample(f(4, 3), dim=(1,), edge_order=2),
        sample(f(3, 4).T, dim=1),
        sample(F4.T, spacing=[PLACES], dim=0),
        sample(F4[0], spacing=[PLACES], edge_order=2),
        sample(F4),
        sample(f(2)),
    ],
}
