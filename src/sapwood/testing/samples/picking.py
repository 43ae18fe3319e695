"""Samples of what picks by positions along a dimension, or by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, i, sample
from sapwood.testing.samples.elementwise import BOOLS, private
from sapwood.testing.samples.keys import AT, FULL, MASK
from sapwood.testing.samples.views import kinds, layouts


def along(*more: Any, shape: tuple = (2, 3, 4), **kwargs: Any) -> list[Sample]:
    """Samples of gather along each dimension, with smaller and larger indices."""
    return [
        *kinds(1, i(2, 5, 4, high=3), shape=shape),
        *layouts(0, i(1, 2, 3, high=2), shape=shape),
        *layouts(-1, i(2, 2, 2, high=4), shape=shape),
        sample(f(3), 0, i(5, high=3)),
        sample(f(), 0, np.array(0)),
        sample(f(3), 0, np.array(1)),
        sample(f(), 0, np.array([0, 0])),
        sample(f(2, 3), 1, np.zeros((2, 0), "i8")),
        sample(f(0, 3), 1, np.zeros((0, 2), "i8")),
        sample(f(2, 3), dim=1, index=i(2, 2, high=3)),
        sample(f(3, 4), 0, i(4, 3, high=3).T),
        sample(f(2, 3), 1, i(2, 2, high=3, dtype="i4")),
    ]


BY_INDEX = {
    "gather": along(),
    "_gather": [private(f(2, 3), i(2, 5, high=3), 1), private(f(), np.array(0), 0)],
    "_ungather": [
        private(f(2, 5), i(2, 5, high=3), 1, (2, 3)),
        private(f(1, 2), i(1, 2, high=3), 0, (3, 4)),
    ],
    "take_along_dim": [
        *kinds(i(2, 5, 4, high=3), 1),
        *layouts(i(1, 5, 1, high=3), 1),
        sample(f(2, 3, 4), i(7, high=24)),
        sample(f(3, 2).T, i(4, high=6), torch=""),
        sample(f(3), i(3, high=3), 0),
        sample(f(1, 3), i(4, 2, high=3), dim=1),
        sample(f(), np.array(0)),
        sample(f(2, 3), np.zeros((2, 0), "i8"), 1),
        sample(f(3, 1), i(1, 4, high=3), -2),
    ],
    "index_select": [
        *kinds(1, AT),
        *layouts(0, AT),
        *layouts(-1, np.array([3, 3, 0])),
        sample(f(3), 0, np.array(1)),
        sample(f(), 0, np.array([0])),
        sample(f(), 0, np.array(0)),
        sample(f(3), 0, np.array([], "i8")),
        sample(f(0, 3), 1, AT),
        sample(f(3), 0, np.array([2, 0], "i4")),
        sample(f(3, 4), dim=1, index=AT[::-1]),
    ],
    "_index_select": [private(f(3, 4), AT, 1), private(f(), np.array([0]), 0)],
    "_index_unselect": [private(f(3, 3), AT, 1, (3, 4)), private(f(3), AT, 0, (2,))],
    "take": [
        *kinds(np.array([[0, 23], [-1, 5]])),
        *layouts(np.array(3)),
        sample(f(3), np.array([], "i8")),
        sample(f(0), np.array([], "i8")),
        sample(f(), np.array([0, -1])),
        sample(f(3), index=AT),
    ],
    "_untake": [private(f(3), AT, (2, 2)), private(f(2, 2), np.array([[0, 3], [-1, 0]]), (2, 2))],
}
BY_MASK = {
    "masked_select": [
        *kinds(FULL),
        *layouts(FULL[0]),
        *layouts(np.array(True)),
        sample(f(3), MASK),
        sample(f(), np.array(True)),
        sample(f(), BOOLS),
        sample(f(0, 3), BOOLS),
        sample(f(3), ~BOOLS & BOOLS),
        sample(f(3, 1), mask=BOOLS),
    ],
    "_unmask": [
        private(f(4), MASK, (2, 3)),
        private(f(4), BOOLS, (2, 3)),
        private(f(0), MASK & False, (2, 3)),
    ],
    "nonzero": [
        *kinds(),
        sample(f()),
        sample(np.array(0.0)),
        sample(i(3, 4), as_tuple=True),
        sample(np.array(2), as_tuple=True),
        sample(f(0, 3)),
        sample(np.array([0.0, np.nan, -0.0, 1.0])),
        sample(MASK),
        sample(MASK, as_tuple=True),
    ],
    "argwhere": [
        *kinds(),
        sample(f()),
        sample(np.array(0.0)),
        sample(i(3, 4)),
        sample(f(0, 3)),
        sample(MASK),
    ],
}
SAMPLES = {**BY_INDEX, **BY_MASK}
