"""Samples of products: every combination of ranks, broadcast batches, layouts, size 0, dtypes."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.reduce import F4
from sapwood.testing.samples.unary import z

W = f(4, 2)


def single(*shape: int) -> np.ndarray:
    """float32 values."""
    return f(*shape).astype("f4")


MATMUL = [
    sample(f(3), g(3)),
    sample(f(3, 4), g(4)),
    sample(f(3), g(3, 4)),
    sample(f(3, 4), g(4, 2)),
    sample(f(2, 3, 4), g(4, 5)),
    sample(f(2, 3, 4), g(4)),
    sample(f(4), g(2, 4, 3)),
    sample(f(3, 4), g(2, 4, 5)),
    sample(f(2, 3, 4), g(2, 4, 5)),
    sample(f(2, 1, 3, 4), g(5, 4, 2)),
    sample(f(1, 3, 4), g(2, 4, 5)),
    sample(f(2, 3, 4), g(1, 4, 5)),
    sample(f(4, 3).T, W),
    sample(f(3, 4)[::-1], W),
    sample(f(3, 4), f(2, 4).T),
    sample(f(0, 4), W),
    sample(f(3, 0), g(0, 2)),
    sample(f(0), g(0)),
    sample(f(2, 0, 4), W),
    sample(F4, single(4, 2)),
    sample(z(3, 4), z(4, 2)),
    sample(z(3), z(3)),
    sample(z(2, 3, 4), z(4, 2)),
    sample(i(3, 4), i(4, 2)),
    sample(i(3), i(3)),
    sample(f(2, 4, 3).transpose(0, 2, 1), W),
    sample(f(3, 2, 4).transpose(1, 0, 2), g(2, 4, 3)),
    sample(f(3, 1), g(1, 2)),
    sample(f(1, 1), g(1, 1)),
    sample(f(2, 3, 4), g(1, 4, 1)),
    sample(f(3), g(2, 5, 3, 4)),
]

SAMPLES = {
    "matmul": MATMUL,
    "mm": [
        sample(f(3, 4), W),
        sample(f(4, 3).T, W),
        sample(f(0, 4), W),
        sample(f(3, 0), g(0, 2)),
        sample(F4, single(4, 2)),
        sample(z(3, 4), z(4, 2)),
        sample(i(3, 4), i(4, 2)),
        sample(f(3, 4)[::-1], W),
    ],
    "bmm": [
        sample(f(2, 3, 4), g(2, 4, 5)),
        sample(f(0, 3, 4), g(0, 4, 5)),
        sample(f(2, 3, 0), g(2, 0, 5)),
        sample(f(3, 2, 4).transpose(1, 0, 2), g(2, 4, 3)),
        sample(single(2, 3, 4), single(2, 4, 5)),
        sample(z(2, 3, 4), z(2, 4, 2)),
        sample(i(2, 3, 4), i(2, 4, 2)),
    ],
    "mv": [
        sample(f(3, 4), g(4)),
        sample(f(4, 3).T, g(4)),
        sample(f(0, 4), g(4)),
        sample(f(3, 0), g(0)),
        sample(F4, single(4)),
        sample(z(3, 4), z(4)),
        sample(i(3, 4), i(4)),
        sample(f(3, 4), g(4)[::-1]),
    ],
    "dot": [
        sample(f(3), g(3)),
        sample(f(0), g(0)),
        sample(f(3)[::-1], g(6)[::2]),
        sample(single(3), single(3)),
        sample(z(3), z(3)),
        sample(i(3), i(3)),
    ],
    "vdot": [
        sample(f(3), g(3)),
        sample(f(0), g(0)),
        sample(f(3)[::-1], g(6)[::2]),
        sample(z(3), z(3)),
        sample(i(3), i(3)),
    ],
}
