"""PICK that writes element by element: scatter and what reduces on the way.

Each record has `into`, the write itself: out of place it works on a copy, in place on the tensor.
The records have operands first; the public functions keep PyTorch's order (input, dim, index, src).
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core.border import METHODS, border, function
from sapwood._core.mode import MODE
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.adding import add_along, along
from sapwood._ops.axes import axis
from sapwood._ops.checks import no_derivative
from sapwood._ops.compare import where
from sapwood._ops.elementwise import div, mul
from sapwood._ops.index import on_copy
from sapwood._ops.movement import constant_pad
from sapwood._ops.parts import basic
from sapwood._ops.picking import gather_of, integers, picking, within
from sapwood._ops.select import convert
from sapwood._ops.views import tensor

Array = np.ndarray


def writing(name: str, spec: str, into: Callable, *, order: str = "C", **fields: Any) -> Any:
    """The record of a write at picked places, and its in-place method `_name_`."""
    run = on_copy(into, order)
    return picking(name, spec, run=run, into=into, in_place=f"{name}_", **fields)


def offered(arrange: Callable) -> Callable:
    """The public function, method and in-place method of the records that `arrange` chooses.

    arrange(input, ...) takes PyTorch's arguments and returns the record and its own arguments.
    """

    @functools.wraps(arrange)
    def fn(*args: Any, **kwargs: Any) -> Tensor:
        record, *rest = arrange(*args, **kwargs)
        return record(*rest)

    def in_place(*args: Any, **kwargs: Any) -> Tensor:
        record, x, *rest = arrange(*args, **kwargs)
        return getattr(x, record.op.in_place)(*rest)

    name = f"{arrange.__name__}_"
    in_place.__name__ = in_place.__qualname__ = name
    in_place.__doc__ = f"`{arrange.__name__}` written into the tensor itself; returns self."
    in_place.__signature__ = inspect.signature(arrange)  # type: ignore[attr-defined]
    METHODS[name] = border(in_place)
    return function(fn)


# ---- scatter ---------------------------------------------------------------------------------


def scatter_args(x: Array, index: Array, y: Any, dim: Any) -> tuple:
    """An index that fits the tensor and the source, which is of the tensor's dtype."""
    d = axis(dim, x.ndim)
    integers(index, "scatter(): Expected dtype int32/int64 for index")
    if not isinstance(y, np.ndarray):
        raise TypeError(
            f"scatter(): argument 'src' (position 4) must be Tensor, not {type(y).__name__}"
        )
    if y.dtype != x.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return (d,)
    for name, other in (("self", x), ("src", y)):
        if max(index.ndim, 1) != max(other.ndim, 1):
            raise RuntimeError(
                f"Index tensor must have the same number of dimensions as {name} tensor"
            )
    for k, n in enumerate(index.shape):
        if (k != d and n > x.shape[k]) or n > (y.shape[k] if y.ndim else 1):
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self {list(x.shape)} "
                f"apart from dimension {d} and to be no larger size than src {list(y.shape)}"
            )
    within(index, x.shape[d] if x.ndim else 1, d)
    return (d,)


def value_args(x: Array, index: Array, dim: Any, value: Any) -> tuple:
    """As for a source of the index's shape."""
    return *scatter_args(x, index, np.empty(index.shape, x.dtype), dim), convert(value, x.dtype)


def places(x: Array, dim: int, index: Array) -> tuple[Array, tuple]:
    """The array and the key that index refers to; 0-d ones as having one dimension."""
    if not x.ndim or not index.ndim:
        return x.reshape(-1), (index.reshape(-1),)
    return x, along(x.shape, dim, index)


def part_of(y: Array, index: Array) -> Array:
    """The part of a source that an index of smaller shape is about."""
    if y.shape == index.shape:
        return y.reshape(-1) if not y.ndim else y
    return (
        y.reshape(index.shape or 1)
        if not y.ndim or not index.ndim
        else y[tuple(slice(n) for n in index.shape)]
    )


def scatter_into(x: Array, index: Array, y: Array, dim: int) -> None:
    """Write y along dim."""
    if index.size:
        target, key = places(x, dim, index)
        target[key] = part_of(y, index)


def value_into(x: Array, index: Array, dim: int, value: Any) -> None:
    """Write a number along dim."""
    if index.size:
        target, key = places(x, dim, index)
        target[key] = value


def erase_scattered(g: Array, index: Array, dim: int) -> Array:
    """g with zeros at the scattered places."""
    value_into(g, index, dim, 0)
    return g


def sum_into(x: Array, index: Array, y: Array, dim: int) -> None:
    """Add y along dim."""
    if index.size:
        add_along(x, dim, index, part_of(y, index).reshape(index.shape))


def of_source(g: Any, index: Any, dim: int, shape: tuple) -> Any:
    """The gradient of a source: what was scattered, zeros in the part that was not used."""
    found = gather_of(g, index, dim)
    have = (index.array if type(index) in KINDS else index).shape
    if have == shape:
        return found
    if math.prod(have) == math.prod(shape) == 1:
        return found.reshape(shape)
    if not math.prod(have):
        have = (0,) * len(shape)
        found = found.reshape(have)
    pads = [k for n, m in zip(reversed(have), reversed(shape), strict=True) for k in (0, m - n)]
    return constant_pad(found, tuple(pads), 0)


scatter_of = writing(
    "_scatter",
    "x index y; dim",
    scatter_into,
    bind=scatter_args,
    title="ScatterBackward0",
    grad=dict(
        x=lambda g, index, dim: scatter_value(g, index, dim, 0),
        y=lambda g, index, dim, y_shape: of_source(g, index, dim, y_shape),
    ),
    erase=erase_scattered,
    doc="x with a source written along a dimension by position.",
)
scatter_value = writing(
    "_scatter_value",
    "x index; dim value",
    value_into,
    bind=value_args,
    title="ScatterBackward1",
    grad=dict(x=lambda g, index, dim: scatter_value(g, index, dim, 0)),
    erase=erase_scattered,
    doc="x with a number written along a dimension by position.",
)
scatter_sum = writing(
    "_scatter_add",
    "x index y; dim",
    sum_into,
    bind=scatter_args,
    title="ScatterAddBackward0",
    grad=dict(x=lambda g: g, y=lambda g, index, dim, y_shape: of_source(g, index, dim, y_shape)),
    doc="x with a source added along a dimension by position.",
)


def old_into(x: Array, index: Array, y: Any, dim: int, reduce: str) -> None:
    """Add or multiply along dim."""
    target, key = places(x, dim, index)
    part = part_of(y, index) if isinstance(y, np.ndarray) and y.ndim else y
    (np.add if reduce == "add" else np.multiply).at(target, key, part)


def old_args(x: Array, index: Array, y: Any, dim: Any, reduce: Any) -> tuple:
    """reduce= of scatter."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    source = y if isinstance(y, np.ndarray) else np.empty(index.shape, x.dtype)
    return *scatter_args(x, index, source, dim), reduce


scatter_old = writing(
    "_scatter_old",
    "x index y; dim reduce",
    old_into,
    bind=old_args,
    title="torch::autograd::NotImplemented",
    grad=dict(x=no_derivative("scatter"), y=no_derivative("scatter")),
    doc="scatter with reduce=: without derivative, as in PyTorch; use scatter_reduce.",
)


@offered
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> tuple:
    """input with src (or a number) written along a dimension at the positions in index."""
    given = value if src is None else src
    if given is None:
        raise TypeError("scatter() needs src or value")
    tensor(index, "scatter", "argument 'index' (position 3)")
    if reduce is not None:
        return scatter_old, input, index, given, dim, reduce
    if type(given) in KINDS:
        return scatter_of, input, index, given, dim
    return scatter_value, input, index, dim, given


@offered
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> tuple:
    """input with src added along a dimension at the positions in index."""
    return scatter_sum, input, tensor(index, "scatter_add"), tensor(src, "scatter_add"), dim


# ---- scatter_reduce --------------------------------------------------------------------------

REDUCE: dict[str, tuple[np.ufunc, Any]] = {  # with what a place begins that is not included
    "sum": (np.add, 0),
    "mean": (np.add, 0),
    "prod": (np.multiply, 1),
    "amax": (np.maximum, -np.inf),
    "amin": (np.minimum, np.inf),
}


def begin(dtype: np.dtype, value: Any) -> Any:
    """An infinity as the dtype has it."""
    if dtype.kind in "iu" and np.isinf(value):
        info = np.iinfo(dtype)
        return info.max if value > 0 else info.min
    return value


def counts(index: Array, dim: int, shape: tuple, include_self: bool, dtype: Any) -> Array:
    """How many values come together at each place; 1 where none does."""
    n = np.ones(shape, dtype) if include_self else np.zeros(shape, dtype)
    add_along(n, dim, index, np.ones(index.shape, dtype))
    return np.asarray(np.maximum(n, 1))


def reduce_into(
    x: Array, index: Array, y: Array, dim: int, reduce: str, include_self: bool
) -> None:
    """Bring the values of y together with those of x."""
    if not index.size:
        return
    ufunc, start = REDUCE[reduce]
    target, key = places(x, dim, index)
    if not include_self:
        target[key] = begin(x.dtype, start)
    ufunc.at(target, key, part_of(y, index))
    if reduce == "mean":
        n = counts(index, dim, x.shape, include_self, np.int64)
        x[...] = x / n if x.dtype.kind in "fcV" else x // n


def reduce_args(
    x: Array, index: Array, y: Array, dim: Any, reduce: Any, include_self: Any
) -> tuple:
    """As scatter, and a known reduction."""
    if reduce not in REDUCE:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    return *scatter_args(x, index, y, dim), reduce, bool(include_self)


def raw(v: Any) -> Array:
    """The array of a value in a rule."""
    return v.array if type(v) in KINDS else v


def used(y: Any, index: Any) -> Any:
    """The part of the source that index is about, differentiably."""
    have, want = raw(y).shape, raw(index).shape
    if have == want:
        return y
    if len(have) != len(want):
        return y.reshape(want)
    key = tuple(slice(n) for n in want)
    return basic(y, key)


def unused(g: Any, index: Any, shape: tuple) -> Any:
    """The transpose of `used`."""
    have = raw(index).shape
    if have == shape or math.prod(have) == math.prod(shape) == 1:
        return g.reshape(shape)
    pads = [k for n, m in zip(reversed(have), reversed(shape), strict=True) for k in (0, m - n)]
    return constant_pad(g, tuple(pads), 0)


def reduce_x(
    g: Any, x: Any, index: Any, y: Any, out: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    """The gradient of what was there before."""
    i = raw(index)
    if reduce == "mean":
        g = div(g, counts(i, dim, raw(x).shape, include_self, raw(x).dtype))
    elif reduce == "prod":
        zero = np.asarray(raw(x) == 0)
        others = where(zero, 1, x)
        product = scatter_reduce_of(others, index, y, dim, "prod", include_self)
        g = div(mul(g, product), others)
    elif reduce != "sum":
        mine, _, n = winners(x, i, y, out, dim)
        g = where(mine, div(g, n), 0)
    return g if include_self else scatter_value(g, index, dim, 0)


def winners(x: Any, index: Array, y: Any, out: Any, dim: int) -> tuple[Array, Array, Array]:
    """Where the old value, where the source is the extreme; and how many share it."""
    mine = np.asarray(raw(x) == raw(out))
    theirs = np.asarray(
        part_of(raw(y), index).reshape(index.shape) == gather_of(raw(out), index, dim)
    )
    n = mine.astype(raw(x).dtype)
    add_along(n, dim, index, theirs.astype(n.dtype))
    return mine, theirs, np.asarray(np.maximum(n, 1))


def reduce_y(
    g: Any, x: Any, index: Any, y: Any, out: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    """The gradient of the source."""
    i, shape = raw(index), raw(y).shape
    if reduce == "mean":
        g = div(g, counts(i, dim, raw(x).shape, include_self, raw(x).dtype))
    elif reduce == "prod":
        return unused(product_y(g, x, index, used(y, index), out, dim, include_self), index, shape)
    elif reduce != "sum":
        _, theirs, n = winners(x, i, y, out, dim)
        return unused(where(theirs, gather_of(div(g, n), index, dim), 0), index, shape)
    return of_source(g, index, dim, shape)


def product_y(g: Any, x: Any, index: Any, y: Any, out: Any, dim: int, include_self: bool) -> Any:
    """The product of the others: of a single zero without it, nothing where there are two."""
    zero = np.asarray(raw(y) == 0)
    n = np.zeros(raw(x).shape)
    add_along(n, dim, raw(index), zero.astype(float))
    n = gather_of(n, raw(index), dim)
    if type(g) in KINDS and (n > 1).any():
        raise RuntimeError(
            "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are "
            "scattered to the same position in self"
        )
    single = np.asarray(zero & (n == 1))
    without = scatter_reduce_of(x, index, where(single, 1, y), dim, "prod", include_self)
    usual = div(gather_of(mul(g, out), index, dim), where(zero, 1, y))
    return where(np.asarray(n > 1), 0, where(single, gather_of(mul(g, without), index, dim), usual))


scatter_reduce_of = picking(  # no `into`: its rules read x and the result
    "_scatter_reduce",
    "x index y; dim reduce include_self",
    run=on_copy(reduce_into),
    bind=reduce_args,
    in_place="_scatter_reduce_",
    title="ScatterReduceBackward0",
    grad=dict(x=reduce_x, y=reduce_y),
    source="PyTorch's conventions: ties of amax and amin share; products look at single zeros",
    doc="x with a source reduced into it along a dimension by position.",
)


@offered
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> tuple:
    """input with src reduced into it (sum, prod, mean, amax, amin) at the positions in index."""
    tensor(src, "scatter_reduce", "argument 'src' (position 4)")
    if (
        input.array.dtype.kind == "c"
        and MODE.get().grad
        and (input.requires_grad or src.requires_grad)
    ):
        raise RuntimeError(
            "scatter_reduce does not support automatic differentiation for outputs "
            "with complex dtype."
        )
    return scatter_reduce_of, input, index, src, dim, reduce, include_self
