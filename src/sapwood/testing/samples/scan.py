"""Samples of running sums, products and extremes: zeros, ties, NaN, dtypes."""

from __future__ import annotations

import numpy as np

import sapwood
from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.elementwise import private
from sapwood.testing.samples.reduce import BOOLS, F4, INFS, NANS, TIES, ZEROS
from sapwood.testing.samples.unary import z

L = np.array
SHAPES = [sample(f(3, 4), 0), sample(f(3, 4), -1), sample(f(2, 3, 4), 1), sample(f(4, 3).T, 1),
          sample(f(3, 4)[::-1, ::2], dim=0), sample(f(), 0), sample(f(0, 3), 0), sample(f(0, 3), 1),
          sample(f(1), 0), sample(F4, 1), sample(f(3, 1), 1)]
INTS = [sample(i(3, 4), 0), sample(i(3, 4).astype("u1"), 1), sample(i(3, 4, low=-4).astype("i4"), 0),
        sample(BOOLS, 1)]
KINDS = [sample(f(3, 4), 1, dtype=sapwood.float64), sample(i(3), 0, dtype=sapwood.float64),
         sample(i(3).astype("i4"), 0, dtype=sapwood.int32)]
SPECIAL = [sample(NANS, 1, grad=False), sample(INFS, 1, grad=False)]

SAMPLES = {
    "cumsum": [*SHAPES, *INTS, *KINDS, *SPECIAL, sample(z(3, 4), 0)],
    "cumprod": [*SHAPES, *INTS, *KINDS, SPECIAL[0], sample(z(3, 4), 0), sample(ZEROS, 1), sample(ZEROS, 0),
                sample(L([2.0, 0.0, 3.0]), 0), sample(z(3) * L([1, 0, 1]), 0)],
    "cumsum_": [sample(f(3, 4), 0), sample(f(3), -1), sample(i(3, 4), 1), sample(f(), 0), sample(f(0, 3), 0)],
    "cumprod_": [sample(f(3, 4), 0), sample(f(3), -1), sample(i(3, 4), 1), sample(f(), 0), sample(ZEROS, 1)],
    "_cumsum": [private(f(3, 4), 1)],
    "_cumprod": [private(f(3, 4), 1), private(ZEROS, 1)],
    "cummax": [*SHAPES, *INTS, sample(NANS, 1, grad=False), sample(INFS, 1, grad=False), sample(TIES, 1, grad=False)],
    "cummin": [*SHAPES, *INTS, sample(NANS, 1, grad=False), sample(INFS, 1, grad=False), sample(TIES, 1, grad=False)],
    "logcumsumexp": [*SHAPES, sample(f(3, 4) * 20, 1), sample(INFS, 1, grad=False), sample(NANS, 1, grad=False),
                     sample(L([-800.0, 0.0, 800.0]), 0, grad=False)],
    "diff": [sample(f(3, 4)), sample(f(3, 4), 2), sample(f(3, 4), dim=0), sample(f(3, 4), 1, 1, g(3, 1), g(3, 2)),
             sample(f(3, 4), append=g(3, 1)), sample(i(3, 4)), sample(BOOLS), sample(f(3, 4), 0), sample(f(3), 5),
             sample(f(0)), sample(f(4, 3).T, dim=1), sample(z(4)), sample(F4, dim=-2), sample(f(3)[::-1])],
    "trapezoid": [sample(f(3, 4)), sample(f(3, 4), dim=0), sample(f(3, 4), g(4)), sample(f(3, 4), g(3, 4)),
                  sample(f(3, 4), dx=0.5), sample(f(3, 4), g(3), dim=0), sample(f(1)), sample(f(3, 0)),
                  sample(i(4)), sample(F4, dx=2), sample(f(4, 3).T, dim=0)],
    "cumulative_trapezoid": [sample(f(3, 4)), sample(f(3, 4), dim=0), sample(f(3, 4), g(4)), sample(f(3, 4), g(3, 4)),
                             sample(f(3, 4), dx=0.5), sample(f(3, 4), g(3), dim=0), sample(f(1)), sample(i(4)),
                             sample(F4, dx=2)],
}
