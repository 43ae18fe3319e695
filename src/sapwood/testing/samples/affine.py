"""Samples of products with an addend: beta, alpha, addends that broadcast, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.unary import z


def added(out: tuple, a: tuple, b: tuple) -> list[Sample]:
    """Samples of one record: an addend of the result's shape, and smaller ones."""

    def call(x: np.ndarray, **kwargs: Any) -> Sample:
        return sample(x, f(*a), g(*b), **kwargs)

    turned = f(*a[::-1]).T, g(*b[::-1]).T
    return [
        call(f(*out)),
        call(f(*out), beta=0.5, alpha=2),
        call(f(out[-1]), alpha=-1),
        call(f(1), beta=3),
        call(f(*out), beta=0),
        call(f(), alpha=0),
        sample(f(*out[::-1]).T, *turned),
        sample(f(*out)[::-1], f(*a), g(*b)),
        call(np.full(out, np.nan), beta=0, grad=False),
        sample(f(*out).astype("f4"), f(*a).astype("f4"), g(*b).astype("f4"), alpha=0.1),
        sample(i(*out), i(*a), i(*b), beta=2, alpha=3),
        sample(z(*out), z(*a), z(*b), alpha=1j),
    ]


SAMPLES = {
    "addmm": [
        *added((2, 4), (2, 3), (3, 4)),
        sample(f(2, 4), f(2, 0), g(0, 4)),
        sample(f(4), f(0, 3), g(3, 4)),
        sample(i(2, 2), i(2, 3), i(3, 2), beta=0.5),
    ],
    "addmv": [*added((2,), (2, 3), (3,)), sample(f(2), f(2, 0), g(0))],
    "addr": [
        *added((2, 3), (2,), (3,)),
        sample(f(0, 3), f(0), g(3)),
        sample(f(2, 3).astype("f4"), f(2), g(3)),
    ],
    "baddbmm": [
        *added((2, 3, 5), (2, 3, 4), (2, 4, 5)),
        sample(f(0, 2, 2), f(0, 2, 3), g(0, 3, 2)),
    ],
    "addbmm": [*added((3, 5), (2, 3, 4), (2, 4, 5)), sample(f(2, 2), f(0, 2, 3), g(0, 3, 2))],
}
for _name in tuple(SAMPLES):
    SAMPLES[f"{_name}_"] = [s for s in SAMPLES[_name][:2] if s.grad]
