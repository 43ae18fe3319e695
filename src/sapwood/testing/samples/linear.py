"""Samples of products: every combination of ranks, broadcast batches, layouts, size 0, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, g, i, sample
from sapwood.testing.samples.reduce import F4
from sapwood.testing.samples.unary import z

L = np.array
W = f(4, 2)
SQUARE = g(4, 4)


def single(*shape: int) -> np.ndarray:
    """float32 values."""
    return f(*shape).astype("f4")


def affine(first: Any, left: tuple, right: tuple) -> list[Sample]:
    """Samples of beta * input + alpha * (a product)."""
    a, b = f(*left), g(*right)
    return [
        sample(first, a, b), sample(first, a, b, beta=0.5), sample(first, a, b, alpha=2, beta=3),
        sample(np.full_like(first, np.nan), a, b, beta=0, grad=False), sample(f(), a, b),
        sample(first.astype("f4"), a.astype("f4"), b.astype("f4"), alpha=0.5),
        sample(i(*first.shape), i(*left), i(*right)), sample(z(*first.shape), z(*left), z(*right), alpha=1j),
        sample(first[::-1], a[::-1], b), sample(first, f(*left[::-1]).T, g(*right[::-1]).T),
        sample(f(1), np.zeros([0 if n == left[-1] and k == len(left) - 1 and len(right) > 1 else n
                               for k, n in enumerate(left)]),
               np.zeros([0 if k == len(right) - 2 else n for k, n in enumerate(right)])),
    ]


MATMUL = [
    sample(f(3), g(3)), sample(f(3, 4), g(4)), sample(f(3), g(3, 4)), sample(f(3, 4), g(4, 2)),
    sample(f(2, 3, 4), g(4, 5)), sample(f(2, 3, 4), g(4)), sample(f(4), g(2, 4, 3)), sample(f(3, 4), g(2, 4, 5)),
    sample(f(2, 3, 4), g(2, 4, 5)), sample(f(2, 1, 3, 4), g(5, 4, 2)), sample(f(1, 3, 4), g(2, 4, 5)),
    sample(f(2, 3, 4), g(1, 4, 5)), sample(f(4, 3).T, W), sample(f(3, 4)[::-1], W), sample(f(3, 4), f(2, 4).T),
    sample(f(0, 4), W), sample(f(3, 0), g(0, 2)), sample(f(0), g(0)), sample(f(2, 0, 4), W), sample(F4, single(4, 2)),
    sample(z(3, 4), z(4, 2)), sample(z(3), z(3)), sample(z(2, 3, 4), z(4, 2)), sample(i(3, 4), i(4, 2)), sample(i(3), i(3)),
    sample(f(2, 4, 3).transpose(0, 2, 1), W), sample(f(3, 2, 4).transpose(1, 0, 2), g(2, 4, 3)),
    sample(f(3, 1), g(1, 2)), sample(f(1, 1), g(1, 1)), sample(f(2, 3, 4), g(1, 4, 1)), sample(f(3), g(2, 5, 3, 4)),
]

SAMPLES = {
    "matmul": MATMUL,
    "mm": [sample(f(3, 4), W), sample(f(4, 3).T, W), sample(f(0, 4), W), sample(f(3, 0), g(0, 2)), sample(F4, single(4, 2)),
           sample(z(3, 4), z(4, 2)), sample(i(3, 4), i(4, 2)), sample(f(3, 4)[::-1], W)],
    "bmm": [sample(f(2, 3, 4), g(2, 4, 5)), sample(f(0, 3, 4), g(0, 4, 5)), sample(f(2, 3, 0), g(2, 0, 5)),
            sample(f(3, 2, 4).transpose(1, 0, 2), g(2, 4, 3)), sample(single(2, 3, 4), single(2, 4, 5)),
            sample(z(2, 3, 4), z(2, 4, 2)), sample(i(2, 3, 4), i(2, 4, 2))],
    "mv": [sample(f(3, 4), g(4)), sample(f(4, 3).T, g(4)), sample(f(0, 4), g(4)), sample(f(3, 0), g(0)),
           sample(F4, single(4)), sample(z(3, 4), z(4)), sample(i(3, 4), i(4)), sample(f(3, 4), g(4)[::-1])],
    "dot": [sample(f(3), g(3)), sample(f(0), g(0)), sample(f(3)[::-1], g(6)[::2]), sample(single(3), single(3)),
            sample(z(3), z(3)), sample(i(3), i(3))],
    "vdot": [sample(f(3), g(3)), sample(f(0), g(0)), sample(f(3)[::-1], g(6)[::2]), sample(z(3), z(3)), sample(i(3), i(3))],
    "inner": [sample(f(3), g(3)), sample(f(3, 4), g(4)), sample(f(3, 4), g(2, 4)), sample(f(2, 3, 4), g(4)),
              sample(f(), g(3)), sample(f(), g()), sample(f(0, 4), g(4)), sample(i(3), i(3)), sample(F4, single(4)),
              sample(z(3), z(3)), sample(f(4, 3).T, g(4))],
    "outer": [sample(f(3), g(4)), sample(f(0), g(4)), sample(f(3)[::-1], g(8)[::2]), sample(i(3), f(4)),
              sample(single(3), single(2)), sample(z(3), z(2))],
    "ger": [sample(f(3), g(4)), sample(f(0), g(4)), sample(f(3)[::-1], g(4))],
    "addmm": affine(f(3, 2), (3, 4), (4, 2)), "addmv": affine(f(3), (3, 4), (4,)),
    "addr": affine(f(3, 4), (3,), (4,)), "baddbmm": affine(f(2, 3, 5), (2, 3, 4), (2, 4, 5)),
    "addbmm": affine(f(3, 5), (2, 3, 4), (2, 4, 5)),
    "tensordot": [sample(f(2, 3, 4), g(3, 4, 5)), sample(f(2, 3, 4), g(4, 3), dims=([1, 2], [1, 0])),
                  sample(f(3), g(4), dims=0), sample(f(3, 4), W, dims=1), sample(f(3, 4), g(3, 4), dims=2),
                  sample(f(0, 3), g(3, 2), dims=1), sample(f(4, 3).T, g(4), dims=([-1], [0])), sample(i(3, 4), i(4), 1),
                  sample(F4, single(4, 2), 1), sample(z(3, 4), z(4), 1)],
    "kron": [sample(f(2, 3), g(3, 2)), sample(f(3), g(2, 2)), sample(f(2, 2), g(3)), sample(f(), g(3)),
             sample(f(0, 2), g(2, 2)), sample(i(2, 2), i(2)), sample(f(3, 2).T, g(2, 1)), sample(z(2), z(3))],
    "trace": [sample(f(3, 4)), sample(f(4, 3)), sample(f(0, 3)), sample(f(4, 3).T), sample(i(3, 3)), sample(F4),
              sample(z(3, 3)), sample(f(3, 4)[::-1])],
    "cross": [sample(f(2, 3), g(2, 3)), sample(f(3), g(3)), sample(f(3, 4), g(3, 4)), sample(f(3, 4), g(3, 4), 0),
              sample(f(2, 3), g(1, 3), dim=-1), sample(f(0, 3), g(0, 3)), sample(i(3), i(3)), sample(z(3), z(3)),
              sample(f(3, 2).T, g(2, 3)), sample(single(3), single(3))],
    "chain_matmul": [sample(f(2, 3), g(3, 4), W), sample(f(2, 3)), sample(f(2, 3), g(3, 4)), sample(f(3, 2).T, g(3, 0)),
                     sample(f(2, 3), g(3, 1), f(1, 4), g(4, 2))],
}
