"""MOVE into several views at once: unbind and split; and what is cut by plain slices.

The views of unbind and split refuse in-place writes where gradients are concerned, as PyTorch's do.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from sapwood._core.border import function
from sapwood._core.door import TABLE
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.axes import axis, sizes, whole
from sapwood._ops.parts import slice_, view_record


def one_dimension(a: np.ndarray, dim: Any) -> tuple:
    """unbind needs a dimension."""
    d = axis(dim, a.ndim)
    if a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return (d,)


unbind = view_record(
    "unbind",
    "x; dim",
    out="*",
    bind=one_dimension,
    sig="input, dim=0",
    run=lambda a, dim: tuple(a[(slice(None),) * dim + (i, ...)] for i in range(a.shape[dim])),
    grad=dict(x=lambda g, dim: TABLE["stack"].door(g, dim)),
    doc="One view per index of a dimension.",
)


def pieces(a: np.ndarray, dim: int, edges: list) -> tuple:
    """The slices between consecutive edges."""
    lead = (slice(None),) * dim
    return tuple(a[(*lead, slice(i, j))] for i, j in pairwise(edges))


def split_run(a: np.ndarray, split_size: int, dim: int) -> tuple:
    """Slices of one extent, the last one smaller."""
    n = a.shape[dim]
    return pieces(a, dim, [*range(0, n, split_size or 1), n] if n else [0, 0])


def split_args(a: np.ndarray, split_size: Any, dim: Any) -> tuple:
    """A dimension and an extent that divides it."""
    if a.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d, size = axis(dim, a.ndim), whole(split_size, "split_size")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and a.shape[d]:
        raise RuntimeError(
            "split_size can only be 0 if dimension size is 0, but got dimension size "
            f"of {a.shape[d]}"
        )
    return size, d


def joined(g: Any, dim: int) -> Any:
    """The gradient of consecutive pieces."""
    return TABLE["cat"].door(g, dim)


equal_split = view_record(
    "_split",
    "x; split_size dim",
    out="*",
    run=split_run,
    bind=split_args,
    title="SplitBackward0",
    grad=dict(x=joined),
    doc="Consecutive views of one extent along a dimension.",
)


def lengths_run(a: np.ndarray, split_sizes: tuple, dim: int) -> tuple:
    """Slices of the given extents."""
    edges = [0]
    for n in split_sizes:
        edges.append(edges[-1] + n)
    return pieces(a, dim, edges)


def lengths_args(a: np.ndarray, split_sizes: Any, dim: Any) -> tuple:
    """Extents that add up to that of the dimension."""
    if a.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if not isinstance(split_sizes, (tuple, list)):
        raise TypeError(
            "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of "
            f"ints, not {type(split_sizes).__name__}"
        )
    d, found = axis(dim, a.ndim), sizes(tuple(split_sizes), "split_with_sizes", "split_sizes")
    if min(found, default=0) < 0:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but "
            f"got split_sizes={list(found)}"
        )
    if sum(found) != a.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {a.shape[d]} (input tensor's "
            f"size at dimension {d}), but got split_sizes={list(found)}"
        )
    return found, d


split_with_sizes = view_record(
    "split_with_sizes",
    "x; split_sizes dim",
    out="*",
    run=lengths_run,
    bind=lengths_args,
    sig="input, split_sizes, dim=0",
    grad=dict(x=joined),
    doc="Consecutive views of the given extents along a dimension.",
)


@function
def split(tensor: Tensor, split_size: Any = None, dim: int = 0, **keywords: Any) -> tuple:
    """Consecutive views along a dimension: of one extent, or of the extents in a list."""
    size = keywords.pop("split_size_or_sections", split_size)
    if keywords or size is None:
        raise TypeError("split() takes a tensor, split_size_or_sections and dim")
    if isinstance(size, int):
        return equal_split(tensor, size, dim)
    if type(size) in KINDS and not size.array.ndim:
        return equal_split(tensor, whole(size, "split_size"), dim)
    return split_with_sizes(tensor, size, dim)


@function
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple:
    """At most `chunks` consecutive views of one extent, the last one smaller."""
    if input.array.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if whole(chunks, "chunks") <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.array.shape[axis(dim, input.array.ndim)]
    if n == 0:
        return split_with_sizes(input, (0,) * chunks, dim)
    return equal_split(input, -(-n // chunks), dim)


# ---- by slices -------------------------------------------------------------------------------


@function
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple:
    """Views between the given indices, or that many views of nearly equal extent."""
    if input.array.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    d, given = axis(dim, input.array.ndim), indices_or_sections
    n = input.array.shape[d]
    if type(given) in KINDS:
        if given.array.dtype != np.int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of "
                f"long, but got {given.dtype.title}"
            )
        given = given.array.tolist()
    if isinstance(given, (tuple, list)):
        edges = [0, *(slice(i).indices(n)[1] for i in sizes(tuple(given), "tensor_split")), n]
    else:
        parts = whole(given, "indices_or_sections")
        if parts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {parts}")
        small, more = divmod(n, parts)
        edges = [i * small + min(i, more) for i in range(parts + 1)]
    return tuple(slice_(input, d, a, max(a, b), 1) for a, b in pairwise(edges))


def splitter(name: str, least: int, where: Callable[[int], int], what: str) -> Callable:
    """hsplit, vsplit or dsplit."""

    def fn(input: Tensor, indices_or_sections: Any) -> tuple:
        ndim = input.array.ndim
        if ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
                f"with {ndim} dimensions!"
            )
        d = where(ndim)
        parts = indices_or_sections
        if isinstance(parts, int) and parts > 0 and input.array.shape[d] % parts:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {d}, but the size of the "
                f"dimension {input.array.shape[d]} is not divisible by the split_size {parts}!"
            )
        return tensor_split(input, parts, d)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"tensor_split along {what}; a number of parts must divide the extent."
    return function(fn)


hsplit = splitter("hsplit", 1, lambda ndim: int(ndim > 1), "columns")
vsplit = splitter("vsplit", 2, lambda ndim: 0, "rows")
dsplit = splitter("dsplit", 3, lambda ndim: 2, "depth")
