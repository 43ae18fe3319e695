"""FOLD: sums, products, extremes, logical folds and logsumexp over dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core.door import TABLE, primitive
from sapwood._core.op import FOLD
from sapwood._core.tensor import KINDS
from sapwood._ops.checks import only
from sapwood._ops.compare import isnan, logical_not
from sapwood._ops.folds import (
    as_asked,
    as_operand,
    dtype_first,
    in_dtype,
    numbered,
    over,
    restored,
    total,
    unreduce,
)
from sapwood._ops.rules import cj
from sapwood._ops.unary import exp

# ---- sums and products -----------------------------------------------------------------------


def sum_run(a: np.ndarray, dim: tuple | None, keepdim: bool, dtype: np.dtype | None) -> Any:
    """The sum; integers and booleans in int64."""
    a = in_dtype(a, dtype)
    if a.dtype.kind in "biu":
        return np.add.reduce(a, dim, dtype or np.int64, keepdims=keepdim)
    return total(a, dim, keepdim)


def asked(name: str) -> Callable:
    """The bind of a fold with dtype=."""
    return lambda a, dim, keepdim, dtype: (*over(a, dim, keepdim), as_asked(a, dtype, name))


sum = primitive(
    "sum",
    "x; dim keepdim dtype",
    kind=FOLD,
    run=sum_run,
    alias=True,
    title=numbered("Sum"),
    grad=dict(x=lambda g, x_shape, dim, keepdim: unreduce(g, x_shape, dim, keepdim)),
    sig="input, dim=None, keepdim=False, *, dtype=None",
    bind=asked("sum"),
    **dtype_first("sum"),
    doc="The sum over dimensions (all of them by default).",
)


def nansum_run(a: np.ndarray, dim: tuple | None, keepdim: bool, dtype: np.dtype | None) -> Any:
    """The sum of what is not NaN."""
    if a.dtype.kind in "fc":
        a = np.where(np.isnan(a), np.zeros((), a.dtype), a)
    return sum_run(a, dim, keepdim, dtype)


nansum = primitive(
    "nansum",
    "x; dim keepdim dtype",
    kind=FOLD,
    run=nansum_run,
    grad=dict(
        x=lambda g, x, x_shape, dim, keepdim: (
            unreduce(g, x_shape, dim, keepdim) * logical_not(isnan(x))
        )
    ),
    sig="input, dim=None, keepdim=False, *, dtype=None",
    bind=asked("nansum"),
    **dtype_first("nansum"),
    check=only("nansum", "bif", error=RuntimeError, c="nansum does not support complex inputs"),
    doc="The sum of elements that are not NaN.",
)


def prod_run(a: np.ndarray, dim: tuple | None, keepdim: bool, dtype: np.dtype | None) -> Any:
    """The product; integers and booleans in int64."""
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.dtype(np.int64)
    return np.multiply.reduce(in_dtype(a, dtype), dim, dtype, keepdims=keepdim)


def one_dim(a: Any, dim: Any, keepdim: Any, dtype: Any) -> tuple:
    """The attributes of prod: PyTorch takes one dimension, or none."""
    if isinstance(dim, (tuple, list)):
        raise TypeError(f"prod(): argument 'dim' must be int, not {type(dim).__name__}")
    return (*over(a, dim, keepdim), as_asked(a, dtype, "prod"))


def has_zero(x: Any) -> bool:
    """Whether some element is 0: a choice between two formulas of the same derivative."""
    return not (x.array if type(x) in KINDS else x).all()


def others_run(a: np.ndarray, dim: tuple | None) -> np.ndarray:
    """For each element the product of the others: of those before it and of those after it."""
    rows = a.reshape(1, -1) if dim is None else np.moveaxis(a, dim[0], -1)
    before, after = np.ones(rows.shape, a.dtype), np.ones(rows.shape, a.dtype)
    np.multiply.accumulate(rows[..., :-1], -1, out=before[..., 1:])
    np.multiply.accumulate(rows[..., :0:-1], -1, out=after[..., -2::-1])
    found = before * after
    return found.reshape(a.shape) if dim is None else np.moveaxis(found, -1, dim[0])


def others(x: Any, shape: tuple, dim: tuple | None) -> Any:
    """The same by operations, so that it has derivatives of every order."""
    flat, d = (x.reshape(-1), 0) if dim is None else (x, dim[0])
    last = np.zeros(flat.array.shape, flat.array.dtype)
    last[(slice(None),) * d + (slice(-1, None),)] = 1
    after = TABLE["_recur"].door(flat, last, d, back=True)
    before = TABLE["_shift"].door(TABLE["cumprod"].door(flat, d), d, 1, fill=1.0)
    return (before * after).reshape(shape)


def prod_rule(
    g: Any, x: Any, out: Any, x_shape: tuple, dim: tuple | None, keepdim: bool, dtype: Any
) -> Any:
    """The product of the others: by division where nothing is zero."""
    g, x = restored(g, x_shape, dim, keepdim), as_operand(x, dtype, dtype)
    if dim == () or not x_shape:
        return g
    if not has_zero(x):
        return g * cj(restored(out, x_shape, dim, keepdim) / x)
    return g * cj(others(x, x_shape, dim) if type(x) in KINDS else others_run(x, dim))


prod = primitive(
    "prod",
    "x; dim keepdim dtype",
    kind=FOLD,
    run=prod_run,
    grad=dict(x=prod_rule),
    bind=one_dim,
    title=numbered("Prod"),
    sig="input, dim=None, keepdim=False, *, dtype=None",
    **dtype_first("prod"),
    doc="The product over a dimension (all of them by default).",
)


# ---- extremes --------------------------------------------------------------------------------


def not_empty(name: str, a: np.ndarray, dim: tuple | None, error: type[Exception]) -> None:
    """Extremes of nothing are refused."""
    if a.size:
        return
    if dim is None or len(dim) == a.ndim:
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for d in dim:
        if not a.shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def ties_run(
    x: np.ndarray, top: np.ndarray, dim: tuple | None, keepdim: bool, nan: bool
) -> np.ndarray:
    """1 / (how many attain the extreme) where it is attained, else 0; `nan`: NaN attains NaN."""
    top = restored(top, x.shape, dim, keepdim)
    at = x == top
    if nan and np.isnan(top).any():
        at |= np.isnan(x) & np.isnan(top)
    return at / np.add.reduce(at, dim, x.dtype, keepdims=True)


ties = primitive(
    "_ties",
    "x top; dim keepdim nan",
    kind=FOLD,
    run=ties_run,
    grad={},
    dtype="keep",
    doc="The share of each element in an extreme: equal for all that attain it.",
)


def share(g: Any, x: Any, out: Any, x_shape: tuple, dim: tuple | None, keepdim: bool) -> Any:
    """The gradient of an extreme, divided evenly among the elements that attain it."""
    return restored(g, x_shape, dim, keepdim) * ties(x, out, dim, keepdim, False)


def share_all(g: Any, x: Any, out: Any) -> Any:
    """The gradient of an extreme of all elements; that of NaN goes to all NaN."""
    return g * ties(x, out, None, False, True)


def extreme(name: str, run: Callable, kernel: str, doc: str) -> Callable:
    """The record of amax or amin."""

    def bind(a: np.ndarray, dim: Any, keepdim: Any) -> tuple:
        found = over(a, None if isinstance(dim, (tuple, list)) and not dim else dim, keepdim)
        not_empty(name, a, found[0], RuntimeError)
        return found

    return primitive(
        name,
        "x; dim keepdim",
        kind=FOLD,
        run=lambda a, dim, keepdim: run(a, dim, keepdims=keepdim),
        grad=dict(x=share),
        sig="input, dim=(), keepdim=False",
        bind=bind,
        check=only(kernel, "bif"),
        doc=doc,
    )


amax = extreme(
    "amax",
    np.maximum.reduce,
    "max_values",
    "The largest element over dimensions; ties share the gradient evenly.",
)
amin = extreme(
    "amin",
    np.minimum.reduce,
    "min_values",
    "The smallest element over dimensions; ties share the gradient evenly.",
)


def aminmax_run(a: np.ndarray, dim: tuple | None, keepdim: bool) -> tuple:
    """Both extremes."""
    return (
        np.minimum.reduce(a, dim, keepdims=keepdim),
        np.maximum.reduce(a, dim, keepdims=keepdim),
    )


def aminmax_args(a: np.ndarray, dim: Any, keepdim: Any) -> tuple:
    """One dimension, or all."""
    found = over(a, None if dim is None else (dim,), keepdim)
    if not a.size and dim is None:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the "
            "operation has no identity."
        )
    not_empty("aminmax", a, found[0], IndexError)
    return found


def aminmax_rule(
    g: Any, x: Any, min: Any, max: Any, x_shape: tuple, dim: tuple | None, keepdim: bool
) -> Any:
    """Both gradients, each to where its extreme is."""
    return share(g[0], x, min, x_shape, dim, keepdim) + share(g[1], x, max, x_shape, dim, keepdim)


aminmax = primitive(
    "aminmax",
    "x; dim keepdim",
    kind=FOLD,
    run=aminmax_run,
    out="min max",
    named="aminmax",
    grad=dict(x=aminmax_rule),
    sig="input, *, dim=None, keepdim=False",
    bind=aminmax_args,
    check=only("aminmax", "bif"),
    doc="The smallest and the largest element.",
)


# ---- logical folds ---------------------------------------------------------------------------


def logical(name: str, ufunc: Any, doc: str) -> Callable:
    """The record of all or any: bool, but uint8 for uint8."""

    def run(a: np.ndarray, dim: tuple | None, keepdim: bool) -> Any:
        out = ufunc.reduce(a != 0 if a.dtype.kind != "b" else a, dim, keepdims=keepdim)
        return out.astype(np.uint8) if a.dtype == np.uint8 else out

    return primitive(
        name,
        "x; dim keepdim",
        kind=FOLD,
        run=run,
        grad={},
        dtype="keep",
        doc=doc,
        sig="input, dim=None, keepdim=False",
        bind=lambda a, dim, keepdim: (
            ((), keepdim) if isinstance(dim, (tuple, list)) and not dim else over(a, dim, keepdim)
        ),
    )


all = logical("all", np.logical_and, "Whether all elements are true.")
any = logical("any", np.logical_or, "Whether some element is true.")
count_nonzero = primitive(
    "count_nonzero",
    "x; dim",
    kind=FOLD,
    grad={},
    dtype="keep",
    sig="input, dim=None",
    run=lambda a, dim: np.add.reduce(a != 0, dim, np.int64),
    bind=lambda a, dim: over(a, dim)[:1],
    doc="The number of elements that are not zero.",
)


# ---- logarithms of sums ----------------------------------------------------------------------


def logsumexp_run(a: np.ndarray, dim: tuple, keepdim: bool) -> Any:
    """log(sum(exp(x))), shifted by the largest (real part) where that is finite."""
    if not a.size:
        return np.log(np.add.reduce(np.exp(a), dim, keepdims=keepdim))
    top = np.maximum.reduce(a.real, dim, keepdims=True)
    finite = np.isfinite(top)
    if not finite.all():
        top = np.where(finite, top, np.zeros((), top.dtype))
    out = np.log(total(np.exp(a - top), dim, keepdim=True)) + top
    return out if keepdim else out.reshape([n for i, n in enumerate(a.shape) if i not in dim])


def logsumexp_rule(g: Any, x: Any, out: Any, x_shape: tuple, dim: tuple, keepdim: bool) -> Any:
    """g softmax(x)."""
    out = restored(out, x_shape, dim, keepdim)
    return restored(g, x_shape, dim, keepdim) * cj(exp(x - out))


logsumexp = primitive(
    "logsumexp",
    "x; dim keepdim",
    kind=FOLD,
    run=logsumexp_run,
    dtype="float",
    bind=over,
    grad=dict(x=logsumexp_rule),
    sig="input, dim, keepdim=False",
    doc="log(sum(exp(input))) over dimensions, without overflow.",
)
