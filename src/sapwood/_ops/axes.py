"""Dimension arguments: negative ones counted from the end, PyTorch's errors for wrong ones."""

from __future__ import annotations

import operator
from typing import Any


def axis(dim: Any, ndim: int) -> int:
    """One dimension as a number in [0, ndim); a 0-d tensor counts as having one."""
    n = max(ndim, 1)
    try:
        d = operator.index(dim)
    except TypeError:
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}") from None
    if not -n <= d < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})"
        )
    return d + n if d < 0 else d


def axes(dims: Any, ndim: int) -> tuple[int, ...]:
    """Several dimensions; None or none given means all of them."""
    if dims is None:
        return tuple(range(ndim))
    if not isinstance(dims, (tuple, list)):
        dims = (dims,)
    found = tuple(axis(d, ndim) for d in dims)
    if not found:
        return tuple(range(ndim))
    if len(set(found)) != len(found):
        double = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {double} appears multiple times in the list of dims")
    return tuple(d for d in found if d < ndim)


def flat(items: tuple) -> tuple:
    """`f(2, 3)` and `f((2, 3))` alike."""
    if len(items) == 1 and isinstance(items[0], (tuple, list)):
        return tuple(items[0])
    return tuple(items)


def sizes(items: tuple, name: str) -> tuple[int, ...]:
    """Sizes as integers."""
    out = []
    for n in flat(items):
        n = n.item() if hasattr(n, "item") else n
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(
                f"{name}(): argument 'size' must be tuple of ints, but found element of type "
                f"{type(n).__name__}"
            )
        out.append(operator.index(n))
    return tuple(out)


def infer(shape: tuple[int, ...], total: int) -> tuple[int, ...]:
    """A shape whose -1 is replaced by what fits `total` elements."""
    bad = RuntimeError(f"shape '{list(shape)}' is invalid for input of size {total}")
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(n < -1 for n in shape):
        raise RuntimeError(f"invalid shape dimension {min(shape)}")
    known = 1
    for n in shape:
        known *= 1 if n == -1 else n
    if -1 in shape:
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
                "unspecified dimension size -1 can be any value and is ambiguous"
            ) if total == 0 else bad
        if total % known:
            raise bad
        return tuple(total // known if n == -1 else n for n in shape)
    if known != total:
        raise bad
    return shape
