"""Variable: what tensors with a gradient were called before PyTorch 0.4."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.firing import CURRENT
from sapwood._core.tensor import Tensor, plain


class Engine:
    """What scripts reach as Variable._execution_engine."""

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Call callback() at the end of the backward that runs now, when every .grad is written."""
        run = CURRENT.get()
        if run is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        run.callbacks.append(callback)


class VariableType(type):
    """Every tensor is an instance of Variable."""

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, Tensor)


class Variable(metaclass=VariableType):
    """Variable(x, requires_grad=True): a new leaf that shares the elements of x."""

    _execution_engine = Engine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        """A leaf around the elements of `data`."""
        if data is None:
            data = plain(np.empty(0, dt.numpy_of(dt.default())))
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                stacklevel=2,
            )
        leaf = data.detach()
        return leaf.requires_grad_() if requires_grad else leaf
