"""Samples of means, variances and standard deviations: corrections, equal values, no values."""

from __future__ import annotations

import numpy as np

from sapwood._core import dtype as dt
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.reduce import EMPTY, NAN, ODD, shapes
from sapwood.testing.samples.unary import z

SAME = np.array([[2.0, 2.0, 2.0], [1.0, 2.0, 4.0]])


VOID = [Sample(s.args, s.kwargs, grad=False) for s in EMPTY]


def spread() -> list[Sample]:
    """Samples of var, std and their like."""
    return [
        *shapes(),
        *VOID,
        sample(f(3, 4), unbiased=False),
        sample(f(3, 4), 0, False),
        sample(f(3, 4), False),
        sample(f(3, 4), True),
        sample(f(3, 4), (0, 1), True, True),
        sample(f(3, 4), 0, correction=0),
        sample(f(3, 4), correction=0.5),
        sample(f(3, 4), 1, correction=2, keepdim=True),
        sample(f(1, 4), 0, grad=False),
        sample(f(3), correction=3, grad=False, torch=""),
        sample(z(3, 2), 0),
        sample(z(3, 2)),
        sample(SAME[1:], 1),
        sample(f(3, 4), (), torch=""),
        sample(ODD, 0, grad=False),
        sample(g(3, 4) + 1e2, 0),
        sample(f(3, 4), None, False, keepdim=True),
    ]


MEAN = [
    *shapes(),
    sample(f(3, 4), []),
    sample(f(3, 4), None, True),
    sample(i(3), dtype=dt.float32),
    sample(f(3), 0, dtype=dt.float32),
    sample(f(3).astype("f4"), dtype=dt.float64),
    *VOID,
    sample(ODD, 0, grad=False),
]
SAMPLES = {
    "mean": [*MEAN, sample(z(3, 2), 0)],
    "nanmean": [s for s in MEAN if s.args[0].dtype.kind != "i"]
    + [sample(np.array([[NAN, 1.0], [NAN, NAN]]), d, grad=False) for d in (None, 0, 1)],
    "var": spread(),
    "std": [*spread(), sample(SAME, 1, grad=False), sample(SAME[0], grad=False)],
    "var_mean": spread(),
    "std_mean": [*spread(), sample(SAME, 1, grad=False)],
}
for _name in ("var", "std", "var_mean", "std_mean"):  # one value has no spread
    SAMPLES[_name] = [
        Sample(s.args, s.kwargs, s.grad and s.args[0].ndim > 0, s.torch) for s in SAMPLES[_name]
    ]
