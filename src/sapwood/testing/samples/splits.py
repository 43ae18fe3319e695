"""Samples of what cuts a tensor into several views."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import f, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.views import kinds, layouts

SAMPLES = {
    "unbind": [
        *kinds(),
        *kinds(1),
        *layouts(-1),
        sample(f(3)),
        sample(f(3)[::-1]),
        sample(f(2, 0)),
        sample(f(0, 2), 1),
        sample(f(3, 2), dim=1),
    ],
    "_split": [
        private(f(5, 3), 2, 0),
        private(f(5, 3).T, 2, 1),
        private(f(4), 4, 0),
        private(f(4), 9, 0),
        private(f(0, 3), 2, 0),
        private(f(0, 3), 0, 0),
    ],
    "split_with_sizes": [
        *kinds((1, 2), 1),
        *kinds([1, 0, 3], -1),
        *layouts((2,)),
        sample(f(5), (2, 3)),
        sample(f(0, 3), (0, 0)),
        sample(f(0, 3), split_sizes=(1, 2), dim=1),
        sample(f(5)[::-1], [2, 3]),
    ],
    "split": [
        *kinds(2, 1),
        *kinds(1),
        *layouts((1, 3), -1),
        *layouts([2], 0),
        sample(f(7), 3),
        sample(f(7)[::-1], 3),
        sample(f(7), 7),
        sample(f(7), 9),
        sample(f(0, 3), 1),
        sample(f(0, 3), 0),
        sample(f(0, 3), 2, dim=1),
        sample(f(3, 4), split_size_or_sections=2, dim=1),
        sample(f(3), (1, 1, 1)),
    ],
    "chunk": [
        *kinds(2, 1),
        *kinds(3, -1),
        *layouts(1),
        sample(f(7), 3),
        sample(f(7), 4),
        sample(f(5), 9),
        sample(f(7)[::-1], 3),
        sample(f(0, 3), 3),
        sample(f(3, 0), 2),
        sample(f(4), chunks=2, dim=0),
    ],
    "tensor_split": [
        *kinds(2, 1),
        *kinds((1, 2), -1),
        *layouts(3),
        sample(f(7), 3),
        sample(f(2), 4),
        sample(f(7), (2, 5)),
        sample(f(7), (5, 2)),
        sample(f(7), (-2, 20)),
        sample(f(7), [0]),
        sample(f(7), ()),
        sample(f(0, 3), 2),
        sample(f(7), np.array([1, 4])),
        sample(f(7), np.array(2)),
        sample(f(3, 4), 2, dim=1),
    ],
    "hsplit": [
        *kinds(3),
        *kinds((1,)),
        sample(f(4), 2),
        sample(f(4), (1, 3)),
        sample(f(2, 0), 2),
        sample(f(4)[::-1], 2),
    ],
    "vsplit": [*kinds(2), *kinds((1,)), sample(f(4, 2), 2), sample(f(0, 2), 2)],
    "dsplit": [*kinds(2), *kinds((1, 3)), sample(f(2, 0, 3), 3)],
}
