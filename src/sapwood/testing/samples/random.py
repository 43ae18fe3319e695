"""Samples of random draws: both libraries are seeded alike before each call."""

from __future__ import annotations

import numpy as np

from sapwood._core import draws
from sapwood._core import dtype as dt
from sapwood.testing.sample import Sample, f, i, sample

F4, F8, I8, I4 = dt.float32, dt.float64, dt.int64, dt.int32


def flat(*args: object, **kwargs: object) -> Sample:
    """A sample without a derivative."""
    return sample(*args, grad=False, **kwargs)  # type: ignore[arg-type]


def chances(*shape: int) -> np.ndarray:
    """Probabilities."""
    return f(*shape, low=0.0, high=1.0)


SIZES = [
    flat(3),
    flat(2, 3),
    flat((2, 3)),
    flat(()),
    flat(0),
    flat(2, 0),
    flat(size=(2,)),
    flat(5, dtype=F8),
    flat(5, dtype=dt.float16),
    flat(5, dtype=dt.complex64),
    flat(3, requires_grad=True),
    flat(2, out=f(2)),
]
LIKE = [
    flat(f(2, 3)),
    flat(f()),
    flat(f(0)),
    flat(f(2, 3).T),
    flat(f(3, dtype="f4")),
    flat(f(3, dtype="f2")),
    flat(i(3), dtype=F4),
    flat(f(3), requires_grad=True),
]
PLACES = [f(2, 3), f(), f(0), f(2, 3).T, f(6)[::2], f(3, dtype="f4"), f(3, dtype="f2")]
WHOLE = [i(3), i(3, dtype="u1"), i(3) > 2]


def filled(*args: object, whole: bool = False) -> list[Sample]:
    """In-place draws with these arguments, into memory of all kinds."""
    return [flat(place, *args) for place in PLACES + (WHOLE if whole else [])]


SAMPLES = {
    "rand": SIZES,
    "randn": SIZES,
    "randint": [
        flat(5, (3,)),
        flat(2, 5, (3,)),
        flat(5, (2, 0)),
        flat(2**40, (3,)),
        flat(5, [2]),
        flat(-5, 5, (3,), dtype=I4),
        flat(5, (3,), dtype=F8),
        flat(low=1, high=3, size=(4,)),
        flat(high=3, size=(4,)),
        flat(2, (3,), dtype=dt.bool_),
        flat(5, ()),
    ],
    "randperm": [flat(5), flat(0), flat(1), flat(5, dtype=F4), flat(5, dtype=I4)],
    "rand_like": LIKE,
    "randn_like": LIKE,
    "randint_like": [
        flat(f(2, 3), 5),
        flat(i(4), 2, 9),
        flat(f(3), 5, dtype=I8),
        flat(f(3, 2).T, 1, 9),
    ],
    "normal": [
        flat(0.0, 1.0, (3,)),
        flat(1, 2, (2, 3)),
        flat(2.0, 0.5, size=(3,), dtype=F8),
        flat(f(3), chances(3)),
        flat(f(3), 2.0),
        flat(1.0, chances(2, 3)),
        flat(f(3)),
        flat(f(2, 1), chances(3)),
        flat(f(0), 1.0),
        flat(f(3), 0.0),
        flat(mean=f(3), std=1.0),
        flat(0.0, 1.0, (3,), requires_grad=True),
    ],
    "bernoulli": [
        flat(chances(2, 3)),
        flat(chances()),
        flat(chances(0)),
        flat(chances(2, 3).T),
        flat(np.array([0.0, 1.0])),
        flat(f(3), 0.5),
        flat(i(3), 0.5),
    ],
    "poisson": [flat(f(3, low=0.0, high=20.0)), flat(np.zeros(2)), flat(f(0))],
    "multinomial": [
        flat(chances(5), 2),
        flat(chances(5), 1),
        flat(chances(5), 9, True),
        flat(chances(3, 5), 2),
        flat(chances(3, 5), 9, replacement=True),
    ],
    "uniform_": filled() + filled(2.0, 5.0),
    "normal_": filled() + filled(1.0, 2.0),
    "exponential_": filled() + filled(2.0),
    "geometric_": [*filled(0.3), flat(i(3), 0.3), flat(i(3, dtype="u1"), 0.3)],
    "cauchy_": filled() + filled(1.0, 2.0),
    "log_normal_": filled() + filled(0.5, 0.25),
    "random_": filled(whole=True) + filled(2, whole=True) + filled(0, 2, whole=True),
    "bernoulli_": filled(whole=True)
    + filled(0.3, whole=True)
    + [
        flat(f(2, 3), chances(2, 3)),
        flat(f(2, 3), chances(3)),
        flat(i(3), chances(3).astype("f4")),
    ],
    "_normal": [sample(f(3), chances(3), draws.default_generator, 3, grad=False, torch="")],
    "_bernoulli": [sample(chances(3), draws.default_generator, None, grad=False, torch="")],
    "_poisson": [sample(chances(3), draws.default_generator, grad=False, torch="")],
    "_drawn_by": [sample(f(3), chances(3), "BernoulliBackward1", grad=False, torch="")],
    "_drawn": [sample(f(3), "UniformBackward0", grad=False, torch="")],
}
