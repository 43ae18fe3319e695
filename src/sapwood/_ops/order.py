"""What needs comparisons of order: max and min in all forms, sorting, counting, quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.border import function, function_only
from sapwood._core.door import TABLE, primitive
from sapwood._core.op import FOLD
from sapwood._core.results import result_type
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.axes import axis
from sapwood._ops.reduce import kept
from sapwood._ops.views import reshape

PAIR = "values indices"


def back_to(g: Any, indices: Any, dim: int, shape: tuple, *, keepdim: bool) -> Any:
    """The gradient of chosen elements at their places, zeros elsewhere."""
    g = g[0]
    if not shape:
        return reshape(g, ())
    if not keepdim:
        g, indices = reshape(g, kept(shape, (dim,))), reshape(indices, kept(shape, (dim,)))
    zeros = np.zeros(shape, (g.array if type(g) in KINDS else g).dtype)
    return TABLE["_scatter_add"].door(zeros, indices, g, dim)


def chosen(name: str, pick: Any, doc: str, *, title: str | None = None, **extra: Any) -> Any:
    """A record that chooses one element along a dimension: (values, indices)."""

    def run(a: np.ndarray, dim: int, keepdim: bool, *more: Any) -> tuple:
        if a.ndim == 0:
            return np.array(a), np.zeros((), np.int64)
        if a.shape[dim] == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim {dim} to have non-zero size.")
        index = np.expand_dims(pick(a, dim, *more), dim).astype(np.int64)
        values = np.take_along_axis(a, index, dim)
        if keepdim:
            return values, index
        return values.squeeze(dim), index.squeeze(dim)

    return primitive(
        name, f"x; dim keepdim {extra.pop('more', '')}", kind=FOLD, run=run, out=PAIR,
        dtype="keep", title=title, doc=doc,
        grad=dict(x=lambda g, indices, dim, keepdim, x_shape:
                  back_to(g, indices, dim, x_shape, keepdim=keepdim)), **extra)


max_along = chosen("_max_dim", lambda a, dim: np.argmax(a, dim), "Largest along a dimension.",
                   title="MaxBackward0")
min_along = chosen("_min_dim", lambda a, dim: np.argmin(a, dim), "Smallest along a dimension.",
                   title="MinBackward0")


def half_share(g: Any, x: Any, out: Any, x_shape: tuple) -> Any:
    """max() of all: the gradient divided among ties, or among NaN where one came out."""
    a = x.array if type(x) in KINDS else x
    top = out.array if type(out) in KINDS else out
    at = np.asarray(a == top if top == top else a != a).astype(a.dtype)
    return g * (at / at.sum())


def some(name: str) -> Any:
    """max and min of nothing are an error."""

    def bind(a: np.ndarray) -> tuple:
        if a.size == 0:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        return ()

    return bind


max_all = primitive("_max_all", "x", kind=FOLD, run=lambda a: a.max(), dtype="keep",
                    title="MaxBackward1", grad=dict(x=half_share), bind=some("max"),
                    doc="The largest element; ties share the gradient.")
min_all = primitive("_min_all", "x", kind=FOLD, run=lambda a: a.min(), dtype="keep",
                    title="MinBackward1", grad=dict(x=half_share), bind=some("min"),
                    doc="The smallest element; ties share the gradient.")


def extreme(name: str, whole: Any, along: Any, both: str) -> None:
    """max and min in PyTorch's three forms."""

    def call(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return TABLE[both].door(input, dim if other is None else other)
        if dim is None:
            return whole(input)
        pair = along(input, axis(dim, input.array.ndim), keepdim)
        return result_type(name, ("values", "indices"))(pair)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name}(x): one element. {name}(x, dim): (values, indices). {name}(x, y): by pairs."
    function(call)


extreme("max", max_all, max_along, "maximum")
extreme("min", min_all, min_along, "minimum")


def places(name: str, pick: Any) -> None:
    """argmax and argmin."""

    def call(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        a = input.array
        if a.size == 0 and (dim is None or a.shape[axis(dim, a.ndim)] == 0):
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument.")
        if dim is None:
            out = np.asarray(pick(a.reshape(-1)))
            return plain((out.reshape((1,) * a.ndim) if keepdim else out).astype(np.int64))
        if a.ndim == 0:
            axis(dim, 0)
            return plain(np.zeros((), np.int64))
        d = axis(dim, a.ndim)
        return plain(np.asarray(pick(a, axis=d, keepdims=keepdim)).astype(np.int64))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Where the {'largest' if name == 'argmax' else 'smallest'} element is."
    function(call)


places("argmax", np.argmax)
places("argmin", np.argmin)

# ---- sorting ------------------------------------------------------------------------------------


def order_of(a: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """Stable order; NaN counts as largest."""
    if not descending:
        return np.argsort(a, dim, kind="stable")
    turned = np.flip(a, dim)
    order = np.flip(np.argsort(turned, dim, kind="stable"), dim)
    return a.shape[dim] - 1 - order


def sort_run(a: np.ndarray, dim: int, descending: bool) -> tuple:
    """Sorted values and where they came from."""
    if a.ndim == 0:
        return np.array(a), np.zeros((), np.int64)
    order = order_of(a, dim, descending)
    return np.take_along_axis(a, order, dim), order.astype(np.int64)


def sort_rule(g: Any, indices: Any, dim: int, x_shape: tuple) -> Any:
    """Each gradient at the place its value came from."""
    return back_to(g, indices, dim, x_shape, keepdim=True)


sort_of = primitive("_sort", "x; dim descending", kind=FOLD, run=sort_run, out=PAIR, dtype="keep",
                    title="SortBackward0", grad=dict(x=sort_rule), doc="Sorted along a dimension.")


@function
def sort(input: Tensor, dim: int = -1, descending: bool = False, *,
         stable: bool | None = None) -> Any:
    """(values, indices) sorted along a dimension; always stable."""
    return result_type("sort", ("values", "indices"))(
        sort_of(input, axis(dim, input.array.ndim), bool(descending)))


@function
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *,
            stable: bool = False) -> Tensor:
    """The order that sorts along a dimension."""
    return sort(input.detach(), dim, descending)[1]


@function
def msort(input: Tensor) -> Tensor:
    """Sorted along the first dimension."""
    return sort(input, 0)[0]


def topk_run(a: np.ndarray, k: int, dim: int, largest: bool) -> tuple:
    """The k largest (or smallest), in order."""
    if a.ndim == 0:
        return np.array(a), np.zeros((), np.int64)
    order = np.take(order_of(a, dim, largest), np.arange(k), axis=dim)
    return np.take_along_axis(a, order, dim), order.astype(np.int64)


topk_of = primitive("_topk", "x; k dim largest", kind=FOLD, run=topk_run, out=PAIR, dtype="keep",
                    title="TopkBackward0", grad=dict(x=sort_rule), doc="The k largest.")


@function
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """(values, indices) of the k largest (or smallest) along a dimension, in order."""
    a = input.array
    d = axis(dim, a.ndim)
    if not 0 <= k <= (a.shape[d] if a.ndim else 1):
        raise RuntimeError("selected index k out of range")
    return result_type("topk", ("values", "indices"))(topk_of(input, k, d, bool(largest)))


def middle(a: np.ndarray, dim: int) -> np.ndarray:
    """The place of the lower median; NaN where there is one."""
    order = np.argsort(a, dim, kind="stable")
    place = np.take(order, (a.shape[dim] - 1) // 2, axis=dim)
    if a.dtype.kind == "f":
        bad = np.isnan(a)
        place = np.where(bad.any(dim), bad.argmax(dim), place)
    return place


def nan_middle(a: np.ndarray, dim: int) -> np.ndarray:
    """The place of the lower median of what is not NaN."""
    order = np.argsort(a, dim, kind="stable")
    n = (~np.isnan(a)).sum(dim, keepdims=True) if a.dtype.kind == "f" else np.full(
        [1 if d == dim else m for d, m in enumerate(a.shape)], a.shape[dim])
    return np.take_along_axis(order, np.maximum(n - 1, 0) // 2, dim).squeeze(dim)


median_along = chosen("_median_dim", middle, "Lower median along a dimension.",
                      title="MedianBackward1")
nanmedian_along = chosen("_nanmedian_dim", nan_middle, "Lower median without NaN.",
                         title="NanmedianBackward1")
kth_along = chosen(
    "_kthvalue", lambda a, dim, k: np.take(np.argsort(a, dim, kind="stable"), k - 1, axis=dim),
    "The k-th smallest.", title="KthvalueBackward0", more="k")


def median_of(name: str, pick: Any) -> Any:
    """A record: the lower median of all elements, NaN of none; ties share the gradient."""

    def run(a: np.ndarray) -> Any:
        flat = a.reshape(-1)
        if not flat.size:
            return np.nan if a.dtype.kind != "i" else np.iinfo(a.dtype).min
        return flat[pick(flat, 0)]

    return primitive(
        f"_{name}_all", "x", kind=FOLD, dtype="keep", title=f"{name.capitalize()}Backward0",
        run=lambda a: np.asarray(run(a), a.dtype), grad=dict(x=half_share), doc="The lower median.")


def medians(name: str, whole: Any, along: Any) -> None:
    """median and nanmedian of all, or along a dimension."""

    def call(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is None:
            return whole(input)
        return result_type(name, ("values", "indices"))(
            along(input, axis(dim, input.array.ndim), keepdim))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "The lower median of all elements, or (values, indices) along a dimension."
    function(call)


medians("median", median_of("median", middle), median_along)
medians("nanmedian", median_of("nanmedian", nan_middle), nanmedian_along)


@function
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices) of the k-th smallest element along a dimension."""
    d = axis(dim, input.array.ndim)
    if not 1 <= k <= (input.array.shape[d] if input.array.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}")
    return result_type("kthvalue", ("values", "indices"))(kth_along(input, d, keepdim, k))


def commonest(a: np.ndarray, dim: int) -> np.ndarray:
    """The last place of the most frequent value; the smallest of several."""

    def one(row: np.ndarray) -> int:
        values, counts = np.unique(row, return_counts=True)
        return int(np.flatnonzero(row == values[counts.argmax()])[-1])

    return np.apply_along_axis(one, dim, a)


mode_along = chosen("_mode", commonest, "The most frequent value.", title="ModeBackward0")


@function
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices) of the most frequent value along a dimension."""
    return result_type("mode", ("values", "indices"))(
        mode_along(input, axis(dim, input.array.ndim), keepdim))


# ---- counting -----------------------------------------------------------------------------------


@function
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False,
           return_counts: bool = False, dim: int | None = None) -> Any:
    """The different values, sorted; optionally where each element went and how often it came."""
    out = np.unique(input.array, return_index=False, return_inverse=return_inverse,
                    return_counts=return_counts, axis=dim)
    if not isinstance(out, tuple):
        return plain(np.asarray(out))
    parts = [plain(np.asarray(o)) for o in out]
    if return_inverse and dim is None:
        parts[1] = plain(parts[1].array.reshape(input.array.shape))
    return tuple(parts)


@function
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Any:
    """Values without the repetitions that follow each other."""
    a = input.array.reshape(-1) if dim is None else np.moveaxis(input.array, dim, 0)
    rows = a.reshape(a.shape[0], -1) if a.size else a.reshape(a.shape[0], 0)
    new = np.ones(len(a), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = np.flatnonzero(new)
    values = a[new] if dim is None else np.moveaxis(a[new], 0, dim)
    parts = [plain(values)]
    if return_inverse:
        inverse = np.cumsum(new) - 1
        parts.append(plain(inverse.reshape(input.array.shape) if dim is None else inverse))
    if return_counts:
        parts.append(plain(np.diff(np.append(starts, len(a)))))
    return parts[0] if len(parts) == 1 else tuple(parts)


@function
def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each non-negative integer occurs."""
    if input.array.ndim != 1 or input.array.dtype.kind not in "iu" or (input.array < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return plain(np.bincount(input.array, None, minlength))
    found = np.bincount(input.array, weights.array, minlength)
    return plain(found.astype(np.float32 if weights.array.dtype == np.float32 else np.float64))


@function
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:  # noqa: A002
    """How many elements fall into each of `bins` equal intervals."""
    a = input.array
    low, high = (a.min(), a.max()) if min == max == 0 and a.size else (min, max)
    if low == high:
        low, high = low - 1, high + 1
    return plain(np.histogram(a, bins, (float(low), float(high)))[0].astype(a.dtype))


@function_only
def searchsorted(sorted_sequence: Tensor, input: Any, *, right: bool = False, side: Any = None,
                 out_int32: bool = False, sorter: Any = None) -> Tensor:
    """Where values would go so that the last dimension stays sorted."""
    a = sorted_sequence.array
    if sorter is not None:
        a = np.take_along_axis(a, sorter.array, -1)
    v = input.array if isinstance(input, Tensor) else np.asarray(input, a.dtype)
    side = side or ("right" if right else "left")
    if a.ndim == 1:
        out = np.searchsorted(a, v, side)
    else:
        rows, values = a.reshape(-1, a.shape[-1]), v.reshape(-1, v.shape[-1])
        out = np.stack([np.searchsorted(r, w, side) for r, w in zip(rows, values, strict=True)])
        out = out.reshape(v.shape)
    return plain(np.asarray(out).astype(np.int32 if out_int32 else np.int64))


@function_only
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False,
              right: bool = False) -> Tensor:
    """The interval of `boundaries` that each value falls into."""
    return searchsorted(boundaries, input, right=right, out_int32=out_int32)


PLACES = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}


def quantiles(name: str, input: Tensor, q: Any, dim: int | None, how: str, *, keepdim: bool,
              skip: bool) -> Tensor:
    """Between sorted elements; NaN wins, or with `skip` is left out."""
    x = reshape(input, (-1,)) if dim is None else input
    d = axis(dim or 0, x.array.ndim)
    kind = x.array.dtype
    if kind.kind != "f" or kind.itemsize < 4:
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if how not in ("linear", "midpoint", *PLACES):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint "
                           f"or nearest, but got {how}")
    if isinstance(q, Tensor) and (q.array.ndim > 1 or q.array.dtype != kind):
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor" if q.array.ndim > 1 else
                           f"{name}() q tensor must be same dtype as the input tensor")
    if not x.array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    at = np.asarray(q.array if isinstance(q, Tensor) else q, kind)
    if ((at < 0) | (at > 1)).any():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    if not x.array.ndim:
        x = reshape(x, (1,))
    rows = sort(x, d)[0].movedim(d, -1)  # type: ignore[attr-defined]
    bad = np.isnan(rows.array)
    last = rows.array.shape[-1] - 1
    most = np.maximum(last - bad.sum(-1, keepdims=True), 0) if skip else np.full(
        (*rows.array.shape[:-1], 1), last)
    share = q if isinstance(q, Tensor) else plain(at)  # the derivative reaches q, too
    where = reshape(share, (-1,)) * plain(most.astype(kind))
    if not skip:  # one NaN makes all NaN: it is sorted last
        where = TABLE["where"].door(plain(bad.any(-1, keepdims=True)), float(last), where)
    place = PLACES[how](where.array) if how in PLACES else where.array
    gather = TABLE["_gather"].door
    low = np.floor(place).astype(np.int64)
    out = gather(rows, plain(low), rows.array.ndim - 1)
    if how in ("linear", "midpoint"):
        part = where - plain(low.astype(kind)) if how == "linear" else plain(
            np.full_like(place, 0.5))
        above = gather(rows, plain(np.ceil(place).astype(np.int64)), rows.array.ndim - 1)
        out = TABLE["lerp"].door(out, above, part)
    out = out.movedim(-1, 0)  # type: ignore[attr-defined]
    if keepdim:
        shape = tuple(1 if dim is None or k == d else n for k, n in enumerate(input.array.shape))
        out = reshape(out, (at.size, *shape))
    return out if at.ndim else out[0]  # type: ignore[index]


@function
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear") -> Tensor:
    """Quantiles by interpolation between sorted elements."""
    return quantiles("quantile", input, q, dim, interpolation, keepdim=keepdim, skip=False)


@function
def nanquantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear") -> Tensor:
    """Quantiles of the elements that are not NaN."""
    return quantiles("nanquantile", input, q, dim, interpolation, keepdim=keepdim, skip=True)


@function_only
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False,
         invert: bool = False) -> Tensor:
    """Whether each element is among the test elements."""
    a, b = (v.array if isinstance(v, Tensor) else np.asarray(v) for v in (elements, test_elements))
    return plain(np.asarray(np.isin(a, b, assume_unique=assume_unique, invert=invert)))
