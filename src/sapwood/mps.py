"""torch.mps: there are no Apple GPUs here."""

from __future__ import annotations

from sapwood._names import late as _late


def is_available() -> bool:
    """False: sapwood computes on the CPU."""
    return False


def device_count() -> int:
    """0: sapwood computes on the CPU."""
    return 0


def manual_seed(seed: int) -> None:
    """Does nothing, as there is no GPU to seed."""


def synchronize(device: object = None) -> None:
    """Does nothing: every operation has finished when it returns."""


def empty_cache() -> None:
    """Does nothing, as there is no GPU memory."""


__getattr__ = _late(__name__)
