"""sapwood: a define-by-run autograd engine with PyTorch's names, in which everything can be seen.

`import sapwood as torch`. Public names only; the machine is in `_core`, the table in `_ops`.
Functions and methods of tensors come from the table. Rare submodules load when they are used.
"""

# ruff: noqa: F401 - names are imported here for others to use

from math import e, inf, nan, pi

from sapwood import _names, _ops
from sapwood._core import dtype as _dtype
from sapwood._core.device import ELSEWHERE_LAYOUTS as _LAYOUTS
from sapwood._core.device import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from sapwood._core.dtype import dtype
from sapwood._core.limits import finfo, iinfo
from sapwood._core.size import Size
from sapwood._core.tensor import Tensor
from sapwood._settings import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    get_num_threads,
    is_deterministic_algorithms_warn_only_enabled,
    set_default_device,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
    set_warn_always,
    use_deterministic_algorithms,
)

__version__ = "0.1.0"
newaxis = None

# First the table: `autograd` and everything after it are written with its functions.
_functions = _ops.load()
globals().update(_functions | _LAYOUTS)

from sapwood import autograd  # noqa: E402
from sapwood._ops.random import Generator, default_generator  # noqa: E402
from sapwood.autograd import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from sapwood.autograd.checked import checked  # noqa: E402
from sapwood.look import graph  # noqa: E402

# Last the dtypes, whose names (bool, float, int) hide Python's from here on.
globals().update({_d.name: _d for _d in _dtype.ALL} | _dtype.ALIASES)
__getattr__ = _names.late(
    __name__,
    (
        "accelerator",
        "backends",
        "cuda",
        "fft",
        "func",
        "linalg",
        "look",
        "mps",
        "nn",
        "optim",
        "random",
        "special",
        "testing",
        "types",
        "utils",
        "version",
        "xpu",
    ),
)
__all__ = [_n for _n in globals() if not _n.startswith("_")]
