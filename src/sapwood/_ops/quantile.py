"""Quantiles: between which sorted elements they lie, and how far from the lower one."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import function
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.axes import axis
from sapwood._ops.compare import where
from sapwood._ops.order import sort
from sapwood._ops.picking import gather_of
from sapwood._ops.select import lerp

BETWEEN = ("linear", "lower", "higher", "midpoint", "nearest")


def checked(name: str, x: Tensor, q: Any, interpolation: str) -> Tensor:
    """The quantiles as a tensor of the input's dtype; PyTorch's refusals."""
    if interpolation not in BETWEEN:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint "
            f"or nearest, but got {interpolation}"
        )
    if x.dtype not in (dt.float32, dt.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not x.array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if not isinstance(q, Tensor):
        if isinstance(q, bool) or not isinstance(q, (int, float)):
            raise TypeError(f"{name}(): argument 'q' must be float, not {type(q).__name__}")
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
        return plain(np.array(q, x.array.dtype))
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype is not x.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if not ((q.array >= 0) & (q.array <= 1)).all():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q


def ranks_of(rows: np.ndarray, q: Tensor, *, skip_nan: bool) -> Any:
    """Where the quantiles of sorted rows lie; a NaN takes the whole row, unless skipped."""
    bad = np.isnan(rows)
    last = np.full((*rows.shape[:-1], 1), rows.shape[-1] - 1, rows.dtype)
    if skip_nan:
        last = np.maximum(last - np.add.reduce(bad, -1, keepdims=True), 0).astype(rows.dtype)
    ranks = q.reshape(-1) * plain(last)  # type: ignore[attr-defined]
    rotten = bad.any(-1, keepdims=True)
    return ranks if skip_nan or not rotten.any() else where(plain(rotten), plain(last), ranks)


def quantiles(
    name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    """Quantiles along a dimension, those of a 1-d `q` along a new first one."""
    q = checked(name, input, q, interpolation)
    x: Any = input.reshape(-1) if dim is None or not input.ndim else input  # type: ignore[attr-defined]
    d = axis(dim or 0, x.ndim) if dim is None else axis(dim, input.ndim)
    rows = sort(x, d)[0].movedim(d, -1)
    ranks = ranks_of(rows.array, q, skip_nan=name == "nanquantile")
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[
            interpolation
        ]()
    low = np.floor(ranks.array).astype(np.int64)
    found = gather_of(rows, low, rows.ndim - 1)
    if interpolation in ("linear", "midpoint"):
        high = np.ceil(ranks.array).astype(np.int64)
        weight = 0.5 if interpolation == "midpoint" else ranks - plain(low.astype(rows.array.dtype))
        found = lerp(found, gather_of(rows, high, rows.ndim - 1), weight)
    shape = list(found.array.shape[:-1])
    if keepdim and input.ndim:
        shape = [1] * input.ndim if dim is None else [*shape[:d], 1, *shape[d:]]
    if not q.ndim:
        return found.squeeze(-1).reshape(shape)
    return found.movedim(-1, 0).reshape([q.array.size, *shape])


@function
def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The values below which a share q of the elements lies."""
    return quantiles("quantile", input, q, dim, keepdim, interpolation)


@function
def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The values below which a share q of what is not NaN lies."""
    return quantiles("nanquantile", input, q, dim, keepdim, interpolation)
