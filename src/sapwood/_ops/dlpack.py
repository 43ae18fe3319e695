"""DLPack: tensors to and from other libraries, sharing memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import FUNCTIONS, NAMES
from sapwood._core.device import check_device
from sapwood._core.inside import left
from sapwood._core.tensor import Tensor
from sapwood._ops.make import made

CPU = (1, 0)  # kDLCPU and its index


class Capsule:
    """An old-style DLPack capsule as an object that NumPy can ask for it."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's tensor, or of a DLPack capsule."""
    check_device(device)
    if not hasattr(ext_tensor, "__dlpack__"):
        if type(ext_tensor).__name__ != "PyCapsule":
            raise RuntimeError(
                "from_dlpack received an invalid capsule: it takes a DLPack capsule or an object "
                f"with __dlpack__, got {type(ext_tensor).__name__}"
            )
        ext_tensor = Capsule(ext_tensor)
    elif tuple(map(int, ext_tensor.__dlpack_device__())) != CPU:
        raise BufferError(
            "from_dlpack: the tensor is on another device, and sapwood computes on the CPU only"
        )
    if isinstance(ext_tensor, Tensor):
        array = export(ext_tensor)
        return made(array.copy() if copy else array)
    array = np.from_dlpack(ext_tensor) if copy is None else np.from_dlpack(ext_tensor, copy=copy)
    return made(dt.canonical(array))


def export(t: Tensor) -> np.ndarray:
    """The array that other libraries may share."""
    if t.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if dt.of(t.array.dtype) is dt.bfloat16:
        raise BufferError("NumPy does not export bfloat16 through DLPack: convert it to float32")
    left(t)
    return t.array


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor; it can be used once."""
    return export(tensor).__dlpack__()


def tensor_dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple | None = None,
    copy: bool | None = None,
) -> Any:
    """The capsule that `from_dlpack` of another library asks for."""
    if stream is not None and stream != -1:
        raise BufferError("stream should be None on the CPU")
    return export(self).__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


def tensor_dlpack_device(self: Tensor) -> tuple[int, int]:
    """(device type, index) of the DLPack protocol: the CPU."""
    return CPU


FUNCTIONS["from_dlpack"] = from_dlpack
NAMES["to_dlpack"] = to_dlpack
Tensor.__dlpack__ = tensor_dlpack  # type: ignore[method-assign, assignment]
Tensor.__dlpack_device__ = tensor_dlpack_device  # type: ignore[method-assign, assignment]
