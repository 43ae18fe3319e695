"""cuDNN's switches: accepted and remembered, without effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False: there is no cuDNN."""
    return False


def version() -> int | None:
    """None: there is no cuDNN."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """False: there is no cuDNN."""
    return False


@contextmanager
def flags(**switches: Any) -> Iterator[None]:
    """Set switches inside a `with` block."""
    space = globals()
    before = {name: space[name] for name in switches}
    space.update(switches)
    try:
        yield
    finally:
        space.update(before)
