"""Samples of inner, outer, tensordot, kron, cross products, traces and chains."""

from __future__ import annotations

from sapwood.testing.sample import f, g, i, sample
from sapwood.testing.samples.unary import z

CROSSES = [
    sample(f(3), g(3)),
    sample(f(2, 3), g(2, 3)),
    sample(f(3, 2), g(3, 2), dim=0),
    sample(f(2, 3), g(1, 3)),
    sample(f(1, 3), g(2, 3)),
    sample(f(3, 2).T, g(2, 3)[::-1]),
    sample(f(0, 3), g(0, 3)),
    sample(z(2, 3), z(2, 3)),
    sample(i(2, 3), i(2, 3)),
    sample(f(2, 3).astype("f4"), g(2, 3).astype("f4")),
]

SAMPLES = {
    "inner": [
        sample(f(3), g(3)),
        sample(f(2, 3), g(4, 3)),
        sample(f(2, 4, 3), g(3)),
        sample(f(), g(3)),
        sample(f(2, 3), g()),
        sample(z(3), z(3)),
        sample(f(3, 2).T, g(3)),
        sample(i(2, 3), i(3)),
    ],
    "outer": [
        sample(f(3), g(4)),
        sample(f(6)[::2], g(4)[::-1]),
        sample(f(0), g(3)),
        sample(z(3), z(2)),
        sample(i(3), i(2)),
        sample(f(3), g(2).astype("f4")),
    ],
    "kron": [
        sample(f(2, 3), g(3, 2)),
        sample(f(3), g(2)),
        sample(f(2, 3), g(2)),
        sample(f(2), g(2, 2)),
        sample(f(), g(3)),
        sample(f(3, 2).T, g(2, 2), torch=""),
        sample(i(2), i(2)),
        sample(f(0, 2), g(2, 2)),
    ],
    "tensordot": [
        sample(f(2, 3), g(3, 4), 1),
        sample(f(2, 3, 4), g(3, 4, 5)),
        sample(f(2, 3), g(4), 0),
        sample(f(2, 3, 4), g(4, 2), ([0, 2], [1, 0])),
        sample(f(2, 3, 4), g(5, 3), ([1], [1])),
        sample(f(2, 3), g(2, 3), 2),
        sample(f(3), g(3), 1),
        sample(z(2, 3), z(3), 1),
        sample(f(4, 3, 2).T, g(2, 3), ([0, 1], [0, 1])),
        sample(i(2, 3), i(3, 2), 1),
        sample(f(0, 3), g(3, 2), 1),
        sample(f(2, 3), g(3, 4), dims=([-1], [-2])),
    ],
    "cross": CROSSES,
    "_linalg_cross": [sample(*s.args, torch="linalg.cross", **s.kwargs) for s in CROSSES],
    "trace": [
        sample(f(3, 3)),
        sample(f(2, 4)),
        sample(f(4, 2).T),
        sample(f(0, 2)),
        sample(i(3, 3)),
        sample(z(2, 2)),
        sample(f(3, 3)[::-1]),
        sample(f(3, 3).astype("f4")),
    ],
    "chain_matmul": [
        sample(f(2, 3), g(3, 4)),
        sample(f(2, 3)),
        sample(f(2, 5), g(5, 3), f(3, 4), g(4, 2)),
    ],
    "matrix_power": [
        *(sample(f(3, 3), n) for n in (1, 2, 3, 5)),
        sample(f(2, 3, 3), 3),
        sample(i(2, 2), 3),
        sample(f(3, 3).T, 2),
        sample(i(2, 3, 3), 0),
    ],
}
