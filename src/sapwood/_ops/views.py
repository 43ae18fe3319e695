"""MOVE without copying: the same elements, all of them, seen in another shape or order.

Every `run` gives a NumPy view where PyTorch gives one. Replays of view steps run on arrays that may
be laid out otherwise: so memory is looked at in `bind`, and `run` takes what comes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import alias, function, method
from sapwood._core.door import TABLE, apply, primitive
from sapwood._core.memory import version_of
from sapwood._core.op import MOVE
from sapwood._core.slow import explain, general
from sapwood._core.tensor import KINDS, Tensor, plain
from sapwood._ops.axes import axis, different, infer, named, sizes
from sapwood._ops.parts import aliased, view_record
from sapwood._ops.parts import diagonal as diagonal

# ---- other shapes ----------------------------------------------------------------------------


def viewable(a: np.ndarray, shape: tuple) -> bool:
    """Whether the elements can be seen in this shape without a copy."""
    if a.flags.c_contiguous:
        return True
    try:
        a.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


def view_shape(a: np.ndarray, shape: tuple, keywords: dict | None = None) -> tuple:
    """The shape that view(*shape) asks for, if memory allows it."""
    found = infer(sizes(named(shape, keywords, "view", "size"), "view"), a.size)
    if not viewable(a, found):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return (found,)


def view_dtype(x: Tensor, kind: Any) -> Tensor:
    """The same bytes as another dtype: no derivative, one version counter."""
    want = dt.numpy_of(kind)
    a, have = x.array, x.dtype
    text = f"to view {have.title} as {kind.title} (different element sizes)"
    if want.itemsize != a.itemsize:
        ratio = max(want.itemsize // a.itemsize, 1)
        if not a.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 {text}")
        if a.shape[-1] % ratio:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {ratio} {text}, but got {a.shape[-1]}"
            )
        if a.strides[-1] != a.itemsize and a.size:
            raise RuntimeError(
                f"self.stride(-1) must be 1 {text}, but got {a.strides[-1] // a.itemsize}"
            )
        if any(s % want.itemsize for s in a.strides[:-1]):
            raise RuntimeError(f"self.stride must be divisible by {ratio} {text}")
    t = plain(a.view(want))
    t.version, t.inference, t.cuts = version_of(x), x.inference, x.cut_by("view")
    return t


def asked_dtype(shape: tuple, keywords: dict) -> Any:
    """The dtype in `x.view(dtype)`; None where a shape is asked for."""
    if len(shape) == 1 and type(shape[0]) is dt.dtype:
        return shape[0]
    return keywords.get("dtype")


view = view_record(
    "view",
    "x; shape",
    view="maybe",
    title="ViewBackward0",
    run=np.reshape,
    bind=view_shape,
    grad=dict(x=lambda g, x_shape: g.reshape(x_shape)),
    sig="input, *shape, **keywords",
    prologue="""
if type(input) in KINDS and asked_dtype(shape, keywords) is not None:
    return view_dtype(input, asked_dtype(shape, keywords))
""",
    env={"asked_dtype": asked_dtype, "view_dtype": view_dtype},
    doc="The same elements in another shape, or the same bytes in another dtype; never a copy.",
)


def reshape_shape(a: np.ndarray, shape: tuple, keywords: dict | None = None) -> tuple:
    """The shape that reshape(*shape) asks for."""
    shape = named(shape, keywords, "reshape", "shape")
    return (infer(sizes(shape, "reshape", "shape"), a.size),)


def reshape_strided(x: Tensor, shape: tuple, keywords: dict, site: tuple) -> Tensor:
    """reshape of memory that is not row-major: a view where possible, else of a copy."""
    try:
        attrs = reshape_shape(x.array, shape, keywords)
    except Exception as e:
        raise explain(reshape.op, e, (x,), (), site) from None
    if viewable(x.array, *attrs):
        return general(reshape_alias.op, (x,), attrs, site)
    copy = general(TABLE["clone"], (x,), ("C",), site)
    return general(unsafe_view.op, (copy,), attrs, site)


reshape = view_record(
    "reshape",
    "x; shape",
    view="maybe",
    title="ViewBackward0",
    run=np.reshape,
    bind=reshape_shape,
    grad=dict(x=lambda g, x_shape: g.reshape(x_shape)),
    sig="input, *shape, **keywords",
    prologue="""
if type(input) in KINDS and not input.array.flags.c_contiguous:
    f = getframe(1)
    return reshape_strided(input, shape, keywords, (f.f_code, f.f_lasti))
""",
    env={"reshape_strided": reshape_strided},
    doc="The elements in another shape: a view where memory allows, else a copy.",
)
reshape_alias = view_record(
    "_reshape_alias",
    "x; shape",
    view="maybe",
    title="ReshapeAliasBackward0",
    run=np.reshape,
    grad=dict(x=lambda g, x_shape: g.reshape(x_shape)),
    doc="A view of strided memory in another shape.",
)
unsafe_view = primitive(
    "_unsafe_view",
    "x; shape",
    kind=MOVE,
    dtype="keep",
    title="UnsafeViewBackward0",
    run=np.reshape,
    grad=dict(x=lambda g, x_shape: g.reshape(x_shape)),
    doc="Another shape of a copy that nobody else sees.",
)


@method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of another tensor."""
    return view(self, tensor(other, "view_as").array.shape)


@method
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Reshape to the shape of another tensor."""
    return reshape(self, tensor(other, "reshape_as").array.shape)


def tensor(x: Any, name: str, what: str = "argument 'other' (position 1)") -> Tensor:
    """The tensor, or PyTorch's error."""
    if type(x) not in KINDS:
        raise TypeError(f"{name}(): {what} must be Tensor, not {type(x).__name__}")
    return x


@function
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from start_dim to end_dim into one."""
    shape = input.array.shape
    a, b = axis(start_dim, len(shape)), axis(end_dim, len(shape))
    if a > b:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if a == b and shape:
        return input
    return reshape(input, (*shape[:a], math.prod(shape[a : b + 1]), *shape[b + 1 :]))


@function
def ravel(input: Tensor) -> Tensor:
    """One dimension; a view where memory allows."""
    return view(input.contiguous(), (-1,))  # type: ignore[attr-defined]


@function
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Split one dimension into several."""
    shape, given = input.array.shape, tuple(sizes)
    d = axis(dim, len(shape))
    if not given:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        found = infer(given, shape[d])
    except RuntimeError as e:
        raise RuntimeError(
            str(e)
            if "one dimension" in str(e)
            else f"unflatten: Provided sizes {list(given)} "
            f"don't multiply up to the size of dim {d} ({shape[d]}) in the input tensor"
        ) from None
    return view(input, (*shape[:d], *found, *shape[d + 1 :]))


def squeeze_args(a: np.ndarray, dim: Any, axis_: Any = None) -> tuple:
    """The dimensions asked for, and those among them that have extent 1."""
    if dim is None and axis_ is not None:
        dim = axis_
    if dim is None:
        return None, tuple(d for d, n in enumerate(a.shape) if n == 1)
    if isinstance(dim, (tuple, list)):
        dim = different(dim, a.ndim)
        return dim, tuple(d for d in dim if d < a.ndim and a.shape[d] == 1)
    d = axis(dim, a.ndim)
    return d, (d,) if a.ndim and a.shape[d] == 1 else ()


def squeeze_title(node: Any) -> str:
    """One overload each for all dimensions, one and several."""
    dim = node.attrs[0]
    return f"SqueezeBackward{0 if dim is None else 1 if type(dim) is int else 2}"


squeeze = view_record(
    "squeeze",
    "x; dim axes",
    title=squeeze_title,
    bind=squeeze_args,
    run=lambda a, dim, axes: a.squeeze(axes),
    sig="input, dim=None, axis=None",
    grad=dict(x=lambda g, x_shape: g.reshape(x_shape)),
    doc="Without the dimensions of extent 1: all, or those given.",
)
unsqueeze = view_record(
    "unsqueeze",
    "x; dim",
    run=lambda a, dim: a.reshape((*a.shape[:dim], 1, *a.shape[dim:])),
    bind=lambda a, dim: (axis(dim, a.ndim + 1),),
    grad=dict(x=lambda g, x_shape: g.reshape(x_shape)),
    doc="With a dimension of extent 1 at `dim`.",
)


# ---- other orders ----------------------------------------------------------------------------


def permutation(a: np.ndarray, dims: tuple, keywords: dict | None = None) -> tuple:
    """The order of dimensions, checked."""
    found = sizes(named(dims, keywords, "permute", "dims"), "permute", "dims")
    if len(found) != a.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {a.ndim} is not "
            f"equal to len(dims) = {len(found)}"
        )
    found = tuple(axis(d, a.ndim) for d in found)
    if len(set(found)) != len(found):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return (found,)


def inverse(dims: tuple) -> tuple:
    """The permutation that undoes `dims`."""
    out = [0] * len(dims)
    for i, d in enumerate(dims):
        out[d] = i
    return tuple(out)


permute = view_record(
    "permute",
    "x; dims",
    run=lambda a, dims: a.transpose(dims),
    bind=permutation,
    sig="input, *dims, **keywords",
    grad=dict(x=lambda g, dims: apply(permute.op, g, (inverse(dims),))),
    doc="The dimensions in another order.",
)
transpose = view_record(
    "transpose",
    "x; dim0 dim1",
    run=lambda a, dim0, dim1: a.swapaxes(dim0, dim1) if a.ndim else a[...],
    grad=dict(x=lambda g, attrs: apply(transpose.op, g, attrs)),
    bind=lambda a, dim0, dim1: (axis(dim0, a.ndim), axis(dim1, a.ndim)),
    doc="Two dimensions swapped.",
)
alias(transpose, "swapdims")


def at_most_2d(a: np.ndarray) -> tuple:
    """t() is for matrices."""
    if a.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {a.ndim}D")
    return ()


t = view_record(
    "t",
    "x",
    run=lambda a: a.T,
    title="TBackward0",
    bind=at_most_2d,
    grad=dict(x=lambda g: apply(t.op, g, ())),
    doc="The transpose of a matrix.",
)


@function
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions swapped."""
    return transpose(input, axis0, axis1)


@function
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the rest in order."""
    n = input.array.ndim
    if type(source) is int:
        source, destination = (source,), (destination,)
    found = []
    for name, dims in (("source", source), ("destination", destination)):
        found.append(tuple(axis(d, n) for d in dims))
        if len(set(found[-1])) != len(found[-1]):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    a, b = found
    if len(a) != len(b):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should "
            f"contain the same number of dims as destination ({list(destination)} dims)"
        )
    if not n:
        return aliased(input)
    rest = iter(d for d in range(n) if d not in a)
    places = dict(zip(b, a, strict=True))
    return permute(input, tuple(places[i] if i in places else next(rest) for i in range(n)))


alias(movedim, "moveaxis")


# ---- broadcasting ----------------------------------------------------------------------------


def expand_shape(a: np.ndarray, size: Any, keywords: dict | None = None) -> tuple:
    """The expanded shape; -1 keeps an extent."""
    want = list(sizes(named(size, keywords, "expand", "size"), "expand"))
    lead = len(want) - a.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand(torch.{dt.of(a.dtype).title}Tensor{{{list(a.shape)}}}, size={want}): the "
            f"number of sizes provided ({len(want)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({a.ndim})"
        )
    for i, n in enumerate(want):
        have = a.shape[i - lead] if i >= lead else 1
        if n == -1 and i >= lead:
            want[i] = have
        elif n < 0 and i < lead:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing "
                f"dimension {i}"
            )
        elif n < 0 or (have != 1 and have != n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  Target sizes: {want}.  Tensor sizes: "
                f"{list(a.shape)}"
            )
    return (tuple(want),)


def expand_run(a: np.ndarray, shape: tuple) -> np.ndarray:
    """Stride 0 where an extent of 1 is repeated."""
    if a.shape == shape:
        return a[...]
    flags = ["multi_index", "refs_ok", "zerosize_ok"]
    out = np.nditer(
        (a,),
        flags=flags,
        op_flags=[["readonly"]],
        itershape=shape,  # type: ignore[call-overload]
        order="C",
    ).itviews[0]
    if a.flags.writeable:
        out.flags.writeable = True
    return out


expand = view_record(
    "expand",
    "x; shape",
    run=expand_run,
    bind=expand_shape,
    grad=dict(x=lambda g: g),
    sig="input, *size, **keywords",
    doc="Repeated along dimensions of extent 1, without a copy.",
)


@method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expanded to the shape of another tensor."""
    return expand(self, tensor(other, "expand_as").array.shape)


@function
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """Expanded to a shape."""
    return expand(input, tuple(size))
