"""Samples of copies in other places: flips, rolls, padding, repetition, joining."""

from __future__ import annotations

from typing import Any

import numpy as np

import sapwood
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import BOOLS, private
from sapwood.testing.samples.unary import z
from sapwood.testing.samples.views import kinds, layouts, methods_of

LAST, LAST3 = sapwood.channels_last, sapwood.channels_last_3d


def lists(*args: Any, shape: tuple = (2, 3, 4), **kwargs: Any) -> list[Sample]:
    """Samples of one call on a list of two tensors of one shape, in some layouts and dtypes."""
    a, b = f(*shape), g(*shape)
    mixed = [
        [a, b.astype("f4")],
        [i(*shape), b],
        [i(*shape), i(*shape) > 2],
        [z(*shape), b],
        [a.astype("f4"), b.astype("f4")],
        [i(*shape), i(*shape, dtype="u1")],
    ]
    turned = np.asfortranarray(b)
    return [
        sample(parts, *args, **kwargs)
        for parts in ([a, b], [a[::-1], turned], [a], [a, b, a + 1], (a, b), *mixed)
    ]


def spread(*args: Any, shape: tuple = (2, 3, 4)) -> list[Sample]:
    """As `lists`, for functions that take tensors one by one."""
    return [sample(*s.args[0], *args) for s in lists(shape=shape)]


COPIES = {
    "clone": [
        *kinds(),
        sample(f()),
        sample(f(0, 3)),
        sample(f(2, 3, 4, 5), memory_format=LAST),
        sample(f(2, 3, 4, 5, 2), memory_format=LAST3),
        sample(f(3, 4).T, memory_format=sapwood.contiguous_format),
        sample(f(3, 4).T, memory_format=sapwood.preserve_format),
    ],
    "contiguous": [
        *kinds(method=True),
        sample(f(), method=True),
        sample(f(0, 3).T, method=True),
        sample(f(2, 3, 4, 5), memory_format=LAST, method=True),
    ],
    "flip": methods_of(
        "flip",
        [
            *kinds(0),
            *kinds((0, 1)),
            *layouts(-1),
            *layouts([2, 0]),
            *layouts(()),
            sample(f(), ()),
            sample(f(), 0),
            sample(f(0, 3), 1),
            sample(f(3), dims=(0,)),
        ],
    ),
    "fliplr": [*kinds(shape=(3, 4)), *layouts(), sample(f(0, 3))],
    "flipud": [*kinds(shape=(3, 4)), sample(f(3)), sample(f(0, 3))],
    "roll": [
        *kinds(1, 0),
        *kinds((1, -2), (0, 1)),
        *layouts(5),
        *layouts(-1, 2),
        *layouts((1, 1), (1, 1)),
        *layouts(0, 0),
        sample(f(0, 3), 1, 0),
        sample(f(0, 3), 1),
        sample(f(), 3),
        sample(f(4), shifts=(1,), dims=(0,)),
    ],
    "rot90": [
        *kinds(),
        *kinds(1, (1, 2)),
        *layouts(2),
        *layouts(3, [0, 2]),
        *layouts(-1, (2, -2)),
        *layouts(0),
        *layouts(4),
        sample(f(0, 3)),
        sample(f(2, 3), k=1, dims=(1, 0)),
    ],
    "constant_pad_nd": [
        *kinds((1, 2)),
        *kinds((1, 0, 0, 2), 2),
        *layouts((-1, 1, 2, -1)),
        *layouts((0, 0)),
        *layouts(()),
        *layouts((0, 1, 1, 0, 2, -1), -1),
        sample(f(3), (1, 1), 2.5),
        sample(f(0), (1, 2), 1.5),
        sample(f(0, 3), (1, 2)),
        sample(f(3), (-1, -2)),
        sample(z(3), (1, 1), 1 + 2j),
        sample(f(), ()),
        sample(f(3), (1, 1), np.inf, grad=False),
    ],
    "tril": [
        *kinds(),
        *kinds(1),
        *layouts(-1),
        sample(f(3, 0)),
        sample(f(3, 4), 9),
        sample(f(3, 4), -9),
        sample(f(3, 4), diagonal=-1),
        sample(np.array([[np.nan, np.inf], [1.0, np.nan]]), grad=False),
    ],
    "triu": [
        *kinds(),
        *kinds(1),
        *layouts(-1),
        sample(f(3, 0)),
        sample(f(3, 4), 9),
        sample(f(3, 4), -9),
        sample(f(3, 4), diagonal=-1),
        sample(np.array([[np.nan, np.inf], [1.0, np.nan]]), grad=False),
    ],
}
DIAGONALS = {
    "diag_embed": [
        *kinds(),
        *kinds(1),
        *layouts(-2, 0, 2),
        *layouts(0, 1, 0),
        *layouts(offset=1, dim1=-1, dim2=0),
        sample(f(3)),
        sample(f(0)),
        sample(f(0, 3)),
    ],
    "diagonal_copy": [
        *kinds(shape=(3, 4)),
        *kinds(1, 1, 2),
        *layouts(-1, 0, -1),
        sample(f(0, 3)),
        sample(f(3, 4), 4),
    ],
    "diag": [
        *kinds(shape=(3, 4)),
        *kinds(1, shape=(3, 4)),
        *layouts(-2, shape=(3, 4)),
        sample(f(3)),
        sample(f(3), -1),
        sample(z(3)[::-1], 1),
        sample(f(0)),
        sample(f(0, 3)),
        sample(i(3)),
        sample(f(3), diagonal=2),
    ],
    "diagflat": [
        *kinds(),
        *layouts(1, shape=(2, 2)),
        sample(f()),
        sample(f(0)),
        sample(f(3), offset=-1),
    ],
}
REPEATED = {
    "repeat": methods_of(
        "repeat",
        [
            *kinds(2, 1, 3),
            *kinds((2, 1, 2, 1)),
            *layouts(1, 1, 1),
            *layouts(0, 1, 1),
            sample(f(), 3),
            sample(f(), ()),
            sample(f(3), 2),
            sample(f(3)[::-1], 2, 2),
            sample(f(0, 3), 2, 2),
            sample(f(3), repeats=(2, 2)),
            sample(f(1, 3), 2, 1),
        ],
    ),
    "tile": [
        *kinds((2,)),
        *kinds((2, 1, 2, 1)),
        *layouts((1, 2)),
        sample(f(), (3,)),
        sample(f(0, 3), (2, 2)),
        sample(f(3), dims=(2, 2)),
        sample(f(3), ()),
    ],
    "repeat_interleave": [
        *kinds(2),
        *kinds(3, 1),
        *layouts(0, 0),
        *layouts(1, -1),
        *layouts(np.array([1, 0, 2]), 1),
        *layouts(np.array(2), 0),
        *layouts(np.array([2]), 2),
        sample(f(), 3),
        sample(f(0, 3), 2, 0),
        sample(f(3), np.array([1, 2, 0])),
        sample(f(3), np.array([1, 2, 0]), output_size=3),
        sample(f(3), np.array([1, 2, 0], "i4"), dim=0),
        sample(np.array([1, 0, 2])),
        sample(np.array([0, 3], "i4")),
        sample(f(2, 3), 2, dim=1, output_size=6),
    ],
}
JOINED = {
    "cat": [
        *lists(),
        *lists(1),
        *lists(-1),
        *lists(dim=2),
        sample([f(2, 3), g(1, 3)]),
        sample([f(2, 3), f(0), g(1, 3)]),
        sample([f(0), f(0)]),
        sample([f(0), f(3)]),
        sample([f(0, 3), g(2, 3)]),
        sample([f(3), g(2)], axis=0),
        sample([i(3) > 1, BOOLS]),
        sample([i(2), z(2), f(2)]),
        sample([f(2, 3).T, g(3, 1)], 1),
        sample([f(3), f(0, dtype="f4")]),
    ],
    "stack": [
        *lists(),
        *lists(1),
        *lists(-1),
        *lists(dim=3),
        sample([f(), g()]),
        sample([f(0), g(0)], 1),
        sample([f(2, 3).T, g(3, 2)], 1),
        sample([f(3), g(3)], axis=1),
        sample([BOOLS, BOOLS]),
        sample([i(3), z(3), f(3)]),
    ],
    **{
        name: [
            *kinds(),
            sample(f()),
            sample(f(3)),
            sample(f(3, 2)),
            sample(f(0)),
            sample(i()),
            sample(f(), g(3)),
            sample([f(), g(2, 3)]),
            sample(f(4)[::-1], z(2)),
        ]
        for name in ("atleast_1d", "atleast_2d", "atleast_3d")
    },
    **{
        name: [
            *lists(),
            *lists(shape=(3, 4)),
            *lists(shape=(3,)),
            sample([f(), g()]),
            sample([f(0), g(0)]),
        ]
        for name in ("hstack", "vstack", "dstack", "column_stack")
    },
    "block_diag": [
        *spread(shape=(2, 3)),
        sample(f(2, 3), g(3), f()),
        sample(f(0, 2), g(1, 2)),
        sample(),
        sample(f(2, 3).T, z(1, 1)),
    ],
    "_block_diag": [private([f(2, 3), g(3), f()]), private([f(2, 3).T])],
}
GRIDS = {
    "broadcast_tensors": [
        sample(f(3, 1), g(4)),
        sample(f(), g(2)),
        sample(f(2, 3), i(3)),
        sample(f(0, 1), g(3)),
        sample(f(3)),
        sample(f(3)[::-1], z(2, 1), i()),
    ],
    "meshgrid": [
        *(sample(f(3), g(2), indexing=how) for how in ("ij", "xy")),
        sample(f(3), g(2)),
        sample(f(2), g(3), f(4), indexing="xy"),
        sample([f(3), g()], indexing="ij"),
        sample(f(3), indexing="xy"),
        sample(f(0), g(2), indexing="ij"),
        sample(i(3), i(2), indexing="ij"),
        sample(z(2), z(3)[::-1]),
    ],
    "cartesian_prod": [
        sample(f(3), g(2)),
        sample(f(3)),
        sample(f(2), g(3), f(1)),
        sample(i(2), i(3)),
        sample(f(0), g(2)),
        sample(z(2), z(1)),
    ],
    "combinations": [
        sample(f(4)),
        sample(f(4), 3),
        sample(f(4), 1),
        sample(f(3), 2, True),
        sample(f(3), 0),
        sample(f(2), 3),
        sample(i(4)),
        sample(f(0)),
        sample(f(3), r=2, with_replacement=True),
    ],
}
SAMPLES = {**COPIES, **DIAGONALS, **REPEATED, **JOINED, **GRIDS}
