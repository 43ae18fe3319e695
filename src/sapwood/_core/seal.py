"""Fingerprints of saved values, inside `sapwood.checked()`.

A write through NumPy or `.data` counts no version. A `Sealed` stands where the version of a saved
value stands; when backward compares the count, it compares the content too.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from sapwood._core.op import FIXED, Version


def fingerprint(a: np.ndarray) -> int:
    """A checksum of the elements, whatever their layout."""
    return zlib.crc32(np.ascontiguousarray(a).view(np.uint8).data if a.size else b"")


class Sealed(Version):
    """The version of a saved value together with a fingerprint of its content."""

    __slots__ = ("array", "cell", "print")

    def __init__(self, array: np.ndarray, cell: Version) -> None:
        self.array, self.cell = array, cell
        self.print = fingerprint(array)

    @property
    def n(self) -> int:  # type: ignore[override]
        """The count of writes; -1 where the content changed without one."""
        return self.cell.n if fingerprint(self.array) == self.print else -1

    @property
    def code(self) -> Any:  # type: ignore[override]
        """Where the last counted write happened."""
        return self.cell.code

    @property
    def lasti(self) -> int:  # type: ignore[override]
        """Where the last counted write happened."""
        return self.cell.lasti


def seal(flat: Any) -> list:
    """The (value, version, count) triples of a node with every array sealed."""
    sealed = list(flat)
    for i in range(0, len(sealed), 3):
        value, cell = sealed[i], sealed[i + 1]
        if isinstance(value, np.ndarray) and value.dtype != object and cell is not FIXED:
            cell = cell.cell if type(cell) is Sealed else cell
            sealed[i + 1] = Sealed(value, cell)
    return sealed
