"""DOT with an addend: beta * input + alpha * (a product), one node and no temporary graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.door import primitive
from sapwood._core.op import DOT
from sapwood._ops.linear import (
    adjoint,
    matmul,
    product,
    product_x,
    product_y,
    same_batch,
    same_dtype,
)
from sapwood._ops.rules import cj


def added(part: np.ndarray, x: np.ndarray, beta: Any, alpha: Any) -> np.ndarray:
    """beta x + alpha part, where the sum has the shape of part; beta = 0 ignores x, NaN too."""
    if part.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)  # as PyTorch has it
    if alpha != 1:
        part = part * alpha
    try:
        if beta == 0:
            np.broadcast_to(x, part.shape)
        elif part.shape == x.shape and beta == 1:
            np.add(part, x, out=part)
        else:
            np.add(part, x if beta == 1 else beta * x, out=part)
    except ValueError:
        raise bad_expand(part.shape, x.shape) from None
    return part


def bad_expand(target: tuple, shape: tuple) -> RuntimeError:
    """The error for an addend that does not expand to the product."""
    end = f"Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
    if len(shape) > len(target):
        return RuntimeError(
            f"expand: the number of sizes provided ({len(target)}) must be greater or equal to the "
            f"number of dimensions in the tensor ({len(shape)}).  {end}"
        )
    i = next(i for i in range(1, len(shape) + 1) if shape[-i] not in (1, target[-i]))
    return RuntimeError(
        f"The expanded size of the tensor ({target[-i]}) must match the existing size "
        f"({shape[-i]}) at non-singleton dimension {len(target) - i}.  {end}"
    )


def weight(g: Any, factor: Any) -> Any:
    """g times the conjugate of a number, g itself for 1."""
    return g if factor == 1 else g * cj(factor)


def sum_with(
    name: str,
    names: str,
    multiply: Callable,
    rules: tuple[Callable, Callable],
    bind: Callable,
    phrase: Callable | None,
    doc: str,
) -> Callable:
    """The record of beta * input + alpha * (product of y and z)."""
    first, second = rules

    def run(x: np.ndarray, y: np.ndarray, z: np.ndarray, beta: Any, alpha: Any) -> np.ndarray:
        return added(multiply(y, z), x, beta, alpha)

    def attributes(x: Any, y: Any, z: Any, beta: Any, alpha: Any) -> tuple:
        bind(y, z)
        return beta, alpha

    return primitive(
        name,
        "x y z; beta alpha",
        kind=DOT,
        run=run,
        bind=attributes,
        in_place=True,
        doc=doc,
        sig=f"input, {names}, *, beta=1, alpha=1",
        alias=True,
        check=phrase and same_dtype(phrase),
        saved=dict(zip(names.split(", "), "yz", strict=True)),
        grad=dict(
            x=lambda g, beta: weight(g, beta),
            y=lambda g, z, alpha: weight(first(g, z), alpha),
            z=lambda g, y, alpha: weight(second(g, y), alpha),
        ),
    )


def form(name: str) -> tuple[Callable, Callable]:
    """The rules of a product of one form."""
    return lambda g, z: product_x(g, z, name), lambda g, y: product_y(g, y, name)


def two_matrices(y: Any, z: Any) -> None:
    """The operands of addmm."""
    for which, v in (("mat1", y), ("mat2", z)):
        if np.ndim(v) != 2:
            raise RuntimeError(f"{which} must be a matrix, got {np.ndim(v)}-D tensor")


def matrix_and_vector(y: Any, z: Any) -> None:
    """The operands of addmv."""
    if np.ndim(y) != 2 or np.ndim(z) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {np.ndim(y)}, {np.ndim(z)}")


def two_vectors(y: Any, z: Any) -> None:
    """The operands of addr."""
    for which, v in (("vec1", y), ("vec2", z)):
        if np.ndim(v) != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {which}, but got {np.ndim(v)}-D")


def of_addmm(x: dt.dtype, y: dt.dtype, z: dt.dtype, *_: int) -> str:
    """The words of addmm."""
    wrong = y if y is not x else z
    return f"self and mat2 must have the same dtype, but got {x.title} and {wrong.title}"


def of_addmv(x: dt.dtype, y: dt.dtype, z: dt.dtype, *_: int) -> str:
    """The words of addmv."""
    return (
        f"addmv input tensors must have the same dtype, but got {x.title}, {y.title}, and {z.title}"
    )


def of_added_batches(x: dt.dtype, y: dt.dtype, z: dt.dtype, *_: int) -> str:
    """The words of addbmm and baddbmm."""
    return f"expected scalar type {x.title} but found {(y if y is not x else z).title}"


def summed_x(g: Any, z: Any) -> Any:
    """The gradient of the first batch of addbmm."""
    return matmul(g, adjoint(z))


def summed_y(g: Any, y: Any) -> Any:
    """The gradient of the second batch of addbmm."""
    return matmul(adjoint(y), g)


addmm = sum_with(
    "addmm",
    "mat1, mat2",
    lambda y, z: product(y, z, "mm"),
    form("mm"),
    two_matrices,
    of_addmm,
    "beta * input + alpha * (mat1 @ mat2).",
)
addmv = sum_with(
    "addmv",
    "mat, vec",
    lambda y, z: product(y, z, "mv"),
    form("mv"),
    matrix_and_vector,
    of_addmv,
    "beta * input + alpha * (mat @ vec).",
)
baddbmm = sum_with(
    "baddbmm",
    "batch1, batch2",
    lambda y, z: product(y, z, "bmm"),
    form("bmm"),
    same_batch,
    of_added_batches,
    "beta * input + alpha * (batch1 @ batch2).",
)
addbmm = sum_with(
    "addbmm",
    "batch1, batch2",
    lambda y, z: np.add.reduce(product(y, z, "bmm"), 0),
    (summed_x, summed_y),
    same_batch,
    of_added_batches,
    "beta * input + alpha * the sum over the batch of batch1 @ batch2.",
)
addr = sum_with(
    "addr",
    "vec1, vec2",
    np.multiply.outer,
    (lambda g, z: matmul(g, cj(z)), lambda g, y: matmul(g.swapaxes(-1, -2), cj(y))),
    two_vectors,
    None,
    "beta * input + alpha * outer(vec1, vec2).",
)
