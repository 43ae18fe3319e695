"""torch.cuda of a machine without GPUs: scripts may ask, and are told that there is none.

Seeding, emptying caches and counting memory do nothing; whatever needs a GPU is an error.
"""

from __future__ import annotations

import sys
from typing import Any

from sapwood._core.device import no_such_device
from sapwood._names import missing
from sapwood._ops.legacy import CUDA_TYPES as _TYPES


def is_available() -> bool:
    """False: sapwood computes on the CPU."""
    return False


def device_count() -> int:
    """0: sapwood computes on the CPU."""
    return 0


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU."""
    return False


def get_arch_list() -> list[str]:
    """Empty: there is no GPU."""
    return []


def manual_seed(seed: int) -> None:
    """Does nothing, as there is no GPU to seed."""


def manual_seed_all(seed: int) -> None:
    """Does nothing, as there is no GPU to seed."""


def seed() -> None:
    """Does nothing, as there is no GPU to seed."""


def seed_all() -> None:
    """Does nothing, as there is no GPU to seed."""


def get_rng_state_all() -> list:
    """Empty: there is no GPU."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Does nothing, as there is no GPU."""


def synchronize(device: Any = None) -> None:
    """Does nothing: every operation has finished when it returns."""


def empty_cache() -> None:
    """Does nothing, as there is no GPU memory."""


def ipc_collect() -> None:
    """Does nothing, as there is no GPU memory."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Does nothing, as there is no GPU memory."""


def reset_max_memory_allocated(device: Any = None) -> None:
    """Does nothing, as there is no GPU memory."""


def memory_allocated(device: Any = None) -> int:
    """0 bytes of GPU memory."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0 bytes of GPU memory."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """0 bytes of GPU memory."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """0 bytes of GPU memory."""
    return 0


globals().update({t.__name__: t for t in _TYPES.values()})
# PyTorch has these; each needs a GPU.
_NEED_GPU = frozenset(
    (
        "BFloat16Storage",
        "CUDAGraph",
        "Event",
        "ExternalStream",
        "Stream",
        "StreamContext",
        "amp",
        "caching_allocator_alloc",
        "can_device_access_peer",
        "clock_rate",
        "comm",
        "current_blas_handle",
        "current_device",
        "current_stream",
        "default_stream",
        "device",
        "device_of",
        "get_device_capability",
        "get_device_name",
        "get_device_properties",
        "get_rng_state",
        "graph",
        "graphs",
        "init",
        "initial_seed",
        "jiterator",
        "list_gpu_processes",
        "make_graphed_callables",
        "mem_get_info",
        "memory",
        "memory_cached",
        "memory_snapshot",
        "memory_stats",
        "memory_summary",
        "nccl",
        "nvtx",
        "power_draw",
        "profiler",
        "set_device",
        "set_per_process_memory_fraction",
        "set_rng_state",
        "set_stream",
        "set_sync_debug_mode",
        "stream",
        "temperature",
        "utilization",
    )
)


def __getattr__(name: str) -> Any:
    if name not in _NEED_GPU:
        raise AttributeError(missing(sys.modules[__name__], name), name=name, obj=None)

    def refuse(*args: Any, **kwargs: Any) -> Any:
        """Needs a GPU."""
        raise RuntimeError(f"cuda.{name}: {no_such_device('cuda')}")

    refuse.__name__ = name
    return refuse
