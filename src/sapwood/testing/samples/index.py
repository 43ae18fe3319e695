"""Samples of x[key], x[key] = value, and what picks by an index or a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._ops.keys import Keys
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.unary import z
from sapwood.testing.samples.views import kinds as in_shape

L = np.array
F4 = f(2, 3).astype("f4")
MASK = L([[True, False, True], [False, False, True]])

ALL = slice(None)
LAST = slice(-2, None)
MASK2 = L([[True, False, True, False], [False, True, True, False], [False, False, False, False]])


def keys(*parts: Any) -> Keys:
    """Keys made of arrays and None."""
    return Keys(parts, [], (None, 0))


BASIC: list[Any] = [
    0,
    -1,
    ALL,
    slice(1, 3),
    slice(None, None, 2),
    slice(2, 1),
    slice(-9, 9),
    None,
    ...,
    (),
    (1, 2),
    (ALL, 1),
    (..., 0),
    (None, 1, None),
    (slice(1, None), slice(None, 2)),
    (0, ..., slice(1, 3)),
    (..., None),
    (None, ...),
    (0, None, LAST),
]
ADVANCED: list[Any] = [
    [0, 2],
    [2, 2, 0],
    [-1],
    L([[0, 1], [1, 2]]),
    L([2, 0]),
    L([2, 0], "i4"),
    ([0, 1], [1, 3]),
    (L([0, 2]), ALL),
    (ALL, L([3, 3, 0])),
    (L([[0], [1]]), L([1, 2])),
    MASK2,
    L([True, False, True]),
    (ALL, L([True, False, True, False])),
    (L([True, False, True]), 1),
    (0, [1, 2]),
    ([1, 2], 0),
    ([0, 2], None),
    ([0, 1], LAST),
    (slice(0, 2), [0, 0]),
    True,
    False,
    (..., [1, 1]),
    [],
    L(1),
    (L(1), L([0, 2])),
    (None, [0, 1]),
    (True, 0),
    ([0, 1], None, [1, 2]),
    L([], "i8"),
    MASK2 & False,
]
DEEP: list[Any] = [
    (0, ALL, [0, 1]),
    ([0, 1], ALL, [0, 1]),
    (ALL, [0, 1], [1, 1]),
    ([1, 0], 1, [0, 1]),
    (ALL, ALL, [1, 0]),
    (L([[0], [1]]), ALL, L([0, 1])),
    (MASK, slice(0, 1)),
    (..., MASK.T[:, :2] | True),
    (MASK, 0),
    (0, MASK.T[:, :2]),
]


def kinds(*args: Any) -> list[Sample]:
    """Samples of one call on 2x3 arrays in all layouts and dtypes."""
    return in_shape(*args, shape=(2, 3))


def got(x: np.ndarray, key: Any) -> Sample:
    """One x[key]."""
    return sample(x, key, method=True)


GETITEM = [
    *(got(f(3, 4), k) for k in BASIC + ADVANCED),
    *(got(f(2, 3, 2), k) for k in DEEP),
    *(got(f(4, 3).T, k) for k in (1, (ALL, [0, 3]), MASK2, slice(0, 2), ([0, 1], [1, 2]))),
    *(got(f(3, 4)[::-1], k) for k in (1, [0, 0], MASK2, (..., 1))),
    *(
        got(x, k)
        for x in (i(3), f(3).astype("f4"), z(3), L([True, False, True]))
        for k in (1, slice(0, 2), [0, 0], L([True, False, True]))
    ),
    got(f(), ()),
    got(f(), None),
    got(f(), ...),
    got(f(), True),
    got(f(0, 3), slice(None)),
    got(f(0, 3), L([], "i8")),
    got(f(2, 3), L([], "i8").reshape(0, 2)),
    got(f(4, 2, 3).T, ([0, 2], ALL, [1, 3])),
]


def put(x: np.ndarray, key: Any, value: Any) -> Sample:
    """One x[key] = value."""
    return sample(x, key, value)


SETITEM = [
    put(f(3, 4), 0, g(4)),
    put(f(3, 4), 0, 5.0),
    put(f(3, 4), (ALL, 1), g(3)),
    put(f(3, 4), ..., g(4)),
    put(f(3, 4), (slice(0, 2), slice(1, 3)), g(2, 2)),
    put(f(3, 4), slice(1, None), g(1, 4)),
    put(f(3, 4), 1, g(1, 1, 4)),
    put(f(3, 4), None, g(3, 4)),
    put(f(3, 4), [0, 2], g(2, 4)),
    put(f(3, 4), [0, 2], 1.5),
    put(f(3, 4), MASK2, 0),
    put(f(3, 4), MASK2, g(4)),
    put(f(3, 4), MASK2, g()),
    put(f(3, 4), ([0, 1], [1, 2]), g(2)),
    put(f(3, 4), (0, [1, 2]), g(2)),
    put(f(3, 4), True, 2.0),
    put(f(3, 4), ([2, 1], LAST), g(2, 2)),
    put(f(3, 4), ([1, 2], slice(1, 2)), g(2, 1)),
    put(f(3, 4), False, 2.0),
    put(f(4, 3).T, 1, g(4)),
    put(f(4, 3).T, [0, 1], g(2, 4)),
    put(i(3, 4), 0, 1.7),
    put(i(3, 4), [0], 2),
    put(F4, 0, 2),
    put(F4, 0, g(3)),
    put(z(3), [1, 2], 1j),
    put(f(), (), 2.0),
    put(f(), ..., g()),
    put(f(0, 2), ALL, 1.0),
    put(f(3), L([], "i8"), 1.0),
    put(f(3)[::-1], 0, 2.0),
    put(f(2, 3, 2), (MASK, 0), g(3)),
    put(f(2, 3, 2), (0, ALL, [0, 1]), g(3, 2)),
    put(MASK, 0, True),
    put(f(3, 4), ([0, 1], ALL), g(4)),
    put(f(3), L([True, False, True]), g(2)),
]

PUTS = [
    sample(f(3, 4), (L([0, 1]),), g(4)),
    sample(f(3, 4), (L([0, 1]), L([1, 2])), g(2)),
    sample(f(3, 4), [L([0, 0]), L([1, 1])], g(2), accumulate=True),
    sample(f(3, 4), (MASK2,), g(4)),
    sample(f(3, 4), (L([1, 1]),), g(), True),
    sample(i(3), (L([0, 2]),), i(2)),
    sample(f(4, 3).T, (L([-1]),), g(4)),
    sample(F4, (L([0]),), F4[:1]),
    sample(z(3), (L([0, 0]),), z(2), True),
    sample(MASK, (L([0]),), MASK[:1]),
]
SAMPLES = {
    "__getitem__": GETITEM,
    "__setitem__": SETITEM,
    "_index": [
        private(f(3, 4), keys(L([0, 0, 2]))),
        private(f(3, 4), keys(None, L([[3, 1]]))),
        private(f(3, 4), keys(MASK2)),
        private(f(2, 3, 2), keys(MASK, L([0, 1, 1]))),
        private(f(2, 3, 2), keys(L([0, 1]), None, L([1, 1]))),
    ],
    "_unindex": [
        private(f(3, 4), keys(L([0, 0, 2])), (3, 4)),
        private(f(4), keys(MASK2), (3, 4)),
        private(f(3, 2), keys(None, L([1, 1])), (3, 4)),
        private(f(2, 3), keys(L([0, 1]), None, L([1, 1])), (2, 3, 2)),
    ],
    "_index_put": [private(f(3, 4), g(2, 4), keys(L([0, 2]))), private(f(3, 4), g(), keys(MASK2))],
    "_index_put_sum": [
        private(f(3, 4), g(3, 4), keys(L([0, 2, 0]))),
        private(f(3, 4), g(4), keys(L([1, 1]))),
    ],
    "index_put": PUTS,
    "index_put_": PUTS,
    "gather": [
        sample(f(3, 4), 0, L([[0, 1, 2, 0]])),
        sample(f(3, 4), 1, L([[0, 0], [3, 1], [2, 2]])),
        sample(f(3, 4), -1, L([[1]])),
        sample(f(), 0, L(0)),
        sample(f(), 0, L([0, 0])),
        sample(f(3), 0, L([2, 2, 0, 1])),
        sample(i(3), 0, L([1, 1])),
        sample(f(3), 0, L([], "i8")),
        sample(f(4, 3).T, 0, L([[1, 0]])),
        sample(z(3), 0, L([1])),
        sample(F4, 0, L([[1, 1]])),
        sample(f(2, 3, 2), 1, L([[[2, 0]], [[0, 0]]])),
        sample(f(3)[::-1], 0, L([0, 2])),
        sample(f(3), 0, L(1)),
        sample(f(3, 4), 0, L([[1, 1]], "i4")),
    ],
    "_gather": [private(f(3, 4), L([[0, 1, 2, 0]]), 0)],
    "_ungather": [
        private(f(1, 4), L([[0, 1, 2, 0]]), 0, (3, 4)),
        private(f(3), L([1, 1, 0]), 0, (2,)),
    ],
    "take_along_dim": [
        sample(f(3, 4), L([[0, 2]]), 1),
        sample(f(3, 4), L([[0, 2, 1, 0]]), 0),
        sample(f(3, 4), L([0, 11, 5])),
        sample(f(3, 1), L([[0, 1]]).repeat(2, 0), 0),
        sample(i(3), L([2]), 0),
    ],
    "index_select": [
        *kinds(0, L([1, 0, 1])),
        sample(f(3, 4), 1, L([3, 3])),
        sample(f(3), 0, L(1)),
        sample(f(), 0, L([0])),
        sample(f(3, 4), 0, L([], "i8")),
        sample(f(3), -1, L([2, 0], "i4")),
        sample(f(2, 3, 2), 1, L([0, 2])),
    ],
    "_index_select": [private(f(3, 4), L([0, 2, 0]), 0), private(f(), L([0]), 0)],
    "_index_unselect": [
        private(f(3, 4), L([0, 2, 0]), 0, (3, 4)),
        private(f(2, 2), L([1, 1]), 1, (2, 3)),
    ],
    "take": [
        *kinds(L([0, 5, 0])),
        sample(f(2, 3), L([[0, -1], [2, 2]])),
        sample(f(), L([0, 0])),
        sample(f(2, 3), L(1)),
        sample(f(3), L([], "i8")),
        sample(f(3, 2, 2).T, L([1, 1, 7])),
    ],
    "_untake": [private(f(3), L([0, 5, 0]), (2, 3)), private(f(), L(1), (3,))],
    "masked_select": [
        *kinds(MASK),
        sample(f(2, 3), MASK[0]),
        sample(f(3), MASK),
        sample(f(), L(True)),
        sample(f(2, 3), MASK & False),
        sample(f(0, 3), MASK[0]),
        sample(f(2, 1), MASK),
    ],
    "_unmask": [private(f(3), MASK, (2, 3)), private(f(4), MASK[0], (2, 3)[:1] + (3,))],
    "nonzero": [
        *kinds(),
        sample(f()),
        sample(L(0)),
        sample(f(0, 2)),
        sample(i(2, 3), as_tuple=True),
        sample(f(), as_tuple=True),
        sample(MASK),
    ],
    "argwhere": [*kinds(), sample(f()), sample(i(4))],
}
