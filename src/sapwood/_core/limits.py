"""finfo and iinfo: what numbers a dtype can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt

# NumPy leaves bfloat16 to its package; these are facts of the format.
BFLOAT16 = {
    "eps": 2.0**-7,
    "max": (2.0 - 2.0**-7) * 2.0**127,
    "smallest_normal": 2.0**-126,
    "resolution": 0.01,
}


class Info:
    """What finfo and iinfo have in common: equality, hash and the dtype's name."""

    bits: int
    dtype: str
    min: Any
    max: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))


class finfo(Info):  # noqa: N801 (PyTorch's name)
    """The limits of a floating dtype: bits, eps, min, max, tiny, smallest_normal, resolution."""

    def __init__(self, type: Any = None) -> None:
        kind = dt.default() if type is None else dt.as_dtype(type, "finfo")
        if kind.category < dt.FLOAT:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'{kind}'"
            )
        kind = kind.to_real()
        self.dtype = kind.name
        self.bits = 8 * kind.itemsize
        if kind is dt.bfloat16:
            facts = BFLOAT16
        else:
            info = np.finfo(dt.numpy_of(kind))
            facts = {
                "eps": float(info.eps),
                "max": float(info.max),
                "smallest_normal": float(info.smallest_normal),
                "resolution": float(f"1e-{info.precision}"),
            }
        self.eps, self.max, self.resolution = facts["eps"], facts["max"], facts["resolution"]
        self.min = -self.max
        self.smallest_normal = self.tiny = facts["smallest_normal"]

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        shown = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({shown}, dtype={self.dtype})"


class iinfo(Info):  # noqa: N801 (PyTorch's name)
    """The limits of an integer dtype: bits, min, max."""

    def __init__(self, type: Any) -> None:
        kind = dt.as_dtype(type, "iinfo")
        if kind is dt.bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if kind.category != dt.INT:
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{kind}'"
            )
        info = np.iinfo(dt.numpy_of(kind))
        self.dtype = kind.name
        self.bits, self.min, self.max = int(info.bits), int(info.min), int(info.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
