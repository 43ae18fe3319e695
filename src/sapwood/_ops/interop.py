"""NumPy's functions on tensors: np.exp(t), np.multiply(array, t), array * t, np.float32(2) * t.

NumPy asks the tensor (`__array_ufunc__`), and the tensor answers with the operation of the table,
so that gradients flow. Arrays count as tensors without gradient, NumPy's scalars as numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import where
from sapwood._core.border import FUNCTIONS, METHODS, border
from sapwood._core.door import TABLE
from sapwood._core.tensor import Tensor

OURS = {  # NumPy's names where they differ
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "negative": "neg",
    "power": "pow",
    "absolute": "abs",
    "fabs": "abs",
    "mod": "remainder",
    "conjugate": "conj",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    "rint": "round",
}
REDUCE = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "amax",
    "minimum": "amin",
    "logical_and": "all",
    "logical_or": "any",
}


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Route a NumPy function to the operation of the table."""
    name = ufunc.__name__
    if method != "__call__":
        instead = f": use {REDUCE[name]}()" if method == "reduce" and name in REDUCE else ""
        raise TypeError(
            f"np.{name}.{method} does not work on tensors{instead}, or on t.detach().numpy(). "
            f"At {where.here()}"
        )
    usual = {"out": None, "where": True, "dtype": None}
    given = sorted(k for k, v in kwargs.items() if k not in usual or v is not usual[k])
    if given == ["out"]:
        raise TypeError(
            f"np.{name}(): a tensor's result cannot be written into an array (out=, array += t): "
            f"write array = array + t, or use t.detach().numpy(). At {where.here()}"
        )
    if given:
        raise TypeError(
            f"np.{name}() on tensors takes no {', '.join(given)}=: use t.detach().numpy(). "
            f"At {where.here()}"
        )
    ours = OURS.get(name, name)
    door = TABLE[ours].door if ours in TABLE else FUNCTIONS.get(ours)
    if door is None:
        raise TypeError(
            f"np.{name}() has no counterpart for tensors: use t.detach().numpy(). At {where.here()}"
        )
    return door(*(x.item() if isinstance(x, np.generic) else x for x in inputs))


METHODS["__array_ufunc__"] = border(array_ufunc)
