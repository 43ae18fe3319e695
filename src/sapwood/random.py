"""torch.random: the default generator, and `fork_rng`, which puts it back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sapwood._ops.random import Generator as Generator
from sapwood._ops.random import default_generator as default_generator
from sapwood._ops.random import get_rng_state as get_rng_state
from sapwood._ops.random import initial_seed as initial_seed
from sapwood._ops.random import manual_seed as manual_seed
from sapwood._ops.random import seed as seed
from sapwood._ops.random import set_rng_state as set_rng_state


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, *_: Any, **__: Any) -> Iterator[None]:
    """Draw inside a `with` block without changing what is drawn after it."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
