"""MOVE into several views at once: unbind and the splits.

Their results refuse in-place writes where gradients are concerned, as PyTorch's do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.border import function
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import Tensor
from sapwood._ops.axes import axis

unbind = primitive(
    "unbind", "x; dim", kind=MOVE, view=True, dtype="keep", out="*",
    run=lambda a, dim: tuple(a[(slice(None),) * dim + (i, ...)] for i in range(a.shape[dim])),
    grad=dict(x=lambda g, dim: TABLE["stack"].door(g, dim)), sig="input, dim=0",
    bind=lambda a, dim: (has_dims(a, axis(dim, a.ndim)),), doc="One view per index of a dimension.")


def has_dims(a: np.ndarray, dim: int) -> int:
    """unbind and iteration need a dimension."""
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return dim


def split_run(a: np.ndarray, lengths: tuple, dim: int) -> tuple:
    """Consecutive slices."""
    parts, start = [], 0
    for n in lengths:
        parts.append(a[(slice(None),) * dim + (slice(start, start + n),)])
        start += n
    return tuple(parts)


def split_lengths(a: np.ndarray, size: Any, dim: Any) -> tuple:
    """The extents of the parts."""
    if a.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = axis(dim, a.ndim)
    extent = a.shape[d]
    if isinstance(size, (tuple, list)):
        lengths = tuple(int(n) for n in size)
        if sum(lengths) != extent or min(lengths, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's "
                f"size at dimension {d}), but got split_sizes={list(lengths)}"
            )
        return lengths, d
    n = int(size)
    if n < 0 or (n == 0 and extent):
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={n}")
    if extent == 0:
        return (0,), d
    return tuple(min(n, extent - i) for i in range(0, extent, n)), d


split = primitive(
    "split", "x; lengths dim", kind=MOVE, view=True, dtype="keep", out="*", run=split_run,
    grad=dict(x=lambda g, dim: TABLE["cat"].door(g, dim)),
    sig="tensor, split_size_or_sections, dim=0", method_sig="self, split_size, dim=0",
    bind=split_lengths, doc="Consecutive views along a dimension.")


@function
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple:
    """Consecutive views of the given extents."""
    return split(input, list(split_sizes), dim)


@function
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """At most `chunks` consecutive views of equal extent, the last one smaller."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.array.shape[axis(dim, input.array.ndim)]
    if n == 0:
        return split(input, [0] * chunks, dim)
    return split(input, max(-(-n // chunks), 1), dim)


@function
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple:
    """Parts at the given indices, or that many parts of nearly equal extent."""
    n = input.array.shape[axis(dim, input.array.ndim)]
    given = indices_or_sections
    given = given.tolist() if isinstance(given, Tensor) else given  # type: ignore[attr-defined]
    if isinstance(given, int):
        small, extra = divmod(n, given)
        lengths = [small + (i < extra) for i in range(given)]
    else:
        edges = [0, *(slice(i).indices(n)[1] for i in given), n]
        lengths = [max(b - a, 0) for a, b in zip(edges, edges[1:], strict=False)]
        if sum(lengths) != n:  # decreasing indices: the parts are plain slices
            return tuple(input[(slice(None),) * axis(dim, input.array.ndim) + (slice(a, b),)]  # type: ignore[index]
                         for a, b in zip(edges, edges[1:], strict=False))
    return split(input, lengths, dim)


@function
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple:
    """tensor_split along columns."""
    return tensor_split(input, indices_or_sections, 0 if input.array.ndim == 1 else 1)


@function
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple:
    """tensor_split along rows."""
    return tensor_split(input, indices_or_sections, 0)


@function
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple:
    """tensor_split along depth."""
    return tensor_split(input, indices_or_sections, 2)
