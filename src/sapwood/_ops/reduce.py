"""FOLD: sums, means, extremes and norms over dimensions.

Every record takes `dims keepdim`, normalised. `spread_over` puts a gradient (or a result) back
over the dimensions that were reduced, so that rules read as their formulas do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import function, function_only
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import FOLD
from sapwood._core.results import result_type
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.axes import axes
from sapwood._ops.rules import cj
from sapwood._ops.views import expand, reshape


def over(a: np.ndarray, dim: Any, keepdim: Any = False) -> tuple:
    """The attributes of a fold: dimensions and keepdim."""
    return axes(dim, getattr(a, "ndim", 0)), bool(keepdim)


def kept(shape: tuple, dims: tuple) -> tuple:
    """The shape with reduced dimensions as 1."""
    return tuple(1 if i in dims else n for i, n in enumerate(shape))


def spread_over(g: Any, shape: tuple, dims: tuple, keepdim: bool) -> Any:
    """A reduced value over the dimensions it came from."""
    if not keepdim:
        g = reshape(g, kept(shape, dims))
    return expand(g, shape)


def keep(v: Any, shape: tuple, dims: tuple, keepdim: bool) -> Any:
    """A reduced value with the reduced dimensions as 1."""
    return v if keepdim else reshape(v, kept(shape, dims))


def count(shape: tuple, dims: tuple) -> int:
    """How many elements one result is made of."""
    return math.prod(shape[d] for d in dims)


def axis_of(dims: tuple) -> Any:
    """NumPy's axis argument (a 0-d array has none)."""
    return dims or None


TO_DTYPE = "if dtype is not None: input = cast(input, dtype)"


def cast(x: Any, dtype: Any) -> Any:
    """The operand of a fold in the dtype that was asked for."""
    kind = dt.as_dtype(dtype, "dtype")
    if type(x) in KINDS:
        return x.to(kind)
    return np.asarray(x).astype(dt.numpy_of(kind))


def sum_run(a: np.ndarray, dims: tuple, keepdim: bool, kind: Any) -> np.ndarray:
    """NumPy's pairwise sum; integers and booleans in int64, or in the dtype asked for."""
    if a.dtype.kind in "biu":
        return a.sum(axis=axis_of(dims), keepdims=keepdim, dtype=kind or np.int64)
    return a.sum(axis=axis_of(dims), keepdims=keepdim)


def folded(a: np.ndarray, dim: Any, keepdim: Any, dtype: Any) -> tuple:
    """The attributes of sum and prod: the last one is the dtype that was asked for."""
    return (*over(a, dim, keepdim), None if dtype is None else dt.as_dtype(dtype, "dtype").np)


sum = primitive(  # noqa: A001 (PyTorch's name)
    "sum", "x; dims keepdim kind", kind=FOLD, run=sum_run, in_place=False,
    title=lambda node: "SumBackward0" if node.attrs[0] == tuple(range(len(node.input_meta(0).shape)))
    and not node.attrs[1] else "SumBackward1",
    grad=dict(x=lambda g, x_shape, dims, keepdim: spread_over(g, x_shape, dims, keepdim)),
    sig="input, dim=None, keepdim=False, *, dtype=None", alias=True, bind=folded,
    prologue=TO_DTYPE, env={"cast": cast}, doc="The sum over dimensions (all of them by default).")


def floats_only(name: str) -> Any:
    """Means are not defined for integers."""

    def check(common: dt.dtype, *values: Any) -> None:
        if common.category < dt.FLOAT:
            raise RuntimeError(
                f"{name}(): could not infer output dtype. Input dtype must be either a floating "
                f"point or complex dtype. Got: {common.title}"
            )

    return check


def mean_run(a: np.ndarray, dims: tuple, keepdim: bool) -> np.ndarray:
    """The sum divided by the count; NaN of nothing."""
    total = np.asarray(a.sum(axis=axis_of(dims), keepdims=keepdim))
    return total / np.asarray(count(a.shape, dims), total.real.dtype)


mean = primitive(
    "mean", "x; dims keepdim", kind=FOLD, in_place=False, alias=True,
    run=lambda a, dims, keepdim: mean_run(a, dims, keepdim),
    title=lambda node: "MeanBackward0" if node.attrs[0] == tuple(
        range(len(node.input_meta(0).shape))) and not node.attrs[1] else "MeanBackward1",
    grad=dict(x=lambda g, x_shape, dims, keepdim:
              spread_over(g / float(max(count(x_shape, dims), 1)), x_shape, dims, keepdim)
              if count(x_shape, dims) else expand(reshape(g, kept(x_shape, dims))
                                                  if not keepdim else g, x_shape)),
    sig="input, dim=None, keepdim=False, *, dtype=None", check=floats_only("mean"),
    bind=lambda a, dim, keepdim, dtype: over(a, dim, keepdim), prologue=TO_DTYPE,
    env={"cast": cast}, doc="The mean over dimensions (all of them by default).")


def prod_run(a: np.ndarray, dims: tuple, keepdim: bool, kind: Any) -> np.ndarray:
    """The product; integers and booleans in int64, or in the dtype asked for."""
    if a.dtype.kind in "biu":
        return a.prod(axis=axis_of(dims), keepdims=keepdim, dtype=kind or np.int64)
    return a.prod(axis=axis_of(dims), keepdims=keepdim)


def prod_rule(g: Any, x: Any, out: Any, x_shape: tuple, dims: tuple, keepdim: bool) -> Any:
    """The product of all others: by division where nothing is zero and nobody differentiates."""
    if type(x) not in KINDS and x.all():
        return keep(g * cj(out), x_shape, dims, keepdim) / cj(x)
    return keep(g, x_shape, dims, keepdim) * cj(others(x, x_shape, dims))


def others(x: Any, shape: tuple, dims: tuple) -> Any:
    """For each element the product of the others along dims: from the left times from the right."""
    rest = tuple(d for d in range(len(shape)) if d not in dims)
    order = (*rest, *dims)
    permute, cat = TABLE["permute"].door, TABLE["cat"].door
    basic, cumprod, flip = (TABLE[n].door for n in ("_index_basic", "_cumprod", "flip"))
    n = count(shape, dims)
    if n == 0:
        return expand(reshape(x, shape), shape)
    lead = tuple(shape[d] for d in rest)
    rows = reshape(permute(x, order), (*lead, n))
    last = len(lead)
    one = np.ones((*lead, 1), (x.array if type(x) in KINDS else x).dtype)
    head = (slice(None),) * last + (slice(0, n - 1),)
    tail = (slice(None),) * last + (slice(1, n),)
    left = cat([one, cumprod(basic(rows, head), last)], last) if n > 1 else one
    right = flip(cat([one, cumprod(flip(basic(rows, tail), (last,)), last)], last), (last,)) \
        if n > 1 else one
    product = reshape(left * right, (*lead, *(shape[d] for d in dims)))
    back = [0] * len(order)
    for i, d in enumerate(order):
        back[d] = i
    return permute(product, tuple(back))


prod = primitive(
    "prod", "x; dims keepdim kind", kind=FOLD, run=prod_run, in_place=False,
    title=lambda node: "ProdBackward0" if node.attrs[0] == tuple(
        range(len(node.input_meta(0).shape))) and not node.attrs[1] else "ProdBackward1",
    grad=dict(x=prod_rule), sig="input, dim=None, keepdim=False, *, dtype=None", bind=folded,
    prologue=TO_DTYPE,
    env={"cast": cast}, doc="The product over dimensions (all of them by default).")

# ---- extremes ----------------------------------------------------------------------------------


def not_empty(name: str) -> Any:
    """Extremes of nothing are an error."""

    def bind(a: np.ndarray, dim: Any, keepdim: Any) -> tuple:
        dims, keepdim = over(a, dim, keepdim)
        if a.size == 0 and count(a.shape, dims) == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
                if len(dims) == a.ndim else
                f"{name}(): Expected reduction dim {dims[0]} to have non-zero size."
            )
        return dims, keepdim

    return bind


def share(g: Any, x: Any, out: Any, shape: tuple, dims: tuple, keepdim: bool) -> Any:
    """The gradient divided evenly among the places that attain the result; NaN attains nothing."""
    at = same(x, keep(out, shape, dims, keepdim))
    n = at.sum(axis=axis_of(dims), keepdims=True)
    return keep(g, shape, dims, keepdim) * (at / n)


def same(x: Any, y: Any) -> np.ndarray:
    """1 where equal, in the dtype of x: a constant for every derivative."""
    a = x.array if type(x) in KINDS else x
    return np.asarray(a == (y.array if type(y) in KINDS else y)).astype(a.dtype)


amax = primitive(
    "amax", "x; dims keepdim", kind=FOLD, in_place=False,
    run=lambda a, dims, keepdim: a.max(axis=axis_of(dims), keepdims=keepdim),
    grad=dict(x=lambda g, x, out, x_shape, dims, keepdim: share(g, x, out, x_shape, dims, keepdim)),
    sig="input, dim=(), keepdim=False", bind=not_empty("amax"),
    doc="The largest element; ties share the gradient evenly.")
amin = primitive(
    "amin", "x; dims keepdim", kind=FOLD, in_place=False,
    run=lambda a, dims, keepdim: a.min(axis=axis_of(dims), keepdims=keepdim),
    grad=dict(x=lambda g, x, out, x_shape, dims, keepdim: share(g, x, out, x_shape, dims, keepdim)),
    sig="input, dim=(), keepdim=False", bind=not_empty("amin"),
    doc="The smallest element; ties share the gradient evenly.")


@function
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element."""
    dims = () if dim is None else dim
    parts = amin(input, dims, keepdim), amax(input, dims, keepdim)
    return result_type("aminmax", ("min", "max"))(parts)


def bool_fold(name: str, ufunc: Any, doc: str) -> Any:
    """all and any: bool (uint8 for uint8)."""

    def run(a: np.ndarray, dims: tuple, keepdim: bool) -> np.ndarray:
        out = ufunc(a, axis=axis_of(dims), keepdims=keepdim)
        return out.astype(np.uint8) if a.dtype == np.uint8 else out

    return primitive(
        name, "x; dims keepdim", kind=FOLD, run=run, grad={}, dtype="keep", in_place=False,
        sig="input, dim=None, keepdim=False", bind=over, doc=doc)


all = bool_fold("all", np.all, "Whether all elements are true.")  # noqa: A001
any = bool_fold("any", np.any, "Whether some element is true.")  # noqa: A001


@function
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements that are not zero."""
    return sum(input != 0, dim)


# ---- logarithms of sums, spread, norms -----------------------------------------------------------


def logsumexp_run(a: np.ndarray, dims: tuple, keepdim: bool) -> np.ndarray:
    """log(sum(exp(x))), shifted by the maximum where that is finite."""
    if a.size == 0:
        return np.log(np.exp(a).sum(axis=axis_of(dims), keepdims=keepdim))
    top = a.max(axis=axis_of(dims), keepdims=True)
    top = np.where(np.isfinite(top), top, 0).astype(a.dtype)
    out = np.log(np.exp(a - top).sum(axis=axis_of(dims), keepdims=True)) + top
    return out if keepdim else out.reshape([n for i, n in enumerate(a.shape) if i not in dims])


logsumexp = primitive(
    "logsumexp", "x; dims keepdim", kind=FOLD, run=logsumexp_run, dtype="float", in_place=False,
    grad=dict(x=lambda g, x, out, x_shape, dims, keepdim: keep(g, x_shape, dims, keepdim)
              * TABLE["exp"].door(x - keep(out, x_shape, dims, keepdim))),
    sig="input, dim, keepdim=False", bind=over, doc="log(sum(exp(input))) without overflow.")


def spread_args(a: np.ndarray, dim: Any, unbiased: Any, correction: Any, keepdim: Any) -> tuple:
    """var and std: dimensions, correction, keepdim, in PyTorch's several forms."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None and correction is None:
        correction = 1 if unbiased else 0
    return (*over(a, dim, keepdim), 1 if correction is None else correction)


def var_run(a: np.ndarray, dims: tuple, keepdim: bool, correction: float) -> np.ndarray:
    """The mean squared distance from the mean, with a correction of the count."""
    n = count(a.shape, dims)
    middle = mean_run(a, dims, True)
    away = np.abs(a - middle)
    total = (away * away).sum(axis=axis_of(dims), keepdims=keepdim)
    return total / np.asarray(max(n - correction, 0), total.dtype)


def centred(x: Any, dims: tuple) -> Any:
    """x minus its mean."""
    return x - TABLE["mean"].door(x, dims, True) if dims else x - x


def slope_of(shape: tuple, dims: tuple, correction: float) -> float:
    """2 / (n - correction), infinite where that is not positive."""
    n = count(shape, dims) - correction
    return 2.0 / n if n > 0 else math.inf


var = primitive(
    "var", "x; dims keepdim correction", kind=FOLD, run=var_run, in_place=False,
    check=floats_only("var"),
    grad=dict(x=lambda g, x, x_shape, dims, keepdim, correction:
              keep(g, x_shape, dims, keepdim) * slope_of(x_shape, dims, correction)
              * centred(x, dims)),
    sig="input, dim=None, unbiased=None, keepdim=False, *, correction=None",
    bind=lambda a, dim, unbiased, keepdim, correction:
        spread_args(a, dim, unbiased, correction, keepdim),
    doc="The variance; correction=1 (unbiased) by default.")


def std_rule(
    g: Any, x: Any, out: Any, x_shape: tuple, dims: tuple, keepdim: bool, correction: float
) -> Any:
    """(x - mean) / (std (n - correction)); 0 where std is 0."""
    where, full = TABLE["where"].door, keep(out, x_shape, dims, keepdim)
    values = full.array if type(full) in KINDS else full
    zero = values == 0
    part = keep(g, x_shape, dims, keepdim) / (full * 2.0)
    if zero.any():
        part = where(zero, np.zeros((), values.dtype), part)
    return part * slope_of(x_shape, dims, correction) * centred(x, dims)


std = primitive(
    "std", "x; dims keepdim correction", kind=FOLD, in_place=False, check=floats_only("std"),
    run=lambda a, dims, keepdim, correction: np.sqrt(var_run(a, dims, keepdim, correction)),
    grad=dict(x=std_rule), sig="input, dim=None, unbiased=None, keepdim=False, *, correction=None",
    bind=lambda a, dim, unbiased, keepdim, correction:
        spread_args(a, dim, unbiased, correction, keepdim),
    doc="The standard deviation; correction=1 (unbiased) by default.")


@function_only
def var_mean(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
             correction: Any = None) -> tuple:
    """Variance and mean."""
    found = None if isinstance(dim, bool) else dim
    return (var(input, dim, unbiased, keepdim, correction=correction),
            mean(input, found, keepdim))


@function_only
def std_mean(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
             correction: Any = None) -> tuple:
    """Standard deviation and mean."""
    found = None if isinstance(dim, bool) else dim
    return (std(input, dim, unbiased, keepdim, correction=correction),
            mean(input, found, keepdim))


def norm_run(a: np.ndarray, p: float, dims: tuple, keepdim: bool) -> np.ndarray:
    """The p-norm of the elements along dims."""
    size, how = np.abs(a), dict(axis=axis_of(dims), keepdims=keepdim)
    if p == math.inf:
        return size.max(**how, initial=0)
    if p == -math.inf:
        return size.min(**how)
    if p == 0:
        return (size != 0).sum(**how).astype(size.dtype)
    if p == 1:
        return size.sum(**how)
    if p == 2:
        return np.sqrt((size * size).sum(**how))
    return (size ** p).sum(**how) ** (1.0 / p)


def direction(x: Any) -> Any:
    """x / |x|, 0 at 0."""
    return TABLE["sgn"].door(x)


def norm_rule(
    g: Any, x: Any, out: Any, x_shape: tuple, p: float, dims: tuple, keepdim: bool
) -> Any:
    """d|x|_p = (|x| / |x|_p)^(p-1) sgn(x); 0 where the norm is 0."""
    g, full = keep(g, x_shape, dims, keepdim), keep(out, x_shape, dims, keepdim)
    where, absolute = TABLE["where"].door, TABLE["abs"].door
    if p == 0:
        return None
    if p == 1:
        return g * direction(x)
    if abs(p) == math.inf:
        at = same(absolute(x), full)
        return g * direction(x) * (at / at.sum(axis=axis_of(dims), keepdims=True))
    values = full.array if type(full) in KINDS else full
    zero = values == 0
    if zero.any():
        full = where(zero, np.ones((), values.dtype), full)
    slope = x / full if p == 2 else \
        direction(x) * (absolute(x) / full) ** (p - 1.0) if p > 1 else \
        direction(x) * where((x == 0), np.zeros((), values.dtype),
                             (absolute(x) / full) ** (p - 1.0))
    if zero.any():
        slope = where(zero, np.zeros((), values.dtype), slope)
    return g * slope


vector_norm = primitive(
    "_vector_norm", "x; p dims keepdim", kind=FOLD, run=norm_run, in_place=False,
    title="LinalgVectorNormBackward0", grad=dict(x=norm_rule), check=floats_only("norm"),
    doc="The p-norm along dimensions.")


@function
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False,
         dtype: Any = None) -> Tensor:
    """The p-norm of all elements, or along dimensions."""
    if dtype is not None:
        input = cast(input, dtype)
    if p in ("fro", None):
        p = 2
    if isinstance(p, str):
        raise RuntimeError(f"norm: order {p!r} needs a matrix; use linalg.matrix_norm")
    dims, keepdim = over(input.array, dim, keepdim)
    return vector_norm(input, float(p), dims, keepdim)


@function
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference."""
    return norm(input - other, p)


def present(x: Any) -> np.ndarray:
    """1 where x is not NaN: a constant for every derivative."""
    a = x.array if type(x) in KINDS else x
    return np.asarray(a == a).astype(a.dtype)


nansum = primitive(
    "nansum", "x; dims keepdim kind", kind=FOLD, in_place=False, title="NansumBackward0",
    run=lambda a, dims, keepdim, kind: sum_run(
        np.where(a == a, a, np.zeros((), a.dtype)), dims, keepdim, kind),
    grad=dict(x=lambda g, x, x_shape, dims, keepdim:
              spread_over(g, x_shape, dims, keepdim) * present(x)),
    sig="input, dim=None, keepdim=False, *, dtype=None", bind=folded, prologue=TO_DTYPE,
    env={"cast": cast}, doc="The sum of elements that are not NaN.")


@function
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of elements that are not NaN."""
    x = input if dtype is None else cast(input, dtype)
    n = sum(plainly(x) == plainly(x), dim, keepdim)
    return nansum(x, dim, keepdim) / n


def plainly(x: Tensor) -> Tensor:
    """The values without history, for conditions."""
    return x.detach()
