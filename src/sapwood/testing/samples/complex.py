"""Samples of the operations on complex numbers and their parts."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.unary import EDGES, z

SAMPLES = {
    "conj": [
        sample(z(2, 3)),
        sample(z(3)[::-1]),
        sample(f(3)),
        sample(i(3)),
        sample(z(0, 2)),
        sample(z(2).astype("c8")),
        sample(z()),
    ],
    "view_as_real": [
        sample(z(2, 3)),
        sample(z(3, 2).T),
        sample(z()),
        sample(z(0, 3), torch=""),
        sample(z(4)[::2]),
        sample(z(2).astype("c8")),
    ],
    # float64 without PyTorch, which has complex numbers of half precision and would compare them
    "view_as_complex": [
        *(sample(v, torch="") for v in (f(3, 2), f(2), f(0, 2), f(4, 3, 2)[::2])),
        *(sample(v.astype("f4")) for v in (f(2, 2), f(2), f(4, 3, 2)[::2])),
    ],
    "_pairs": [sample(f(3, 2), torch=""), sample(f(2, 3).T, torch="")],
    "real": [sample(z(2, 3)), sample(z()), sample(f(3)), sample(z(4)[::2]), sample(i(3))],
    "imag": [sample(z(2, 3)), sample(z()), sample(z(4)[::2]), sample(z(0))],
    "complex": [
        sample(f(2, 3), g(2, 3), torch=""),
        sample(f(3), g(2, 1), torch=""),
        sample(f(), g(), torch=""),
        sample(f(2).astype("f4"), g(2, 1).astype("f4")),
        sample(f(0, 3), g(3), torch=""),
        sample(f(3)[::-1], g(4)[::-2][:1], torch=""),
    ],
    "polar": [
        sample(f(2, 3), g(2, 3), torch=""),
        sample(f(), g(), torch=""),
        sample(f(0, 3), g(3), torch=""),
        sample(f(3)[::-1], g(2, 1), torch=""),
        sample(f(3).astype("f4"), g(2, 1).astype("f4")),
    ],
    "angle": [
        sample(z(2, 3)),
        sample(f(3)),
        sample(i(3, low=-2)),
        sample(EDGES, grad=False),
        sample(np.array([0, 1j, -1.0 + 0j]), grad=False),
        sample(z(2).astype("c8")),
        sample(z()),
        sample(f(0, 2)),
        sample(z(3)[::-1]),
    ],
    "resolve_conj": [sample(z(2)), sample(f(3))],
    "resolve_neg": [sample(z(2)), sample(f(3))],
    "is_conj": [sample(f(3))],
    "is_neg": [sample(f(3))],
}
