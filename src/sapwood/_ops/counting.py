"""Counting and looking up: unique values, histograms, places in sorted boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import function, function_only
from sapwood._core.door import primitive
from sapwood._core.op import FOLD
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.axes import axis
from sapwood._ops.checks import only

# ---- unique values ---------------------------------------------------------------------------

PARTS = "values inverse counts"


def refuse_derivative(name: str) -> Any:
    """A rule for values that PyTorch gives no derivative either."""

    def rule(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return rule


def rows_of(a: np.ndarray, dim: int | None) -> np.ndarray:
    """What is compared: elements, or slices along a dimension, as rows."""
    if dim is None:
        return a.reshape(-1, 1)
    n = a.shape[dim]
    return np.moveaxis(a, dim, 0).reshape(n, -1) if a.size else np.empty((n, 0), a.dtype)


def grouped(a: np.ndarray, dim: int | None, *, ordered: bool, places: bool = True) -> tuple:
    """Values, the group of each element, counts; `ordered`: groups are of equal neighbours only.

    places: whether anybody asked for the groups; sorting alone is faster.
    """
    if dim is None and not ordered and not places:
        line = np.sort(a, None)
        new = np.ones(line.size, bool)
        np.not_equal(line[1:], line[:-1], out=new[1:])
        counts = np.diff(np.append(np.flatnonzero(new), line.size))[: line.size]
        return line[new], np.zeros(0, np.int64), counts
    rows = rows_of(a, dim)
    n = len(rows)
    order = np.arange(n)
    if not ordered and rows.shape[1]:
        order = (
            np.lexsort(rows.T[::-1]) if rows.shape[1] > 1 else np.argsort(rows[:, 0], kind="stable")
        )
    lined = rows[order]
    new = np.ones(n, bool)
    new[1:] = (lined[1:] != lined[:-1]).any(1)
    starts = np.flatnonzero(new)
    inverse = np.empty(n, np.int64)
    inverse[order] = np.cumsum(new) - 1
    counts = np.diff(np.append(starts, n)) if n else np.zeros(0, np.int64)
    if dim is None:
        return a.reshape(-1)[order[starts]], inverse.reshape(a.shape), counts
    return np.take(a, order[starts], dim), inverse, counts


def one_dim(a: Any, dim: Any, *rest: Any) -> tuple:
    """The attributes of unique."""
    return (None if dim is None else axis(dim, np.ndim(a)), *rest)


unique_of = primitive(
    "_unique2",
    "x; dim places",
    kind=FOLD,
    out=PARTS,
    dtype="keep",
    bind=one_dim,
    run=lambda a, dim, places: grouped(a, dim, ordered=False, places=places),
    check=only("unique", "bif", suffix=""),
    sig="input, dim=None, places=True",
    title=lambda node: "Unique2Backward0" if node.attrs[0] is None else "UniqueDimBackward0",
    grad=dict(x=lambda g, dim: refuse_derivative("_unique2" if dim is None else "unique_dim")(g)),
    doc="The different values, sorted.",
)
consecutive_of = primitive(
    "_unique_consecutive",
    "x; dim",
    kind=FOLD,
    bind=one_dim,
    out=PARTS,
    dtype="keep",
    run=lambda a, dim: grouped(a, dim, ordered=True),
    check=only("unique", "bif", suffix=""),
    sig="input, dim=None",
    title="UniqueConsecutiveBackward0",
    grad=dict(x=refuse_derivative("unique_consecutive")),
    doc="Values without repetitions.",
)


def asked_parts(parts: tuple, *, inverse: bool, counts: bool) -> Any:
    """The values, with what else was asked for."""
    kept = [part for part, wanted in zip(parts, (True, inverse, counts), strict=True) if wanted]
    return kept[0] if len(kept) == 1 else tuple(kept)


@function
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different values, sorted; where each element went and how often each came, if asked."""
    return asked_parts(
        unique_of(input, dim, return_inverse), inverse=return_inverse, counts=return_counts
    )


@function
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The values without the repetitions that follow each other."""
    return asked_parts(consecutive_of(input, dim), inverse=return_inverse, counts=return_counts)


# ---- histograms ------------------------------------------------------------------------------


def natural(a: Any, minlength: Any) -> tuple:
    """One row of natural numbers, and the least length of the result."""
    if a.dtype.kind not in "iu":
        only("bincount", "i")(dt.of(a.dtype))
    if a.ndim != 1 or (a.size and a.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    return (minlength,)


def weighed(a: np.ndarray, weights: np.ndarray, minlength: int) -> np.ndarray:
    """The sum of the weights of each number; float32 stays, everything else becomes float64."""
    if weights.shape != a.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return np.bincount(a, weights, minlength).astype(
        np.float32 if weights.dtype == np.float32 else np.float64
    )


counted = primitive(
    "_bincount",
    "x; minlength",
    kind=FOLD,
    dtype="keep",
    grad={},
    bind=natural,
    run=lambda a, minlength: np.bincount(a, None, minlength),
    sig="input, minlength=0",
    doc="How often each natural number occurs.",
)
weighed_of = primitive(
    "_bincount_weighed",
    "x weights; minlength",
    kind=FOLD,
    dtype="exact x",
    run=weighed,
    grad=dict(weights=refuse_derivative("bincount")),
    title="torch::autograd::NotImplemented",
    bind=lambda a, weights, minlength: natural(a, minlength),
    sig="input, weights, minlength=0",
    doc="The sum of the weights of each natural number.",
)


@function
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each natural number occurs, or the sum of the weights of each."""
    if weights is None:
        return counted(input, minlength)
    return weighed_of(input, weights, minlength)


def histogram_range(a: np.ndarray, bins: Any, min: Any, max: Any) -> tuple:
    """The number of bins and the range, that of the elements where it is not given."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    return int(bins), low, high


def histc_run(a: np.ndarray, bins: int, min: float, max: float) -> np.ndarray:
    """How many elements lie in each of equal intervals; the last one includes its end."""
    return np.histogram(a, bins, (min, max))[0].astype(a.dtype)


histc = primitive(
    "histc",
    "x; bins min max",
    kind=FOLD,
    run=histc_run,
    dtype="keep",
    grad={},
    sig="input, bins=100, min=0, max=0",
    bind=histogram_range,
    check=only("histogram", "f"),
    doc="How many elements lie in each of `bins` equal intervals.",
)


# ---- places in sorted sequences --------------------------------------------------------------


def search_run(a: np.ndarray, v: np.ndarray, side: Any, out_int32: bool, sorter: Any) -> Any:
    """Where values would go so that each row stays sorted."""
    if sorter is not None:
        a = np.take_along_axis(a, sorter, -1)
    if a.ndim == 1:
        found = np.searchsorted(a, v, side)
    else:
        rows, values = a.reshape(-1, a.shape[-1]), v.reshape(-1, v.shape[-1])
        found = np.empty(values.shape, np.int64)
        for i, row in enumerate(rows):
            found[i] = np.searchsorted(row, values[i], side)
        found = found.reshape(v.shape)
    return np.asarray(found, np.int32 if out_int32 else np.int64)


def search_args(a: Any, v: Any, out_int32: Any, right: Any, side: Any, sorter: Any) -> tuple:
    """The side, checked; the shapes must agree in all dimensions but the last."""
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got "
            "side of left while right was True"
        )
    if np.ndim(v) == 0 and np.ndim(a) != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({np.ndim(a)}) and input value's "
            "dim(0) numel(1)"
        )
    if a.ndim != 1 and a.shape[:-1] != v.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(a.shape)} and input value tensor {list(v.shape)}"
        )
    if sorter is not None:
        sorter = sorter.array if isinstance(sorter, Tensor) else sorter
        if sorter.shape != a.shape:
            raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size")
    return ("right" if right else side or "left"), bool(out_int32), sorter


searchsorted = primitive(
    "searchsorted",
    "x y; side out_int32 sorter",
    kind=FOLD,
    run=search_run,
    grad={},
    sig="sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None",
    bind=search_args,
    doc="Where values would go so that the last dimension stays sorted.",
)


@function_only
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """The interval of sorted boundaries that each value lies in."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@function_only
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Which elements are among the test elements."""
    a, b = (t.array if isinstance(t, Tensor) else np.asarray(t) for t in (elements, test_elements))
    return plain(np.asarray(np.isin(a, b, invert=invert)))
