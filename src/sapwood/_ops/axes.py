"""Dimension and size arguments: negative ones from the end, PyTorch's errors for wrong ones."""

from __future__ import annotations

import operator
from typing import Any

INT = frozenset({int})


def whole(value: Any, what: str) -> int:
    """An integer argument: ints, NumPy's integers, integer tensors with one element; no floats."""
    if type(value) is int:
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"argument '{what}' must be int, not {type(value).__name__}") from None


def axis(dim: Any, ndim: int) -> int:
    """One dimension as a number in [0, ndim); a 0-d tensor counts as having one."""
    d = whole(dim, "dim")
    n = ndim or 1
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
    found = different(dims, ndim)
    return tuple(d for d in found if d < ndim) if found else tuple(range(ndim))


def different(dims: Any, ndim: int) -> tuple[int, ...]:
    """Several dimensions, none of them twice."""
    found = tuple(axis(d, ndim) for d in dims)
    if len(set(found)) != len(found):
        double = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {double} appears multiple times in the list of dims")
    return found


def flat(items: tuple) -> tuple:
    """`f(2, 3)` and `f((2, 3))` alike."""
    if len(items) == 1 and isinstance(items[0], (tuple, list)):
        return tuple(items[0])
    return tuple(items)


def named(items: tuple, keywords: dict | None, name: str, what: str) -> tuple:
    """The items of `f(2, 3)`, `f((2, 3))` or `f(what=(2, 3))`."""
    if not keywords and items and (type(items[0]) is int or type(items[0]) is tuple):
        first: Any = items[0]
        return first if len(items) == 1 and type(first) is tuple else items
    if keywords:
        items = (*items, *(keywords.pop(k) for k in (what,) if k in keywords))
        if keywords or len(items) != 1:
            raise TypeError(
                f"{name}() got an unexpected keyword argument '{next(iter(keywords), what)}'"
            )
    if not items:
        raise TypeError(f'{name}() missing 1 required positional arguments: "{what}"')
    if len(items) == 1:
        first = items[0]
        if isinstance(first, (tuple, list)):
            return tuple(first)
        if not hasattr(first, "__index__"):
            raise TypeError(
                f"{name}(): argument '{what}' (position 1) must be tuple of ints, not "
                f"{type(first).__name__}"
            )
    return items


def sizes(items: tuple, name: str, what: str = "size") -> tuple[int, ...]:
    """Sizes as integers."""
    items = flat(items)
    if INT.issuperset(map(type, items)):
        return items
    out = []
    for i, n in enumerate(items):
        try:
            out.append(operator.index(n))
        except TypeError:
            raise TypeError(
                f"{name}(): argument '{what}' failed to unpack the object at pos {i + 1} "
                "with error "
                f'"type must be tuple of ints,but got {type(n).__name__}"'
            ) from None
    return tuple(out)


def infer(shape: tuple[int, ...], total: int) -> tuple[int, ...]:
    """A shape whose -1 is replaced by what fits `total` elements."""
    known, free = 1, -1
    for i, n in enumerate(shape):
        if n >= 0:
            known *= n
        elif n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        elif free >= 0:
            raise RuntimeError("only one dimension can be inferred")
        else:
            free = i
    if free < 0 and known == total:
        return shape
    if free < 0 or (total % known if known else total):
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {total}")
    if not known:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    return (*shape[:free], total // known, *shape[free + 1 :])
