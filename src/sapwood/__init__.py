"""sapwood: a define-by-run autograd engine with PyTorch's names, in which everything can be seen.

`import sapwood as torch`. Public names only; the machine is in `_core`, the table in `_ops`.
"""

import importlib as _importlib

from sapwood._core.border import FUNCTIONS as _FUNCTIONS
from sapwood._core.door import TABLE as _TABLE
from sapwood._core.tensor import Tensor as Tensor

__version__ = "0.1.0"
_PARTS = ("elementwise", "unary", "compare", "select", "reduce", "scan", "order", "movement",
          "views", "index", "scatter", "linear", "make", "random")
for _part in _PARTS:
    try:
        _importlib.import_module(f"sapwood._ops.{_part}")
    except ModuleNotFoundError as _e:
        if _e.name != f"sapwood._ops.{_part}":
            raise
from sapwood._ops import attach as _attach  # noqa: E402
from sapwood._ops import overlay as _overlay  # noqa: E402

_overlay.connect(_TABLE["add"].door)
_attach.attach()
globals().update({_n: _op.door for _n, _op in _TABLE.items() if not _n.startswith("_")})
globals().update(_FUNCTIONS)
from sapwood import autograd as autograd  # noqa: E402
from sapwood.autograd import enable_grad as enable_grad  # noqa: E402
from sapwood.autograd import inference_mode as inference_mode  # noqa: E402
from sapwood.autograd import is_grad_enabled as is_grad_enabled  # noqa: E402
from sapwood.autograd import no_grad as no_grad  # noqa: E402
from sapwood.autograd import set_grad_enabled as set_grad_enabled  # noqa: E402
