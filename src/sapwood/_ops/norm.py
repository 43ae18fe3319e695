"""FOLD: vector norms and distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import function
from sapwood._core.door import into, primitive
from sapwood._core.op import FOLD
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.compare import eq, logical_or, where
from sapwood._ops.folds import no_integers, over, restored, total
from sapwood._ops.reduce import ties
from sapwood._ops.unary import abs_, neg, sgn

BLOCK = 4096


def squares(line: np.ndarray) -> Any:
    """The sum of squares by BLAS, in blocks: its own sum of many is not accurate."""
    m = len(line) // BLOCK
    if m < 2:
        return np.dot(line, line)
    rows = line[: m * BLOCK].reshape(m, BLOCK)
    return np.add.reduce(np.vecdot(rows, rows)) + np.dot(line[m * BLOCK :], line[m * BLOCK :])


def norm_run(a: np.ndarray, ord: float, dim: tuple | None, keepdim: bool) -> Any:
    """The norm of that order of the elements along dimensions."""
    if ord == 2 and dim is None and not keepdim and a.flags.forc and a.dtype.kind == "f":
        return np.sqrt(squares(a.reshape(-1, order="A")))
    if ord == 2:
        square = a.real**2 + a.imag**2 if a.dtype.kind == "c" else a * a
        return np.sqrt(total(square, dim, keepdim))
    size = np.abs(a)
    if ord == math.inf:
        return np.maximum.reduce(size, dim, keepdims=keepdim, initial=0)
    if ord == -math.inf:
        return np.minimum.reduce(size, dim, keepdims=keepdim)
    if ord == 0:
        return np.add.reduce(size != 0, dim, size.dtype, keepdims=keepdim)
    if ord == 1:
        return total(size, dim, keepdim)
    return np.power(total(size**ord, dim, keepdim), 1.0 / ord)


def norm_args(a: Any, ord: Any, dim: Any, keepdim: Any) -> tuple:
    """A number as order; the extremes of nothing are refused."""
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        raise TypeError(
            "linalg_vector_norm(): argument 'ord' (position 2) must be Number, not "
            f"{type(ord).__name__}"
        )
    found = over(a, None if isinstance(dim, (tuple, list)) and not dim else dim, keepdim)
    if not np.size(a) and (ord < 0 or ord == math.inf):
        what = f"linalg.vector_norm cannot compute the {float(ord):g} norm on "
        empty = [d for d in found[0] or () if not a.shape[d]]
        if found[0] is None:
            raise RuntimeError(
                f"{what}an empty tensor because the operation does not have an identity"
            )
        if empty:
            raise RuntimeError(
                f"{what}the dimension {empty[0]} because this dimension is empty and "
                "the operation does not have an identity"
            )
    return (float(ord), *found)


def norm_rule(
    g: Any, x: Any, out: Any, x_shape: tuple, ord: float, dim: tuple | None, keepdim: bool
) -> Any:
    """(|x| / norm)^(ord-1) sgn(x); 0 where x (ord < 1) or the norm is 0, as PyTorch has it."""
    if ord == 0:
        return None
    g, out = (restored(v, x_shape, dim, keepdim) for v in (g, out))
    if ord == 1:
        return g * sgn(x)
    if ord in (math.inf, -math.inf):
        return g * ties(abs_(x), out, dim, True, True) * sgn(x)
    scale = where(eq(out, 0), 1, out)
    if ord == 2:
        return g * (x / scale)
    ratio = abs_(x) / scale
    if ord < 1:  # a negative power of infinity is 0
        ratio = where(logical_or(eq(ratio, 0), eq(out, 0)), math.inf, ratio)
    return g * (ratio ** (ord - 1.0) * sgn(x))


vector_norm = primitive(
    "_vector_norm",
    "x; ord dim keepdim",
    kind=FOLD,
    run=norm_run,
    bind=norm_args,
    sig="input, ord=2, dim=None, keepdim=False",
    title="LinalgVectorNormBackward0",
    check=no_integers(
        "norm", "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}"
    ),
    grad=dict(x=norm_rule),
    doc="The norm of a vector, of any order, along dimensions.",
)


def same_or_wider(x: Tensor, dtype: Any) -> Tensor:
    """The operand in the dtype of the norm, which may not be narrower."""
    kind = dt.as_dtype(dtype, "norm")
    if kind.category < dt.FLOAT:
        raise RuntimeError(
            f"linalg.vector_norm: dtype should be floating point or complex, but got {kind.title}"
        )
    if dt.result([kind, x.dtype], [], []) is not kind:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({x.dtype.title}) should be convertible "
            f"without narrowing to the specified dtype ({kind.title})"
        )
    return x.to(kind)  # type: ignore[attr-defined]


@function
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Any = None,
    dtype: Any = None,
) -> Tensor:
    """The p-norm of all elements, or along dimensions; "fro" is the 2-norm."""
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(
            f'linalg.matrix_norm: Order {p} not supported. [norm] "nuc" needs '
            "singular values, which sapwood does not compute yet."
        )
    x = input if dtype is None else same_or_wider(input, dtype)
    result = vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim)
    return result if out is None else into(out, result, vector_norm.op, None)


def difference(x: np.ndarray, y: np.ndarray, p: float) -> Any:
    """The norm of x - y."""
    return norm_run(x - y, p, None, keepdim=False)


def dist_rule(g: Any, x: Any, y: Any, out: Any, p: float) -> Any:
    """The gradient of the first operand."""
    away = x - y
    shape = (away.array if type(away) in KINDS else away).shape
    return norm_rule(g, away, out, shape, p, None, keepdim=False)


dist = primitive(
    "dist",
    "x y; p",
    kind=FOLD,
    run=difference,
    sig="input, other, p=2",
    check=no_integers(
        "dist", "norm(): input dtype should be either floating point or complex. Got {} instead."
    ),
    bind=lambda x, y, p: (float(p),),
    grad=dict(x=dist_rule, y=lambda g, x, y, out, p: dist_rule(neg(g), x, y, out, p)),
    doc="The p-norm of input - other.",
)
