"""Norms and products under the names of torch.linalg. Decompositions are not here yet."""

from __future__ import annotations

from typing import Any

from sapwood import _names
from sapwood._core.border import border
from sapwood._core.tensor import Tensor
from sapwood._ops import contract as _contract
from sapwood._ops import norm as _norm
from sapwood._ops.axes import axis as _axis
from sapwood._ops.contract import cross_of as cross
from sapwood._ops.contract import matrix_power
from sapwood._ops.linear import matmul
from sapwood._ops.reduce import amax, amin
from sapwood._ops.reduce import sum as _sum
from sapwood._ops.views import diagonal as _diagonal

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "vecdot",
    "vector_norm",
]
INF = float("inf")
__getattr__ = _names.late(__name__)


@border
def vector_norm(
    x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of that order of all elements, or along dimensions."""
    x = x if dtype is None else _norm.same_or_wider(x, dtype)
    return _norm.vector_norm(x, ord, dim, keepdim)


@border
def matrix_norm(
    A: Tensor,  # noqa: N803 (PyTorch's name)
    ord: Any = "fro",
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """The norm of matrices: "fro", or 1, -1 (columns), inf, -inf (rows)."""
    if len(dim) != 2:
        shown = " ".join(map(str, dim))
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {shown}")
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    x = A if dtype is None else _norm.same_or_wider(A, dtype)
    if ord == "fro":
        return _norm.vector_norm(x, 2, dim, keepdim)
    rows, columns = (_axis(d, A.ndim) for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord in (2, -2, "nuc"):
        raise NotImplementedError(
            f"linalg.matrix_norm of order {ord} needs singular values, which sapwood does not "
            "compute yet"
        )
    if ord not in (1, -1, INF, -INF):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = _sum(x.abs(), first, True)
    found = (amax if ord > 0 else amin)(sums, second, True)
    return found if keepdim else found.squeeze((rows, columns))


@border
def norm(
    A: Tensor,  # noqa: N803 (PyTorch's name)
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """A vector norm, or the norm of matrices where `ord` is given for two dimensions."""
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is not None and (pair or (dim is None and A.ndim == 2)):
        return matrix_norm(A, ord, tuple(dim) if pair else (-2, -1), keepdim, dtype=dtype)
    if ord is not None and dim is None and A.ndim != 1:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.ndim}D."
        )
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@border
def multi_dot(tensors: Any) -> Tensor:
    """The product of several matrices in the cheapest order; the ends may be vectors."""
    return _contract.chain(list(tensors))


@border
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The products of vectors along a dimension, x conjugated."""
    return _sum(x.conj() * y, dim)


@border
def diagonal(
    A: Tensor,  # noqa: N803 (PyTorch's name)
    *,
    offset: int = 0,
    dim1: int = -2,
    dim2: int = -1,
) -> Tensor:
    """A view of the diagonal of matrices."""
    return _diagonal(A, offset, dim1, dim2)
