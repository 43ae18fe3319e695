"""The format of a sample: one call of an operation, with arrays that become tensors.

`samples/<kind>.py` holds, next to each other, the samples of one file of the table: a dict
SAMPLES from the operation's name to a list. A missing name fails the suite.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sample:
    """One call. ndarrays (also inside lists) become tensors; floating float64 ones need grad."""

    args: tuple
    kwargs: dict[str, Any] = field(default_factory=dict)
    grad: bool = True  # the derivative exists and is continuous here: check it
    torch: str | None = None  # PyTorch's name where it differs: "special.digamma"
    method: bool = False  # call as args[0].name(*args[1:])


def sample(
    *args: Any, grad: bool = True, torch: str | None = None, method: bool = False, **kwargs: Any
) -> Sample:
    """A sample of a call with these arguments."""
    return Sample(args, kwargs, grad, torch, method)


def f(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = "float64") -> np.ndarray:
    """Reproducible random values in [low, high), different for different arguments."""
    seed = zlib.crc32(repr((shape, low, high)).encode())
    values = np.random.default_rng(seed).uniform(low, high, shape)
    return values.astype(dtype)


def g(*shape: int, dtype: Any = "float64") -> np.ndarray:
    """As `f`, with other values: for a second operand of the same shape."""
    return f(*shape, low=-1.9, high=2.1, dtype=dtype)


def i(*shape: int, low: int = 0, high: int = 5, dtype: Any = "int64") -> np.ndarray:
    """Reproducible random integers in [low, high)."""
    seed = zlib.crc32(repr((shape, low, high, "i")).encode())
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)
