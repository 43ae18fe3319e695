"""Samples of writes by position or mask: scatter, reductions on the way, index_add, put.

Sources of all layouts and dtypes; `scatter` has more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.elementwise import BOOLS, private
from sapwood.testing.samples.keys import AT, MASK
from sapwood.testing.samples.unary import z

ONCE = np.array([[2, 0], [1, 2]])  # no place twice, along dimension 1
TWICE = np.array([[0, 0, 2, 0], [1, 2, 1, 0]])
NONE = np.array([], "i8")


def larger(s: Sample) -> Sample:
    """A sample of a source that is not used in full: PyTorch fails in backward."""
    return replace(s, torch="")


def sources(once: np.ndarray, *more: Any, **kwargs: Any) -> list[Sample]:
    """Samples of a scatter of a source; `once`: the index where no repetition is allowed."""
    n = once.shape[1]
    return [
        sample(f(2, 3), 1, once, g(2, n), *more, **kwargs),
        larger(sample(f(2, 3), -1, once, g(3, n + 1), *more, **kwargs)),
        sample(f(3, 2).T, 1, once, g(n, 2).T, *more, **kwargs),
        sample(f(2, 3)[::-1], 1, once[::-1], g(2, n)[:, ::-1], *more, **kwargs),
        sample(f(3, 4), 0, once, g(2, n), *more, **kwargs),
        larger(sample(f(2, 3), 1, once[:1], g(2, n), *more, **kwargs)),
        sample(f(3), 0, np.array([2, 0]), g(2), *more, **kwargs),
        sample(f(3), 0, np.array(1), g(), *more, **kwargs),
        sample(f(), 0, np.array(0), g(), *more, **kwargs),
        larger(sample(f(2, 3), 1, np.zeros((2, 0), "i8"), g(2, 2), *more, **kwargs)),
        sample(f(0, 3), 1, np.zeros((0, 2), "i8"), g(0, 2), *more, **kwargs),
        sample(f(2, 3, dtype="f4"), 1, once, g(2, n).astype("f4"), *more, **kwargs),
        sample(i(2, 3), 1, once, i(2, n, low=-3), *more, **kwargs),
        sample(i(2, 3), 1, once[:1], i(3, n + 1, low=-3), *more, **kwargs),
        sample(f(2, 3), 1, once.astype("i4"), g(2, n), *more, **kwargs),
    ]


def numbers(*more: Any, **kwargs: Any) -> list[Sample]:
    """Samples of a scatter of a number."""
    return [
        sample(f(2, 3), 1, ONCE, 1.5, *more, **kwargs),
        sample(f(3, 2).T, 0, ONCE % 2, 2, *more, **kwargs),
        sample(i(2, 3), 1, ONCE, 7, *more, **kwargs),
        sample(f(), 0, np.array(0), 3.0, *more, **kwargs),
        sample(f(2, 3), 1, ONCE, *more, value=1.5, **kwargs),
    ]


def reduced(name: str, *, include: bool) -> list[Sample]:
    """Samples of one reduction."""
    more = {} if include else {"include_self": False}
    tie, same = np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 1.0, 2.0, 5.0, 5.0]])
    at = np.array([[0, 0, 1, 2, 2]])
    zeros = np.array([[0.0, 2.0, 3.0, 0.0, 0.0]])
    return [
        *sources(TWICE, name, **more),
        sample(z(2, 3).astype("c8"), 1, TWICE, z(2, 4).astype("c8"), name, **more),
        sample(tie, 1, at, same, name, grad=False, **more),
        sample(tie, 1, at, zeros, name, grad=name in ("sum", "mean"), **more),
        sample(np.array([[0.0, 0.0, 3.0]]), 1, at, same, name, grad=False, **more),
    ]


def no_complex(samples: list[Sample]) -> list[Sample]:
    """Without samples that are ordered nowhere."""
    return [s for s in samples if s.args[0].dtype.kind != "c"]


REDUCTIONS = [
    s
    for name in ("sum", "mean", "prod", "amax", "amin")
    for include in (True, False)
    for s in (
        reduced(name, include=include)
        if name in ("sum", "prod", "mean")
        else no_complex(reduced(name, include=include))
    )
]
SCATTERS = {
    "scatter": [
        *sources(ONCE),
        *numbers(),
        sample(z(2, 3), 1, ONCE, z(2, 2)),
        sample(MASK, 1, ONCE, True),
        sample(z(2, 3), 1, ONCE, 1 + 2j),
        sample(f(2, 3), dim=1, index=ONCE, src=g(2, 2)),
        *(sample(i(2, 3), 1, TWICE, i(2, 4), reduce=how) for how in ("add", "multiply")),
        *(sample(f(2, 3, dtype="f4"), 1, TWICE, 2.0, reduce=how) for how in ("add", "multiply")),
        *(
            sample(f(3, dtype="f4"), 0, AT, g(3).astype("f4"), reduce=how)
            for how in ("add", "multiply")
        ),
    ],
    "scatter_": [
        *sources(ONCE)[:4],
        *numbers()[:2],
        sample(i(2, 3), 1, TWICE, i(2, 4), reduce="add"),
    ],
    "_scatter": [private(f(2, 3), ONCE, g(2, 2), 1)],
    "_scatter_value": [private(f(2, 3), ONCE, 1, 2.5)],
    "_scatter_old": [private(f(2, 3, dtype="f4"), TWICE, g(2, 4).astype("f4"), 1, "add")],
    "scatter_add": [*sources(TWICE), sample(z(2, 3), 1, TWICE, z(2, 4))],
    "scatter_add_": sources(TWICE)[:4],
    "_scatter_add": [private(f(2, 3), TWICE, g(2, 4), 1)],
    "scatter_reduce": REDUCTIONS,
    "scatter_reduce_": REDUCTIONS[::9],
    "_scatter_reduce": [
        private(f(2, 3), TWICE, g(2, 4), 1, name, True)
        for name in ("sum", "mean", "prod", "amax", "amin")
    ],
}


def slices(at: np.ndarray, **kwargs: Any) -> list[Sample]:
    """Samples of slices of a source put at positions along a dimension."""
    n = at.size
    return [
        sample(f(2, 3, 4), 1, at, g(2, n, 4), **kwargs),
        sample(f(3, 4), 0, at, g(n, 4), **kwargs),
        sample(f(4, 3), -1, at, g(4, n), **kwargs),
        sample(f(4, 3).T, 0, at, g(4, n).T, **kwargs),
        sample(f(3, 4)[::-1], 0, at, g(n, 4)[::-1], **kwargs),
        sample(f(3), 0, at, g(n), **kwargs),
        sample(f(), 0, np.array(0), g(), **kwargs),
        sample(f(3, 4), 0, NONE, g(0, 4), **kwargs),
        sample(f(3, 0), 0, at, g(n, 0), **kwargs),
        sample(f(3, dtype="f4"), 0, at, g(n).astype("f4"), **kwargs),
        sample(i(3, 4), 0, at, i(n, 4), **kwargs),
        sample(z(3, 4), 0, at, z(n, 4), **kwargs),
    ]


def filled() -> list[Sample]:
    """Samples of slices filled with a number or a 0-d tensor."""
    found = []
    for value in (1.5, 2, g()):
        found += [
            sample(f(2, 3, 4), 1, AT, value),
            sample(
                f(3, 4),
                0,
                np.array([0, -1]),
                value,
                torch=None if type(value) is not np.ndarray else "",
            ),
            sample(f(4, 3).T, 1, AT, value),
            sample(f(3, 4)[::-1], -1, AT, value),
            sample(f(3), 0, np.array(1), value),
            sample(f(), 0, np.array([0]), value),
            sample(f(3, 4), 0, NONE, value),
            sample(f(0, 3), 1, AT, value),
            sample(z(3, 4), 0, AT, value, torch=None if type(value) is not np.ndarray else ""),
            sample(
                f(3, dtype="f4"),
                0,
                AT,
                value if type(value) is not np.ndarray else value.astype("f4"),
            ),
        ]
    return [
        *found,
        sample(i(3, 4), 0, AT, 7),
        sample(i(3) > 2, 0, AT, True),
        sample(z(3), 0, AT, 1 + 2j),
        sample(f(2, 3), dim=1, index=AT, value=0.5),
    ]


def placed() -> list[Sample]:
    """Samples of put."""
    at, all_ = np.array([5, 0, -2]), np.array([[0, 5, 0], [-1, 1, 2]])
    return [
        *(
            sample(x, at, y)
            for x, y in (
                (f(2, 3), g(3)),
                (f(3, 2).T, g(3)),
                (f(2, 3)[::-1], g(3)[::-1]),
                (i(2, 3), i(3)),
                (z(2, 3), z(3)),
                (f(2, 3, dtype="f4"), g(3).astype("f4")),
            )
        ),
        *(
            sample(x, all_, y, True)
            for x, y in (
                (f(2, 3), g(2, 3)),
                (f(3, 2).T, g(6)),
                (i(2, 3), i(3, 2)),
                (z(2, 3), z(2, 3)),
            )
        ),
        sample(f(2, 3), NONE, g(0)),
        sample(f(), np.array(0), g()),
        sample(f(), np.array([0]), g(1)),
        sample(f(2, 3), index=at, source=g(3), accumulate=True),
        sample(f(0, 3), NONE, g(0)),
    ]


PLACING = {
    "index_add": [
        *slices(AT),
        *slices(AT, alpha=-2)[:6],
        sample(f(3), 0, AT, g(3), alpha=0.5),
        sample(f(2, 3), dim=1, index=np.array([2, 2], "i4"), source=g(2, 2)),
    ],
    "index_add_": slices(AT)[:3],
    "_index_add": [private(f(3, 4), AT, g(3, 4), 0, 2)],
    "index_copy": [
        *slices(np.array([2, 0])),
        sample(f(3), 0, np.array(1), g()),
        sample(f(), 0, np.array([0]), g(1)),
        sample(f(2, 3), dim=1, index=AT[:2], source=g(2, 2)),
    ],
    "index_copy_": slices(np.array([2, 0]))[:3],
    "_index_copy": [private(f(3, 4), np.array([2, 0]), g(2, 4), 0)],
    "index_reduce": [
        replace(s, args=(*s.args, name), kwargs=more)
        for name in ("prod", "mean", "amax", "amin")
        for more in ({}, {"include_self": False})
        for s in slices(AT)
        if s.args[0].dtype.kind != "c" and s.args[0].ndim + s.args[3].ndim
    ],
    "index_reduce_": [
        sample(f(3, 4), 0, AT, g(3, 4), name) for name in ("prod", "mean", "amax", "amin")
    ],
    "_index_reduce": [
        private(f(3), AT, g(3), 0, "prod", True),
        private(f(3), AT, g(3), 0, "amax", False),
    ],
    "index_fill": filled(),
    "index_fill_": filled()[:3],
    "_index_fill": [private(f(3, 4), AT, 0, 2.5)],
    "_index_fill_tensor": [private(f(3, 4), AT, g(), 0)],
    "put": placed(),
    "put_": placed()[:3],
    "_put": [private(f(2, 3), np.array([5, 0]), g(2), False), private(f(2, 3), AT, g(3), True)],
    "masked_scatter": [
        sample(f(2, 3), MASK, g(2, 3)),
        sample(f(2, 3), MASK, g(4)),
        sample(f(3, 2).T, MASK, g(7)),
        sample(f(2, 3)[::-1], MASK[::-1], g(4)[::-1]),
        sample(f(2, 3), BOOLS, g(4)),
        sample(f(3), MASK, g(4)),
        sample(f(2, 3), MASK & False, g(4)),
        sample(f(), np.array(True), g(2)),
        sample(f(0, 3), BOOLS, g(2)),
        sample(i(2, 3), MASK, i(4)),
        sample(z(2, 3), MASK, z(4)),
        sample(f(2, 3), MASK & False, g(0)),
        sample(f(2, 3, dtype="f4"), MASK, g(4).astype("f4")),
        sample(f(2, 3), mask=MASK, source=g(4)),
    ],
}
SAMPLES = {**SCATTERS, **PLACING}
