"""Samples of what stands in brackets: many keys, on tensors of all layouts and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._ops.keys import Keys
from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import BOOLS, private
from sapwood.testing.samples.unary import z

AT, AT4 = np.array([1, 0, 1]), np.array([1, -1, 0, 1], "i4")
GRID = np.array([[0, 1], [1, 0], [1, 1]])
MASK = np.array([[True, False, True], [False, True, True]])
FULL = i(2, 3, 4) > 2
ALL = slice(None)
KEYS: list[Any] = [
    0,
    -1,
    slice(None),
    slice(1, None),
    slice(None, None, 2),
    slice(5, 9),
    slice(-2, -1),
    None,
    ...,
    True,
    False,
    (),
    (0, 1),
    (0, 1, 2),
    (0, ..., -1),
    (..., 0),
    (..., None),
    (None, 0),
    (ALL, 1),
    (ALL, slice(0, 2), slice(1, 4, 2)),
    (slice(0, 0), 1),
    (None, ..., None),
    (True, 0),
    (0, True),
    (ALL, False),
    [0, 1],
    [1, 0, 0],
    [],
    ([0, 1], [1, 2]),
    ([[0], [1]], [1, 2]),
    AT,
    AT4,
    GRID,
    (AT,),
    (AT, AT),
    (ALL, AT),
    (ALL, ALL, AT),
    (..., AT),
    (AT, 0),
    (0, AT),
    (0, ALL, AT),
    (AT, ALL, AT),
    (ALL, AT, AT),
    (AT, 1, AT),
    (AT, None, AT),
    (None, AT),
    (AT, None),
    (AT, slice(0, 2)),
    (slice(0, 1), AT),
    (slice(0, 1), AT, slice(1, 3)),
    (AT, ..., AT),
    (GRID, AT[:2]),
    (GRID, 0, AT[:2]),
    (ALL, GRID, ALL),
    (GRID[:, None], AT[:2]),
    MASK,
    (MASK,),
    FULL,
    (MASK, 0),
    (MASK, [0, 3, 1, 0]),
    (MASK, slice(0, 2)),
    (ALL, BOOLS),
    (AT[:2], BOOLS),
    (BOOLS[:2], ALL, AT[:1]),
    (0, BOOLS),
    (0, BOOLS, [0, 1]),
    (..., np.array([True, False, False, True])),
    (True, AT),
    (None, MASK),
    (np.array(0),),
    np.array(1),
    (np.array(True),),
    (ALL, np.array(2)),
    (np.array([], "i8"),),
    MASK & False,
    (1, [True, False, True]),
]
ONCE = np.array([1, 0])
SHORT: list[Any] = [0, slice(0, 2), (0, ONCE), (ALL, ONCE), MASK, (ONCE, ALL, ONCE), None, (..., 1)]


def bracket() -> list[Sample]:
    """Samples of x[key]."""
    found = [sample(f(2, 3, 4), key, method=True) for key in KEYS]
    for x in (
        f(4, 3, 2).T,
        f(2, 3, 4)[::-1],
        f(2, 6, 4)[:, ::2],
        f(2, 3, 4, dtype="f4"),
        i(2, 3, 4),
        i(2, 3, 4) > 2,
        z(2, 3, 4),
    ):
        found += [sample(x, key, method=True) for key in SHORT]
    empty: list[Any] = [ALL, (ALL, 1), (ALL, AT), slice(0, 5), np.zeros((0, 3), bool), []]
    odd: list[Any] = [None, ..., (), True, False, (None, ...), np.array(True), (True, True)]
    found += [sample(f(), key, method=True) for key in odd]
    found += [sample(f(0, 3), key, method=True) for key in empty]
    return [
        *found,
        sample(f(5), np.array([4, 4, -5]), method=True),
        sample(f(3), BOOLS, method=True),
    ]


def assigned() -> list[Sample]:
    """Samples of x[key] = value; a value that does not depend on how often a place is picked."""
    found = [sample(f(2, 3, 4), key, 1.5) for key in KEYS if not isinstance(key, bool)]
    found += [sample(f(2, 3, 4), key, g()) for key in SHORT]
    found += [
        sample(f(2, 3, 4), 0, g(3, 4)),
        sample(f(2, 3, 4), 0, g(4)),
        sample(f(2, 3, 4), 1, g(1, 1, 3, 4)),
        sample(f(2, 3, 4), (ALL, 1), g(2, 4)),
        sample(f(2, 3, 4), (ALL, slice(0, 2)), g(2, 4)),
        sample(f(2, 3, 4), (ALL, [0, 2]), g(2, 2, 4)),
        sample(f(2, 3, 4), (0, ALL, [3, 1]), g(3, 2)),
        sample(f(2, 3, 4), ([0, 1], ALL, [3, 1]), g(2, 3)),
        sample(f(2, 3, 4), MASK, g(4, 4)),
        sample(f(2, 3, 4), MASK, g(4)),
        sample(f(2, 3, 4), FULL, g(int(FULL.sum()))),
        sample(f(2, 3, 4), (ALL, BOOLS, 0), g(2, 2)),
        sample(f(2, 3, 4), ..., g(2, 3, 4)),
        sample(f(2, 3, 4), ([0, 1], 1), g(2, 4)),
        sample(f(4, 3, 2).T, 0, g(3, 4)),
        sample(f(2, 3, 4)[::-1], MASK, g(4, 4)),
        sample(f(), ..., g()),
        sample(f(), (), 2.0),
        sample(f(), True, 2.0),
        sample(f(3), BOOLS, g(2)),
        sample(f(0, 3), ALL, g(3)),
        sample(i(2, 3), 0, 7),
        sample(i(2, 3), (ALL, [0, 2]), i(2, 2)),
        sample(i(2, 3) > 2, 0, True),
        sample(z(2, 3), 0, 1 + 2j),
        sample(z(2, 3), (ALL, [0, 2]), z(2, 2)),
        sample(z(2, 3), 0, g(3)),
        sample(f(2, 3), 0, g(3).astype("f4")),
        sample(f(2, 3, dtype="f4"), 0, g(3)),
        sample(i(2, 3), 0, 2.7),
    ]
    return found


def written(**kwargs: Any) -> list[Sample]:
    """Samples of index_put."""
    at, to = np.array([0, 1]), np.array([2, 0])
    return [
        sample(f(2, 3), (at, to), g(2), **kwargs),
        sample(f(2, 3), [at], g(2, 3), **kwargs),
        sample(f(2, 3), (at,), g(3), **kwargs),
        sample(f(2, 3), (at,), g(), **kwargs),
        sample(f(3, 2).T, (at, to), g(2), **kwargs),
        sample(f(2, 3)[::-1], (at, to), g(2), **kwargs),
        sample(f(2, 3), (MASK,), g(4), **kwargs),
        sample(f(2, 3, 4), (at, BOOLS), g(2, 4), **kwargs),
        sample(f(2, 3), (np.array([-1]), np.array([1])), g(1), **kwargs),
        sample(i(2, 3), (at, to), i(2), **kwargs),
        sample(z(2, 3), (at, to), z(2), **kwargs),
        sample(f(0, 3), (np.array([], "i8"),), g(3), **kwargs),
        sample(f(2, 3, dtype="f4"), (at,), g(3).astype("f4"), **kwargs),
        sample(f(2, 3), (GRID,), g(3, 2, 3) if kwargs else g(), grad=bool(kwargs), **kwargs),
    ]


def keys(*parts: Any) -> Keys:
    """What a record gets instead of a key."""
    return Keys(parts, [], (None, 0))


SAMPLES = {
    "__getitem__": bracket(),
    "__setitem__": assigned(),
    "index_put": [
        *written(),
        *written(accumulate=True),
        sample(f(3), indices=(AT,), values=g(3), accumulate=True),
    ],
    "index_put_": [*written()[:4], *written(accumulate=True)[:4]],
    "_index": [
        private(f(2, 3), keys(AT)),
        private(f(2, 3), keys(None, AT)),
        private(f(2, 3), keys(MASK)),
        private(z(2, 3, 4), keys(AT, None, AT)),
    ],
    "_unindex": [
        private(g(3, 3), keys(AT), (2, 3)),
        private(g(4), keys(MASK), (2, 3)),
        private(g(2, 3), keys(None, AT), (2, 3)),
    ],
    "_index_put": [
        private(f(2, 3), g(2), keys(AT[:2], AT[:2])),
        private(f(2, 3), g(4), keys(MASK)),
        private(f(2, 3), g(), keys(ONCE)),
    ],
    "_index_put_sum": [
        private(f(2, 3), g(3), keys(AT)),
        private(f(2, 3), g(3, 3), keys(AT)),
        private(f(2, 3), g(4), keys(MASK)),
    ],
}
