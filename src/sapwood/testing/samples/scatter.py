"""Samples of writes at picked places."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.unary import z

L = np.array
F4 = f(2, 3).astype("f4")
MASK = L([[True, False, True], [False, False, True]])
IX = L([[0, 2, 1], [1, 0, 2]])  # for a 3x4 tensor, along dim 0; no place twice
TWICE = L([[0, 0, 1], [0, 2, 1]])
ONE_ZERO = g(2, 3) * L([[0, 1, 1], [1, 1, 0]])  # at each place of TWICE
POSITIVE = f(3, 4, low=0.5, high=2.0)
ZEROS = f(3, 4) * L([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1]])

SAMPLES = {
    "scatter": [
        sample(f(3, 4), 0, IX, g(2, 3)),
        private(f(3, 4), 0, IX, g(3, 4)),
        private(f(3, 4), 1, L([[3, 1]]), g(2, 2)),
        sample(i(3, 4), 0, IX, i(3, 4)),
        sample(i(3, 4), 1, L([[3, 1]]), i(2, 2)),
        sample(f(3, 4), 0, IX, 1.5),
        sample(f(3, 4), -1, IX, value=2),
        sample(f(3, 4), 0, IX, src=g(2, 3)),
        sample(f(), 0, L(0), g()),
        sample(f(), 0, L(0), 2.0),
        sample(f(3), 0, L([2]), g(1)),
        private(f(3), 0, L([], "i8"), g(3)),
        sample(i(3), 0, L([1]), i(1)),
        sample(i(3), 0, L([1]), 1.7),
        sample(f(4, 3).T, 0, IX, g(3, 2).T),
        sample(z(3), 0, L([1]), z(1)),
        sample(F4, 0, L([[1]]), F4[:1]),
        sample(f(3)[::-1], 0, L([0]), 1.0),
        sample(f(3, 4), 0, IX.astype("i4"), 1.0),
        sample(i(3, 4), 0, TWICE, i(2, 3), reduce="add"),
        sample(i(3, 4), 0, IX, 2, reduce="multiply"),
    ],
    "_scatter": [private(f(3, 4), IX, g(2, 3), 0)],
    "_scatter_value": [private(f(3, 4), IX, 0, 2.0)],
    "_scatter_old": [
        private(i(3, 4), IX, i(2, 3), 0, "add"),
        private(i(3, 4), IX, 2, 0, "multiply"),
    ],
    "scatter_add": [
        sample(f(3, 4), 0, TWICE, g(2, 3)),
        private(f(3, 4), 1, TWICE, g(3, 4)),
        sample(f(), 0, L(0), g()),
        sample(f(3), 0, L([1, 1, 1]), g(3)),
        sample(i(3), 0, L([1, 1]), i(2)),
        private(f(3), 0, L([], "i8"), g(2)),
        sample(f(4, 3).T, 0, TWICE, g(3, 2).T),
        sample(z(3), 0, L([1, 1]), z(2)),
        sample(F4, 0, L([[1, 1]]), F4[:1]),
        private(f(2, 3, 2), 1, L([[[2, 0]]]), g(2, 3, 2)),
    ],
    "_scatter_add": [private(f(3, 4), TWICE, g(2, 3), 0)],
    "scatter_reduce": [
        sample(f(3, 4), 0, TWICE, g(2, 3), reduce, include_self=own)
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    ]
    + [
        sample(ZEROS, 0, TWICE, g(2, 3), "prod"),
        sample(f(3, 4), 0, TWICE, ONE_ZERO, "prod"),
        sample(f(3, 4), 0, TWICE, ZEROS[:2, 1:], "prod", grad=False),
        private(POSITIVE, 1, TWICE, g(3, 4), "amax"),
        sample(i(3, 4), 0, TWICE, i(2, 3), "mean"),
        sample(i(3), 0, L([0, 0]), i(2), "amin", include_self=False),
        sample(f(), 0, L(0), g(), "sum"),
        sample(f(3), 0, L([1, 1]), f(3)[[1, 1]], "amax", grad=False),
        sample(F4, 0, L([[1]]), F4[:1], "mean"),
        private(f(3), 0, L([], "i8"), g(2), "prod"),
        sample(f(4, 3).T, 0, TWICE, g(2, 3), "amin"),
    ],
    "_scatter_reduce": [private(f(3, 4), TWICE, g(2, 3), 0, "prod", True)],
    "index_add": [
        sample(f(3, 4), 0, L([0, 2]), g(2, 4)),
        sample(f(3, 4), 1, L([3, 3]), g(3, 2), alpha=2),
        sample(f(3), 0, L(1), g(1)),
        sample(f(3), 0, L([1, 1]), g(2), alpha=-0.5),
        sample(i(3), 0, L([1, 1]), i(2)),
        sample(f(4, 3).T, 0, L([1]), g(1, 4)),
        sample(f(3), 0, L([], "i8"), g(0)),
        sample(f(), 0, L([0]), g()),
        sample(z(3), 0, L([1, 1]), z(2)),
        sample(F4, 0, L([1]), F4[:1]),
        sample(f(2, 3, 2), 1, L([0]), g(2, 1, 2)),
    ],
    "_index_add": [private(f(3, 4), L([0, 0]), g(2, 4), 0, 2)],
    "index_copy": [
        sample(f(3, 4), 0, L([0, 2]), g(2, 4)),
        sample(f(3, 4), 1, L([3]), g(3, 1)),
        sample(f(3), 0, L(1), g()),
        sample(i(3), 0, L([1]), i(1)),
        sample(f(4, 3).T, -2, L([1]), g(1, 4)),
        sample(f(3), 0, L([], "i8"), g(0)),
        sample(z(3), 0, L([1]), z(1)),
        sample(F4, 0, L([1]), F4[:1]),
        sample(f(), 0, L([0]), g(1)),
    ],
    "_index_copy": [private(f(3, 4), L([0, 2]), g(2, 4), 0)],
    "index_fill": [
        sample(f(3, 4), 0, L([0, 2]), 1.5),
        private(f(3, 4), 1, L([3, -1]), g()),
        sample(f(3), 0, L(1), 2),
        sample(i(3), 0, L([1]), 2.7),
        sample(f(4, 3).T, 0, L([1]), g()),
        sample(f(3), 0, L([], "i8"), 1.0),
        sample(z(3), 0, L([1]), 1j),
        sample(F4, 0, L([1]), 2),
        sample(f(), 0, L([0]), 3.0),
        sample(MASK, 0, L([0]), True),
        private(f(3, 4), 0, L([-1, 0]), g()),
        sample(f(3, 4), 0, L([1, 0]), g()),
    ],
    "_index_fill": [private(f(3, 4), L([0, 2]), 0, 2.0)],
    "_index_fill_tensor": [private(f(3, 4), L([0, 2]), g(), 0)],
    "put": [
        sample(f(2, 3), L([0, 4]), g(2)),
        sample(f(2, 3), L([[0], [-1]]), g(2)),
        sample(f(3), L([1, 1]), g(2), True),
        sample(f(3, 2).T, L([0, 4]), g(2)),
        sample(f(3, 2).T, L([1, 1]), g(2), accumulate=True),
        sample(i(3), L([0]), i(1)),
        sample(f(), L(0), g()),
        sample(f(3), L([], "i8"), g(0)),
        sample(z(3), L([1]), z(1)),
    ],
    "_put": [private(f(2, 3), L([0, 4]), g(2), False), private(f(2, 3), L([0, 0]), g(2), True)],
    "masked_scatter": [
        sample(f(2, 3), MASK, g(3)),
        sample(f(2, 3), MASK, g(2, 3)),
        sample(f(3), MASK, g(4)),
        sample(f(2, 3), MASK[0], g(5)),
        sample(f(3, 2).T, MASK, g(3)),
        sample(i(3), MASK[0], i(2)),
        sample(f(2, 3), MASK & False, g(0)),
        sample(f(), L(True), g(2)),
        sample(z(3), MASK[0], z(2)),
        sample(F4, MASK, F4),
    ],
}
for _name in (
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "index_add",
    "index_copy",
    "index_fill",
    "put",
):
    SAMPLES[f"{_name}_"] = SAMPLES[_name]
