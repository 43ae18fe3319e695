"""DOT: matrix products. Everything here ends in NumPy's matmul, that is in BLAS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import function, function_only
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import DOT
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.axes import axes, axis
from sapwood._ops.rules import cj
from sapwood._ops.views import diagonal, permute, reshape, transpose, unsqueeze


def ndim(x: Any) -> int:
    """The number of dimensions of an array or tensor."""
    return (x.array if type(x) in KINDS else x).ndim


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b; a batch times one matrix as one large product."""
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{a.ndim}D and {b.ndim}D")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise mismatch(a, b)
    if a.ndim > 2 and b.ndim == 2 and a.flags.c_contiguous:
        return np.matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    return np.matmul(a, b)


def mismatch(a: np.ndarray, b: np.ndarray) -> RuntimeError:
    """PyTorch's words for inner dimensions that differ."""
    if a.ndim == b.ndim == 1:
        return RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.shape[0]}] and src [{b.shape[0]}] to "
            f"have the same number of elements, but got {a.shape[0]} and {b.shape[0]} elements "
            "respectively"
        )
    if a.ndim > 2 and b.ndim > 2:
        return RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, "
            f"{a.shape[-1]}] but got: [{b.shape[0]}, {b.shape[-2]}].")
    rows = math.prod(a.shape[:-1])
    if b.ndim == 1:
        return RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{a.shape[-1]}), "
                            f"vec ({b.shape[0]})")
    return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a.shape[-1]} and "
                        f"{b.shape[-2]}x{b.shape[-1]})")


def turned(x: Any) -> Any:
    """The conjugate transpose of the last two dimensions."""
    return cj(transpose(x, -2, -1))


def left_rule(g: Any, y: Any, x_shape: tuple) -> Any:
    """g y^H, for every combination of ranks; batches that were broadcast are summed later."""
    n, m = len(x_shape), ndim(y)
    if n == 1 and m == 1:
        return g * cj(y)
    if n == 1:
        rows = matmul(unsqueeze(g, -2), turned(y))
        return folded(rows, (1, *x_shape), x_shape)
    if m == 1:
        return folded(unsqueeze(g, -1) * cj(y), x_shape, x_shape)
    return folded(matmul(g, turned(y)), x_shape, x_shape)


def right_rule(g: Any, x: Any, y_shape: tuple) -> Any:
    """x^H g, for every combination of ranks."""
    n, m = ndim(x), len(y_shape)
    if n == 1 and m == 1:
        return g * cj(x)
    if m == 1:
        columns = matmul(turned(x), unsqueeze(g, -1))
        return folded(columns, (*y_shape, 1), y_shape)
    if n == 1:
        return folded(unsqueeze(cj(x), -1) * unsqueeze(g, -2), y_shape, y_shape)
    if m == 2 and n > 2:  # the batch is summed by the product itself
        rows = reshape(x, (-1, (x.array if type(x) in KINDS else x).shape[-1]))
        return matmul(turned(rows), reshape(g, (-1, y_shape[-1])))
    return folded(matmul(turned(x), g), y_shape, y_shape)


def folded(v: Any, shape: tuple, final: tuple) -> Any:
    """Sum out broadcast batches, then the final shape."""
    a = v.array if type(v) in KINDS else v
    if a.shape != shape:
        v = TABLE["_fit"].door(v, shape, a.dtype)
    return v if shape == final else reshape(v, final)


def same_dtype(common: dt.dtype, *values: Any) -> None:
    """Products do not promote."""
    kinds = [dt.of(v.dtype) for v in values if isinstance(v, np.ndarray)]
    if any(k is not kinds[0] for k in kinds):
        names = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}
        first, second = (names.get(k.name, k.name) for k in kinds[:2])
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {first} != {second}")


def dot_title(node: Any) -> str:
    """PyTorch's node for a product of these ranks."""
    shapes = [None if n is None else len(node.input_meta(i).shape)
              for i, n in enumerate(node.inputs)]
    ranks = [r for r in shapes if r is not None]
    out = len(node.shape)
    if out == 0:
        return "DotBackward0"
    if max(ranks) <= 2 and out == 1:
        return "MvBackward0" if shapes[0] in (2, None) else "SqueezeBackward4"
    if max(ranks) <= 2 and out == 2:
        return "MmBackward0"
    return "UnsafeViewBackward0" if out > 2 else "MmBackward0"


PAIR = dict(x=left_rule, y=right_rule)
matmul = primitive(
    "matmul", "x y", kind=DOT, run=product, grad=PAIR, title=dot_title, check=same_dtype,
    sig="input, other", doc="The matrix product, in every combination of ranks; batches broadcast.")


def ranked(name: str, n: int, m: int, names: tuple[str, str], title: str, message: str) -> Any:
    """mm, bmm, mv, dot: matmul for given ranks only."""

    def bind(a: np.ndarray, b: np.ndarray) -> tuple:
        if a.ndim != n or b.ndim != m:
            raise RuntimeError(message.format(a=a.ndim, b=b.ndim))
        if n == 3 and a.shape[0] != b.shape[0]:
            raise mismatch(a, b)
        return ()

    return primitive(name, "x y", kind=DOT, run=product, grad=PAIR, title=title, check=same_dtype,
                     sig=", ".join(names), bind=bind, doc=f"matmul of {n}-d and {m}-d tensors.")


mm = ranked("mm", 2, 2, ("input", "mat2"), "MmBackward0", "self must be a matrix: got {a}D and {b}D")
bmm = ranked("bmm", 3, 3, ("input", "mat2"), "BmmBackward0",
             "batch1 must be a 3D tensor: got {a}D and {b}D")
mv = ranked("mv", 2, 1, ("input", "vec"), "MvBackward0",
            "vector + matrix @ vector expected, got {b}, {a}, {b}")
dot = ranked("dot", 1, 1, ("input", "tensor"), "DotBackward0",
             "1D tensors expected, but got {a}D and {b}D tensors")


@function
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The dot product with the first vector conjugated."""
    return dot(cj(input), other)


@function
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Products summed over the last dimension of both."""
    if not input.array.ndim or not other.array.ndim:
        return input * other
    if input.array.shape[-1] != other.array.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.array.shape)} and {list(other.array.shape)}")
    return tensordot(input, other, ([-1], [-1]))


@function
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of two vectors."""
    if input.array.ndim != 1 or vec2.array.ndim != 1:
        raise RuntimeError(
            f"outer: Expected 1-D argument self, but got {input.array.ndim}-D and "
            f"{vec2.array.ndim}-D")
    return unsqueeze(input, 1) * vec2


@function
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of two vectors."""
    return outer(input, vec2)


def sum_of(input: Tensor, part: Tensor, beta: Any, alpha: Any) -> Tensor:
    """beta * input + alpha * part; beta=0 ignores input, NaN included."""
    part = part if alpha == 1 else part * alpha
    if beta == 0:
        return part + (input * 0).nan_to_num(0.0, 0.0, 0.0)  # type: ignore[attr-defined]
    return (input if beta == 1 else input * beta) + part


def affine(name: str, combine: Any, doc: str) -> None:
    """addmm and its family: beta * input + alpha * (a product)."""

    def call(input: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        return sum_of(input, combine(a, b), beta, alpha)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    function(call)


affine("addmm", mm, "beta * input + alpha * (a @ b) for matrices.")
affine("addmv", mv, "beta * input + alpha * (a @ b) for a matrix and a vector.")
affine("addr", outer, "beta * input + alpha * outer(a, b).")
affine("baddbmm", bmm, "beta * input + alpha * (a @ b) for batches.")
affine("addbmm", lambda a, b: TABLE["sum"].door(bmm(a, b), 0),
       "beta * input + alpha * the sum over the batch of a @ b.")


@function_only
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Products summed over several dimensions of both."""
    n, m = a.array.ndim, b.array.ndim
    if isinstance(dims, int):
        pairs = (tuple(range(n - dims, n)), tuple(range(dims)))
    else:
        pairs = tuple(tuple(d) if isinstance(d, (tuple, list)) else (d,) for d in dims)  # type: ignore[assignment]
    da = axes(pairs[0], n) if pairs[0] else ()
    db = axes(pairs[1], m) if pairs[1] else ()
    for i, j in zip(da, db, strict=True):
        if a.array.shape[i] != b.array.shape[j]:
            raise RuntimeError(
                "contracted dimensions need to match, but first has size "
                f"{a.array.shape[i]} in dim {i} and second has size {b.array.shape[j]} in dim {j}")
    rest_a = tuple(d for d in range(n) if d not in da)
    rest_b = tuple(d for d in range(m) if d not in db)
    k = math.prod(a.array.shape[d] for d in da)
    rows = math.prod(a.array.shape[d] for d in rest_a)
    columns = math.prod(b.array.shape[d] for d in rest_b)
    left = reshape(permute(a, (*rest_a, *da)), (rows, k))
    right = reshape(permute(b, (*db, *rest_b)), (k, columns))
    shape = [a.array.shape[d] for d in rest_a] + [b.array.shape[d] for d in rest_b]
    return reshape(mm(left, right), tuple(shape))


@function
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product."""
    n = max(input.array.ndim, other.array.ndim)
    a = reshape(input, (1,) * (n - input.array.ndim) + input.array.shape)
    b = reshape(other, (1,) * (n - other.array.ndim) + other.array.shape)
    wide = reshape(a, tuple(v for m in a.array.shape for v in (m, 1)))
    tall = reshape(b, tuple(v for m in b.array.shape for v in (1, m)))
    shape = tuple(p * q for p, q in zip(a.array.shape, b.array.shape, strict=True))
    return reshape(wide * tall, shape)


@function
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    if input.array.ndim != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim "
                           f"{input.array.ndim}")
    return TABLE["sum"].door(diagonal(input))


@function
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector product along a dimension of extent 3."""
    if dim is None:
        dim = next((i for i, n in enumerate(input.array.shape) if n == 3), -1)
    d = axis(dim, input.array.ndim)
    if input.array.shape[d] != 3 or other.array.shape[axis(dim, other.array.ndim)] != 3:
        raise RuntimeError("linalg.cross: inputs dimension must have length 3. Got "
                           f"{input.array.shape[d]}")
    roll = TABLE["roll"].door
    return roll(input, -1, d) * roll(other, -2, d) - roll(input, -2, d) * roll(other, -1, d)


@function_only
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, in the cheapest order."""
    parts = list(matrices)
    while len(parts) > 1:  # the contraction that removes the largest extent first
        sizes = [p.array.shape[1] for p in parts[:-1]]
        i = sizes.index(max(sizes))
        parts[i : i + 2] = [mm(parts[i], parts[i + 1])]
    return parts[0]
