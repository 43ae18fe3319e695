"""Samples of arithmetic, powers and extremes: broadcasting both ways, ties, numbers, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.unary import z

A = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -5.5, 5.0])
B = np.array([-0.0, 0.0, 1.0, 1.0, np.inf, 2.0, 1.0, np.nan, 2.0, -3.0])
BOOLS = np.array([True, False, True])


def positive(*shape: int) -> np.ndarray:
    """Values in (0.3, 2.5)."""
    return f(*shape, low=0.3, high=2.5)


def floating(
    first: Any = f, second: Any = g, *, numbers: bool = True, edges: bool = True, **kwargs: Any
) -> list[Sample]:
    """Samples on floating operands: shapes, layouts, numbers, special values."""
    found = [
        sample(first(3, 4), second(3, 4), **kwargs),
        sample(first(3, 4), second(4), **kwargs),
        sample(first(4), second(3, 1), **kwargs),
        sample(first(), second(2), **kwargs),
        sample(first(), second(), **kwargs),
        sample(first(0, 3), second(3), **kwargs),
        sample(first(4, 3).T, second(3, 4), **kwargs),
        sample(first(3, 4)[::-1], second(6, 4)[::2], **kwargs),
        sample(first(3).astype("f4"), second(3).astype("f4"), **kwargs),
    ]
    if numbers:
        found += [sample(first(3, 4), 1.5, **kwargs), sample(first(2), 2, **kwargs)]
    if edges:
        found += [sample(A, B, grad=False, **kwargs), sample(B, A, grad=False, **kwargs)]
    return found


def mixed(
    *, ints: bool = True, bools: bool = True, complexes: bool = True, number: bool = True
) -> list[Sample]:
    """Samples on other dtypes, and on two different ones."""
    found = [
        sample(positive(3), f(3, low=0.4, high=2.4).astype("f4")),
        sample(positive(3).astype("f4"), positive()),
    ]
    if ints:
        found += [
            sample(i(3, low=1), i(2, 1, low=1)),
            sample(i(3, low=-7), i(3, low=1)),
            sample(i(3), positive(3)),
            sample(i(3).astype("u1"), i(3, low=1).astype("i1")),
            sample(i(3).astype("i4"), i(low=1)),
        ]
        if number:
            found += [sample(i(3), 2), sample(i(3), 2.5)]
    if bools:
        found += [sample(BOOLS, i(3, low=1)), sample(BOOLS, positive(3))]
    if complexes:
        found += [
            sample(z(3), z(2, 1)),
            sample(z(3), positive(3)),
            sample(positive(3), z(3)),
            sample(z(2).astype("c8"), positive(2)),
            sample(positive(3).astype("f4"), 1 + 2j),
            sample(z(3), 2.0),
        ]
    return found


def scaled() -> list[Sample]:
    """Samples with alpha=."""
    return [
        sample(f(3, 4), g(4), alpha=2),
        sample(f(3), g(2, 1), alpha=-0.5),
        sample(f(3), 2.0, alpha=3),
        sample(i(3), i(3), alpha=2),
        sample(z(3), z(3), alpha=1j),
    ]


def single(v: Any) -> Any:
    """float64 arrays as float32, which do not ask for a gradient."""
    return v.astype("f4") if getattr(v, "dtype", None) == np.float64 else v


def rounded(*, numbers: bool = True) -> list[Sample]:
    """Mixed samples of functions that PyTorch differentiates in the precision of each operand."""
    found = [
        sample(positive(3).astype("f4"), positive().astype("f4")),
        sample(positive(3).astype("f4"), i(3, low=1)),
        sample(i(3), i(3, low=1)),
    ]
    return [*found, sample(i(3), 2)] if numbers else found


def private(*args: Any, **kwargs: Any) -> Sample:
    """A sample of a record that PyTorch offers under another name and signature."""
    return sample(*args, torch="", **kwargs)


TIES = [sample(np.array([1.0, 2.0, -0.0, 3.0]), np.array([1.0, 1.0, 0.0, 3.0]), grad=False)]
INTS = [
    sample(i(3, low=-7, high=8), i(2, 1, low=1)),
    sample(i(5, low=-9, high=9), 4),
    sample(i(5, low=-9, high=9), -4),
    sample(i(3).astype("u1"), 3),
    sample(i(3), i(low=1)),
    sample(i(0), i(0)),
]

SAMPLES = {
    "add": [*floating(), *mixed(), *scaled(), sample(BOOLS, BOOLS), sample(BOOLS, True)],
    "sub": [*floating(), *mixed(bools=False), *scaled()],
    "rsub": [*floating(), *mixed(bools=False), *scaled()],
    "_add": [private(f(3, 4), g(4), 2.0), private(z(3), z(3), 1j)],
    "_sub": [private(f(3, 4), g(4), 2.0), private(z(3), z(3), 1j)],
    "_rsub": [private(f(3, 4), g(4), 2.0), private(z(3), z(3), 1j)],
    "mul": [*floating(), *mixed(), sample(BOOLS, BOOLS)],
    "div": [
        *floating(f, positive),
        *mixed(),
        sample(BOOLS, BOOLS),
        *(sample(f(3, 4), positive(4), rounding_mode=mode) for mode in (None, "trunc", "floor")),
        *(
            sample(i(9, low=-9, high=9), d, rounding_mode=mode)
            for mode in ("trunc", "floor")
            for d in (4, -4, 2.5)
        ),
        *(sample(A, B, rounding_mode=mode, grad=False) for mode in ("trunc", "floor")),
    ],
    "_div": [private(f(3, 4), positive(4), "trunc"), private(i(5, low=-9), i(5, low=1), "floor")],
    "floor_divide": [*floating(f, positive), *INTS],
    "remainder": [*floating(f, positive), *mixed(bools=False, complexes=False), *INTS],
    "fmod": [*floating(f, positive), *mixed(bools=False, complexes=False), *INTS],
    "ldexp": [
        *floating(numbers=False),
        sample(f(3), i(3)),
        sample(i(3), i(3, low=-2)),
        sample(f(3, 1).astype("f4"), i(4)),
    ],
    "pow": [
        *floating(positive, g),
        *mixed(bools=False),
        *(sample(f(3, 4, low=0.3), e) for e in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5)),
        *(sample(np.array([-2.0, -1.0, 3.0]), e) for e in (0, 1, 2, 3, -1)),
        sample(np.array([0.0, -0.0, 1.0, -2.0]), 0),
        sample(np.array([0.0, 2.0]), 2),
        sample(np.array([0.0, 2.0]), 0.5, grad=False),
        sample(2, f(3, 4)),
        sample(2.5, f()),
        sample(0.0, positive(3), grad=False),
        sample(-2.0, f(3), grad=False),
        sample(np.array([-2.0, 0.0, 0.0, 2.0]), np.array([2.0, 2.0, 0.0, 0.0]), grad=False),
        sample(i(4, low=-3), 3),
        sample(i(4), 0.5),
        sample(2, i(4)),
        sample(i(4, low=-2), i(4)),
        sample(np.array([1, -1, 2, -1]), np.array([-1, -2, -3, -3])),
        sample(i(3), True),
        sample(BOOLS, 2),
        sample(z(3), 2),
        sample(z(3), 0.5),
        sample(z(3), 1j),
        sample(2.0, z(3)),
    ],
    "float_power": [
        sample(positive(3, 4), 2),
        sample(positive(3).astype("f4"), 2.5),
        sample(i(3), 2),
        sample(2, f(3)),
        sample(positive(3), g(2, 1)),
        sample(z(3), 2),
    ],
    "float_power_": [sample(positive(3), 2)],
    **{
        name: [
            *floating(numbers=False),
            *TIES,
            *mixed(complexes=False, number=False),
            sample(BOOLS, BOOLS[::-1]),
        ]
        for name in ("maximum", "minimum", "fmax", "fmin")
    },
    "atan2": [
        *floating(numbers=False),
        *rounded(numbers=False),
        sample(i(3), i(3, low=-3)),
        sample(BOOLS, f(3).astype("f4")),
        sample(i(3), positive(3)),
    ],
    "hypot": [*floating(numbers=False), *mixed(ints=False, bools=False, complexes=False)],
    "logaddexp": [*floating(numbers=False), sample(z(3), z(3))],
    "logaddexp2": floating(numbers=False),
    "copysign": [
        *floating(positive, g),
        sample(i(3), i(3, low=-3)),
        sample(f(3, low=0.1), -1.0),
        sample(BOOLS, f(3)),
        sample(i(3), -2),
    ],
    "xlogy": [
        *floating(f, positive, numbers=False),
        *rounded(),
        sample(2.0, positive(3)),
        sample(f(3, 4).astype("f4"), 1.5),
        sample(i(3), 2.5),
        sample(i(3), positive(2, 1)),
        sample(0.0, positive(3)),
        sample(np.array([0.0, 1.0]), 0.0, grad=False),
    ],
    "heaviside": [
        sample(f(3, 4), g(4)),
        sample(f(), g()),
        sample(A, np.array(0.5)),
        sample(f(0), g(0)),
        sample(i(3, low=-1, high=2), i(3)),
        sample(f(3)[::-1], g(2, 1)),
        sample(A.astype("f4"), np.array(0.5, "f4")),
    ],
    "nextafter": [
        sample(f(3, 4), g(4)),
        sample(f(), g()),
        sample(A, B, grad=False),
        sample(f(0), g(0)),
        sample(f(3), g(2, 1)),
        sample(f(3).astype("f4"), g(3).astype("f4")[::-1]),
    ],
}
for _name in ("floor_divide", "heaviside"):  # no derivative, as in PyTorch
    SAMPLES[_name] = [Sample(tuple(map(single, s.args)), s.kwargs) for s in SAMPLES[_name]]
    SAMPLES[_name].append(sample(f(4).astype("f4")[::-1], g(2, 1).astype("f4")))
