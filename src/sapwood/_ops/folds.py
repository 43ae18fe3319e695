"""What all FOLDs share: which dimensions, the sum itself, and the way back over what was reduced.

The attributes `dim keepdim` of a fold are normalised: `dim` is None (all) or a tuple of numbers
in [0, ndim), `keepdim` a bool.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import MOVE
from sapwood._core.tensor import KINDS
from sapwood._ops.axes import axes

LONG, BLOCK = 512, 128  # sums of more elements across rows are made of sums of blocks


def over(a: Any, dim: Any, keepdim: Any = False) -> tuple:
    """The attributes of a fold: dimensions and keepdim."""
    if type(keepdim) is not bool:
        raise TypeError(f"argument 'keepdim' must be bool, not {type(keepdim).__name__}")
    if dim is None:
        return None, keepdim
    n = a.ndim if type(a) is np.ndarray else np.ndim(a)
    if type(dim) is int and -n <= dim < n:  # the usual case
        return (dim + n if dim < 0 else dim,), keepdim
    return axes(dim, n), keepdim


def kept(shape: tuple, dim: tuple | None) -> tuple:
    """The shape with reduced dimensions as 1."""
    return tuple(1 if dim is None or i in dim else n for i, n in enumerate(shape))


def count(shape: tuple, dim: tuple | None) -> int:
    """How many elements one result is made of."""
    return math.prod(shape) if dim is None else math.prod(shape[d] for d in dim)


def numbered(name: str) -> Callable:
    """A node's name: 0 for the overload without arguments, 1 for the one with dimensions."""
    return lambda node: f"{name}Backward{int(node.attrs[0] is not None or node.attrs[1])}"


# ---- dtypes ----------------------------------------------------------------------------------


def as_asked(a: Any, dtype: Any, name: str) -> np.dtype | None:
    """The NumPy dtype that dtype= means, None where it changes nothing."""
    if dtype is None:
        return None
    found = dt.numpy_of(dt.as_dtype(dtype, name))
    if found.kind in "biu":  # without dtype= they would be folded in int64
        return found
    return None if getattr(a, "dtype", None) == found else found


def widened(x: Any, dtype: Any, name: str) -> Any:
    """Half precision in the dtype that was asked for, which a fold would round its result to.

    Asked for integers: the operand without history, for there is no derivative.
    """
    kind = dt.as_dtype(dtype, name)
    if type(x) not in KINDS:
        return x
    if kind.category < dt.FLOAT:
        x = x.detach()
    return x.to(kind) if x.dtype in dt.LOW else x


def dtype_first(name: str) -> dict[str, Any]:
    """The fields of a record for `dtype=`, whose attribute is `as_asked`."""
    return {
        "prologue": f"if dtype is not None: input = widened(input, dtype, '{name}')",
        "env": {"widened": widened},
    }


def in_dtype(a: np.ndarray, dtype: np.dtype | None) -> np.ndarray:
    """The operand in the dtype that was asked for."""
    return a if dtype is None else a.astype(dtype)


def as_operand(v: Any, like: Any, dtype: Any) -> Any:
    """A gradient or operand in the dtype that PyTorch's rule computes in, for dtype= only."""
    if dtype is None:
        return v
    return v.to(dt.of(np.dtype(like))) if type(v) in KINDS else v.astype(like)


def no_integers(name: str, text: str = "") -> Callable[..., None]:
    """A check that refuses integers and booleans, with PyTorch's words or `text`."""
    text = text or (
        f"{name}(): could not infer output dtype. Input dtype must be either a "
        "floating point or complex dtype. Got: {}"
    )

    def check(common: dt.dtype, *values: Any) -> None:
        if common.category < dt.FLOAT:
            raise RuntimeError(text.format(common.title))

    return check


# ---- the sum ---------------------------------------------------------------------------------


def total(a: np.ndarray, dim: tuple | None, keepdim: bool) -> Any:
    """The sum; single precision stays accurate over many rows too, where NumPy adds one by one."""
    if dim is not None and a.dtype.char in "fF" and a.ndim > 1:
        for d in dim:
            if a.shape[d] > LONG and abs(a.strides[d]) > a.itemsize:
                a = blocks(a, d)
    return np.add.reduce(a, dim, keepdims=keepdim)


def blocks(a: np.ndarray, d: int) -> np.ndarray:
    """Partial sums along one dimension: as many as fit, then partial sums of these."""
    while a.shape[d] > LONG:
        m = a.shape[d] // BLOCK
        head = (slice(None),) * d
        first = a[(*head, slice(m * BLOCK))].reshape(*a.shape[:d], m, BLOCK, *a.shape[d + 1 :])
        rest = a[(*head, slice(m * BLOCK, None))]
        a = np.add.reduce(first, d + 1)
        if rest.shape[d]:
            a[(*head, slice(1))] += np.add.reduce(rest, d, keepdims=True)
    return a


# ---- the way back ----------------------------------------------------------------------------


def unreduce_run(g: np.ndarray, shape: tuple, dim: tuple | None, keepdim: bool) -> np.ndarray:
    """The reduced dimensions put back, each repeated without a copy."""
    if g.flags.c_contiguous and g.dtype.kind in "fc":  # the usual case, 8 times faster
        steps, k = [], 0
        for i in range(len(shape)):
            gone = dim is None or i in dim
            steps.append(0 if gone else g.strides[k])
            k += keepdim or not gone
        return np.ndarray(shape, g.dtype, g, 0, steps)
    return np.broadcast_to(g if keepdim else g.reshape(kept(shape, dim)), shape)


unreduce = primitive(
    "_unreduce",
    "x; shape dim keepdim",
    kind=MOVE,
    run=unreduce_run,
    dtype="keep",
    title="ExpandBackward0",
    grad=dict(x=lambda g, dim, keepdim: TABLE["sum"].door(g, dim, keepdim)),
    doc="A reduced value over the dimensions that it came from: the transpose of sum.",
)


def restored(v: Any, shape: tuple, dim: tuple | None, keepdim: bool) -> Any:
    """A reduced value with the reduced dimensions as 1: it broadcasts against what it came from."""
    return v if keepdim else v.reshape(kept(shape, dim))
