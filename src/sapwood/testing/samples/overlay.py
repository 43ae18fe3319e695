"""Samples of the operations that only the reverse pass and in-place writes use."""

from __future__ import annotations

import numpy as np

from sapwood._core.door import TABLE
from sapwood.testing.sample import Sample, f, sample

F4, F8 = np.dtype("f4"), np.dtype("f8")


def private(*args: object) -> Sample:
    """A sample of an operation that PyTorch does not have."""
    return sample(*args, torch="")


SAMPLES = {
    "_fit": [
        private(f(2, 3), (3,), F8),
        private(f(2, 3), (2, 1), F8),
        private(f(2, 3), (), F8),
        private(f(2, 3)[::-1], (1, 3), F8),
        private(f(0, 3), (1, 3), F8),
        private(f(2, 3), (2, 3), F4),
    ],
    "_spread": [
        private(f(3), (2, 3), F8),
        private(f(2, 1), (2, 3), F8),
        private(f(), (2, 3), F8),
        private(f(1, 3), (0, 3), F8),
        private(f(3), (3,), F4),
    ],
}

if "select" in TABLE:
    STEP = (TABLE["select"], (0, 1))
    SAMPLES["_overlay"] = [
        private(f(3, 4), f(4), (STEP,), None),
        private(f(3, 4), f(4)[::-1], (STEP,), None),
    ]
