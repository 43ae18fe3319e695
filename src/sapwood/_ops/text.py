"""How a tensor prints: what `repr`, `str` and `format` hand over to `_core.printing`."""

from __future__ import annotations

from typing import Any

from sapwood._core import dtype as dt
from sapwood._core.border import NAMES
from sapwood._core.printing import (
    format_array,
    format_spec,
    get_printoptions,
    printoptions,
    set_printoptions,
)
from sapwood._core.tensor import Tensor


def short_name(t: Tensor) -> str | None:
    """`MulBackward0`, `CopySlices`: the node's name as a text shows it; None for leaves."""
    try:
        node = t.grad_fn
    except RuntimeError:  # a view whose base was written in a way that it cannot follow
        return "Invalid"
    return None if node is None else node.name().rsplit("::", 1)[-1]


def tensor_text(self: Tensor, *, tensor_contents: Any = None) -> str:
    """The text of the tensor, character for character PyTorch's."""
    kind, maker = type(self), short_name(self)  # which brings the node of a view up to date
    plain_kind = kind is Tensor or getattr(kind, "is_parameter", False)
    return format_array(
        self.array,
        dtype_name=self.dtype.name,
        default_dtype_name=dt.default().name,
        requires_grad=self.node is not None,
        grad_fn=maker,
        prefix="tensor(" if plain_kind else f"{kind.__name__}(",
    )


def formatted(self: Tensor, spec: str) -> str:
    """`f"{t:.3f}"` formats the number of a 0-d tensor; `f"{t}"` shows just that, too."""
    if self.array.ndim == 0 or spec:
        return format_spec(self.array, spec)
    return tensor_text(self)


Tensor.__repr__ = Tensor.__str__ = tensor_text  # type: ignore[assignment]
Tensor.__format__ = formatted  # type: ignore[assignment]
for _fn in (set_printoptions, get_printoptions, printoptions):
    NAMES[_fn.__name__] = _fn
