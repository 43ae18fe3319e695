"""Samples of what a tensor is made of, where `views` has none."""

from __future__ import annotations

from sapwood.testing.sample import f, i, sample

SAMPLES = {
    "as_strided_": [sample(f(3, 4), (2, 2), (1, 2)), sample(f(6), (2, 2), (2, 1), 1)],
    "dense_dim": [sample(f(2, 3), method=True)],
    "is_nonzero": [sample(f()), sample(i(1))],
    "is_shared": [sample(f(2), method=True)],
    "is_set_to": [sample(f(2), f(2), method=True)],
    "resize_": [sample(i(2, 3), 3, 2), sample(i(2, 3), (2, 2)), sample(i(3), 3)],
    "resize_as_": [sample(i(2, 3), f(3, 2))],
    "set_": [sample(i(2, 3), i(3))],
    "share_memory_": [sample(f(2))],
    "untyped_storage": [sample(f(2), method=True, torch="")],
}
