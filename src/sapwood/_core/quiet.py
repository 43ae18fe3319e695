"""NumPy without its floating point warnings, as PyTorch has it: inf and NaN are values.

`np.errstate` costs more than a small multiply. NumPy keeps its error state in a context variable;
setting and resetting that is about 80 ns and leaves the user's own NumPy settings alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    IGNORE = _make_extobj(all="ignore")
    silence = _extobj_contextvar.set
    restore = _extobj_contextvar.reset
    current = _extobj_contextvar.get
except ImportError:  # pragma: no cover - a NumPy with another inside
    IGNORE = {"all": "ignore"}  # type: ignore[assignment]

    current = np.geterr  # type: ignore[assignment]

    def silence(state: Any) -> Any:
        """Set NumPy's error state; returns what `restore` needs."""
        return np.seterr(**state)

    def restore(old: Any) -> None:
        """Put NumPy's error state back."""
        np.seterr(**old)


def quiet(op: Any, xs: Any, attrs: tuple) -> Any:
    """Run an op's NumPy function on operands without warnings."""
    token = silence(IGNORE)
    try:
        return op.run(xs, *attrs) if op.variadic else op.run(*xs, *attrs)
    finally:
        restore(token)
