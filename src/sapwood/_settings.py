"""Process-wide switches that scripts set at their top; most have one position here."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

_deterministic = {"mode": False, "warn_only": False}
_precision = ["highest"]
_threads: list[int] = []  # what set_num_threads was given last


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted and remembered: sapwood's algorithms are deterministic anyway."""
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    _deterministic.update(mode=mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms was given last."""
    return _deterministic["mode"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What use_deterministic_algorithms was given last for warn_only."""
    return _deterministic["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """0, 1, 2 or "default", "warn", "error": another form of use_deterministic_algorithms."""
    words = {"default": 0, "warn": 1, "error": 2}
    level = words.get(debug_mode, debug_mode) if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(
            "invalid value of debug_mode, expected 0, 1, 2, or `default`, `warn`, `error`, but got "
            f"{debug_mode!r}"
        )
    _deterministic.update(mode=level > 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: see set_deterministic_debug_mode."""
    return 0 if not _deterministic["mode"] else 1 if _deterministic["warn_only"] else 2


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted and remembered: products are always computed in full precision."""
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current "
            "setFloat32MatmulPrecision call has no effect.",
            stacklevel=2,
        )
    else:
        _precision[0] = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was given last."""
    return _precision[0]


def set_flush_denormal(mode: bool) -> bool:
    """False: NumPy cannot flush denormal numbers to zero."""
    return False


def set_warn_always(b: bool) -> None:
    """Accepted; which warnings are shown is up to Python's `warnings`."""


def set_default_device(device: Any) -> None:
    """Accepts the CPU and nothing else."""
    from sapwood._core.device import check_device

    check_device(device)


# ---- threads ----------------------------------------------------------------------------------


def blas() -> Callable[[str], Any] | None:
    """Looks up a function of the OpenBLAS that NumPy brought along; None where it has another."""
    folder = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs")
    inside = os.path.join(os.path.dirname(np.__file__), ".dylibs")
    for place in (folder, inside):
        for file in sorted(os.listdir(place)) if os.path.isdir(place) else ():
            if "openblas" in file:
                library = ctypes.CDLL(os.path.join(place, file))  # loaded already: the same one
                return lambda name: find(library, name)
    return None


def find(library: Any, name: str) -> Any:
    """An OpenBLAS function under any of the names that builds give it."""
    for form in (f"scipy_{name}64_", f"scipy_{name}", f"{name}64_", name):
        found = getattr(library, form, None)
        if found is not None:
            return found
    return None


def set_num_threads(num: int) -> None:
    """How many threads matrix products may use (NumPy's OpenBLAS)."""
    if not isinstance(num, int) or isinstance(num, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(num).__name__}")
    if num <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    lookup = blas()
    setter = lookup("openblas_set_num_threads") if lookup else None
    if setter is not None:
        setter(ctypes.c_int(num))
    _threads[:] = [num]


def get_num_threads() -> int:
    """How many threads matrix products may use."""
    lookup = blas()
    getter = lookup("openblas_get_num_threads") if lookup else None
    if getter is not None:
        return int(getter())
    return _threads[0] if _threads else os.cpu_count() or 1


def set_num_interop_threads(num: int) -> None:
    """Accepted: sapwood runs one operation at a time."""


def get_num_interop_threads() -> int:
    """1: sapwood runs one operation at a time."""
    return 1
