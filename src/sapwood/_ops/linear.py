"""DOT: matrix products in every combination of ranks, by BLAS.

`np.matmul` takes transposed operands without a copy. A batch times one matrix is folded into one
product of matrices; the gradient of that matrix likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood import errors
from sapwood._core import dtype as dt
from sapwood._core.door import primitive
from sapwood._core.op import DOT
from sapwood._core.tensor import KINDS
from sapwood._ops.rules import cj
from sapwood._ops.views import unsqueeze

C_NAMES = {
    "float32": "float",
    "float64": "double",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def text(shape: tuple) -> str:
    """A shape as messages on products have it: 2x3."""
    return "x".join(map(str, shape))


# ---- what is refused -------------------------------------------------------------------------


def cannot_multiply(a: np.ndarray, b: np.ndarray) -> RuntimeError:
    """The error for matrices (or a batch as one) whose inner extents differ."""
    x = text((a.size // (a.shape[-1] or 1), a.shape[-1])) if a.ndim != 2 else text(a.shape)
    return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({x} and {text(b.shape)})")


def misfit(a: np.ndarray, b: np.ndarray) -> RuntimeError:
    """PyTorch's words for operands of matmul that do not fit."""
    if a.ndim == 1 and b.ndim == 1:
        return RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the "
            f"same number of elements, but got {a.size} and {b.size} elements respectively"
        )
    if b.ndim == 1:
        rows = a.size // (a.shape[-1] or 1)
        return RuntimeError(
            f"size mismatch, got input ({rows}), mat ({rows}x{a.shape[-1]}), vec ({b.size})"
        )
    if b.ndim == 2:
        return cannot_multiply(a, b)
    if a.shape[-1] == b.shape[-2]:
        found = str(errors.bad_broadcast("matmul", [a.shape[:-2], b.shape[:-2]], ""))
        return RuntimeError(found.partition(". [")[0])
    batch = int(np.prod(np.broadcast_shapes(a.shape[:-2], b.shape[:-2])))
    return RuntimeError(
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"[{batch}, {a.shape[-1]}] but got: [{batch}, {b.shape[-2]}]."
    )


def same_dtype(phrase: Callable[..., str]) -> Callable[..., None]:
    """A check: products do not promote; `phrase` says so in PyTorch's words."""

    def check(common: dt.dtype, *values: Any) -> None:
        kinds = [dt.of(v.dtype) for v in values if isinstance(v, np.ndarray)]
        if len(kinds) < len(values):
            other = next(v for v in values if not isinstance(v, np.ndarray))
            raise TypeError(f"argument must be Tensor, not {type(other).__name__}")
        if any(k is not kinds[0] for k in kinds):
            raise RuntimeError(phrase(*kinds, *(v.ndim for v in values)))
        if common is dt.bool_:
            raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")

    return check


def of_matrices(a: dt.dtype, b: dt.dtype, *_: int) -> str:
    """The words of mm."""
    return (
        "expected m1 and m2 to have the same dtype, but got: "
        f"{C_NAMES.get(a.name)} != {C_NAMES.get(b.name)}"
    )


def of_vectors(a: dt.dtype, b: dt.dtype, *_: int) -> str:
    """The words of dot."""
    return f"dot : expected both vectors to have same dtype, but found {a.title} and {b.title}"


def of_mixed(a: dt.dtype, b: dt.dtype, *_: int) -> str:
    """The words of mv."""
    return (
        f"addmv input tensors must have the same dtype, but got {b.title}, {a.title}, and {b.title}"
    )


def of_batches(a: dt.dtype, b: dt.dtype, *_: int) -> str:
    """The words of bmm."""
    return f"expected scalar type {a.title} but found {b.title}"


def of_any(a: dt.dtype, b: dt.dtype, n: int, m: int) -> str:
    """The words of matmul."""
    if n == m == 1:
        return of_vectors(a, b)
    if m == 1:
        return of_mixed(a, b)
    return of_matrices(a, b) if m == 2 or n == 1 else of_batches(a, b)


# ---- the product -----------------------------------------------------------------------------

# The form of a product (m: matrix, v: vector, b: a batch of them; fold: a batch times one matrix)
# and the node's name: that of PyTorch's product inside, without the views around it.
TITLES = {
    "mm": "Mm",
    "mv": "Mv",
    "dot": "Dot",
    "vm": "Mm",
    "fold": "Mm",
    "bmv": "Mv",
    "bvm": "Mv",
    "bmm": "Bmm",
}


def form_of(a: Any, b: Any) -> tuple[str]:
    """The form of a product, by the ranks of its operands."""
    for which, v in (("'input' (position 1)", a), ("'other' (position 2)", b)):
        if not isinstance(v, np.ndarray):
            raise TypeError(f"matmul(): argument {which} must be Tensor, not {type(v).__name__}")
    n, m = a.ndim, b.ndim
    if n == m == 2:
        return ("mm",)
    if m == 2 and n:
        return ("mm" if n == 2 else "vm" if n == 1 else "fold",)
    if n == 0 or m == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D"
        )
    if m == 1:
        return ("dot" if n == 1 else "mv" if n == 2 else "bmv",)
    return ("bvm" if n == 1 else "bmm",)


def product(a: np.ndarray, b: np.ndarray, form: str) -> np.ndarray:
    """The product; a batch times one matrix is one product of matrices."""
    try:
        if form == "fold":
            rows = np.matmul(a.reshape(-1, a.shape[-1]), b) if a.size else np.matmul(a, b)
            return rows.reshape(*a.shape[:-1], b.shape[-1])
        return np.matmul(a, b)
    except ValueError:
        raise misfit(a, b) from None


def adjoint(v: Any) -> Any:
    """The conjugate transpose of matrices; a view where real."""
    return cj(v).swapaxes(-1, -2)


def column(v: Any) -> Any:
    """Vectors as matrices of one column."""
    return unsqueeze(v, -1)


def row(v: Any) -> Any:
    """Vectors as matrices of one row."""
    return unsqueeze(v, -2)


def rows(v: Any, *, n: int) -> Any:
    """A batch of matrices (n = 2) or vectors of them (1) as one."""
    shape = (v.array if type(v) in KINDS else v).shape
    return v.reshape(-1) if n == 1 else v.reshape(int(np.prod(shape[:-1])), shape[-1])


def product_x(g: Any, y: Any, form: str) -> Any:
    """g times the adjoint of y; the reverse pass sums over what was broadcast."""
    if form == "dot":
        return g * cj(y)
    if form in ("mv", "bmv"):
        return column(g) * cj(y)
    if form == "vm":
        return matmul(cj(y), g)
    if form == "bvm":
        return matmul(cj(y), column(g)).squeeze(-1)
    return matmul(g, adjoint(y))


def product_y(g: Any, x: Any, form: str) -> Any:
    """The adjoint of x times g."""
    if form == "dot":
        return g * cj(x)
    if form == "mv":
        return matmul(adjoint(x), g)
    if form == "vm":
        return column(cj(x)) * g
    if form == "bvm":
        return column(cj(x)) * row(g)
    if form == "bmv":
        return matmul(adjoint(rows(x, n=2)), rows(g, n=1))
    if form == "fold":
        return matmul(adjoint(rows(x, n=2)), rows(g, n=2))
    return matmul(adjoint(x), g)


matmul = primitive(
    "matmul",
    "x y; form",
    kind=DOT,
    run=product,
    grad=dict(x=product_x, y=product_y),
    sig="input, other",
    bind=form_of,
    title=lambda node: f"{TITLES[node.attrs[0]]}Backward0",
    check=same_dtype(of_any),
    doc="The product of matrices, vectors and batches; batches broadcast.",
)


# ---- products of given ranks -----------------------------------------------------------------


def ranked(form: str, ranks: tuple[int, int], refuse: Callable) -> dict[str, Any]:
    """The fields of a record that is matmul for given ranks only."""

    def bind(a: Any, b: Any) -> tuple:
        if (np.ndim(a), np.ndim(b)) != ranks:
            raise RuntimeError(refuse(np.ndim(a), np.ndim(b)))
        return (form,)

    return {"kind": DOT, "run": product, "grad": dict(x=product_x, y=product_y), "bind": bind}


mm = primitive(
    "mm",
    "x y; form",
    sig="input, mat2",
    check=same_dtype(of_matrices),
    saved={"mat2": "y"},
    **ranked("mm", (2, 2), lambda n, m: f"{'mat2' if n == 2 else 'self'} must be a matrix"),
    doc="The product of two matrices.",
)
mv = primitive(
    "mv",
    "x y; form",
    sig="input, vec",
    check=same_dtype(of_mixed),
    saved={"vec": "y"},
    **ranked("mv", (2, 1), lambda n, m: f"vector + matrix @ vector expected, got 1, {n}, {m}"),
    doc="The product of a matrix and a vector.",
)
dot = primitive(
    "dot",
    "x y; form",
    sig="input, tensor",
    check=same_dtype(of_vectors),
    saved={"tensor": "y"},
    **ranked("dot", (1, 1), lambda n, m: f"1D tensors expected, but got {n}D and {m}D tensors"),
    doc="The product of two vectors: a number.",
)


def same_batch(a: Any, b: Any) -> tuple:
    """Batches of equal extent, of matrices that fit."""
    if np.ndim(a) != 3 or np.ndim(b) != 3:
        raise RuntimeError(f"batch{1 + (np.ndim(a) == 3)} must be a 3D tensor")
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a.shape[0]}, {a.shape[2]}] but got: [{b.shape[0]}, {b.shape[1]}]."
        )
    return ("bmm",)


bmm = primitive(
    "bmm",
    "x y; form",
    kind=DOT,
    run=product,
    grad=dict(x=product_x, y=product_y),
    sig="input, mat2",
    bind=same_batch,
    check=same_dtype(of_batches),
    saved={"mat2": "y"},
    doc="The products of two batches of matrices, one by one.",
)


def vdot_run(a: np.ndarray, b: np.ndarray) -> Any:
    """conj(a) . b."""
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.size != b.size:
        raise misfit(a, b)
    return np.vdot(a, b)


vdot = primitive(
    "vdot",
    "x y",
    kind=DOT,
    run=vdot_run,
    sig="input, other",
    check=same_dtype(of_vectors),
    grad=dict(x=lambda g, y: cj(g) * y, y=lambda g, x: g * x),
    doc="The product of two vectors, the first conjugated.",
)
