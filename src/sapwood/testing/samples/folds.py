"""Samples of what folds share: the way back over reduced dimensions."""

from __future__ import annotations

from sapwood.testing.sample import f
from sapwood.testing.samples.elementwise import private

SAMPLES = {
    "_unreduce": [
        private(f(), (2, 3), None, False),
        private(f(1, 1), (2, 3), None, True),
        private(f(2, 4), (2, 3, 4), (1,), False),
        private(f(2, 1, 4), (2, 3, 4), (1,), True),
        private(f(4, 2).T, (2, 3, 4), (1,), False),
        private(f(0), (0, 3), (1,), False),
        private(f(3), (0, 3), (0,), False),
    ]
}
