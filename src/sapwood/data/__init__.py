"""The data that ships with the package: handwritten digits. `digits.txt` names their makers.

Arrays are plain NumPy; nothing here knows of tensors.
"""

from __future__ import annotations

from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray


def load_digits() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Images (1797, 64) with values from 0 to 1, and labels (1797,) from 0 to 9."""
    with as_file(files(__name__) / "digits.npz") as path, np.load(path) as archive:
        images = archive["images"].astype(np.float32) / np.float32(16)
        return images, archive["labels"].astype(np.int64)
