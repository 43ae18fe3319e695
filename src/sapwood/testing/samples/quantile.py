"""Samples of quantiles: several at once, every way between two elements, NaN."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import f, sample

NANS = np.array([[4.0, np.nan, 1.0, 3.0], [5.0, 2.0, 8.0, 7.0], [np.nan, np.nan, np.nan, np.nan]])
FEW = np.array([0.05, 0.15, 0.45, 0.9])

QUANTILES = [
    sample(f(3, 4), 0.3),
    sample(f(3, 4), 0.3, 0),
    sample(f(3, 4), 0.6, 1, True),
    sample(f(3, 4), 0.3, keepdim=True),
    sample(f(2, 3, 4), FEW, 1),
    sample(f(2, 3, 4), FEW, 1, True),
    sample(f(3, 4), FEW, keepdim=True),
    sample(f(5), FEW[1:2]),
    sample(f(), 0.7),
    sample(f(), 0.7, 0),
    sample(f(4, 3).T, 0.25, 1),
    sample(f(6)[::-1], 0.3),
    sample(f(3).astype("f4"), 0.3),
    *(
        sample(f(3, 4), 0.35, 1, interpolation=way)
        for way in ("linear", "lower", "higher", "midpoint", "nearest")
    ),
    sample(f(5), 0.5),
    sample(f(5), 0),
    sample(f(5), 1),
    sample(NANS, 0.4, 1, grad=False),
    sample(NANS, 0.4, grad=False),
    sample(NANS, FEW, 0, grad=False),
]
SAMPLES = {"quantile": QUANTILES, "nanquantile": QUANTILES}
