"""torch.accelerator: there is none."""

from __future__ import annotations

from typing import Any

from sapwood._names import late as _late


def is_available() -> bool:
    """False: sapwood computes on the CPU."""
    return False


def device_count() -> int:
    """0: sapwood computes on the CPU."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None: sapwood computes on the CPU."""
    return


def synchronize(device: Any = None) -> None:
    """Does nothing: every operation has finished when it returns."""


def empty_cache() -> None:
    """Does nothing, as there is no memory apart from the computer's."""


__getattr__ = _late(__name__)
