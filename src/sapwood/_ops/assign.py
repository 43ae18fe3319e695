"""x[key] = value, and index_put: writes through the view of a key, or at what it picks.

Numbers that meet no graph are written at once; everything else goes the way of in-place methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import METHODS, border, function
from sapwood._core.memory import bump, check_write
from sapwood._core.mode import MODE
from sapwood._core.slow import explain
from sapwood._core.tensor import Tensor
from sapwood._ops.index import alone, put, put_sum, simple, take_apart
from sapwood._ops.keys import Array, Keys, keys_of, misfit
from sapwood._ops.movement import clone
from sapwood._ops.select import convert, fill_run
from sapwood._ops.views import expand, reshape


def assigned(value: Any, x: Tensor) -> Any:
    """A value to be written: a tensor or a number."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (int, float, complex, np.number, np.bool_)):
        return value.item() if isinstance(value, np.generic) else value
    raise TypeError(f"can't assign a {named(type(value))} to a torch.{x.dtype.title}Tensor")


def stripped(value: Tensor) -> Tensor:
    """A value without leading dimensions of extent 1."""
    shape = value.array.shape
    lead = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return reshape(value, shape[lead:]) if lead else value


def named(kind: type) -> str:
    """A type as PyTorch's message names it."""
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """x[key] = value: a write through the view of key, or at what it picks from that view."""
    shape = self.array.shape
    if type(key) is slice and shape and key.indices(shape[0]) == (0, shape[0], 1):
        key = Ellipsis  # no view of everything between, as in PyTorch
    site = MODE.get().site or (None, 0)
    keys = alone(self, key, site)
    x = self if keys is not None else simple(self, key, site, write=True)
    if x is None:
        apart = take_apart(self, key, site)
        x, keys = apart.x, apart.keys()
    value = assigned(value, x)
    if not isinstance(value, Tensor) and (x.node is None or not MODE.get().grad):
        write_number(x, keys, value)
        return
    if keys is not None:
        put_into(x, keys, value)
        return
    shape = x.array.shape
    if isinstance(value, Tensor) and value.array.shape == shape:
        x.copy_(value)  # type: ignore[attr-defined]
    elif not isinstance(value, Tensor) or not value.array.ndim:
        x.fill_(value)  # type: ignore[attr-defined]
    else:
        x.copy_(expand(stripped(value), shape))  # type: ignore[attr-defined]


def write_number(x: Tensor, keys: Keys | None, value: Any) -> None:
    """Write a number where no graph is concerned."""
    check_write(x, "__setitem__", graph=False)
    try:
        x.array[... if keys is None else keys.key()] = convert(value, x.array.dtype)
    except Exception as e:
        e = e if keys is None else misfit(x.array, keys, e)
        raise explain(put.op, e, (x,), (), MODE.get().site or (None, 0)) from None
    bump(x)


def put_into(x: Tensor, keys: Keys, value: Any) -> None:
    """Write a number or a tensor of x's dtype at what keys pick."""
    if not isinstance(value, Tensor):
        value = fill_run(np.empty((), x.array.dtype), value)
    else:
        same_dtype(x.array, value.array)
        value = stripped(value)
        if keys.single_mask and value.array.size == 1 and np.may_share_memory(x.array, value.array):
            value = clone(value)  # one element is read before the write
    x._index_put_(value, keys)  # type: ignore[attr-defined]


def same_dtype(x: Array, y: Array) -> None:
    """Index_put does not convert."""
    if x.dtype != y.dtype:
        a, b = (dt.of(v.dtype).title for v in (x, y))
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{a} for the destination and {b} for the source."
        )


METHODS["__setitem__"] = border(setitem)


@function
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """input with `values` written (or added) where the tensors in `indices` pick."""
    same_dtype(input.array, values.array)
    return (put_sum if accumulate else put)(input, values, keys_of(input, indices))


def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write (or add) `values` where the tensors in `indices` pick, in place."""
    same_dtype(self.array, values.array)
    keys = keys_of(self, indices)
    if accumulate:
        return self._index_put_sum_(values, keys)  # type: ignore[attr-defined]
    return self._index_put_(values, keys)  # type: ignore[attr-defined]


METHODS["index_put_"] = border(index_put_)
