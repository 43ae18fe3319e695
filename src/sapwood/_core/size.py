"""The shape of a tensor: a tuple that prints as PyTorch's does."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

INT = frozenset({int})


def whole(n: Any, i: int) -> int:
    """An extent as an int, or PyTorch's error."""
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(
            f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')"
        ) from None


class Size(tuple):
    """A tuple of extents: torch.Size([2, 3])."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable = ()) -> Size:
        """A shape of integers."""
        found = tuple(sizes)
        if not INT.issuperset(map(type, found)):
            found = tuple(whole(n, i) for i, n in enumerate(found))
        return tuple.__new__(cls, found)

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Any:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, other: Any) -> Any:
        return Size(tuple.__mul__(self, other))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple:
        return Size, (tuple(self),)
