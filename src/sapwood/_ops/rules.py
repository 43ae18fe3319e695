"""Small helpers that rules share."""

from __future__ import annotations

from typing import Any

from sapwood._core.door import TABLE
from sapwood._core.tensor import KINDS

NUMBERS = frozenset({int, float, bool})


def cj(v: Any) -> Any:
    """The complex conjugate inside rules: real values (numbers, arrays, tensors) pass untouched."""
    t = type(v)
    if t in NUMBERS:
        return v
    if t is complex:
        return v.conjugate()
    if (v.array if t in KINDS else v).dtype.kind != "c":
        return v
    return TABLE["conj"].door(v)
