"""Tensors of evenly spaced numbers, and of indices: arange, linspace, eye, tril_indices.

PyTorch computes these in vector registers, whose width shows in the last bit. Here every element
is its formula in float64, rounded once.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.tensor import Tensor
from sapwood._ops.arguments import fits, number, whole
from sapwood._ops.make import Array, factory, storage

INT64_LOW, INT64_HIGH = -(2**63), 2**63 - 1


def check_span(start: Any, end: Any, step: Any) -> None:
    """PyTorch's checks of a range."""
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if not step or not math.isfinite(step):
        raise RuntimeError(f"step must be nonzero (and finite), got {step}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: {start} -> {end} by {step}, "
            f"at {where.here()}"
        )


def real(value: Any, name: str, what: str) -> Any:
    """A real number argument."""
    found = number(value, name, f"'{what}'")
    if isinstance(found, complex):
        raise RuntimeError(
            "value cannot be converted to type double without overflow: "
            f"{name}() got {what}={found}"
        )
    return found


def progression(start: Any, step: Any, count: int, kind: dt.dtype, name: str) -> Array:
    """start, start + step, ...: in exact integers, or in float64 and rounded once."""
    if kind in (dt.bool_, dt.uint16, dt.uint32, dt.uint64) or kind.is_complex:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{kind.title}'")
    if kind.category == dt.INT:
        start, step = int(start), int(step)
        if not (INT64_LOW <= start <= INT64_HIGH and INT64_LOW <= step <= INT64_HIGH):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        values = np.arange(count, dtype=np.int64) * step + start
    else:
        values = np.arange(count) * float(step) + float(start)
    return values.astype(dt.numpy_of(kind), copy=False)


@factory
def arange(start: Any = None, end: Any = None, step: Any = 1, *, kind: Any = None) -> Array:
    """start, start + step, ... below end: int64 for integers, else the default dtype.

    With one number, that is the end and the start is 0.
    """
    if end is None:
        if start is None:
            raise TypeError(
                "arange() received an invalid combination of arguments - got (), but expected "
                "(end), (start, end) or (start, end, step)"
            )
        start, end = 0, start
    start = 0 if start is None else start
    first, last = real(start, "arange", "start"), real(end, "arange", "end")
    by = real(step, "arange", "step")
    if kind is None:
        exact = not any(isinstance(v, float) for v in (first, last, by))
        kind = dt.int64 if exact else dt.default()
    check_span(first, last, by)
    if kind is dt.int64:  # PyTorch rounds the bounds towards zero first
        first, last, by = int(first), int(last), int(by)
        check_span(first, last, by)
        if last > INT64_HIGH:
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        count = -((first - last) // by)
    else:
        count = math.ceil((last - first) / by)
    return progression(first, by, count, kind, "arange")


def range_(start: Any = 0, end: Any = None, step: Any = 1, *, kind: Any = None) -> Array:
    """start, start + step, ... up to and including end. Deprecated: use arange."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=3,
    )
    first, last = real(start, "range", "start"), real(end, "range", "end")
    by = real(step, "range", "step")
    kind = kind or dt.default()
    check_span(first, last, by)
    if kind.category == dt.INT:
        check_span(int(first), int(last), int(by))
    return progression(first, by, math.floor((last - first) / by) + 1, kind, "range")


range_.__name__ = range_.__qualname__ = "range"
factory(range_)


def bound(value: Any, name: str, what: str) -> Any:
    """An end of linspace or logspace: a number or a 0-d tensor."""
    if isinstance(value, Tensor):
        if value.array.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {what} with "
                f"{value.array.ndim} dimension(s)."
            )
        value = value.array.item()
    return number(value, name, f"'{what}'")


def spaced(name: str, start: Any, end: Any, steps: Any, kind: Any) -> tuple[Array, dt.dtype]:
    """`steps` numbers from start to end in float64 or complex128, and the dtype they are for.

    The second half counts back from the end, so that the end is exact.
    """
    first, last = bound(start, name, "start"), bound(end, name, "end")
    count = whole(steps, name, "'steps'")
    wide = isinstance(first, complex) or isinstance(last, complex)
    kind = kind or (dt.default().to_complex() if wide else dt.default())
    if wide and not kind.is_complex:
        raise RuntimeError(
            f"torch.{name}(): inferred dtype ComplexFloat can't be safely cast to passed dtype "
            f"{kind.title}"
        )
    if kind is dt.bool_:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    if count < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {count}")
    if kind.category == dt.INT:
        first, last = (int(fits(v, kind, name)) for v in (first, last))
    step = (last - first) / (count - 1) if count > 1 else 0.0
    i = np.arange(count)
    values = np.where(i < count // 2, first + step * i, last - step * (count - 1 - i))
    if count == 1:
        values[:] = first
    return values, kind


@factory
def linspace(start: Any, end: Any, steps: Any, *, kind: Any = None) -> Array:
    """`steps` evenly spaced numbers from start to end, both included."""
    values, kind = spaced("linspace", start, end, steps, kind)
    return values.astype(dt.numpy_of(kind))


@factory
def logspace(start: Any, end: Any, steps: Any, base: Any = 10.0, *, kind: Any = None) -> Array:
    """base to the power of `steps` evenly spaced exponents from start to end."""
    values, kind = spaced("logspace", start, end, steps, kind)
    root = number(base, "logspace", "'base'")
    with np.errstate(all="ignore"):
        return np.power(root, values).astype(dt.numpy_of(kind))


@factory
def eye(n: Any, m: Any = None, *, kind: Any = None) -> Array:
    """Ones on the diagonal of an n x m matrix (square without m), zeros elsewhere."""
    rows = whole(n, "eye", "'n' (position 1)")
    columns = rows if m is None else whole(m, "eye", "'m' (position 2)")
    for what, count in (("n", rows), ("m", columns)):
        if count < 0:
            raise RuntimeError(f"{what} must be greater or equal to 0, got {count}")
    return np.eye(rows, columns, dtype=storage(kind))


def triangle(name: str, row: Any, col: Any, offset: Any, kind: Any) -> Array:
    """Row and column indices of a triangle of a row x col matrix, row by row."""
    rows, columns = whole(row, name, "'row'"), whole(col, name, "'col'")
    for what, count in (("row", rows), ("col", columns)):
        if count < 0:
            raise RuntimeError(f"{what} must be non-negative, got {count}")
    kind = kind or dt.int64
    if kind.category != dt.INT:
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind.title}'")
    pick = np.tril_indices if name == "tril_indices" else np.triu_indices
    found = pick(rows, whole(offset, name, "'offset'"), columns)
    return np.stack(found).astype(dt.numpy_of(kind))


@factory
def tril_indices(row: Any, col: Any, offset: Any = 0, *, kind: Any = None) -> Array:
    """Indices (2, n) of the elements on and below a diagonal of a row x col matrix."""
    return triangle("tril_indices", row, col, offset, kind)


@factory
def triu_indices(row: Any, col: Any, offset: Any = 0, *, kind: Any = None) -> Array:
    """Indices (2, n) of the elements on and above a diagonal of a row x col matrix."""
    return triangle("triu_indices", row, col, offset, kind)
