"""Samples of comparisons, predicates, logic and bits, and of `where`."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample

T, F = True, False
A = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0])
B = np.array([-0.0, 0.0, 1.0, 1.0, np.inf, np.inf, np.nan, np.nan])
C = np.array([1 + 2j, 1 - 2j, 0, complex(np.nan, 1), complex(1, -np.inf)])
BOOLS = np.array([[T, F, T], [F, F, T]])


def comparison(*, complexes: bool = False) -> list[Sample]:
    """Samples of a comparison."""
    found = [
        sample(i(3, 4), i(3, 4)[::-1]),
        sample(i(3, 1), i(4)),
        sample(i(4), i(3, 1)),
        sample(A, B),
        sample(A, B.astype("f4")),
        sample(A.astype("f4"), 0.1),
        sample(A, 1),
        sample(f(), f(2)),
        sample(f(0, 3), f(3)),
        sample(i(3, dtype="u1"), i(3, dtype="i1")),
        sample(i(3), 2.5),
        sample(i(3), f(3)),
        sample(BOOLS, BOOLS[::-1]),
        sample(BOOLS, 1),
        sample(BOOLS, True),
    ]
    if complexes:
        found += [sample(C, C.conj()), sample(C, 1 + 2j), sample(A, C[0])]
    return found


def predicate(*, complexes: bool = True) -> list[Sample]:
    """Samples of a property of each element."""
    found = [
        sample(A),
        sample(A[::-1]),
        sample(A.astype("f4")),
        sample(f()),
        sample(f(0, 2)),
        sample(i(3, low=-2)),
        sample(i(3, dtype="u1")),
        sample(BOOLS),
        sample(f(3, 2).T),
    ]
    return found + [sample(C)] if complexes else found


def logic() -> list[Sample]:
    """Samples of a logical operation: any dtypes."""
    return [
        sample(BOOLS, BOOLS[::-1]),
        sample(i(3), i(2, 1)),
        sample(A, B),
        sample(f(3), i(3)),
        sample(BOOLS[0], f(2, 1)),
        sample(C, C[::-1]),
        sample(f(), f()),
        sample(f(0), f(0)),
    ]


def bits(*, bools: bool = True, numbers: bool = True, high: int = 5) -> list[Sample]:
    """Samples of an operation on integers."""
    x, y = i(3, 4, low=-9, high=9), i(3, 4, high=high)
    found = [
        sample(x, y),
        sample(x[:, :1], y[0]),
        sample(x[0], y[:, :1]),
        sample(x[::-1], y),
        sample(i(), i()),
        sample(i(0, 3), i(3)),
        sample(x.astype("i1"), y.astype("u1")),
        sample(x.astype("i4"), y),
    ]
    if numbers:
        found += [sample(x, 3), sample(3, y), sample(x.astype("u1"), 3)]
    if bools:
        found += [sample(BOOLS, BOOLS[::-1]), sample(BOOLS, i(3)), sample(BOOLS, True)]
    return found


SHIFTS = np.array([0, 1, 63, 64, 70, -1])
SHIFTED = [
    sample(np.array([1, -5, 3, -1, 7, -2]), SHIFTS),
    sample(np.array([1, 255, 3, 1, 7, 2], "u1"), np.array([0, 1, 8, 7, 9, 200], "u1")),
]


CLOSE = np.array([1.0, 1.0, 1.0, np.inf, np.inf, np.nan, 0.0])
NEAR = np.array([1.0, 1.000001, 1.1, np.inf, -np.inf, np.nan, 1e-9])

SAMPLES = {
    "eq": comparison(complexes=True),
    "ne": comparison(complexes=True),
    "lt": comparison(),
    "le": comparison(),
    "gt": comparison(),
    "ge": comparison(),
    "isnan": predicate(),
    "isinf": predicate(),
    "isfinite": predicate(),
    "isposinf": predicate(complexes=False),
    "isneginf": predicate(complexes=False),
    "isreal": predicate(),
    "signbit": predicate(complexes=False),
    "logical_and": logic(),
    "logical_or": logic(),
    "logical_xor": logic(),
    "logical_not": predicate(),
    "bitwise_and": bits(),
    "bitwise_or": bits(),
    "bitwise_xor": bits(),
    "bitwise_not": [
        sample(i(3, 4, low=-9)),
        sample(i(3, dtype="u1")),
        sample(BOOLS),
        sample(i()),
        sample(i(0)),
        sample(i(4, dtype="i2")[::-1]),
    ],
    "bitwise_left_shift": [*bits(bools=False), *SHIFTED],
    "bitwise_right_shift": [*bits(bools=False), *SHIFTED],
    "gcd": bits(bools=False, numbers=False, high=12),
    "lcm": bits(bools=False, numbers=False, high=12),
    "isclose": [
        sample(CLOSE, NEAR),
        sample(CLOSE, NEAR, equal_nan=True),
        sample(CLOSE, NEAR, 0.2, 0.0),
        sample(CLOSE.astype("f4"), NEAR.astype("f4")),
        sample(i(3), i(3)[::-1]),
        sample(i(3), i(3) + 1, rtol=0.5),
        sample(f(3, 1), f(4)),
        sample(BOOLS, BOOLS[::-1]),
        sample(f(), f()),
        sample(f(0), f(0)),
        sample(C, C),
    ],
    "allclose": [
        sample(f(3), f(3)),
        sample(f(3), f(3) + 1e-9),
        sample(f(3), g(3)),
        sample(f(3), f(3)[:1]),
        sample(CLOSE, CLOSE),
        sample(CLOSE, CLOSE, equal_nan=True),
    ],
    "equal": [
        sample(f(3), f(3)),
        sample(f(3), g(3)),
        sample(f(3), f(3)[:1]),
        sample(f(0), f(0)),
        sample(i(3), i(3).astype("f8")),
        sample(CLOSE, CLOSE),
    ],
    "where": [
        sample(BOOLS, f(2, 3), g(2, 3)),
        sample(BOOLS, f(3), g(2, 1)),
        sample(BOOLS[0], f(2, 3), g()),
        sample(BOOLS, f(2, 3), 0.5),
        sample(BOOLS, 2, g(2, 3)),
        sample(BOOLS[::-1], f(3, 2).T, g(2, 3)),
        sample(BOOLS, 1, 2.5),
        sample(BOOLS, 1, 2),
        sample(BOOLS, i(3), g(3)),
        sample(BOOLS, i(3), 0.5),
        sample(BOOLS, f(3), g(3).astype("f4")),
        sample(BOOLS[:0], f(3), g(0, 1)),
        sample(np.array(T), f(3), g(3)),
        sample(BOOLS, (f(3) + 1j * g(3)).astype("c8"), g(3).astype("f4")),
        sample(BOOLS, f(3) + 1j * g(3), g(3), torch=""),  # PyTorch fails in backward
        sample(BOOLS),
        sample(i(2, 2, high=2)),
        sample(np.array(T)),
        sample(f(2, 3), BOOLS, 0.5, method=True),
        sample(f(3), BOOLS, g(2, 1), method=True),
    ],
}
