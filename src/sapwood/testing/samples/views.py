"""Samples of views: other shapes, other orders, parts, windows, strides; and what a tensor is.

The samples of `_ops/views`, `_ops/parts`, `_ops/strided` and `_ops/structure`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sapwood.testing.sample import Sample, f, i, sample
from sapwood.testing.samples.elementwise import BOOLS, private
from sapwood.testing.samples.unary import z


def kinds(*args: Any, shape: tuple = (2, 3, 4), **kwargs: Any) -> list[Sample]:
    """Samples of one call on arrays of one shape, in all layouts and dtypes."""
    turned = tuple(reversed(shape))
    double = (shape[0], 2 * shape[1], *shape[2:])
    return [
        sample(f(*shape), *args, **kwargs),
        sample(f(*turned).T, *args, **kwargs),
        sample(f(*shape)[::-1], *args, **kwargs),
        sample(f(*double)[:, ::2], *args, **kwargs),
        sample(f(*shape, dtype="f4"), *args, **kwargs),
        sample(i(*shape), *args, **kwargs),
        sample(i(*shape) > 2, *args, **kwargs),
        sample(z(*shape), *args, **kwargs),
    ]


def layouts(*args: Any, shape: tuple = (2, 3, 4), **kwargs: Any) -> list[Sample]:
    """As `kinds`, row-major float64 and three others only."""
    return [*kinds(*args, shape=shape, **kwargs)[:4], sample(z(*shape), *args, **kwargs)]


def rows_first(*args: Any, shape: tuple = (2, 3, 4), **kwargs: Any) -> list[Sample]:
    """Samples on row-major arrays, and on one of strided rows: for view."""
    more = (shape[0] * 2, *shape[1:])
    return [
        sample(f(*shape), *args, **kwargs),
        sample(f(*shape, dtype="f4"), *args, **kwargs),
        sample(i(*shape), *args, **kwargs),
        sample(z(*shape), *args, **kwargs),
        sample(f(*more)[::2], *args, **kwargs),
    ]


def methods_of(name: str, samples: list[Sample]) -> list[Sample]:
    """The samples of what PyTorch offers as a method only."""
    return [s if s.method else replace(s, torch=f"Tensor.{name}") for s in samples]


SHAPES = {
    "view": methods_of(
        "view",
        [
            *rows_first(2, 12),
            *rows_first(2, -1),
            *rows_first((2, 3, 2, 2)),
            sample(f(4, 3).T, 3, 2, 2),
            sample(f(), 1, 1),
            sample(f(1), ()),
            sample(f(0, 3), 3, 0),
            sample(f(0, 3), -1, 3),
            sample(f(1, 1), (), method=True),
            sample(f(6), 2, 3),
            sample(f(2, 6), size=(3, 4), method=True),
            sample(f(3, 1, 2), 3, 2),
        ],
    ),
    "reshape": methods_of(
        "reshape",
        [
            *kinds(4, 6),
            *kinds((6, -1)),
            sample(f(), (1,)),
            sample(f(0, 3), (3, 0)),
            sample(f(1), ()),
            sample(f(3, 4)[:, ::-1], 12),
            sample(f(4, 6)[::2, ::3], -1),
            sample(f(0, 2), 2, -1),
            sample(f(3), 3),
            sample(f(3, 4).T, 4, 3),
            sample(f(3, 4).T, 2, 2, 3),
            sample(f(3, 4).T, 12),
            sample(f(2, 2, 3)[:, :1], 2, 3),
        ],
    ),
    "_reshape_alias": [
        private(f(4, 3).T, (3, 2, 2)),
        private(f(2, 3), (3, 2)),
        private(f(6, 2)[::2], (3, 2, 1)),
    ],
    "_unsafe_view": [private(f(2, 3), (3, 2)), private(f(2, 3), (6,)), private(f(0, 3), (3, 0))],
    "view_as": [
        sample(f(2, 6), f(3, 4, dtype="f4"), method=True),
        sample(f(2, 6), i(3, 4), method=True),
        sample(i(4), f(2, 2, dtype="f4"), method=True),
    ],
    "reshape_as": [
        sample(f(2, 6), i(3, 4), method=True),
        sample(f(6, 2).T, i(3, 4), method=True),
        sample(i(4), i(2, 2), method=True),
    ],
    "flatten": [
        *kinds(),
        *layouts(1),
        *layouts(0, 1),
        *layouts(1, 1),
        *layouts(-2, -1),
        *layouts(start_dim=1, end_dim=2),
        sample(f()),
        sample(f(3)),
        sample(f(0, 3)),
        sample(f(2, 0, 3), 1),
    ],
    "ravel": [*kinds(), sample(f()), sample(f(3)), sample(f(0, 3)), sample(f(6)[::-2])],
    "unflatten": [
        *kinds(1, (3, 1)),
        *kinds(-1, (2, -1)),
        *layouts(0, (1, 2)),
        sample(f(6)[::-1], 0, (2, 3)),
        sample(f(6), 0, [3, -1]),
        sample(f(0, 3), 0, (0, 2)),
        sample(f(0, 3), 1, (3, 1)),
        sample(f(3, 4).T, 0, (2, 2)),
        sample(f(4), dim=0, sizes=(2, 2)),
    ],
    "squeeze": [
        *kinds(shape=(2, 1, 3)),
        *kinds(1, shape=(2, 1, 3)),
        *kinds(0, shape=(2, 1, 3)),
        *kinds((1, -1), shape=(3, 1, 1)),
        sample(f()),
        sample(f(), 0),
        sample(f(1)),
        sample(f(1, 1)),
        sample(f(1, 0, 1)),
        sample(f(1, 0), 1),
        sample(f(1, 3, 1), (0, 2)),
        sample(f(1, 3, 1), dim=-1),
        sample(f(2, 3)),
    ],
    "unsqueeze": [
        *kinds(0),
        *kinds(1),
        *kinds(-1),
        *layouts(-4),
        *layouts(dim=3),
        sample(f(), 0),
        sample(f(), -1),
        sample(f(0, 3), 1),
        sample(f(0), 0),
    ],
}
ORDERS = {
    "permute": [
        *kinds((2, 0, 1)),
        *kinds((1, 0, 2)),
        *layouts((0, -1, 1)),
        *layouts((0, 1, 2)),
        sample(f(), ()),
        sample(f(3), (0,)),
        sample(f(0, 3), (1, 0)),
        sample(f(2, 3), 1, 0, method=True),
        sample(f(2, 3), dims=(1, 0)),
    ],
    "transpose": [
        *kinds(0, 1),
        *kinds(-1, 0),
        *layouts(1, 1),
        *layouts(dim0=2, dim1=1),
        sample(f(), 0, -1),
        sample(f(3), 0, 0),
        sample(f(0, 3), 0, 1),
    ],
    "t": [
        *kinds(shape=(3, 4)),
        sample(f()),
        sample(f(3)),
        sample(f(3)[::-1]),
        sample(f(0, 3)),
        sample(f(1, 1)),
    ],
    "swapaxes": [
        *kinds(0, 1),
        *layouts(-1, 0),
        sample(f(), 0, 0),
        sample(f(0, 3), axis0=1, axis1=0),
    ],
    "movedim": [
        *kinds(0, 2),
        *kinds((0, 1), (2, 0)),
        *layouts(-1, 0),
        *layouts(1, 1),
        sample(f(), 0, 0),
        sample(f(3), 0, 0),
        sample(f(0, 3), 1, 0),
        sample(f(2, 3), source=0, destination=1),
        sample(f(), (), ()),
    ],
    "adjoint": [*kinds(), *kinds(shape=(3, 4)), sample(f(0, 3))],
    "expand": methods_of(
        "expand",
        [
            *kinds(2, 3, 4),
            *kinds((5, 2, 3, 4)),
            *layouts(4, -1, 3, shape=(4, 1, 3)),
            *layouts((-1, 2, -1), shape=(4, 1, 3)),
            sample(f(), 3),
            sample(f(), ()),
            sample(f(1), 0),
            sample(f(1, 3), 0, 3),
            sample(f(0, 1), 0, 4),
            sample(f(3, 1), 2, -1, 4),
            sample(i(3, 1), 3, 4),
            sample(z(3, 1)[::-1], 3, 4),
            sample(f(3, 1), size=(3, 2)),
            sample(BOOLS, 2, 3),
        ],
    ),
    "expand_as": [
        sample(f(3, 1), i(2, 3, 4), method=True),
        sample(f(), i(0), method=True),
        sample(z(1, 3).T, i(3, 2), method=True),
    ],
    "broadcast_to": [
        sample(f(3, 1), (2, 3, 4)),
        sample(f(), (3,)),
        sample(f(1, 3), (0, 3)),
        sample(f(3, 1).T, (2, 3)),
        sample(i(3), (2, 3)),
        sample(z(3), (2, 3)),
        sample(f(3, dtype="f4"), size=(2, 3)),
    ],
}
PARTS = {
    "select": [
        *kinds(0, 1),
        *kinds(1, -1),
        *layouts(-1, 2),
        *layouts(dim=2, index=0),
        sample(f(3), 0, 1),
        sample(f(3)[::-1], 0, -1),
        sample(f(0, 3), 1, 2),
        sample(f(3, 0), 0, 0),
    ],
    "_slice": [
        private(f(5, 3), 0, 1, 5, 2),
        private(f(5, 3).T, 1, 0, 2, 1),
        private(f(3), 0, 2, 2, 1),
        private(f(0, 3), 1, 0, 2, 1),
    ],
    "_alias": [private(f(2, 3)), private(f()), private(f(0)), private(f(2, 3).T)],
    "_index_basic": [
        private(f(4, 3), (slice(1, 3), slice(0, 2))),
        private(f(4, 3), (1,)),
        private(f(4, 3).T, (None, 0, slice(0, 4, 2))),
    ],
    "_unview": [
        private(f(3), "select", (0, 1), (2, 3)),
        private(f(2, 3), "_slice", (0, 1, 5, 2), (5, 3)),
        private(f(2), "diagonal", (1, 0, 1), (2, 3)),
        private(f(2, 3), "unfold", (0, 3, 1), (4,)),
        private(z(2, 3), "unfold", (0, 3, 2), (6,)),
        private(f(1), "unfold", (0, 1, 1), ()),
    ],
    "narrow": [
        *kinds(1, 1, 2),
        *layouts(0, 0, 2),
        *layouts(-1, -3, 2),
        sample(f(3), 0, 3, 0),
        sample(f(0, 3), 0, 0, 0),
        sample(f(5), dim=0, start=1, length=3),
        sample(f(5), 0, np.array(2), 2),
    ],
    "diagonal": [
        *kinds(shape=(3, 4)),
        *kinds(1, 1, 2),
        *layouts(-1, 0, -1),
        *layouts(2, shape=(3, 4)),
        *layouts(offset=1, dim1=1, dim2=0, shape=(3, 4)),
        sample(f(3, 4), 4),
        sample(f(3, 4), -7),
        sample(f(0, 3)),
        sample(f(2, 0, 2)),
    ],
    "unfold": methods_of(
        "unfold",
        [
            *kinds(2, 3, 1),
            *kinds(1, 2, 1),
            *layouts(-1, 2, 2),
            *layouts(0, 1, 1),
            sample(f(7), 0, 3, 2),
            sample(f(), 0, 1, 1),
            sample(f(3, 0), 0, 2, 1),
            sample(f(5), 0, 0, 1),
            sample(f(7), dimension=0, size=2, step=3),
            sample(f(), 0, 0, 1),
        ],
    ),
}
STRIDED = {
    "as_strided": [
        sample(f(12), (3, 4), (4, 1)),
        sample(f(12), (3, 2), (4, 2), 1),
        sample(f(12), (3, 3), (1, 1)),
        sample(f(12), (2, 3), (0, 1)),
        sample(f(12), (), (), 5),
        sample(f(12), (0, 3), (3, 1)),
        sample(f(3, 4).T, (3, 4), (4, 1), grad=False),
        sample(f(3, 4)[1:], (2, 2), (2, 1)),
        sample(f(6, 4)[::2], (3, 3), (4, 1), 0, grad=False, method=True),
        sample(z(12), (3, 3), (1, 2)),
        sample(f(12, dtype="f4"), (3, 4), (1, 3)),
        sample(i(12), (3, 4), (1, 3)),
        sample(f(), (2, 2), (0, 0)),
        sample(f(3, 1), (3, 3), (1, 0)),
        sample(f(12), size=(2, 2), stride=(1, 1), storage_offset=2),
    ],
    "_as_strided": [
        private(f(12), (3, 3), (1, 1), 2, (1,)),
        private(f(3, 4).T, (2, 2), (4, 1), 0, (1, 4)),
        private(f(3, 4), (2, 2), (4, 1), 0, (1, 3)),
    ],
    "_restride": [
        private(f(3, 3), ((3, 3), (1, 1), 2, False), ((12,), (1,), 0, True)),
        private(f(12), ((12,), (1,), 0, True), ((3, 3), (1, 1), 2, False)),
        private(z(2, 3), ((2, 3), (0, 1), 0, False), ((4,), (1,), 0, False)),
        private(f(3), ((3,), (1,), 0, True), ((3, 2), (1, 0), 0, True)),
    ],
}


def asked(*args: Any, **kwargs: Any) -> list[Sample]:
    """Samples of a question to a tensor."""
    arrays = (
        f(2, 3, 4),
        f(3, 4).T,
        f(6, 4)[::2],
        f(1, 3, 1),
        i(3),
        z(2, 2),
        BOOLS,
        f(3, dtype="f4"),
    )
    return [sample(a, *args, method=True, **kwargs) for a in arrays]


def single(*more: Any) -> list[Sample]:
    """Samples of what tensors with one element can do."""
    return [
        sample(a, method=True, grad=False)
        for a in (
            np.array(2.5),
            np.array([3.0]),
            np.array([[-2]]),
            np.array(True),
            np.array(0),
            *more,
        )
    ]


INSIDE = {
    "t_": [sample(f(3, 4)), sample(f(3)), sample(f()), sample(z(3, 4).T), sample(i(2, 3))],
    "transpose_": [
        sample(f(2, 3, 4), 0, -1),
        sample(f(2, 3), 1, 1),
        sample(f(), 0, 0),
        sample(i(2, 3), dim0=0, dim1=1),
    ],
    "swapaxes_": [sample(f(2, 3, 4), 0, -1), sample(z(2, 3), 0, 1)],
    "squeeze_": [
        sample(f(1, 3, 1)),
        sample(f(1, 3, 1), 0),
        sample(f(1, 3, 1), (0, 2)),
        sample(f(1, 3), 1),
        sample(f()),
    ],
    "unsqueeze_": [sample(f(2, 3), 1), sample(f(), 0), sample(z(3), -1)],
    "size": [*asked(), *asked(0), sample(f(2, 3), -1, method=True), sample(f(), method=True)],
    "stride": [
        *asked(),
        *asked(0),
        sample(f(2, 3), -1, method=True),
        sample(f(), method=True),
        sample(f(0, 3), torch="", method=True),
        sample(f(1, 3).T, torch="", method=True),
    ],
    "storage_offset": [sample(f(2, 3), method=True), sample(f(3, 4)[1:], torch="", method=True)],
    "data_ptr": [sample(f(2, 3), torch="", method=True)],
    "is_contiguous": [*asked(), sample(f(0, 3).T, method=True), sample(f(), method=True)],
    "is_same_size": [sample(f(2, 3), i(2, 3), method=True), sample(f(2, 3), i(3, 2), method=True)],
    **{
        name: [*asked(), sample(f(), method=True), sample(f(0, 3), method=True)]
        for name in ("dim", "ndimension", "nelement", "element_size", "tolist")
    },
    "item": single(np.array(1 + 2j), np.array([0.5], "f4")),
    "__len__": asked(),
    "__iter__": [sample(f(3, 2), torch="", method=True)],
    "__bool__": single(np.array(np.nan), np.array(0j)),
    "__float__": single(),
    "__int__": single(),
    "__complex__": single(np.array(1 + 2j)),
    "__index__": [
        sample(np.array(3), method=True),
        sample(np.array([[-2]], "i1"), method=True),
        sample(np.array(True), method=True),
    ],
    "__contains__": [
        sample(np.array([1.0, 2.0]), 2.0, method=True),
        sample(i(3), 9, method=True),
        sample(np.array([1, 2]), np.array(2), method=True),
    ],
}
SAMPLES = {**SHAPES, **ORDERS, **PARTS, **STRIDED, **INSIDE}
