"""MOVE with a copy, beside the views: what a view shows copied, or a copy with it overwritten.

`select_copy` has the elements of `select` in memory of their own, `select_scatter` is a copy of the
whole tensor with other elements there. Their derivatives are those of the view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core.border import function, function_only, method
from sapwood._core.door import apply, primitive
from sapwood._core.op import MOVE
from sapwood._core.size import Size
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.axes import axis, sizes, whole
from sapwood._ops.parts import aliased, diagonal, select, slice_, unfold
from sapwood._ops.views import expand, permute, squeeze, t, transpose, unsqueeze, view

Array = np.ndarray


def bounds(a: Array, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1) -> tuple:
    """The attributes of a slice, as slice(start, end, step) means them."""
    if not a.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    d, by = axis(dim, a.ndim), whole(step, "step")
    if by <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end).indices(a.shape[d])
    return d, first, max(first, last), by


# ---- a copy with a part overwritten ----------------------------------------------------------


def overwriting(name: str, view: Any, sig: str, bind: Callable, doc: str) -> Any:
    """The record of a copy of x with y where a view looks."""
    op = view.op

    def args(x: Array, y: Array, *given: Any) -> tuple:
        attrs = bind(x, *given)
        want = op.run(x, *attrs).shape
        if not isinstance(y, np.ndarray) or y.shape != want:
            have = list(y.shape) if isinstance(y, np.ndarray) else type(y).__name__
            raise RuntimeError(
                "expected src to have a size equal to the slice of self. src size = "
                f"{have}, slice size = {list(want)}"
            )
        return attrs

    def run(x: Array, y: Array, *attrs: Any) -> Array:
        out = np.array(x)
        op.run(out, *attrs)[...] = y
        return out

    door = primitive(
        name,
        f"x y; {' '.join(op.attrs)}",
        kind=MOVE,
        run=run,
        bind=args,
        dtype="keep x",
        sig=f"input, src, {sig}",
        alias=False,
        grad=dict(
            x=lambda g, attrs, y_shape, y_dtype: door(g, np.zeros(y_shape, y_dtype), *attrs),
            y=lambda g, attrs: apply(op, g, attrs),
        ),
        doc=doc,
    )
    return door


select_scatter = overwriting(
    "select_scatter",
    select,
    "dim, index",
    select.op.bind,
    "A copy with src at one index of a dimension.",
)
slice_scatter = overwriting(
    "slice_scatter",
    slice_,
    "dim=0, start=None, end=None, step=1",
    bounds,
    "A copy with src in a range of a dimension.",
)
diagonal_scatter = overwriting(
    "diagonal_scatter",
    diagonal,
    "offset=0, dim1=0, dim2=1",
    diagonal.op.bind,
    "A copy with src on a diagonal.",
)


# ---- a copy of a part ------------------------------------------------------------------------


def copying(of: Any, sig: str, doc: str, bind: Callable | None = None) -> Any:
    """The record of a view's elements in memory of their own."""
    op = of.op
    title: Any = op.title or op.node_class.__name__
    return primitive(
        f"{op.name.removeprefix('_')}_copy",
        f"x; {' '.join(op.attrs)}",
        kind=MOVE,
        dtype="keep",
        run=lambda a, *attrs: np.array(op.run(a, *attrs)),
        bind=bind or op.bind,
        sig=sig,
        title=f"{title}_copy" if isinstance(title, str) else lambda node: f"{title(node)}_copy",
        alias=False,
        grad=op.grad,
        doc=doc,
    )


def one_size(of: Any) -> Callable:
    """The attributes of a view that takes one size."""
    return lambda a, size: of.op.bind(a, (size,))


view_copy = copying(view, "input, size", "The elements in another shape, copied.", one_size(view))
expand_copy = copying(
    expand, "input, size", "Repeated along dimensions of extent 1, copied.", one_size(expand)
)
permute_copy = copying(
    permute, "input, dims", "The dimensions in another order, copied.", one_size(permute)
)
transpose_copy = copying(transpose, "input, dim0, dim1", "Two dimensions swapped, copied.")
t_copy = copying(t, "input", "The transpose of a matrix, copied.")
squeeze_copy = copying(squeeze, "input, dim=None", "Without dimensions of extent 1, copied.")
unsqueeze_copy = copying(unsqueeze, "input, dim", "With a dimension of extent 1, copied.")
select_copy = copying(select, "input, dim, index", "One index of a dimension, copied.")
slice_copy = copying(
    slice_, "input, dim=0, start=None, end=None, step=1", "A range of a dimension, copied.", bounds
)
unfold_copy = copying(unfold, "input, dimension, size, step", "Windows along a dimension, copied.")
alias_copy = copying(aliased, "input", "A copy.")


# ---- small ones ------------------------------------------------------------------------------


@function
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` slices along a dimension from `start`, copied."""
    return input.narrow(dim, start, length).clone()  # type: ignore[attr-defined]


@method
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed up to a shape that could be expanded to the tensor's own."""
    want, have = sizes(size, "sum_to_size"), self.array.shape
    lead = len(have) - len(want)
    if lead < 0 or any(n not in (1, m) for n, m in zip(want, have[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(want)}}} is not expandable to size {{{list(have)}}}.")
    dims = [*range(lead), *(lead + d for d, n in enumerate(want) if n != have[lead + d])]
    out = self.sum(dims, keepdim=True) if dims else self  # type: ignore[attr-defined]
    return out.view(want) if lead else out


@function_only
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that all these shapes broadcast to."""
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    try:
        return Size(np.broadcast_shapes(*given))
    except ValueError:
        at = next(k for k in range(1, len(given)) if not fitting(given[: k + 1]))
        so_far, bad = np.broadcast_shapes(*given[:at]), given[at]
        d = next(
            d
            for d in range(1, len(bad) + 1)
            if d <= len(so_far) and bad[-d] != so_far[-d] and 1 not in (bad[-d], so_far[-d])
        )
        raise RuntimeError(
            f"Attempting to broadcast a dimension of length {bad[-d]} at {-d}! Mismatching "
            f"argument at index {at} had {bad}; but expected shape should be "
            f"broadcastable to {list(so_far)}"
        ) from None


def fitting(shapes: list) -> bool:
    """Whether shapes broadcast together."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


@function
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The positions of elements that are not zero, cut or filled up to `size` rows."""
    if whole(size, "size") < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    a = input.array
    out = np.full((size, a.ndim), fill_value, np.int64)
    found = np.argwhere(a)[:size]
    out[: len(found)] = found
    return plain(out)


@function_only
def unravel_index(indices: Tensor, shape: Any) -> tuple:
    """Positions in a flattened tensor of this shape as one tensor per dimension."""
    if indices.array.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    want = (shape,) if isinstance(shape, int) else tuple(shape)
    rest, found = indices.array, []
    for n in reversed(want):
        rest, at = np.divmod(rest, n)
        found.append(plain(np.asarray(at)))
    return tuple(reversed(found))


@method
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; wrap: again below in tall matrices."""
    a = self.array
    if a.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n = min(a.shape)
    at = np.arange(n)
    key: tuple = (at,) * a.ndim
    if wrap and a.ndim == 2 and a.shape[0] > n + 1:
        rows = np.arange(a.shape[0])
        rows = rows[rows % (n + 1) != n]
        key = (rows, rows % (n + 1))
    self[tuple(map(plain, key))] = fill_value  # type: ignore[index]
    return self


@method
def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions from the one with the largest stride to the smallest."""
    strides = self.stride()  # type: ignore[attr-defined]
    return tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))


# ---- several copies --------------------------------------------------------------------------


def all_copied(parts: Any) -> tuple:
    """Each part in memory of its own."""
    return tuple(x.clone() for x in parts)


@function_only
def split_copy(input: Tensor, split_size: int, dim: int = 0) -> tuple:
    """As split, in memory of their own."""
    return all_copied(input.split(split_size, dim))  # type: ignore[attr-defined]


@function_only
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple:
    """As split_with_sizes, in memory of their own."""
    return all_copied(input.split_with_sizes(split_sizes, dim))  # type: ignore[attr-defined]


@function_only
def unbind_copy(input: Tensor, dim: int = 0) -> tuple:
    """As unbind, in memory of their own."""
    return all_copied(input.unbind(dim))  # type: ignore[attr-defined]
