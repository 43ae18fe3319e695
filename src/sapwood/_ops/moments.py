"""FOLD: means, variances and standard deviations over dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import function
from sapwood._core.door import primitive
from sapwood._core.op import FOLD
from sapwood._core.tensor import Tensor
from sapwood._ops.compare import eq, isnan, where
from sapwood._ops.elementwise import div
from sapwood._ops.folds import (
    as_asked,
    count,
    dtype_first,
    in_dtype,
    no_integers,
    numbered,
    over,
    restored,
    total,
    unreduce,
)
from sapwood._ops.reduce import nansum
from sapwood._ops.reduce import sum as sum_

# ---- means -----------------------------------------------------------------------------------


def mean_run(a: np.ndarray, dim: tuple | None, keepdim: bool, dtype: np.dtype | None) -> Any:
    """The sum divided by the count; NaN where there is nothing."""
    a = in_dtype(a, dtype)
    return np.true_divide(total(a, dim, keepdim), count(a.shape, dim), dtype=a.dtype)


def mean_args(a: Any, dim: Any, keepdim: Any, dtype: Any) -> tuple:
    """The attributes of mean; the dtype that it computes in must be floating."""
    if dtype is not None and dt.as_dtype(dtype, "mean").category < dt.FLOAT:
        raise RuntimeError(
            "mean(): could not infer output dtype. Optional dtype must be either a "
            f"floating point or complex dtype. Got: {dtype.title}"
        )
    if dtype is None and isinstance(a, np.ndarray) and a.dtype.kind in "biu":
        no_integers("mean")(dt.of(a.dtype))
    return (*over(a, dim, keepdim), as_asked(a, dtype, "mean"))


mean = primitive(
    "mean",
    "x; dim keepdim dtype",
    kind=FOLD,
    run=mean_run,
    title=numbered("Mean"),
    grad=dict(
        x=lambda g, x_shape, dim, keepdim: unreduce(
            div(g, float(count(x_shape, dim) or 1)), x_shape, dim, keepdim
        )
    ),
    sig="input, dim=None, keepdim=False, *, dtype=None",
    bind=mean_args,
    alias=True,
    **dtype_first("mean"),
    doc="The mean over dimensions (all of them by default).",
)


@function
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of elements that are not NaN."""
    if input.dtype.category < dt.FLOAT:
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but "
            f"got {input.dtype.title}"
        )
    there = sum_(isnan(input).logical_not(), dim, keepdim)  # type: ignore[attr-defined]
    return nansum(input, dim, keepdim, dtype=dtype) / there


# ---- spread ----------------------------------------------------------------------------------


def spread_args(a: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> tuple:
    """var and std in PyTorch's several forms: (dim keepdim correction)."""
    if isinstance(dim, bool):  # var(unbiased)
        dim, unbiased = None, dim
    if unbiased is not None and (type(unbiased) is not bool or correction is not None):
        raise TypeError(
            "received an invalid combination of arguments: unbiased is a bool, and "
            "excludes correction"
        )
    if correction is None:
        correction = 0 if unbiased is False else 1
    found = over(a, None if isinstance(dim, (tuple, list)) and not dim else dim, keepdim)
    return (*found, correction)


def var_run(a: np.ndarray, dim: tuple | None, keepdim: bool, correction: float) -> Any:
    """The mean squared distance from the mean, with a corrected count."""
    n = count(a.shape, dim)
    away = a - np.true_divide(total(a, dim, keepdim=True), n, dtype=a.dtype)
    square = away.real**2 + away.imag**2 if a.dtype.kind == "c" else away * away
    found = total(square, dim, keepdim)
    return np.true_divide(found, max(n - correction, 0), dtype=found.dtype)


def centred(g: Any, x: Any, x_shape: tuple, dim: tuple | None, correction: float) -> Any:
    """2 g (x - mean) / (n - correction): the gradient of a variance; `g` broadcasts to x."""
    freedom = count(x_shape, dim) - correction
    scale = 2.0 / freedom if freedom > 0 else math.inf
    return g * scale * (x - mean(x, dim, True))


def var_rule(
    g: Any, x: Any, x_shape: tuple, dim: tuple | None, keepdim: bool, correction: float
) -> Any:
    """The gradient of var."""
    return centred(restored(g, x_shape, dim, keepdim), x, x_shape, dim, correction)


def std_rule(
    g: Any, x: Any, out: Any, x_shape: tuple, dim: tuple | None, keepdim: bool, correction: float
) -> Any:
    """The gradient of var by 2 std; 0 where std is 0."""
    g, out = (restored(v, x_shape, dim, keepdim) for v in (g, out))
    still = eq(out, 0)
    slope = where(still, 0, g / where(still, 1, out * 2))
    return centred(slope, x, x_shape, dim, correction)


FORM: dict[str, Any] = {
    "kind": FOLD,
    "bind": spread_args,
    "sig": "input, dim=None, unbiased=None, keepdim=False, *, correction=None",
}
ONLY = "{} only support floating point and complex dtypes"
var = primitive(
    "var",
    "x; dim keepdim correction",
    run=var_run,
    grad=dict(x=var_rule),
    **FORM,
    check=no_integers("var", ONLY.format("std and var")),
    doc="The variance over dimensions; its count is corrected by 1 (unbiased) unless told.",
)


def std_run(a: np.ndarray, *attrs: Any) -> Any:
    """The square root of the variance."""
    return np.sqrt(var_run(a, *attrs))


std = primitive(
    "std",
    "x; dim keepdim correction",
    run=std_run,
    grad=dict(x=std_rule),
    **FORM,
    check=no_integers("std", ONLY.format("std and var")),
    doc="The standard deviation over dimensions; see var.",
)


def with_mean(name: str, run: Callable, rule: Callable, doc: str) -> Callable:
    """The record of var_mean or std_mean."""

    def both(a: np.ndarray, dim: tuple | None, keepdim: bool, correction: float) -> tuple:
        return run(a, dim, keepdim, correction), mean_run(a, dim, keepdim, None)

    return primitive(
        name,
        "x; dim keepdim correction",
        run=both,
        out=f"{name[:3]} mean",
        grad=dict(x=rule),
        check=no_integers(name, ONLY.format(name)),
        doc=doc,
        **FORM,
    )


def middle_rule(g: Any, x_shape: tuple, dim: tuple | None, keepdim: bool) -> Any:
    """The gradient of the mean, in a shape that broadcasts."""
    return restored(g, x_shape, dim, keepdim) / float(count(x_shape, dim) or 1)


var_mean = with_mean(
    "var_mean",
    var_run,
    lambda g, x, x_shape, dim, keepdim, correction: (
        var_rule(g[0], x, x_shape, dim, keepdim, correction)
        + middle_rule(g[1], x_shape, dim, keepdim)
    ),
    "The variance and the mean.",
)
std_mean = with_mean(
    "std_mean",
    std_run,
    lambda g, x, std, x_shape, dim, keepdim, correction: (
        std_rule(g[0], x, std, x_shape, dim, keepdim, correction)
        + middle_rule(g[1], x_shape, dim, keepdim)
    ),
    "The standard deviation and the mean.",
)
