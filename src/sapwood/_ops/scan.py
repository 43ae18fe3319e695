"""FOLD along one dimension that keeps its extent: running sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import METHODS, alias, border, function, function_only
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import FOLD
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.axes import axis
from sapwood._ops.reduce import cast
from sapwood._ops.rules import cj


def scan_dtype(a: np.ndarray) -> Any:
    """Integers and booleans are summed in int64."""
    return np.int64 if a.dtype.kind in "biu" else None


def turned(x: Any, dim: int) -> Any:
    """The order along dim turned round."""
    return TABLE["flip"].door(x, (dim,)) if ndim(x) else x


def ndim(x: Any) -> int:
    """The number of dimensions of an array or tensor."""
    return (x.array if type(x) in KINDS else x).ndim


def late_sum(g: Any, dim: int) -> Any:
    """The sum of all later gradients: the transpose of cumsum."""
    return turned(cumsum_of(turned(g, dim), dim), dim)


cumsum_of = primitive(
    "_cumsum", "x; dim", kind=FOLD, in_place="_cumsum_", title="CumsumBackward0",
    run=lambda a, dim: np.cumsum(a, dim, dtype=scan_dtype(a)) if a.ndim else np.array(
        a, dtype=scan_dtype(a)),
    grad=dict(x=lambda g, dim: late_sum(g, dim)), doc="The running sum along a dimension.")


def cumprod_rule(g: Any, x: Any, out: Any, dim: int) -> Any:
    """Without zeros: late_sum(g out) / x. With zeros: one product without x_k for every k."""
    a = x.array if type(x) in KINDS else x
    if a.ndim == 0:
        return g
    if not (a == 0).any() and type(x) not in KINDS:
        return late_sum(g * cj(out), dim) / cj(x)
    return careful_cumprod(g, x, dim, a.shape, a.dtype)


def careful_cumprod(g: Any, x: Any, dim: int, shape: tuple, kind: Any) -> Any:
    """The rule as a polynomial in x, right with zeros and at every order; O(n^2) along dim."""
    basic, cat, sum_ = TABLE["_index_basic"].door, TABLE["cat"].door, TABLE["sum"].door
    n, head = shape[dim], (slice(None),) * dim
    parts = []
    for k in range(n):
        one: Any = np.ones((*shape[:dim], 1, *shape[dim + 1 :]), kind)
        before = basic(x, (*head, slice(0, k)))
        if k:
            one = TABLE["prod"].door(before, dim, True)
        rest = basic(x, (*head, slice(k + 1, n)))
        chain = cat([one, rest], dim)
        weights = basic(g, (*head, slice(k, n)))
        parts.append(sum_(weights * cj(cumprod_of(chain, dim)), dim, True))
    return cat(parts, dim) if parts else g


cumprod_of = primitive(
    "_cumprod", "x; dim", kind=FOLD, in_place="_cumprod_", title="CumprodBackward0",
    run=lambda a, dim: np.cumprod(a, dim, dtype=scan_dtype(a)) if a.ndim else np.array(
        a, dtype=scan_dtype(a)),
    grad=dict(x=cumprod_rule), doc="The running product along a dimension.")


def public_scan(name: str, record: Any) -> None:
    """cumsum and cumprod with PyTorch's arguments, and in place."""

    def call(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        d = axis(dim, input.array.ndim)
        return record(input, d) if dtype is None else cast(record(cast(input, dtype), d), dtype)

    def write(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        if dtype is not None and dt.as_dtype(dtype, "dtype") is not self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {self.dtype} and output tensor dtype "
                f"{dtype} should match")
        return getattr(self, record.op.in_place)(axis(dim, self.array.ndim))

    call.__name__, write.__name__ = name, f"{name}_"
    call.__doc__ = record.op.doc
    write.__doc__ = f"{record.op.doc[:-1]}, in place."
    function(call)
    METHODS[f"{name}_"] = border(write)


public_scan("cumsum", cumsum_of)
public_scan("cumprod", cumprod_of)


def extreme_scan(a: np.ndarray, dim: int, *, top: bool) -> tuple:
    """Running extreme and where it was met last."""
    if a.ndim == 0:
        return np.array(a), np.zeros((), np.int64)
    values = (np.maximum if top else np.minimum).accumulate(a, dim)
    steps = np.arange(a.shape[dim]).reshape([-1 if d == dim else 1 for d in range(a.ndim)])
    hit = (a == values) | (np.isnan(a) if a.dtype.kind == "f" else False)
    return values, np.maximum.accumulate(np.where(hit, steps, 0), dim).astype(np.int64)


def extreme_rule(g: Any, indices: Any, dim: int, x_shape: tuple) -> Any:
    """Each gradient goes to the place that its value came from."""
    zeros = np.zeros(x_shape, (g[0].array if type(g[0]) in KINDS else g[0]).dtype)
    return TABLE["_scatter_add"].door(zeros, indices, g[0], dim)


for _name, _top in (("cummax", True), ("cummin", False)):
    primitive(
        _name, "x; dim", kind=FOLD, out="values indices", title=f"{_name.capitalize()}Backward0",
        run=lambda a, dim, top=_top: extreme_scan(a, dim, top=top),
        grad=dict(x=extreme_rule), bind=lambda a, dim: (axis(dim, a.ndim),),
        doc=f"The running {'maximum' if _top else 'minimum'} and where it was met last.")


def logs_run(a: np.ndarray, dim: int) -> np.ndarray:
    """log(cumsum(exp(a)))."""
    return np.logaddexp.accumulate(a, dim) if a.ndim else np.array(a)


def logs_rule(g: Any, x: Any, out: Any, dim: int) -> Any:
    """The sum over j >= k of g_j exp(x_k - out_j): in logarithms, positive and negative g apart."""
    if not ndim(x):
        return g
    if type(x) in KINDS:
        return logs_at_length(g, x, out, dim)
    parts = []
    for sign in (1, -1):
        logs = np.where(sign * g > 0, np.log(np.abs(g)), -np.inf).astype(x.dtype) - out
        parts.append(np.exp(np.flip(logs_run(np.flip(logs, dim), dim), dim) + x))
    return parts[0] - parts[1]


def logs_at_length(g: Any, x: Any, out: Any, dim: int) -> Any:
    """The same for every order: every exponential by itself (none exceeds 1); O(n^2) along dim."""
    where, exp, wide = TABLE["where"].door, TABLE["exp"].door, TABLE["unsqueeze"].door
    n = x.array.shape[dim]
    later = np.triu(np.ones((n, n), bool)).reshape(
        [n if d in (dim, dim + 1) else 1 for d in range(ndim(x) + 1)])
    apart = wide(x, dim + 1) - wide(out, dim)
    terms = exp(where(later, apart, np.full((), -np.inf, x.array.dtype)))
    return TABLE["sum"].door(wide(g, dim) * terms, dim + 1)


def real(common: dt.dtype, *values: Any) -> None:
    """Logarithms of sums are defined for real floating numbers here."""
    if common.category != dt.FLOAT:
        raise NotImplementedError(
            f"\"logcumsumexp_out_cpu\" not implemented for '{common.title}'")


primitive(
    "logcumsumexp", "x; dim", kind=FOLD, in_place=False, check=real, run=logs_run,
    title="LogcumsumexpBackward0", grad=dict(x=logs_rule),
    bind=lambda a, dim: (axis(dim, a.ndim),),
    doc="log(cumsum(exp(input))) without overflow.")


@function
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The n-th difference along a dimension."""
    d = axis(dim, input.array.ndim)
    if not input.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n == 0:
        return input.clone()  # type: ignore[attr-defined]
    ends = [t for t in (prepend, input, append) if t is not None]
    x = TABLE["cat"].door(ends, d) if len(ends) > 1 else input
    head = (slice(None),) * d
    for _ in range(n):
        basic = TABLE["_index_basic"].door
        later, earlier = basic(x, (*head, slice(1, None))), basic(x, (*head, slice(0, -1)))
        x = later ^ earlier if x.array.dtype.kind == "b" else later - earlier
    return x


def strips(y: Tensor, x: Any, dx: Any, dim: int) -> tuple[Tensor, int]:
    """Twice the area between neighbours along a dimension."""
    d = axis(dim, y.array.ndim)
    basic, head = TABLE["_index_basic"].door, (slice(None),) * d
    both = basic(y, (*head, slice(1, None))) + basic(y, (*head, slice(0, -1)))
    if x is None:
        return both * dx, d
    if x.array.ndim == 1 and y.array.ndim > 1:
        x = x.reshape([-1 if k == d else 1 for k in range(y.array.ndim)])
    return both * diff(x, 1, d - y.array.ndim), d


@function_only
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral along a dimension by the trapezoidal rule."""
    if y.array.ndim and not y.array.shape[dim]:
        return plain(np.zeros(np.delete(y.array.shape, dim), y.array.dtype))
    parts, d = strips(y, x, dx, dim)
    return TABLE["sum"].door(parts, d) / 2.0


@function_only
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The running integral along a dimension by the trapezoidal rule."""
    parts, d = strips(y, x, dx, dim)
    return cumsum_of(parts, d) / 2.0


alias(trapezoid, "trapz")
