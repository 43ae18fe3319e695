"""Indexing as PyTorch has it: x[...], x[...] = v, and what picks by index.

A key is taken apart once: its basic part (ints, slices, ..., None) is a view; tensors, lists and
masks then pick from that view. So an int is applied before arrays are, unlike in NumPy.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.border import METHODS, border, function
from sapwood._core.door import primitive
from sapwood._core.op import PICK
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.axes import axis
from sapwood._ops.views import selecting


def node_name(node: Any) -> str:
    """The node of the last step that PyTorch would have taken for this key."""
    last = "AliasBackward0"
    for part in node.attrs[0]:
        if part is None:
            last = "UnsqueezeBackward0"
        elif type(part) is int:
            last = "SelectBackward0"
        elif isinstance(part, slice) and part != slice(None):
            last = "SliceBackward0"
    return last


basic = selecting("_index_basic", "key", run=lambda a, key: a[(*key, ...)], title=node_name,
                  doc="The basic part of x[key]: ints, slices, None.")


def at_run(a: np.ndarray, key: tuple) -> np.ndarray:
    """Pick by integer arrays."""
    return a[key]


def put_add(shape: tuple, dtype: Any, key: tuple, g: np.ndarray) -> np.ndarray:
    """Zeros with g added at key; repeated indices accumulate."""
    out = np.zeros(shape, dtype)
    add_at(out, g, key)
    return out


def add_at(out: np.ndarray, g: np.ndarray, key: tuple) -> None:
    """out[key] += g with repeated indices counted; sorted sums where np.add.at would be slow."""
    first = key[0] if key else None
    simple = len(key) >= 1 and isinstance(first, np.ndarray) and all(
        isinstance(k, slice) for k in key[1:])
    if simple and first is not None and first.ndim == 1 and first.size > 64 and out.size:
        order = np.argsort(first, kind="stable")
        rows = first[order]
        starts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
        out[rows[starts]] += np.add.reduceat(g[order], starts, axis=0)
    else:
        np.add.at(out, key, g)


index = primitive(
    "_index", "x; key", kind=PICK, keeps=True, run=at_run, dtype="keep", title="IndexBackward0",
    grad=dict(x=lambda g, key, x_shape: unindex(g, key, x_shape)), add_into=add_at,
    doc="x[key] for integer arrays and full slices.")
unindex = primitive(
    "_unindex", "x; key shape", kind=PICK, keeps=True, dtype="keep", title="IndexPutBackward0",
    run=lambda x, key, shape: put_add(shape, x.dtype, key, x),
    grad=dict(x=lambda g, key: index(g, key)), doc="Zeros with x added at key.")


def put_run(x: np.ndarray, y: np.ndarray, key: tuple, accumulate: bool) -> np.ndarray:
    """x with y written (or added) at key."""
    out = np.array(x)
    y = np.asarray(y)
    if accumulate:
        np.add.at(out, key, y.astype(out.dtype))
    else:
        out[key] = y
    return out


put = primitive(
    "_put", "x y; key accumulate", kind=PICK, keeps=True, run=put_run, dtype="keep",
    title="IndexPutBackward0", in_place="_index_put_",
    grad=dict(
        x=lambda g, key, accumulate, y_shape, y_dtype:
            g if accumulate else put(g, np.zeros((), y_dtype), key, False),
        y=lambda g, key: index(g, key)),
    doc="x with y written at key.")

# ---- taking a key apart -----------------------------------------------------------------------


def split_key(key: Any, shape: tuple) -> tuple[tuple, tuple | None]:
    """(basic part, advanced part or None), every number checked against the shape."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if isinstance(key, list) and any(isinstance(k, (slice, type(None), list, Tensor, np.ndarray))
                                     or k is Ellipsis for k in key) and len(key) <= 32:
        parts = [key]
    parts = [prepare(p) for p in parts]
    used = sum(p.ndim if is_mask(p) else 1 for p in parts
               if p is not None and p is not Ellipsis and not isinstance(p, (bool, np.bool_)))
    if used > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    if not any(p is Ellipsis for p in parts):
        parts.append(Ellipsis)
    fill = len(shape) - used
    view_key: list[Any] = []
    picks: list[Any] = []  # one entry per dimension of the view
    d = 0
    seen = False
    for p in parts:
        if p is Ellipsis:
            if seen:
                raise IndexError("an index can only have a single ellipsis ('...')")
            seen = True
            view_key += [slice(None)] * fill
            picks += [slice(None)] * fill
            d += fill
        elif p is None:
            view_key.append(None)
            picks.append(slice(None))
        elif isinstance(p, (bool, np.bool_)):
            view_key.append(None)
            picks.append(np.zeros(1 if p else 0, np.int64))
        elif isinstance(p, int):
            view_key.append(one(p, d, shape[d]))
            d += 1
        elif isinstance(p, slice):
            view_key.append(ranged(p))
            picks.append(slice(None))
            d += 1
        else:
            n = p.ndim if is_mask(p) else 1
            view_key += [slice(None)] * n
            picks += arrays(p, d, shape)
            d += n
    while view_key and view_key[-1] == slice(None):
        view_key.pop()
    if all(isinstance(p, slice) for p in picks):
        return tuple(view_key), None
    while isinstance(picks[-1], slice):
        picks.pop()
    return tuple(view_key), tuple(picks)


def prepare(p: Any) -> Any:
    """Tensors and sequences as arrays, 0-d integers as ints."""
    if p is None or p is Ellipsis or isinstance(p, (slice, bool, int)):
        return p
    if isinstance(p, Tensor):
        p = p.array
    elif isinstance(p, (list, tuple, range)):
        p = np.array([q.item() if isinstance(q, Tensor) and q.array.ndim == 0 else
                      q.array if isinstance(q, Tensor) else q for q in p])  # type: ignore[attr-defined]
        if p.size == 0:
            p = p.astype(np.int64)
    if isinstance(p, (np.ndarray, np.generic)):
        a = np.asarray(p)
        if a.dtype.kind not in "biu":
            raise IndexError(
                "tensors used as indices must be long, int, byte or bool tensors, got "
                f"{dt.of(a.dtype).name} at {where.here()}"
            )
        if a.ndim == 0:
            return bool(a) if a.dtype.kind == "b" else int(a)
        if a.dtype == np.uint8:
            return a.astype(bool)
        return a
    if hasattr(p, "__index__"):
        return operator.index(p)
    raise TypeError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {type(p).__name__})"
    )


def is_mask(p: Any) -> bool:
    """Whether an index is a boolean array."""
    return isinstance(p, np.ndarray) and p.dtype.kind == "b"


def one(i: int, dim: int, extent: int) -> int:
    """An index within its dimension."""
    if not -extent <= i < extent:
        raise IndexError(f"index {i} is out of bounds for dimension {dim} with size {extent}")
    return i + extent if i < 0 else i


def ranged(s: slice) -> slice:
    """A slice of Python integers with a positive step."""
    parts = [None if v is None else operator.index(v) for v in (s.start, s.stop, s.step)]
    if parts[2] is not None and parts[2] <= 0:
        raise ValueError("step must be greater than zero")
    return slice(*parts)


def arrays(p: np.ndarray, dim: int, shape: tuple) -> list:
    """Integer arrays for a mask or an integer array, checked."""
    if is_mask(p):
        for k, n in enumerate(p.shape):
            if n != shape[dim + k]:
                raise IndexError(
                    f"The shape of the mask {list(p.shape)} at index {k} does not match the shape "
                    f"of the indexed tensor {list(shape)} at index {dim + k}"
                )
        return list(np.nonzero(p))
    extent = shape[dim]
    if p.size and (p.min() < -extent or p.max() >= extent):
        bad = p[(p < -extent) | (p >= extent)].flat[0]
        raise IndexError(
            f"index {bad} is out of bounds for dimension {dim} with size {extent}")
    return [np.where(p < 0, p + extent, p).astype(np.int64)]


def take_apart(self: Tensor, key: Any) -> tuple[Tensor, tuple | None]:
    """The view of the basic part, and what is left to pick from it."""
    try:
        view_key, picks = split_key(key, self.array.shape)
    except (IndexError, ValueError, TypeError) as e:
        raise type(e)(f"{e}. [index] of a tensor of shape {list(self.array.shape)} at "
                      f"{where.here()}") from None
    if view_key or picks is None:
        self = basic(self, view_key)
    return self, picks


def getitem(self: Tensor, key: Any) -> Tensor:
    """x[key]."""
    x, picks = take_apart(self, key)
    return x if picks is None else index(x, picks)


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """x[key] = value: a write through the view, or at the picked places of it."""
    x, picks = take_apart(self, key)
    if not isinstance(value, Tensor):
        value = plain(np.asarray(value, None if isinstance(value, np.ndarray) else x.array.dtype))
    if picks is None:
        lead = value.array.ndim - x.array.ndim
        if lead > 0 and value.array.shape[:lead] == (1,) * lead:
            value = value.reshape(value.array.shape[lead:])  # type: ignore[attr-defined]
        x.copy_(value)  # type: ignore[attr-defined]
    else:
        x._index_put_(fit_value(value, x), picks, False)  # type: ignore[attr-defined]


def fit_value(value: Tensor, x: Tensor) -> Tensor:
    """A written value in the dtype of its target."""
    return value if value.array.dtype == x.array.dtype else value.to(x.dtype)  # type: ignore[attr-defined]


METHODS["__getitem__"], METHODS["__setitem__"] = border(getitem), border(setitem)


def key_of(indices: Any, shape: tuple) -> tuple:
    """The picks of index_put: a tuple of tensors and None."""
    key = tuple(slice(None) if i is None else i for i in indices)
    view_key, picks = split_key(key, shape)
    return picks if picks is not None else view_key


@function
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """input with `values` written (or added) at `indices`."""
    return put(input, fit_value(values, input), key_of(indices, input.array.shape), accumulate)


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) `values` at `indices`, in place."""
    key = key_of(indices, self.array.shape)
    return self._index_put_(fit_value(values, self), key, accumulate)  # type: ignore[attr-defined]


METHODS["index_put_"] = border(index_put_)

# ---- picking by a mask or by linear position ---------------------------------------------------


@function
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where mask is True, in one dimension."""
    if mask.array.dtype.kind != "b":
        raise RuntimeError(
            "masked_select: expected BoolTensor for mask, got " + mask.dtype.name)
    shape = np.broadcast_shapes(input.array.shape, mask.array.shape)
    x = input if input.array.shape == shape else input.expand(shape)  # type: ignore[attr-defined]
    return index(x, tuple(np.nonzero(np.broadcast_to(mask.array, shape))) or
                 (np.zeros(int(mask.array), np.int64),)) if shape else \
        index(x.reshape((1,)), (np.zeros(int(mask.array), np.int64),))


@function
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of elements that are not zero, one row each."""
    a = input.array
    found = np.nonzero(a) if a.ndim else ()
    if as_tuple:
        if not a.ndim:
            found = np.nonzero(a.reshape(1))
        return tuple(plain(f.astype(np.int64)) for f in found)
    if not a.ndim:
        return plain(np.zeros((int(bool(a)), 0), np.int64))
    return plain(np.stack(found, 1).astype(np.int64) if a.ndim else np.zeros((0, 0), np.int64))


@function
def argwhere(input: Tensor) -> Tensor:
    """The positions of elements that are not zero, one row each."""
    return nonzero(input)


@function
def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements by position in the flattened tensor."""
    flat = input.reshape((-1,))  # type: ignore[attr-defined]
    return getitem(flat, index) if index.array.ndim else getitem(flat, int(index.array))


# ---- along a dimension -------------------------------------------------------------------------


def along(a: np.ndarray, index: np.ndarray, dim: int) -> tuple:
    """The full index of gather and scatter."""
    grids = np.ogrid[tuple(slice(n) for n in index.shape)]
    return tuple(index if d == dim else grids[d] for d in range(a.ndim))


def check_along(a: np.ndarray, index: np.ndarray, dim: int, name: str) -> None:
    """Index of integers, as many dimensions, within bounds."""
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if index.ndim != a.ndim:
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as input tensor [{name}]")
    for d, (n, m) in enumerate(zip(index.shape, a.shape, strict=True)):
        if d != dim and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be "
                f"no larger than self {list(a.shape)} apart from dimension {dim}"
            )
    extent = a.shape[dim] if a.ndim else 1
    if index.size and (index.min() < 0 or index.max() >= extent):
        bad = index[(index < 0) | (index >= extent)].flat[0]
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {extent}")


def gather_run(a: np.ndarray, index: np.ndarray, dim: int) -> np.ndarray:
    """a[..., index[...], ...] along dim."""
    check_along(a, index, dim, "gather")
    if a.ndim == 0:
        return np.array(a)
    return a[along(a, index, dim)]


def ordered(name: str, record: Any) -> Any:
    """A public function with PyTorch's order of arguments (input, dim, index, ...)."""

    def call(input: Any, dim: Any, index: Any, *rest: Any, **kwargs: Any) -> Any:
        n = (input.array if type(input) in KINDS else input).ndim
        return record(input, index, *rest, axis(dim, n), **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = record.op.doc
    return function(call)
