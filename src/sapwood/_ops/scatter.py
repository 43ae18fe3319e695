"""PICK along a dimension: gather, scatter, and the index_* family.

Public functions have PyTorch's order (input, dim, index, source); the records behind them have
operands first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.border import METHODS, border, function
from sapwood._core.door import primitive
from sapwood._core.op import PICK
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.axes import axis
from sapwood._ops.index import add_at, along, check_along, gather_run, ordered

gather_of = primitive(
    "_gather", "x index; dim", kind=PICK, run=gather_run, dtype="keep", title="GatherBackward0",
    grad=dict(x=lambda g, index, dim, x_shape, x_dtype:
              scatter_add_of(np.zeros(x_shape, x_dtype), index, g, dim)),
    doc="Elements along `dim` by index.")


def crop(src: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The part of src that an index of its own, smaller shape refers to."""
    if any(n > m for n, m in zip(index.shape, src.shape, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)}")
    return src[tuple(slice(n) for n in index.shape)]


def scatter_run(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    """x with src written along dim."""
    check_along(x, index, dim, "scatter")
    out = np.array(x)
    part = crop(src, index) if getattr(src, "ndim", 0) or not index.ndim else src
    if x.ndim == 0:
        return np.asarray(part).astype(x.dtype).reshape(())
    out[along(x, index, dim)] = part
    return out


def scatter_add_run(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    """x with src added along dim; repeated positions accumulate."""
    check_along(x, index, dim, "scatter_add")
    out = np.array(x)
    if x.ndim == 0:
        return np.asarray(out + crop(src, index))
    np.add.at(out, along(x, index, dim), crop(src, index))
    return out


def zeros_where(g: Any, index: Any, dim: int) -> Any:
    """g with zeros at the scattered positions."""
    return scatter_of(g, index, 0.0, dim)


def unscatter(g: Any, index: Any, dim: int, shape: tuple) -> Any:
    """The gradient of src: what was gathered, zeros in the part that was not used."""
    part = gather_of(g, index, dim)
    have = (index.array if type(index) in KINDS else index).shape
    if have == tuple(shape):
        return part
    from sapwood._ops.movement import constant_pad

    pads = [v for n, m in zip(reversed(have), reversed(shape), strict=True) for v in (0, m - n)]
    return constant_pad(part, tuple(pads), 0.0)


scatter_of = primitive(
    "_scatter", "x index y; dim", kind=PICK, run=scatter_run, dtype="keep",
    title="ScatterBackward0", in_place="_scatter_",
    grad=dict(x=lambda g, index, dim: zeros_where(g, index, dim),
              y=lambda g, index, dim, y_shape: unscatter(g, index, dim, y_shape)),
    doc="x with values written along `dim` at index.")
scatter_add_of = primitive(
    "_scatter_add", "x index y; dim", kind=PICK, run=scatter_add_run, dtype="keep",
    title="ScatterAddBackward0", in_place="_scatter_add_",
    grad=dict(x=lambda g: g, y=lambda g, index, dim, y_shape: unscatter(g, index, dim, y_shape)),
    alias=True, doc="x with values added along `dim` at index.")

gather = ordered("gather", gather_of)


def source(name: str, input: Tensor, src: Any) -> Any:
    """A source of the input's dtype; numbers as 0-d constants."""
    if isinstance(src, Tensor):
        if src.array.dtype != input.array.dtype:
            raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
        return src
    return plain(np.asarray(src, input.array.dtype))


REDUCE = {"add": "sum", "multiply": "prod"}


def one_scatter(input: Tensor, dim: int, index: Tensor, src: Any, value: Any, reduce: Any) -> Any:
    """The arguments of scatter in all its forms."""
    d = axis(dim, input.array.ndim)
    given = value if src is None else src
    if given is None:
        raise TypeError("scatter() needs src= or value=")
    return d, source("scatter", input, given)


@function
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """input with src (or a number) written along `dim` at index."""
    d, given = one_scatter(input, dim, index, src, value, reduce)
    if reduce is not None:
        if not given.array.ndim and index.array.ndim:
            given = given.expand(index.array.shape)
        return scatter_reduce(input, d, index, given, REDUCE[reduce])
    return scatter_of(input, index, given, d)


def scatter_(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """Write src (or a number) along `dim` at index, in place."""
    d, given = one_scatter(self, dim, index, src, value, reduce)
    if reduce is not None:
        return self.copy_(scatter(self, dim, index, src, value=value, reduce=reduce))  # type: ignore[attr-defined]
    return self._scatter_(index, given, d)  # type: ignore[attr-defined]


@function
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """input with src added along `dim` at index."""
    return scatter_add_of(input, index, source("scatter_add", input, src),
                          axis(dim, input.array.ndim))


def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Add src along `dim` at index, in place."""
    return self._scatter_add_(index, source("scatter_add", self, src),  # type: ignore[attr-defined]
                              axis(dim, self.array.ndim))


def reduce_run(
    x: np.ndarray, index: np.ndarray, y: np.ndarray, dim: int, reduce: str, include_self: bool
) -> np.ndarray:
    """sum, prod, amax, amin or mean over the values that fall on one place."""
    check_along(x, index, dim, "scatter_reduce")
    out = np.array(x)
    key = along(x, index, dim) if x.ndim else ()
    y = crop(y, index)
    start = {"sum": 0, "mean": 0, "prod": 1, "amax": -np.inf, "amin": np.inf}[reduce]
    ufunc = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum,
             "amin": np.minimum}[reduce]
    if not include_self:
        if np.isinf(start) and out.dtype.kind in "iu":
            info = np.iinfo(out.dtype)
            start = info.min if start < 0 else info.max
        out[key] = start
    ufunc.at(out, key, y)
    if reduce == "mean":
        count = np.ones(x.shape, np.int64) if include_self else np.zeros(x.shape, np.int64)
        np.add.at(count, key, 1)
        count = np.maximum(count, 1)
        out = (out / count if out.dtype.kind in "fc" else out // count).astype(out.dtype)
    return out


reduce_of = primitive(
    "_scatter_reduce", "x index y; dim reduce include_self", kind=PICK, run=reduce_run,
    dtype="keep", grad={}, title="ScatterReduceBackward0",
    doc="Values that fall on one place reduced.")


@function
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """input with src reduced (sum, prod, mean, amax, amin) along `dim` at index."""
    d = axis(dim, input.array.ndim)
    if reduce == "sum" and include_self:
        return scatter_add(input, d, index, src)
    if input.requires_grad or src.requires_grad:
        raise NotImplementedError(
            f"derivative for aten::scatter_reduce is not implemented for reduce={reduce!r}")
    return reduce_of(input, index, src, d, reduce, include_self)


# ---- index_*: one-dimensional index -------------------------------------------------------------


def rows(input: Tensor, dim: int, index: Tensor, name: str) -> tuple[int, tuple]:
    """The dimension, and the key that selects along it."""
    a, i = input.array, index.array
    d = axis(dim, a.ndim)
    if i.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if i.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, but got dim: {i.ndim}")
    extent = a.shape[d] if a.ndim else 1
    i = i.reshape(-1)
    if i.size and (i.min() < -extent or i.max() >= extent):
        raise IndexError(f"{name}(): index out of range in self")
    key = np.where(i < 0, i + extent, i).astype(np.int64)
    return d, (slice(None),) * d + (key,)


def lifted(x: Tensor) -> Tensor:
    """0-d tensors count as having one element in one dimension."""
    return x if x.array.ndim else x.reshape((1,))  # type: ignore[attr-defined]


def select_run(a: np.ndarray, key: tuple) -> np.ndarray:
    """a.take along one dimension."""
    return np.take(a, key[-1], axis=len(key) - 1)


index_select_of = primitive(
    "_index_select", "x; key", kind=PICK, keeps=True, run=select_run, dtype="keep", add_into=add_at,
    title="IndexSelectBackward0",
    grad=dict(x=lambda g, key, x_shape, x_dtype: index_add_of(np.zeros(x_shape, x_dtype), g, key)),
    doc="Slices along `dim` by index.")


def index_add_run(x: np.ndarray, y: np.ndarray, key: tuple) -> np.ndarray:
    """x with y added at the slices of key."""
    out = np.array(x)
    if len(key) == 1:
        add_at(out, y, key)
    else:
        np.add.at(out, key, y)
    return out


def index_copy_run(x: np.ndarray, y: np.ndarray, key: tuple) -> np.ndarray:
    """x with y written at the slices of key."""
    out = np.array(x)
    out[key] = y
    return out


index_add_of = primitive(
    "_index_add", "x y; key", kind=PICK, keeps=True, run=index_add_run, dtype="keep", alias=True,
    title="IndexAddBackward0", in_place="_index_add_",
    grad=dict(x=lambda g: g, y=lambda g, key: index_select_of(g, key)),
    doc="x with y added at slices.")
index_copy_of = primitive(
    "_index_copy", "x y; key", kind=PICK, keeps=True, run=index_copy_run, dtype="keep",
    title="IndexCopyBackward0", in_place="_index_copy_",
    grad=dict(x=lambda g, key, y_dtype: index_copy_of(g, np.zeros((), y_dtype), key),
              y=lambda g, key: index_select_of(g, key)),
    doc="x with y written at slices.")


@function
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Slices along `dim` by a vector of indices."""
    x = lifted(input)
    out = index_select_of(x, rows(x, dim, index, "index_select")[1])
    return out if input.array.ndim else out.reshape(())


def slices(input: Tensor, dim: int, index: Tensor, value: Any, name: str) -> tuple[Any, tuple]:
    """Source and key of index_add and index_copy, checked."""
    d, key = rows(input, dim, index, name)
    given = source(name, input, value)
    want = input.array.shape[:d] + (key[-1].size,) + input.array.shape[d + 1 :]
    if given.array.ndim and input.array.ndim and given.array.shape != want:
        raise RuntimeError(
            f"{name}(): source {list(given.array.shape)} does not fit: expected {list(want)}")
    return given, key


def index_writer(name: str, record: Any) -> None:
    """index_add and index_copy, and their in-place twins."""

    def scaled(self: Tensor, source: Any, kwargs: dict) -> Any:
        alpha = kwargs.pop("alpha", 1)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(kwargs))!r}")
        return source if alpha == 1 else source * alpha

    def call(input: Tensor, dim: int, index: Tensor, source: Any, **kwargs: Any) -> Tensor:
        value, key = slices(lifted(input), dim, index, scaled(input, source, kwargs), name)
        out = record(lifted(input), value, key)
        return out if input.array.ndim else out.reshape(())

    def write(self: Tensor, dim: int, index: Tensor, source: Any, **kwargs: Any) -> Tensor:
        value, key = slices(lifted(self), dim, index, scaled(self, source, kwargs), name)
        getattr(lifted(self), record.op.in_place)(value, key)
        return self

    call.__name__, write.__name__ = name, f"{name}_"
    call.__doc__, write.__doc__ = record.op.doc, f"{record.op.doc[:-1]}, in place."
    function(call)
    METHODS[f"{name}_"] = border(write)


index_writer("index_add", index_add_of)
index_writer("index_copy", index_copy_of)


@function
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """input with a number written at the slices of index."""
    return index_copy_of(input, source("index_fill", input, value),
                         rows(input, dim, index, "index_fill")[1])


def index_fill_(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Write a number at the slices of index, in place."""
    return self._index_copy_(source("index_fill", self, value),  # type: ignore[attr-defined]
                             rows(self, dim, index, "index_fill")[1])


@function
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """gather with broadcasting; without dim, from the flattened tensor."""
    if dim is None:
        return gather(input.reshape((-1,)), 0, indices.reshape((-1,)))  # type: ignore[attr-defined]
    d = axis(dim, input.array.ndim)
    shapes = [list(t.array.shape) for t in (input, indices)]
    for k, (n, m) in enumerate(zip(*shapes, strict=True)):
        if k != d:
            shapes[0][k] = shapes[1][k] = max(n, m) if n and m else 0
    return gather(input.expand(shapes[0]), d, indices.expand(shapes[1]))  # type: ignore[attr-defined]


@function
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """input with consecutive elements of source where mask is True."""
    from sapwood._ops.index import put

    full = np.broadcast_to(mask.array, input.array.shape)
    where = np.nonzero(full)
    n = int(full.sum())
    if source.array.size < n:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes and enough elements: "
            f"{source.array.size} for {n} places")
    values = source.reshape((-1,))[:n]  # type: ignore[attr-defined]
    return put(input, values, where, False)


def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Write consecutive elements of source where mask is True, in place."""
    full = np.broadcast_to(mask.array, self.array.shape)
    values = source.reshape((-1,))[: int(full.sum())]  # type: ignore[attr-defined]
    return self._index_put_(values, np.nonzero(full), False)  # type: ignore[attr-defined]


for _write in (scatter_, scatter_add_, index_fill_, masked_scatter_):
    METHODS[_write.__name__] = border(_write)
