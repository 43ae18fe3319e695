"""FOLD by order: max and min in all forms, sorting, medians, the most frequent value.

NaN counts as larger than every number. Where a value is chosen, its gradient goes to its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core.border import function
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import FOLD
from sapwood._core.tensor import KINDS, Tensor
from sapwood._ops.axes import axis
from sapwood._ops.checks import only
from sapwood._ops.folds import restored
from sapwood._ops.picking import ungather
from sapwood._ops.reduce import not_empty, share_all

PAIR = "values indices"


def placed(g: Any, indices: Any, x_shape: tuple, dim: int) -> Any:
    """Gradients of chosen elements at their places, zeros elsewhere."""
    return ungather(g[0], indices, dim, x_shape) if x_shape else g[0]


def placed_one(g: Any, indices: Any, x_shape: tuple, dim: int, keepdim: bool) -> Any:
    """As `placed`, for one element along the dimension."""
    if not x_shape:
        return g[0]
    g, indices = (restored(v, x_shape, (dim,), keepdim) for v in (g[0], indices))
    return ungather(g, indices, dim, x_shape)


def along(name: str, a: Any, dim: Any, keepdim: Any) -> tuple:
    """One dimension that is not empty."""
    n = a.ndim
    d = dim if type(dim) is int and 0 <= dim < n else axis(dim, n)
    if type(keepdim) is not bool:
        raise TypeError(f"{name}(): argument 'keepdim' must be bool, not {type(keepdim).__name__}")
    if n and not a.shape[d]:
        raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    return d, keepdim


def picking(pick: Callable) -> Callable:
    """The run of a record that chooses one element along a dimension; `pick` gives its place."""

    def run(a: np.ndarray, dim: int, keepdim: bool, *more: Any) -> tuple:
        if not a.ndim:
            return a.copy(), np.zeros((), np.int64)
        index = np.expand_dims(pick(a, dim, *more), dim)
        values = np.take_along_axis(a, index, dim)
        return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))

    return run


def detour(forms: Callable, condition: str) -> dict[str, Any]:
    """Fields of a record: calls that meet the condition are another form, with another record."""
    text = f"""
if {condition}:
    f = getframe(1)
    try:
        form = FORMS(input, dim, keepdim{", other" * ("other" in condition)})
    except Exception as e:
        raise explain(OP, e, (input,), (), MODE().site or (f.f_code, f.f_lasti)) from None
    return general(*form, (f.f_code, f.f_lasti))
"""
    return {"prologue": text, "env": {"FORMS": forms}}


def raw(x: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return x.array if type(x) in KINDS else x


# ---- max and min -----------------------------------------------------------------------------


def extreme(name: str, fold: Any, place: Callable, pairs: str, doc: str) -> Callable:
    """The record of max() or min() of all elements, and its way to the other two forms."""

    def run_along(a: np.ndarray, dim: int, keepdim: bool) -> tuple:
        if not a.ndim:
            return a.copy(), np.zeros((), np.int64)
        return fold.reduce(a, dim, keepdims=keepdim), place(a, dim, keepdims=keepdim)

    dim_record = primitive(
        f"_{name}",
        "x; dim keepdim",
        kind=FOLD,
        run=run_along,
        out=PAIR,
        named=name,
        dtype="keep",
        title=f"{name.capitalize()}Backward0",
        grad=dict(x=placed_one),
        bind=lambda a, dim, keepdim: along(name, a, dim, keepdim),
        check=only(name, "bif"),
        sig="input, dim, keepdim=False",
        doc=f"{doc} along a dimension, and where it is: of equal ones the first.",
    )

    def forms(x: Any, dim: Any, keepdim: Any, other: Any) -> tuple:
        if other is not None or isinstance(dim, (Tensor, np.ndarray)):
            return TABLE[pairs], (x, dim if other is None else other), ()
        if isinstance(dim, (tuple, list, float)):
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got "
                f"({type(dim).__name__})"
            )
        return dim_record.op, (x,), along(name, raw(x), dim, keepdim)

    def run(a: np.ndarray) -> Any:
        not_empty(name, a, None, RuntimeError)
        return fold.reduce(a, None)

    return primitive(
        name,
        "x",
        kind=FOLD,
        run=run,
        dtype="keep",
        grad=dict(x=share_all),
        doc=doc + ".",
        title=f"{name.capitalize()}Backward1",
        check=only(f"{name}_all", "bif", suffix=""),
        sig="input, dim=None, keepdim=False, *, other=None",
        **detour(forms, "dim is not None or other is not None"),
    )


max = extreme("max", np.maximum, np.argmax, "maximum", "The largest element")
min = extreme("min", np.minimum, np.argmin, "minimum", "The smallest element")


def place(name: str, find: Any, doc: str) -> Callable:
    """The record of argmax or argmin."""

    def run(a: np.ndarray, dim: int | None, keepdim: bool) -> Any:
        if not a.ndim:
            return np.zeros((), np.int64)
        return find(a, dim, keepdims=keepdim)

    def bind(a: Any, dim: Any, keepdim: Any) -> tuple:
        if dim is None and not np.size(a):
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() "
                "== 0. Specify the reduction dim with the 'dim' argument."
            )
        return (None, bool(keepdim)) if dim is None else along(name, a, dim, keepdim)

    return primitive(
        name,
        "x; dim keepdim",
        kind=FOLD,
        run=run,
        grad={},
        dtype="keep",
        bind=bind,
        doc=doc,
        sig="input, dim=None, keepdim=False",
        check=only(name, "if", error=RuntimeError, b=f"{name}(): does not support bool input"),
    )


argmax = place("argmax", np.argmax, "Where the largest element is; of equal ones the first.")
argmin = place("argmin", np.argmin, "Where the smallest element is; of equal ones the first.")


# ---- sorting ---------------------------------------------------------------------------------


def order_of(a: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The stable order along a dimension."""
    if not descending:
        return np.argsort(a, dim, kind="stable")
    turned = np.argsort(np.flip(a, dim), dim, kind="stable")
    return a.shape[dim] - 1 - np.flip(turned, dim)


def sort_run(a: np.ndarray, dim: int, descending: bool, stable: Any) -> tuple:
    """Sorted values and where they were."""
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    order = order_of(a, dim, descending)
    return np.take_along_axis(a, order, dim), order


def sort_args(a: Any, dim: Any, descending: Any, stable: Any) -> tuple:
    """The attributes of sort."""
    return axis(dim, np.ndim(a)), bool(descending), stable


NO_COMPLEX = " {} does not support complex dtypes on CPU"
SORTS: dict[str, Any] = {
    "kind": FOLD,
    "dtype": "keep",
    "bind": sort_args,
    "check": only("sort", "bif", error=RuntimeError, c=NO_COMPLEX.format("Sort")),
}
sort = primitive(
    "sort",
    "x; dim descending stable",
    run=sort_run,
    out=PAIR,
    named="sort",
    **SORTS,
    title=lambda node: f"SortBackward{int(node.attrs[2] is not None)}",
    grad=dict(x=placed),
    sig="input, dim=-1, descending=False, stable=None",
    doc="The elements sorted along a dimension, and where they were; always stable.",
)
argsort = primitive(
    "argsort",
    "x; dim descending stable",
    grad={},
    sig="input, dim=-1, descending=False, stable=None",
    run=lambda a, *attrs: sort_run(a, *attrs)[1],
    **SORTS,
    doc="The order that sorts along a dimension; always stable.",
)


@function
def msort(input: Tensor) -> Tensor:
    """The elements sorted along the first dimension."""
    return sort(input, 0)[0]


def topk_run(a: np.ndarray, k: int, dim: int, largest: bool) -> tuple:
    """The k largest (or smallest), in order; only they are sorted."""
    if not a.ndim:
        return a.copy(), np.zeros((), np.int64)
    n = a.shape[dim]
    if 0 < k < n // 4:
        found = np.argpartition(a, n - k if largest else k - 1, dim)
        found = np.take(found, range(n - k, n) if largest else range(k), dim)
        found.sort(dim)  # equal elements in the order of their places
        chosen = np.take_along_axis(a, found, dim)
        found = np.take_along_axis(found, order_of(chosen, dim, largest), dim)
    else:
        found = np.take(order_of(a, dim, largest), range(k), dim)
    return np.take_along_axis(a, found, dim), found


def topk_args(a: Any, k: Any, dim: Any, largest: Any, sorted: Any) -> tuple:
    """The attributes of topk."""
    d = axis(dim, np.ndim(a))
    if not 0 <= k <= (np.shape(a)[d] if np.ndim(a) else 1):
        raise RuntimeError("selected index k out of range")
    return int(k), d, bool(largest)


topk = primitive(
    "topk",
    "x; k dim largest",
    kind=FOLD,
    run=topk_run,
    out=PAIR,
    named="topk",
    dtype="keep",
    grad=dict(x=placed),
    sig="input, k, dim=-1, largest=True, sorted=True",
    bind=topk_args,
    check=only(
        "topk",
        "if",
        error=RuntimeError,
        c=NO_COMPLEX.format("topk"),
        b="topk does not support bool dtypes on CPU",
    ),
    doc="The k largest (or smallest) along a dimension, in order, and where they are.",
)


# ---- medians, order statistics, modes --------------------------------------------------------


def nan_first(a: np.ndarray, dim: int, place: np.ndarray) -> np.ndarray:
    """The place of the first NaN along a dimension, where there is one."""
    if a.dtype.kind != "f":
        return place
    bad = np.isnan(a)
    return np.where(bad.any(dim), bad.argmax(dim), place)


def middle(a: np.ndarray, dim: int) -> np.ndarray:
    """The place of the lower median; NaN where there is one."""
    k = (a.shape[dim] - 1) // 2
    return nan_first(a, dim, np.take(np.argpartition(a, k, dim), k, dim))


def middle_of_numbers(a: np.ndarray, dim: int) -> np.ndarray:
    """The place of the lower median of what is not NaN."""
    if a.dtype.kind != "f":
        return middle(a, dim)
    order = np.argsort(a, dim, kind="stable")
    n = np.add.reduce(~np.isnan(a), dim, keepdims=True)
    return np.take_along_axis(order, np.maximum(n - 1, 0) // 2, dim).squeeze(dim)


def median_of(name: str, find: Callable, doc: str) -> Callable:
    """The record of median() or nanmedian() of all elements, and its way to one dimension."""
    dim_record = primitive(
        f"_{name}",
        "x; dim keepdim",
        kind=FOLD,
        run=picking(find),
        out=PAIR,
        named=name,
        dtype="keep",
        title=f"{name.capitalize()}Backward1",
        grad=dict(x=placed_one),
        bind=lambda a, dim, keepdim: along(name, a, dim, keepdim),
        check=only("median", "if"),
        sig="input, dim, keepdim=False",
        doc=f"{doc} along a dimension, and where it is.",
    )

    def run(a: np.ndarray) -> Any:
        if not a.size:
            return np.nan if a.dtype.kind == "f" else np.iinfo(a.dtype).min
        flat = a.reshape(-1)
        return flat[find(flat, 0)]

    return primitive(
        name,
        "x",
        kind=FOLD,
        run=lambda a: np.asarray(run(a), a.dtype),
        dtype="keep",
        title=f"{name.capitalize()}Backward0",
        check=only("median", "if"),
        doc=doc + ".",
        grad=dict(x=share_all),
        sig="input, dim=None, keepdim=False",
        **detour(
            lambda x, dim, keepdim: (dim_record.op, (x,), along(name, raw(x), dim, keepdim)),
            "dim is not None",
        ),
    )


median = median_of("median", middle, "The median, of two middle elements the lower")
nanmedian = median_of("nanmedian", middle_of_numbers, "The lower median of what is not NaN")


def kth(a: np.ndarray, dim: int, k: int) -> np.ndarray:
    """The place of the k-th smallest element."""
    return np.take(np.argpartition(a, k - 1, dim), k - 1, dim)


def kth_args(a: Any, k: Any, dim: Any, keepdim: Any) -> tuple:
    """The attributes of kthvalue."""
    d, keepdim = along("kthvalue", a, dim, keepdim)
    if not 1 <= k <= (np.shape(a)[d] if np.ndim(a) else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    return d, keepdim, int(k)


kthvalue = primitive(
    "kthvalue",
    "x; dim keepdim k",
    kind=FOLD,
    run=picking(kth),
    out=PAIR,
    named="kthvalue",
    dtype="keep",
    grad=dict(x=placed_one),
    sig="input, k, dim=-1, keepdim=False",
    bind=kth_args,
    check=only("kthvalue", "if"),
    doc="The k-th smallest element along a dimension.",
)


def commonest(a: np.ndarray, dim: int) -> np.ndarray:
    """The last place of the most frequent value; of equally frequent ones the smallest."""
    order = np.moveaxis(np.argsort(a, dim, kind="stable"), dim, -1)
    row = np.take_along_axis(np.moveaxis(a, dim, -1), order, -1)
    at = np.arange(row.shape[-1])
    new = np.ones(row.shape, bool)
    new[..., 1:] = row[..., 1:] != row[..., :-1]
    since = at - np.maximum.accumulate(np.where(new, at, 0), -1)
    end = np.argmax(since, -1)[..., None]  # the first run that gets that long
    return np.take_along_axis(order, end, -1)[..., 0]


mode = primitive(
    "mode",
    "x; dim keepdim",
    kind=FOLD,
    run=picking(commonest),
    out=PAIR,
    named="mode",
    dtype="keep",
    grad=dict(x=placed_one),
    sig="input, dim=-1, keepdim=False",
    bind=lambda a, dim, keepdim: along("mode", a, dim, keepdim),
    check=only("mode", "bif"),
    doc="The most frequent value along a dimension and where it is last; the smallest of several.",
)
