"""Samples of copies of views, and of copies with a part overwritten."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.unary import z
from sapwood.testing.samples.views import kinds, layouts


def alone(samples: list[Sample]) -> list[Sample]:
    """Samples whose derivative PyTorch refuses where they are complex."""
    return [replace(s, torch="") if s.args[0].dtype.kind == "c" else s for s in samples]


SAMPLES = {
    "select_scatter": [
        sample(f(2, 3), g(3), 0, 1),
        sample(f(2, 3), g(2), -1, -1),
        sample(f(3, 2).T, g(2), 1, 0),
        sample(f(3), g(), 0, 1),
        sample(f(0, 3), g(0), 1, 2),
        sample(i(2, 3), i(3), 0, 1),
        sample(z(2, 3), z(3), 0, 1, torch=""),
        sample(f(2, 3, dtype="f4"), g(3).astype("f4"), 0, 1),
        sample(f(2, 3)[::-1], g(3)[::-1], dim=0, index=0),
    ],
    "slice_scatter": [
        sample(f(5, 3), g(2, 3), 0, 1, 3),
        sample(f(5, 3), g(5, 2), 1, -2),
        sample(f(3, 5).T, g(2, 3), 0, 0, 4, 2),
        sample(f(5), g(5)),
        sample(f(5), g(0), 0, 3, 2),
        sample(f(0, 3), g(0, 3)),
        sample(i(5), i(2), 0, 3),
        sample(z(5), z(3), start=2, torch=""),
        sample(f(5)[::-1], g(2)[::-1], end=2),
        sample(f(5), g(2), 0, 3, 99),
    ],
    "diagonal_scatter": [
        sample(f(3, 4), g(3)),
        sample(f(3, 4), g(3), 1),
        sample(f(4, 3).T, g(2), -1),
        sample(f(2, 3, 4), g(3, 2), 0, 0, 2),
        sample(f(0, 3), g(0)),
        sample(i(3, 3), i(3)),
        sample(z(3, 3), z(3)),
        sample(f(3, 3)[::-1], g(3)[::-1]),
    ],
    "view_copy": [
        sample(f(2, 6), (3, 4)),
        sample(f(2, 6), (-1,)),
        sample(f(0, 3), (3, 0)),
        sample(i(4), (2, 2)),
        sample(f(6, 2)[::2], (3, 2, 1)),
    ],
    "expand_copy": [
        *layouts((5, 2, 3, 4)),
        sample(f(3, 1), (-1, 4)),
        sample(f(0, 1), (0, 2)),
        sample(f(), (2,)),
    ],
    "permute_copy": [*kinds((2, 0, 1)), sample(f(0, 3), (1, 0))],
    "transpose_copy": [*kinds(0, -1), sample(f(0, 3), 0, 1), sample(f(), 0, 0)],
    "t_copy": [*kinds(shape=(2, 3)), sample(f(3)), sample(f()), sample(f(0, 3))],
    "squeeze_copy": [
        *kinds(shape=(2, 1, 3)),
        *kinds(1, shape=(2, 1, 3)),
        sample(f(1, 0)),
        sample(f(1, 3, 1), (0, 2)),
    ],
    "unsqueeze_copy": [*kinds(1), sample(f(0, 3), -1), sample(f(), 0)],
    "select_copy": [*alone(kinds(1, -1)), sample(f(0, 3), 1, 0)],
    "slice_copy": [*alone(kinds(1, 1, 3)), sample(f(5), 0, 0, 5, 2), sample(f(0, 3)), sample(f(5))],
    "unfold_copy": [*kinds(2, 3, 1), sample(f(0, 3), 1, 2, 1), sample(f(), 0, 1, 1)],
    "alias_copy": [*kinds(), sample(f()), sample(f(0, 3))],
    "narrow_copy": [*kinds(1, 1, 2), sample(f(0, 3), 1, 0, 2)],
    "sum_to_size": [
        sample(f(2, 3), 1, 3, method=True),
        sample(f(2, 3), 3, method=True),
        sample(f(2, 3), (2, 3), method=True),
        sample(f(2, 3), (), method=True),
        sample(f(0, 3), 1, 3, method=True),
        sample(f(3, 2).T, (2, 1), method=True),
    ],
    "broadcast_shapes": [
        sample((2, 1), (3,)),
        sample((), (2,)),
        sample(3, (2, 1)),
        sample((0, 1), (3,)),
    ],
    "nonzero_static": [
        sample(i(2, 3), size=3),
        sample(i(2, 3), size=9, fill_value=7),
        sample(i(3), size=0),
        sample(f(0, 3), size=2),
    ],
    "unravel_index": [
        sample(i(4, high=12), (3, 4)),
        sample(np.array(5), (2, 3)),
        sample(i(2, 3), 9),
        sample(np.array([], "i8"), (2,)),
    ],
    "fill_diagonal_": [
        sample(f(3, 3), 1.5),
        sample(f(3, 4), 2),
        sample(f(7, 3), 2.0),
        sample(f(7, 3), 2.0, True),
        sample(f(4, 3), 2.0, wrap=True),
        sample(f(2, 2, 2), 1.0),
        sample(i(3, 3), 4),
        sample(z(3, 3).T, 1j),
    ],
    "dim_order": [sample(f(2, 3, 4), method=True), sample(f(4, 3, 2).T, method=True)],
    "split_copy": [*layouts(2, 1), sample(f(5), 2)],
    "split_with_sizes_copy": [*layouts((1, 2), 1), sample(f(5), (2, 3))],
    "unbind_copy": [*layouts(1), sample(f(3))],
}
