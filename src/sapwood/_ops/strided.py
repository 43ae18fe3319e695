"""MOVE by strides: as_strided, and its transpose.

PyTorch counts the offset from the beginning of the memory that a tensor is a part of. A record
counts from the tensor's own first element and remembers how the tensor was laid out, so that the
step can be replayed on a copy that lies elsewhere or otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as strided_view

from sapwood._core.border import function
from sapwood._core.door import primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import Tensor
from sapwood._ops.axes import sizes
from sapwood._ops.overlay import empty_strided
from sapwood._ops.parts import view_record


def owner(a: np.ndarray) -> np.ndarray:
    """The array whose memory `a` is a part of."""
    found, at = a, a.base
    while at is not None:
        if isinstance(at, np.ndarray) and type(at) is np.ndarray:
            found = at
        at = getattr(at, "base", None)
    return found


def address(a: np.ndarray) -> int:
    """Where the first element lies."""
    return a.__array_interface__["data"][0]


def offset_of(a: np.ndarray) -> int:
    """How many elements lie in memory before the first one."""
    return (address(a) - address(owner(a))) // a.itemsize if a.base is not None else 0


def element_strides(a: np.ndarray) -> tuple[int, ...]:
    """Strides in elements."""
    return tuple(s // a.itemsize for s in a.strides)


def at_offset(a: np.ndarray, size: tuple, stride: tuple, delta: int) -> np.ndarray:
    """Elements by strides, from `delta` elements after the first one of `a`."""
    if delta:
        way = a.itemsize if delta > 0 else -a.itemsize
        a = strided_view(a, (abs(delta) + 1,), (way,))[abs(delta) :]
    return strided_view(a, size, [s * a.itemsize for s in stride])


# ---- the transpose ---------------------------------------------------------------------------


def positions(place: tuple) -> np.ndarray:
    """The position in memory of every element of a geometry (shape, strides, offset, ...)."""
    shape, strides, offset = place[:3]
    out = np.full(shape, offset, np.int64)
    for d, (n, s) in enumerate(zip(shape, strides, strict=True)):
        out += (np.arange(n) * s).reshape(-1, *(1,) * (len(shape) - d - 1))
    return out


def restride_run(x: np.ndarray, source: tuple, target: tuple) -> np.ndarray:
    """Memory with x added at the positions of `source`, read at those of `target`.

    The last item of a geometry says whether elements that share a position share its value, too.
    """
    at, to = positions(source), positions(target)
    low = min(at.min(initial=0), to.min(initial=0))
    memory = np.zeros(max(at.max(initial=0), to.max(initial=0)) - low + 1, x.dtype)
    x = np.broadcast_to(x, at.shape)
    if source[3]:
        x = x / np.bincount((at - low).ravel(), minlength=memory.size)[at - low].astype(
            x.real.dtype
        )
    np.add.at(memory, (at - low).ravel(), x.ravel())
    out = memory[to - low]
    if target[3]:
        out = out / np.bincount((to - low).ravel(), minlength=memory.size)[to - low].astype(
            x.real.dtype
        )
    return out


restride = primitive(
    "_restride",
    "x; source target",
    kind=MOVE,
    run=restride_run,
    dtype="keep",
    alias=False,
    title="AsStridedBackwardBackward0",
    grad=dict(x=lambda g, source, target: restride(g, target, source)),
    doc="Memory with the elements at the positions of one geometry, read at those of another.",
)


# ---- as_strided ------------------------------------------------------------------------------


def strided_run(a: np.ndarray, size: tuple, stride: tuple, delta: int, layout: tuple) -> np.ndarray:
    """Any strides over the memory round the array; over a copy where that lies otherwise."""
    if element_strides(a) != layout and a.size:
        memory = empty_strided(a.shape, layout, a.dtype)
        memory[...] = a
        a = memory
    return at_offset(a, size, stride, delta)


as_strided_step = view_record(
    "_as_strided",
    "x; size stride delta layout",
    view="maybe",
    run=strided_run,
    title="AsStridedBackward0",
    grad=dict(
        x=lambda g, size, stride, delta, layout, x_shape: restride(
            g, (size, stride, delta, False), (x_shape, layout, 0, True)
        )
    ),
    doc="Any size and strides over the same memory, from the first element of input.",
)


def check_strided(a: np.ndarray, size: tuple, stride: tuple, offset: int) -> None:
    """Refuse what is not in memory."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if min(stride, default=0) < 0:
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got "
            f"strides: {list(stride)}"
        )
    if min(size, default=0) < 0:
        raise RuntimeError("Storage size calculation overflowed with sizes=" + str(list(size)))
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    need = offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    have = owner(a).nbytes // a.itemsize
    if math.prod(size) and need > have:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {a.itemsize} requiring a storage size of {need * a.itemsize} are out of "
            f"bounds for storage of size {have * a.itemsize}"
        )


@function
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Any size and strides over the memory that input is a part of; a view of input's base."""
    a = input.array
    size = sizes(tuple(size), "as_strided", "size")
    stride = sizes(tuple(stride), "as_strided", "stride")
    here = offset_of(a)
    offset = here if storage_offset is None else storage_offset
    check_strided(a, size, stride, offset)
    out = as_strided_step(input, size, stride, offset - here, element_strides(a))
    if out.path_of() and out.memory.array.dtype == a.dtype:  # one step from the base, as PyTorch
        base = out.memory.array
        delta = offset - here + (address(a) - address(base)) // a.itemsize
        out.path = ((as_strided_step.op, (size, stride, delta, element_strides(base))),)
    return out
