"""What the reverse pass and in-place writes need from the table, handed to `_core` at import."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from sapwood._core import firing, memory, ways
from sapwood._core.door import follow, primitive
from sapwood._core.op import FOLD, MAP, MOVE


def laid_out(x: np.ndarray, layout: tuple | None) -> np.ndarray:
    """A copy of x with these strides (in elements): view steps see memory as in the original."""
    if layout is None:
        return np.array(x, order="C")
    out = empty_strided(x.shape, layout, x.dtype)
    out[...] = x
    return out


def empty_strided(shape: tuple, strides: tuple, dtype: Any) -> np.ndarray:
    """Uninitialised memory with these strides in elements, also negative ones and with gaps."""
    if 0 in shape:
        return np.empty(shape, dtype)
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    start = -sum(min(r, 0) for r in reach)
    memory = np.zeros(start + 1 + sum(max(r, 0) for r in reach), dtype)
    return as_strided(memory[start:], shape, [s * memory.itemsize for s in strides])


def overlay_run(x: Any, y: Any, path: tuple, layout: tuple | None) -> Any:
    """x with the region that `path` selects replaced by y."""
    out = laid_out(x, layout)
    follow(out, path)[...] = y
    return out


def erase(g: np.ndarray, path: tuple, layout: tuple | None) -> np.ndarray:
    """g with zeros in the region, in g's own memory where that is laid out alike."""
    if memory.layout(g) != layout:
        g = laid_out(g, layout)
    follow(g, path)[...] = 0
    return g


overlay = primitive(
    "_overlay",
    "x y; path layout",
    kind=MOVE,
    run=overlay_run,
    dtype="keep",
    title=lambda node: "torch::autograd::CopySlices",
    erase=erase,
    grad=dict(
        x=lambda g, attrs: overlay(g, np.zeros(()), *attrs), y=lambda g, path: follow(g, path)
    ),
    doc="x with the region of a view path replaced by y: what an in-place write to a view does.",
)


def fit_run(x: Any, shape: tuple, dtype: Any) -> Any:
    """Sum out broadcast axes and restore the dtype."""
    x = ways.unbroadcast(x, shape) if x.shape != shape else x
    return ways.restore_dtype(x, dtype) if x.dtype != dtype else x


def spread_run(x: Any, shape: tuple, dtype: Any) -> Any:
    """Broadcast to a shape, in a dtype: the transpose of fit."""
    return np.broadcast_to(x, shape).astype(dtype)


fit = primitive(
    "_fit",
    "x; shape dtype",
    kind=FOLD,
    run=fit_run,
    dtype="keep",
    alias=True,
    title=lambda node: (
        "SumBackward1" if node.shape != node.input_meta(0).shape else "ToCopyBackward0"
    ),
    grad=dict(x=lambda g, x_shape, x_dtype: spread(g, x_shape, x_dtype)),
    doc="Sum out broadcast axes and restore a dtype (reverse pass).",
)
spread = primitive(
    "_spread",
    "x; shape dtype",
    kind=MAP,
    run=spread_run,
    dtype="keep",
    in_place=False,
    title=lambda node: "ExpandBackward0",
    grad=dict(x=lambda g, x_shape, x_dtype: fit(g, x_shape, x_dtype)),
    doc="Broadcast to a shape, in a dtype.",
)


def connect(add: Any, clone: Any) -> None:
    """Give the core what it must not import."""
    memory.OVERLAY.append(overlay.op)
    firing.FOLLOW.append(follow)
    ways.Traced.add_tensors = staticmethod(add)
    ways.Traced.clone_tensor = staticmethod(clone)
    ways.Traced.fit_tensor = staticmethod(fit)
