"""What a tensor is made of: shape, strides, items; and in-place changes of its shape only."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sapwood._core import where
from sapwood._core.border import FUNCTIONS, METHODS, border
from sapwood._core.inside import left
from sapwood._core.memory import bump, check_write
from sapwood._core.mode import MODE
from sapwood._core.node import Leaf
from sapwood._core.size import Size
from sapwood._core.tensor import Tensor
from sapwood._ops import movement, splits, strided, views
from sapwood._ops.adding import steps
from sapwood._ops.axes import axis, named, sizes

new_tuple = tuple.__new__  # the extents of an array need no check


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the extent of one dimension."""
    shape = self.array.shape
    if dim is None:
        return new_tuple(Size, shape)
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[axis(dim, len(shape))]


def stride(self: Tensor, dim: int | None = None) -> Any:
    """Strides in elements."""
    a = self.array
    free = not any(a.strides) if a.size == 0 else 1 in a.shape and not self.path_of()
    if free and a.flags.c_contiguous:
        found = tuple(steps(tuple(max(n, 1) for n in a.shape)))  # NumPy leaves some of these free
    else:
        found = strided.element_strides(a)
    if dim is None:
        return found
    if not a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return found[axis(dim, a.ndim)]


def item(self: Tensor) -> Any:
    """The only element as a Python number."""
    a = self.array
    if a.size != 1:
        raise RuntimeError(
            f"a Tensor with {a.size} elements cannot be converted to Scalar. It has shape "
            f"{list(a.shape)}, at {where.here()}"
        )
    value = a.reshape(()).item()
    return float(value) if a.dtype.kind == "V" else value


def tolist(self: Tensor) -> Any:
    """Nested lists of Python numbers."""
    left(self)
    a = self.array
    return (a.astype(np.float32) if a.dtype.kind == "V" else a).tolist()


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in row-major order, or in that of a memory format."""
    return bool(movement.lies(self.array, memory_format))


def storage_offset(self: Tensor) -> int:
    """The position of the first element in the memory it is a part of, in elements."""
    return strided.offset_of(self.array)


def length(self: Tensor) -> int:
    """The extent of the first dimension."""
    if self.array.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return self.array.shape[0]


def iterate(self: Tensor) -> Iterator:
    """The slices of the first dimension."""
    if self.array.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(splits.unbind(self, 0))


def truth(self: Tensor) -> bool:
    """The truth of a single element."""
    n = self.array.size
    if n == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    if n > 1:
        raise RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous. Use .any() or .all(), "
            f"at {where.here()}"
        )
    return bool(self.array.reshape(())[()])


def scalar(self: Tensor, kind: type, name: str) -> Any:
    """float(t) and its like: allowed, with PyTorch's warning where a graph is lost."""
    if self.array.size != 1:
        raise ValueError(
            "only one element tensors can be converted to Python scalars; this one has shape "
            f"{list(self.array.shape)}, at {where.here()}"
        )
    if kind is not int and self.requires_grad:
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
            f"behavior.\nConsider using tensor.detach() first. At {where.here()}",
            UserWarning,
            stacklevel=3,
        )
    value = item(self)
    if kind is not complex and isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {name} without overflow")
        value = value.real
    return kind(value)


def index_of(self: Tensor) -> int:
    """For use as an index: integer tensors with one element."""
    if self.array.dtype.kind not in "iub" or self.array.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.array.reshape(())[()])


def contains(self: Tensor, element: Any) -> bool:
    """Whether some element equals."""
    if isinstance(element, Tensor):
        element = element.array
    elif not isinstance(element, (int, float, bool, complex)):
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element)}."
        )
    return bool((self.array == element).any())


TWINS: dict[type, type] = {}


def twin(cls: type) -> type:
    """The class of nodes of the in-place form: TBackward1 for TBackward0, SqueezeBackward3-5."""
    if cls not in TWINS:

        def name(self: Any) -> str:
            usual = cls.name(self)  # type: ignore[attr-defined]
            more = 3 if usual.startswith("Squeeze") else 1
            return f"{usual[:-1]}{int(usual[-1]) + more}"

        made = type(cls.__name__, (cls,), {"__slots__": (), "name": name})
        TWINS[cls] = TWINS[made] = made
    return TWINS[cls]


def reshaped_in_place(name: str, door: Callable) -> Callable:
    """`t_()` and its like: the tensor itself becomes the view, in shape and in graph."""

    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_write_shape(self, name)
        memory, path = self.memory, self.path_of()
        other = door(self, *args, **kwargs)
        self.array = other.array
        if MODE.get().grad:  # without, PyTorch keeps the old node
            self.node, self.port = other.node, other.port
        if memory is not None or other.memory is not None:
            self.memory, self.path, self.gen = other.memory, other.path, other.gen
            if memory is None:  # nobody else sees this memory: the view is the base
                self.memory = None
            elif not path:
                self.turned = True
        if self.node is not None and self.node is other.node and type(self.node) is not Leaf:
            self.node.__class__ = twin(type(self.node))
        bump(self)
        return self

    change.__name__ = name
    change.__doc__ = f"`{name[:-1]}` of the tensor itself; returns self."
    return border(change)


def check_write_shape(self: Tensor, name: str) -> None:
    """In-place changes of shape are writes in PyTorch's eyes."""
    a = self.array
    if 0 in a.strides and a.size > 1:  # expanded memory may be reshaped: nothing is written
        return
    check_write(self, name, graph=False)


def resize_(self: Tensor, *size: Any, **keywords: Any) -> Tensor:
    """Another shape in the same memory, row by row; more memory where that is too little."""
    keywords.pop("memory_format", None)
    shape = sizes(named(size, keywords, "resize_", "size"), "resize_")
    return resized(self, shape)


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """resize_ to the shape of another tensor."""
    return resized(self, the_template.array.shape)


def resized(self: Tensor, shape: tuple) -> Tensor:
    """The tensor with its array resized."""
    if self.requires_grad:
        raise RuntimeError(f"cannot resize variables that require grad, at {where.here()}")
    a, n = self.array, math.prod(shape)
    if a.shape == shape:
        return self
    room = strided.owner(a).size - strided.offset_of(a)
    if n > room:
        memory = np.zeros(n, a.dtype)
        memory[:room] = strided.at_offset(a, (room,), (1,), 0)
        a, self.memory = memory, None
    self.array = strided.at_offset(a, shape, tuple(steps(shape)), 0)
    bump(self)
    return self


def set_(self: Tensor, source: Tensor) -> Tensor:
    """Make the tensor another one's elements: both share memory from now on."""
    if self.array.dtype != source.array.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.dtype.title} to a tensor of type "
            f"{self.dtype.title}"
        )
    check_write(self, "set_", graph=source.requires_grad)
    if self.requires_grad or source.requires_grad:
        raise RuntimeError(f"set_() has no derivative; use copy_, at {where.here()}")
    self.array, self.memory = source.array, None
    bump(self)
    return self


def is_nonzero(input: Tensor) -> bool:
    """The truth of the only element."""
    return truth(input)


def untyped_storage(self: Tensor) -> Storage:
    """The memory that the tensor is a part of."""
    return Storage(strided.owner(self.array))


class Storage:
    """The memory behind tensors, in bytes: enough to see who shares it."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._array.nbytes

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """Where they lie."""
        return strided.address(self._array)

    def __repr__(self) -> str:
        return f"<memory of {self.nbytes()} bytes at {self.data_ptr():#x}>"


for _door in (
    views.t,
    views.transpose,
    views.squeeze,
    views.unsqueeze,
    views.swapaxes,
    strided.as_strided,
):
    METHODS[f"{_door.__name__}_"] = reshaped_in_place(f"{_door.__name__}_", _door)
Tensor.shape = property(  # type: ignore[method-assign, assignment]
    lambda self: new_tuple(Size, self.array.shape)
)
for _fn in (size, stride, item, tolist, is_contiguous, storage_offset):
    METHODS[_fn.__name__] = _fn
METHODS["dim"] = METHODS["ndimension"] = lambda self: self.array.ndim
METHODS["numel"] = METHODS["nelement"] = lambda self: self.array.size
METHODS["element_size"] = lambda self: self.array.itemsize
METHODS["data_ptr"] = lambda self: self.array.__array_interface__["data"][0]
METHODS["is_same_size"] = lambda self, other: self.array.shape == other.array.shape
METHODS["dense_dim"], METHODS["is_shared"] = METHODS["dim"], lambda self: False
METHODS["share_memory_"] = lambda self: self
METHODS["is_set_to"] = lambda self, tensor: self.array is tensor.array
FUNCTIONS["is_nonzero"] = METHODS["is_nonzero"] = is_nonzero
METHODS["untyped_storage"] = untyped_storage
for _write in (resize_, resize_as_, set_):
    METHODS[_write.__name__] = border(_write)
METHODS["__len__"], METHODS["__iter__"], METHODS["__bool__"] = length, iterate, truth
METHODS["__float__"] = lambda self: scalar(self, float, "double")
METHODS["__int__"] = lambda self: scalar(self, int, "int64_t")
METHODS["__complex__"] = lambda self: scalar(self, complex, "c10::complex<double>")
METHODS["__index__"], METHODS["__contains__"] = index_of, contains
Tensor.nbytes = property(lambda self: self.array.nbytes)  # type: ignore[method-assign, assignment]
Tensor.itemsize = property(  # type: ignore[method-assign, assignment]
    lambda self: self.array.itemsize
)
