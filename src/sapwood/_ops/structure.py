"""What a tensor is made of: shape, strides, items; and in-place changes of its shape only."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sapwood._core import where
from sapwood._core.border import METHODS, border
from sapwood._core.mode import MODE
from sapwood._core.memory import bump, check_write, move_retain
from sapwood._core.size import Size
from sapwood._core.tensor import Tensor
from sapwood._ops import splits, views
from sapwood._ops.axes import axis


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the extent of one dimension."""
    shape = self.array.shape
    if dim is None:
        return Size(shape)
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[axis(dim, len(shape))]


def stride(self: Tensor, dim: int | None = None) -> Any:
    """Strides in elements."""
    a = self.array
    steps = tuple(s // a.itemsize for s in a.strides) if a.itemsize else a.strides
    if a.size <= 1 or 1 in a.shape or 0 in a.shape:  # NumPy leaves these free: say them as PyTorch
        steps = normal_strides(a, steps)
    return steps if dim is None else steps[axis(dim, a.ndim)]


def normal_strides(a: np.ndarray, steps: tuple) -> tuple:
    """Contiguous strides for contiguous arrays, whatever NumPy keeps for extents of 1 or 0."""
    if not a.flags.c_contiguous:
        return steps
    out, step = [], 1
    for n in reversed(a.shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


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
    a = self.array
    return (a.astype(np.float32) if a.dtype.kind == "V" else a).tolist()


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in row-major order."""
    return bool(self.array.flags.c_contiguous)


def storage_offset(self: Tensor) -> int:
    """The position of the first element in the memory it is a part of, in elements."""
    a = self.array
    whole = a
    while isinstance(whole.base, np.ndarray) and whole.base.dtype == a.dtype:
        whole = whole.base
    start = a.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return start // a.itemsize


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


def scalar(self: Tensor, kind: str) -> Any:
    """float(t) and its like: allowed, with PyTorch's warning where a graph is lost."""
    if self.array.size != 1:
        raise RuntimeError(
            f"a Tensor with {self.array.size} elements cannot be converted to Scalar, at "
            f"{where.here()}"
        )
    if self.requires_grad and kind != "int":
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
            f"behavior.\nConsider using tensor.detach() first. At {where.here()}",
            UserWarning, stacklevel=3)
    return item(self)


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
        bump(self)
        return self

    change.__name__ = name
    return border(change)


def check_write_shape(self: Tensor, name: str) -> None:
    """In-place changes of shape are writes in PyTorch's eyes."""
    a = self.array
    if 0 in a.strides and a.size > 1:  # expanded memory may be reshaped: nothing is written
        return
    check_write(self, name, graph=False)


for _door in (views.t, views.transpose, views.squeeze, views.unsqueeze, views.swapaxes):
    METHODS[f"{_door.__name__}_"] = reshaped_in_place(f"{_door.__name__}_", _door)
Tensor.shape = property(lambda self: Size(self.array.shape))  # type: ignore[attr-defined]
for _fn in (size, stride, item, tolist, is_contiguous, storage_offset):
    METHODS[_fn.__name__] = _fn
METHODS["dim"] = METHODS["ndimension"] = lambda self: self.array.ndim
METHODS["numel"] = METHODS["nelement"] = lambda self: self.array.size
METHODS["element_size"] = lambda self: self.array.itemsize
METHODS["data_ptr"] = lambda self: self.array.__array_interface__["data"][0]
METHODS["is_same_size"] = lambda self, other: self.array.shape == other.array.shape
METHODS["__len__"], METHODS["__iter__"], METHODS["__bool__"] = length, iterate, truth
METHODS["__float__"] = lambda self: float(scalar(self, "float"))
METHODS["__int__"] = lambda self: int(scalar(self, "int"))
METHODS["__complex__"] = lambda self: complex(scalar(self, "complex"))
METHODS["__index__"], METHODS["__contains__"] = index_of, contains
Tensor.nbytes = property(lambda self: self.array.nbytes)  # type: ignore[attr-defined]
Tensor.itemsize = property(lambda self: self.array.itemsize)  # type: ignore[attr-defined]
