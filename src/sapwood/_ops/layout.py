"""The order in memory of results of operands that are not row-major, as PyTorch chooses it.

Strides show: whether view() works on a result depends on them. The rule: dimensions keep the order
that the first operand with an opinion gives them; a stride of 0 is no opinion.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def before(a: int, b: int, shape: tuple, strides: list[tuple]) -> int:
    """Whether dimension a should lie closer together than b (-1), the other way (1), or either."""
    for one in strides:
        p, q = one[a], one[b]
        if p == 0 or q == 0:
            continue
        if p != q:
            return -1 if p < q else 1
        if shape[a] > shape[b]:
            return 1
    return 0


def memory_order(shape: tuple, strides: list[tuple]) -> list[int]:
    """The dimensions from the one whose neighbours lie closest to the outermost."""
    order = list(reversed(range(len(shape))))
    for i in range(1, len(order)):
        k = i
        for j in range(i - 1, -1, -1):
            way = before(order[j], order[k], shape, strides)
            if way > 0:
                order[j], order[k] = order[k], order[j]
                k = j
            elif way < 0:
                break
    return order


def empty_in_order(shape: tuple, dtype: Any, order: list[int]) -> np.ndarray:
    """Uninitialised memory whose dimensions lie in this order, the closest first."""
    outer = order[::-1]
    back = [0] * len(order)
    for place, d in enumerate(outer):
        back[d] = place
    return np.empty([shape[d] for d in outer], dtype).transpose(back)


def ordered(a: np.ndarray, strides: list[tuple]) -> np.ndarray:
    """The same elements in the order of memory that these operands ask for."""
    out = empty_in_order(a.shape, a.dtype, memory_order(a.shape, strides))
    if out.strides == a.strides and a.flags.owndata:
        return a
    out[...] = a
    return out
