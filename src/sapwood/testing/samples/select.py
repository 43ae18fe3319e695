"""Samples of what selects, mixes and fills."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.unary import z

EDGES = np.array([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0, np.inf, -np.inf, np.nan])
MASK = np.array([[True, False, True], [False, False, True]])


def wide(*shape: int) -> np.ndarray:
    """Values on both sides of usual bounds."""
    return f(*shape, low=-3.0, high=3.0)


def bounded(number: float) -> list[Sample]:
    """Samples of clamp_min or clamp_max."""
    return [
        sample(wide(3, 4), number),
        sample(wide(), number),
        sample(wide(4, 3).T, number),
        sample(EDGES, 0.5, grad=False),
        sample(i(4), 2),
        sample(i(4), 1.5),
        sample(wide(3).astype("f4"), 0.1),
        sample(wide(3, 4), g(4)),
        sample(wide(4), g(3, 1)),
        sample(wide(), g()),
        sample(wide(3, 4)[::-1], g(4)[::-1]),
        sample(wide(0, 2), g(2)),
        sample(i(4), i(4)[::-1]),
        sample(EDGES, EDGES[::-1], grad=False),
        sample(wide(3).astype("f4"), g(3).astype("f4")),
        sample(wide(3), g(3).astype("f4")),
    ]


SAMPLES = {
    "clamp": [
        sample(wide(3, 4), -0.5, 1.0),
        sample(wide(3, 4), 0.1),
        sample(wide(3, 4), max=0.3),
        sample(wide(), -1, 1),
        sample(wide(0, 3), 0, 1),
        sample(wide(4, 3).T, -1, 1),
        sample(wide(5)[::-1], -1, 1),
        sample(EDGES, 0.25, 1.0, grad=False),
        sample(EDGES, 1.0, 0.5, grad=False),
        sample(EDGES, np.nan, grad=False),
        sample(wide(3).astype("f4"), 0.1, 0.2),
        sample(i(5), 1, 3),
        sample(i(5), 1.5),
        sample(i(5, dtype="u1"), 1, 3),
        sample(MASK, 0, 1),
        sample(i(3, dtype="u1"), -1),
        sample(wide(3, 4), g(4)),
        sample(wide(3, 4), max=g(4)),
        sample(wide(3, 4), g(4), g(3, 1) + 1),
        sample(wide(4), g(3, 4), g(4), torch=""),  # PyTorch fails in backward
        sample(EDGES, EDGES[::-1].copy(), EDGES, grad=False),
        sample(i(4), i(4)[::-1], i(4) + 1),
        sample(wide(), g(), f(low=2.2, high=3.0)),
        sample(wide(3), g(3).astype("f4")),
        sample(i(3), g(3)),
    ],
    "clamp_min": bounded(0.2),
    "clamp_max": bounded(0.2),
    "_clamp": [
        private(wide(3, 4), g(4), g(3, 1) + 1.0),
        private(wide(3, 4), f(4, low=-1.5, high=-0.5), f(3, 1, low=0.5, high=1.5)),
    ],
    "lerp": [
        sample(f(3, 4), g(3, 4), 0.3),
        sample(f(3, 4), g(4), 0.7),
        sample(f(4), g(3, 1), 2.0),
        sample(f(3, 4), g(4), f(3, 1, low=0.0, high=1.0)),
        sample(f(), g(), f(low=0.1, high=0.4)),
        sample(f(0, 3), g(3), 0.5),
        sample(f(4, 3).T, g(3, 4)[::-1], 0.25),
        sample(f(3).astype("f4"), g(3).astype("f4"), 0.9),
        sample(z(3), z(2, 1), 0.3),
        sample(f(3), g(3), f(low=0.6, high=0.9)),
        sample(z(3), z(2, 1), 0.9),
    ],
    "addcmul": [
        sample(f(3, 4), g(3, 4), f(4)),
        sample(f(3, 4), g(4), f(3, 1), value=0.5),
        sample(f(4), g(3, 1), f(4), value=-2),
        sample(f(), g(), f()),
        sample(f(0), g(0), f(0)),
        sample(i(3), i(3), i(3), value=2),
        sample(z(3), z(3), z(3), value=2),
        sample(f(3).astype("f4"), g(3).astype("f4"), f(3).astype("f4"), value=0.1),
        sample(f(3)[::-1], g(3), f(3)),
        sample(f(3), g(3).astype("f4"), f(3)),
    ],
    "addcdiv": [
        sample(f(3, 4), g(3, 4), f(4, low=0.3)),
        sample(f(3, 4), g(4), f(3, 1, low=0.3), value=0.5),
        sample(f(4), g(3, 1), f(4, low=0.3), value=-2),
        sample(f(), g(), f(low=0.3)),
        sample(f(0), g(0), f(0)),
        sample(z(3), z(3), z(3), value=2),
        sample(f(3).astype("f4"), g(3).astype("f4"), f(3, low=0.3).astype("f4"), value=0.1),
        sample(f(3)[::-1], g(3), f(3, low=0.3)),
        sample(f(3), i(3), f(3, low=0.3)),
    ],
    "masked_fill": [
        sample(f(2, 3), MASK, 0.5),
        sample(f(3), MASK, -np.inf, grad=False),
        sample(f(2, 3), MASK, g()),
        sample(f(3, 2).T, MASK[::-1], 2),
        sample(f(2, 3), MASK[0], 1.0),
        sample(i(3), MASK, 2),
        sample(i(3), MASK, 1.7),
        sample(f(0, 3), MASK[0], 1.0),
        sample(f(), MASK, 1.0),
        sample(f(3).astype("f4"), MASK, g()),
        sample(z(3), MASK, 1j),
        sample(MASK, MASK, True),
        sample(f(2, 3), MASK, np.array(2)),
    ],
    "fill": [
        sample(f(2, 3), 0.5),
        sample(f(3, 2).T, g()),
        sample(f(3)[::-1], 0.5),
        sample(i(3), 2),
        sample(i(3), 1.7),
        sample(f(0), 1.0),
        sample(f(), 2),
        sample(z(3), 1j),
        sample(MASK, 2),
        sample(f(3).astype("f4"), g()),
    ],
    "_fill": [private(f(2, 3), 0.5), private(f(2, 3), g())],
    "fill_": [sample(f(2, 3), 0.5), sample(f(2, 3), g()), sample(i(3), 1.7), sample(f(0), 1.0)],
    "_zero": [private(f(2, 3)), private(i(3))],
    "zero_": [sample(f(2, 3)), sample(i(3)), sample(f()), sample(z(2))],
    "_copy": [private(f(2, 3), g(3))],
    "copy_": [
        sample(f(2, 3), g(2, 3)),
        sample(f(2, 3), g(3)),
        sample(f(2, 3), g()),
        sample(f(3).astype("f4"), g(3)),
        sample(f(3), g(3).astype("f4")),
        sample(f(3), i(3)),
        sample(f(2, 3), g(3, 2).T),
        sample(f(0), g(0)),
        sample(z(3), g(3)),
    ],
    "nan_to_num": [
        sample(f(3, 4)),
        sample(f()),
        sample(EDGES, grad=False),
        sample(EDGES, 1.0, 2.0, -3.0, grad=False),
        sample(EDGES, nan=0.5, grad=False),
        sample(EDGES.astype("f4"), grad=False),
        sample(i(3)),
        sample(f(0)),
        sample(EDGES[::-1], posinf=7.0, grad=False),
        sample(MASK),
        sample(np.array([complex(np.nan, np.inf), 1 + 2j], "c8"), grad=False),
    ],
}
