"""What stands in brackets, item by item: the words for what may not, and what picks.

Knows nothing of views or gradients; `index` applies it.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood import errors
from sapwood._core import where
from sapwood._core.memory import version_of
from sapwood._core.mode import MODE
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.convert import from_sequence

Array = np.ndarray


class Keys:
    """What picks from a tensor: per dimension nothing, integers, or a mask over several of them.

    Index tensors are kept, not copied; so their versions are checked whenever they are used.
    """

    __slots__ = ("cells", "parts", "site")

    def __init__(self, parts: Sequence[Array | None], cells: list, site: tuple) -> None:
        self.parts = tuple(parts)
        self.cells = [(cell, cell.n, part) for cell, part in cells]
        self.site = site

    def key(self) -> tuple:
        """The key for NumPy; raises where an index tensor was overwritten since."""
        for cell, n, part in self.cells:
            if cell.n != n:
                raise errors.overwritten(
                    what=f"[torch.{plain(part).dtype.title}Tensor {list(part.shape)}]",
                    name="IndexBackward0",
                    expected=n,
                    now=cell.n,
                    saved_at=where.at(*self.site),
                    written_at=where.at(cell.code, cell.lasti),
                )
        return tuple(slice(None) if p is None else p for p in self.parts)

    @property
    def single_mask(self) -> bool:
        """Whether nothing can be picked twice."""
        picks = [p for p in self.parts if p is not None]
        return len(picks) == 1 and picks[0].dtype.kind == "b"

    def integers(self) -> tuple:
        """The key with masks as integers, one array per dimension."""
        out: list = []
        for k in self.key():
            out += k.nonzero() if not isinstance(k, slice) and k.dtype.kind == "b" else [k]
        return tuple(out)

    def strides(self, x: Array, ndim: int) -> list[tuple]:
        """Strides of what is picked from, and of the indices, as dimensions of the result."""
        free: list[Any] = []
        picks: list[Any] = []
        d = first = last = 0
        for p in self.parts:
            n = p.ndim if p is not None and p.dtype.kind == "b" else 1
            if p is None:
                free.append((d, x.strides[d]))
            else:
                first, last = (d if not picks else first), d + n
                picks.append(p)
            d += n
        free += [(k, x.strides[k]) for k in range(d, x.ndim)]
        adjacent = all(not first < k < last for k, _ in free)
        lead = [s for k, s in free if adjacent and k < first]
        rest = [s for k, s in free if not adjacent or k >= first]
        width = ndim - len(free)
        out = [(*lead, *(0,) * width, *rest)]
        for p in picks:
            own = (0,) * (width - p.ndim) + p.strides if p.dtype.kind != "b" else (8,)
            out.append((*(0,) * len(lead), *own, *(0,) * len(rest)))
        return out

    def __repr__(self) -> str:
        return "(" + ", ".join(":" if p is None else str(p.shape) for p in self.parts) + ")"


def misfit(x: Array, keys: Keys, e: Exception) -> Exception:
    """PyTorch's error for index arrays that do not fit the tensor or each other."""
    d = 0
    for p in keys.parts:
        if p is not None and p.dtype.kind != "b" and p.size:
            n = x.shape[d]
            bad = p[(p < -n) | (p >= n)]
            if bad.size:
                return IndexError(
                    f"index {bad[0]} is out of bounds for dimension {d} with size {n}"
                )
        d += p.ndim if p is not None and p.dtype.kind == "b" else 1
    shapes: list[Any] = []
    for p in keys.parts:
        if p is not None:
            counts = [[int(p.sum())]] * p.ndim if p.dtype.kind == "b" else [list(p.shape)]
            shapes += counts
    if "broadcast" in str(e) and "index" in str(e):
        return IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with "
            f"shapes {', '.join(map(str, shapes))}"
        )
    return e


# ---- items -----------------------------------------------------------------------------------

WHAT = (
    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
    "indices (got {})"
)
DTYPES = "tensors used as indices must be long, int, byte or bool tensors"


def part(k: Any) -> Any:
    """One item of a key as int, slice, None, ..., bool, or a tensor with dimensions."""
    t = type(k)
    if t is int or t is slice or k is None or k is Ellipsis or t is bool:
        return k
    if isinstance(k, Tensor):
        return tensor_part(k)
    if isinstance(k, (np.generic, np.ndarray)):
        if not k.ndim and k.dtype.kind not in "biu":
            raise IndexError(
                WHAT.format(f"numpy.{k.dtype}" if isinstance(k, np.generic) else "numpy.ndarray")
            )
        return tensor_part(plain(np.asarray(k)))
    if isinstance(k, (list, tuple, range)):
        a = from_sequence(list(k), None)
        return plain(a if a.size and a.dtype.kind == "b" else a.astype(np.int64))
    if isinstance(k, str):
        raise TypeError(f"new(): invalid data type '{t.__name__}'")
    if hasattr(k, "__index__"):
        return operator.index(k)
    raise IndexError(WHAT.format(t.__name__))


def tensor_part(k: Tensor) -> Any:
    """A tensor in a key: 0-d ones are ints and bools."""
    a = k.array
    if a.ndim:
        return k
    if a.dtype.kind not in "biu":
        raise IndexError(DTYPES)
    return bool(a) if a.dtype.kind == "b" or a.dtype == np.uint8 else int(a)


def is_tuple(key: Any) -> bool:
    """Whether a list in brackets counts as a tuple: where it holds more than numbers."""
    if not isinstance(key, list) or len(key) >= 32:
        return False
    if not any(
        k is None or k is Ellipsis or isinstance(k, (slice, list, tuple, range, Tensor, np.ndarray))
        for k in key
    ):
        return False
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq].",
        UserWarning,
        stacklevel=4,
    )
    return True


def mask_or_integers(k: Tensor, shape: tuple, dim: int) -> Array:
    """The array of an index tensor, checked."""
    a = k.array
    if a.dtype == np.uint8:
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
            "torch.bool instead.",
            UserWarning,
            stacklevel=5,
        )
        a = a.astype(bool)
    if a.dtype.kind == "b":
        for j, n in enumerate(a.shape):
            if dim + j >= len(shape) or n != shape[dim + j]:
                raise IndexError(
                    f"The shape of the mask {list(a.shape)} at index {j} does not match the shape "
                    f"of the indexed tensor {list(shape)} at index {dim + j}"
                )
        return a
    if a.dtype.kind not in "iu" or a.itemsize < 4:
        raise IndexError(DTYPES)
    return a.astype(np.int64, copy=False)


def extent(k: Any) -> int:
    """How many dimensions of the tensor an item of a key is about."""
    if type(k) is int or type(k) is slice:
        return 1
    if type(k) in KINDS:
        return k.array.ndim if k.array.dtype.kind == "b" or k.array.dtype == np.uint8 else 1
    return 0


def keys_of(input: Tensor, indices: Any) -> Keys:
    """The keys of index_put: a tuple of tensors, one after the other."""
    ndim, shape, d = input.array.ndim, input.array.shape, 0
    parts: list = []
    cells = []
    for i, k in enumerate(indices):
        if not isinstance(k, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(k).__name__}"
            )
        if not (k.array.ndim == 0 and k.array.dtype.kind == "b") and d >= ndim:
            raise IndexError(
                f"too many indices for tensor of dimension {ndim} (got {len(indices)})"
            )
        a = mask_or_integers(k, shape, d)
        cells += [(version_of(k), a)] if a is k.array else []
        parts.append(a)
        d += a.ndim if a.dtype.kind == "b" else 1
    if not parts:
        raise RuntimeError("index_put() needs at least one index tensor")
    return Keys(parts, cells, MODE.get().site or (None, 0))
