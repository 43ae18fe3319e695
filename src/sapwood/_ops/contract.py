"""Products of whole tensors: inner, outer, tensordot, kron, cross, chains of matrices."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from sapwood._core.border import alias, function, function_only
from sapwood._core.door import primitive
from sapwood._core.op import DOT, FOLD
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.axes import axis
from sapwood._ops.checks import only
from sapwood._ops.elementwise import mul
from sapwood._ops.linear import matmul, mm
from sapwood._ops.rules import cj

# ---- inner and outer -------------------------------------------------------------------------


@function
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Products summed over the last dimension of both."""
    a, b = input.array, other.array
    if a.dtype != b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if not a.ndim or not b.ndim:
        return mul(input, other)
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(a.shape)} and {list(b.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@function
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of two vectors."""
    for name, v in (("self", input), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v.ndim}-D")
    return mul(input.reshape(-1, 1), vec2)  # type: ignore[attr-defined]


alias(outer, "ger")


@function
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of input times all of other."""
    n = max(input.ndim, other.ndim)
    a, b = ((1,) * (n - t.ndim) + t.array.shape for t in (input, other))
    wide: Any = input.reshape([v for m in a for v in (m, 1)])  # type: ignore[attr-defined]
    tall: Any = other.reshape([v for m in b for v in (1, m)])  # type: ignore[attr-defined]
    return mul(wide, tall).reshape([p * q for p, q in zip(a, b, strict=True)])


# ---- contractions ----------------------------------------------------------------------------


def contracted(dims: Any, n: int, m: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions of both operands that tensordot sums over."""
    if isinstance(dims, Tensor):
        dims = dims.array.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(n, m):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return tuple(range(n - dims, n)), tuple(range(dims))
    first, second = (d if isinstance(d, (tuple, list)) else (d,) for d in dims)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    return tuple(axis(d, n) for d in first), tuple(axis(d, m) for d in second)


@function_only
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Products summed over several dimensions of both: one product of matrices."""
    x, y = a.array.shape, b.array.shape
    gone, gone_y = contracted(dims, len(x), len(y))
    for i, j in zip(gone, gone_y, strict=True):
        if x[i] != y[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {x[i]} in dim {i} and "
                f"second has size {y[j]} in dim {j}"
            )
    rest = [d for d in range(len(x)) if d not in gone]
    rest_y = [d for d in range(len(y)) if d not in gone_y]
    k = math.prod(x[d] for d in gone)
    left: Any = a.permute(*rest, *gone) if x else a  # type: ignore[attr-defined]
    right: Any = b.permute(*gone_y, *rest_y) if y else b  # type: ignore[attr-defined]
    found = mm(
        left.reshape(math.prod(x[d] for d in rest), k),
        right.reshape(k, math.prod(y[d] for d in rest_y)),
    )
    return found.reshape([x[d] for d in rest] + [y[d] for d in rest_y])


# ---- cross products and traces ---------------------------------------------------------------


def cross_run(x: np.ndarray, y: np.ndarray, dim: int) -> np.ndarray:
    """The vector product along a dimension of extent 3."""
    a, b = (np.moveaxis(v, dim, 0) for v in np.broadcast_arrays(x, y))
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return np.stack(parts, dim)


def cross_args(x: Any, y: Any, dim: Any) -> tuple:
    """The dimension, which must have extent 3 in both."""
    if np.ndim(x) != np.ndim(y):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    d = axis(dim, np.ndim(x))
    if x.shape[d] != 3 or y.shape[d] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got "
            f"{x.shape[d]} and {y.shape[d]}"
        )
    return (d,)


cross_of = primitive(
    "_linalg_cross",
    "x y; dim",
    kind=DOT,
    run=cross_run,
    title="LinalgCrossBackward0",
    bind=cross_args,
    sig="input, other, dim=-1",
    doc="The vector product along a dimension.",
    grad=dict(
        x=lambda g, y, dim: cross_of(cj(y), g, dim), y=lambda g, x, dim: cross_of(g, cj(x), dim)
    ),
)


@function
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector product along a dimension: by default the first of extent 3."""
    if dim is None:
        found = [i for i, n in enumerate(input.array.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return cross_of(input, other, dim)


def trace_run(a: np.ndarray) -> Any:
    """The sum of the diagonal; integers in int64."""
    if a.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {a.ndim}")
    return np.trace(a, dtype=np.int64 if a.dtype.kind in "iu" else None)


trace = primitive(
    "trace",
    "x",
    kind=FOLD,
    run=trace_run,
    check=only("trace", "ifc", suffix=""),
    grad=dict(x=lambda g, x_shape, x_dtype: g * np.eye(*x_shape, dtype=x_dtype)),
    doc="The sum of the diagonal of a matrix.",
)


# ---- chains ----------------------------------------------------------------------------------


def best_order(extents: list[int]) -> list[list[int]]:
    """Where to split each part of a chain of matrices so that fewest multiplications are left."""
    n = len(extents) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1], k)
                for k in range(i, j)
            )
    return split


def chain(tensors: list) -> Tensor:
    """The product of several matrices; the ends may be vectors."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    for k, where in ((0, "first"), (len(tensors) - 1, "last")):
        if not 1 <= tensors[k].ndim <= 2:
            raise RuntimeError(
                f"multi_dot(): the {where} tensor must be 1D or 2D but got {tensors[k].ndim}D"
            )
    for k, t in enumerate(tensors[1:-1], 1):
        if t.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {k} must be 2D but got {t.ndim}D")
    for k, (a, b) in enumerate(pairwise(tensors)):
        if a.array.shape[-1] != b.array.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {k} and {k + 1} with shapes {list(a.array.shape)} and "
                f"{list(b.array.shape)} cannot be multiplied"
            )
    last = tensors[-1].array
    extents = [t.array.shape[0] if t.ndim > 1 else 1 for t in tensors[:1]]
    extents += [t.array.shape[0] for t in tensors[1:]] + [last.shape[1] if last.ndim > 1 else 1]
    return multiplied(tensors, best_order(extents), 0, len(tensors) - 1)


def multiplied(tensors: list, split: list[list[int]], i: int, j: int) -> Any:
    """The product of tensors i to j; recurses as deep as the chain is long at most."""
    if i == j:
        return tensors[i]
    k = split[i][j]
    return matmul(multiplied(tensors, split, i, k), multiplied(tensors, split, k + 1, j))


@function_only
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, multiplied in the cheapest order."""
    for t in matrices:
        if t.ndim != 2:
            raise RuntimeError(f"chain_matmul: tensors must be matrices, but got {t.ndim}D")
    if len(matrices) == 1:
        return matrices[0].clone()  # type: ignore[attr-defined]
    return chain(list(matrices))


def whole_power(n: Any) -> int:
    """The exponent of matrix_power."""
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"matrix_power(): argument 'n' must be int, not {type(n).__name__}")
    if n < 0:
        raise RuntimeError(
            "matrix_power: negative powers need the inverse, which sapwood does not compute yet"
        )
    return n


@function
def matrix_power(input: Tensor, n: int) -> Tensor:
    """The n-th power of square matrices, by repeated squaring."""
    shape = input.array.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they "
            f"are {' by '.join(map(str, shape[-2:]))} matrices"
        )
    n, square, found = whole_power(n), input, None
    while n:
        if n & 1:
            found = square if found is None else matmul(found, square)
        n >>= 1
        if n:
            square = matmul(square, square)
    if found is None:
        eye = np.broadcast_to(np.eye(shape[-1], dtype=input.array.dtype), shape)
        return plain(np.array(eye))
    return found if found is not input else input.clone()  # type: ignore[attr-defined]
