"""Samples of NumPy's functions on tensors. PyTorch answers in another way, with the same values."""

from __future__ import annotations

import numpy as np

from sapwood.testing.sample import Sample, f, g, sample


def ufunc(fn: np.ufunc, *args: object) -> Sample:
    """A sample of NumPy calling the first tensor's method."""
    return sample(args[0], fn, "__call__", *args, method=True, torch="")


SAMPLES = {
    "__array_ufunc__": [
        ufunc(np.exp, f(3)),
        ufunc(np.multiply, f(2, 3), g(3)),
        ufunc(np.power, f(3, low=0.3), 2),
        ufunc(np.greater, f(3), 0.5),
    ]
}
