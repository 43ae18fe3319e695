"""Samples of the functions of one operand: each over its domain, at its edges, in each dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample

EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, np.inf, -np.inf, np.nan])
BOOLS = np.array([True, False, True])


def z(*shape: int) -> np.ndarray:
    """Complex values, none of them near an axis."""
    return np.asarray(f(*shape, low=0.3, high=1.2) + 1j * f(*shape, low=-1.3, high=-0.2))


def smooth(
    low: float = -2.0,
    high: float = 2.0,
    *,
    ints: bool = True,
    complexes: bool = True,
    edges: np.ndarray = EDGES,
    **kwargs: Any,
) -> list[Sample]:
    """Samples of a function that is smooth in (low, high)."""

    def values(*shape: int) -> np.ndarray:
        return f(*shape, low=low, high=high)

    found = [
        sample(values(3, 4), **kwargs),
        sample(values(), **kwargs),
        sample(values(0, 3), **kwargs),
        sample(values(4, 3).T, **kwargs),
        sample(values(6)[::-1], **kwargs),
        sample(values(2, 6)[:, ::2], **kwargs),
        sample(values(5).astype("f4"), **kwargs),
        sample(edges, grad=False, **kwargs),
        sample(edges.astype("f4"), grad=False, **kwargs),
    ]
    if ints:
        found += [
            sample(i(4, low=-2, high=3), **kwargs),
            sample(i(3, dtype="u1"), **kwargs),
            sample(BOOLS, **kwargs),
        ]
    if complexes:
        found += [
            sample(z(2, 3), **kwargs),
            sample(z(3)[::-1], **kwargs),
            sample(z(2).astype("c8"), **kwargs),
        ]
    return found


def stepwise(*, ints: bool = True, bools: bool = False, **kwargs: Any) -> list[Sample]:
    """Samples of a function that is constant between its steps."""
    ties = np.array([0.5, 1.5, -0.5, -2.5, 2.0, -3.0])
    found = smooth(0.1, 0.4, ints=False, complexes=False, **kwargs)
    found.append(sample(ties, grad=False, **kwargs))
    if ints:
        found += [sample(i(4, low=-3, high=3), **kwargs), sample(i(3, dtype="i4"), **kwargs)]
    if bools:
        found.append(sample(BOOLS, **kwargs))
    return found


SAMPLES = {
    "exp": smooth(),
    "exp2": smooth(),
    "expm1": smooth(),
    "log": smooth(0.2, 3),
    "log1p": smooth(-0.8, 3),
    "log2": smooth(0.2, 3),
    "log10": smooth(0.2, 3),
    "sqrt": smooth(0.2, 3),
    "rsqrt": smooth(0.2, 3),
    "reciprocal": smooth(0.2, 3),
    "square": smooth(),
    "sigmoid": [*smooth(), sample(np.array([-800.0, 800.0, 40.0, -40.0]))],
    "logit": [
        *smooth(0.1, 0.9, complexes=False, edges=EDGES[2:]),
        sample(np.zeros(1), grad=False),
        sample(f(4, low=0.1, high=0.9), 0.05),
        sample(np.array([-1.0, 0.0, 0.04, 0.5, 0.96, 1.0]), 0.05, grad=False),
    ],
    "sin": smooth(),
    "cos": smooth(),
    "tan": smooth(-1, 1),
    "asin": smooth(-0.9, 0.9),
    "acos": smooth(-0.9, 0.9),
    "atan": smooth(),
    "sinh": smooth(),
    "cosh": smooth(),
    "tanh": smooth(),
    "asinh": smooth(),
    "acosh": smooth(1.2, 3),
    "atanh": smooth(-0.9, 0.9),
    "sinc": smooth(),
    "deg2rad": smooth(complexes=False),
    "rad2deg": smooth(complexes=False),
    "erf": [*smooth(complexes=False), sample(f(9, low=-6, high=6))],
    "erfc": [*smooth(complexes=False), sample(f(9, low=-6, high=9))],
    "erfinv": [
        *smooth(-0.9, 0.9, complexes=False),
        sample(np.array([0.999999, -0.9999999999, 1e-300]), grad=False),
    ],
    "lgamma": [
        *smooth(0.2, 3, complexes=False),
        sample(f(9, low=-3.9, high=-3.1)),
        sample(f(9, low=3, high=40)),
    ],
    "digamma": [*smooth(0.2, 3, complexes=False), sample(f(9, low=3, high=40))],
    "_polygamma": [sample(f(4, low=0.2, high=5), 1, torch=""), sample(i(3, low=1), 2, torch="")],
    "polygamma": [
        sample(2, f(3, 4, low=0.5, high=5)),
        sample(0, f(low=0.5, high=5)),
        sample(3, f(0, low=0.5, high=5)),
        sample(2, f(4, 3, low=0.5, high=5).T),
        sample(4, f(5, low=0.5, high=9).astype("f4")),
        sample(2, i(3, low=1)),
    ],
    "floor": stepwise(),
    "ceil": stepwise(),
    "trunc": stepwise(),
    "round": [*stepwise(), *(sample(f(6, low=-20, high=20), decimals=d) for d in (0, 1, 2, -1))],
    "frac": [
        sample(f(3, 4, low=0.1, high=0.9)),
        sample(f(low=0.1, high=0.9)),
        sample(f(0)),
        sample(f(4, low=-0.9, high=-0.1)[::-1]),
        sample(EDGES, grad=False),
    ],
    "neg": [*smooth(ints=False), sample(i(4)), sample(i(3, dtype="u1")), sample(i(3, dtype="i2"))],
    "abs": [
        *smooth(0.2, 2, ints=False),
        sample(f(3, low=-2, high=-0.2)),
        sample(i(4, low=-3)),
        sample(np.array([3 + 4j, 0, -2j]), grad=False),
    ],
    "sign": stepwise(bools=True),
    "sgn": [*stepwise(bools=True), sample(z(2, 3)), sample(np.array([3 + 4j, 0, -2j]), grad=False)],
    "_threshold_backward": [
        sample(f(2, 3), g(2, 3), torch=""),
        sample(f(4, low=1), f(4, low=0.1), torch=""),
        sample(f(3), f(2, 3), torch=""),
    ],
    "relu": [
        *smooth(0.1, 2, ints=False, complexes=False),
        sample(f(3, low=-2, high=-0.1)),
        sample(f(3, 4)),
        sample(i(4, low=-3)),
    ],
    "positive": [sample(f(2, 3)), sample(i(3)), sample(z(2))],
    "__pos__": [sample(f(2, 3), method=True), sample(i(3), method=True)],
}
