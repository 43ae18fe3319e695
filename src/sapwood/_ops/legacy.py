"""PyTorch's first constructors and types: Tensor(2, 3), FloatTensor([1, 2]), x.type(), x.new().

Scripts of the era of `Variable` use them; new code does not need them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import METHODS, NAMES, border
from sapwood._core.device import check_device, strided
from sapwood._core.tensor import Tensor, init, new
from sapwood._ops.arguments import sizes
from sapwood._ops.convert import TEXT, copied, from_sequence, invalid, is_row
from sapwood._ops.make import made


def is_whole(x: Any) -> bool:
    """Whether an argument counts as one number of a size."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, (bool, np.bool_))


def old_constructor(kind: dt.dtype, args: tuple, *, any_tensor: bool) -> Any:
    """The array of Type(), Type(2, 3), Type(size), Type(data) or Type(tensor)."""
    if not args:
        return np.empty(0, dt.numpy_of(kind))
    data = args[0]
    if is_whole(data) or (isinstance(data, tuple) and hasattr(data, "numel")):  # numbers, a Size
        return np.empty(sizes("new", args), dt.numpy_of(kind))
    if len(args) > 1:
        raise TypeError(
            f"new() received an invalid combination of arguments - got {len(args)}, but expected "
            "sizes, one sequence, or one tensor"
        )
    if isinstance(data, Tensor):
        if data.dtype is not kind and not any_tensor:
            raise TypeError(
                f"expected a tensor of dtype {kind.name} (got {data.dtype.name}): use .to()"
            )
        return data.array
    if isinstance(data, TEXT):
        raise invalid(data)
    if isinstance(data, np.ndarray):
        return copied(data, kind)
    if not is_row(data):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return from_sequence(data, kind)


def make_legacy(cls: type, *args: Any, device: Any = None, size: Any = None) -> Tensor:
    """Tensor(...): an unfilled tensor of these sizes, or a sequence in the default dtype."""
    check_device(device)
    if size is not None:
        args = tuple(size)
    t: Any = new(cls)
    init(t, old_constructor(dt.default(), args, any_tensor=True))
    return t


Tensor.make_legacy = staticmethod(make_legacy)


class TensorType(type):
    """The type of FloatTensor and its like: instances are recognised by their dtype."""

    dtype: dt.dtype
    is_cuda: bool

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype and not cls.is_cuda

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        """An unfilled tensor of these sizes, or a sequence, in this type's dtype."""
        check_device(device)
        if cls.is_cuda:
            raise TypeError(
                f"type {tensor_type_name(cls)} not available. Torch not compiled with CUDA "
                "enabled: sapwood computes on the CPU only."
            )
        return made(old_constructor(cls.dtype, args, any_tensor=False))

    def __repr__(cls) -> str:
        return f"<class '{tensor_type_name(cls)}'>"


def tensor_type_name(cls: TensorType) -> str:
    """`torch.FloatTensor`."""
    return f"torch.{'cuda.' if cls.is_cuda else ''}{cls.__name__}"


def tensor_type(kind: dt.dtype, *, cuda: bool = False) -> TensorType:
    """The old type of tensors of a dtype."""
    space = {
        "dtype": kind,
        "is_cuda": cuda,
        "layout": strided,
        "is_sparse": False,
        "__module__": "torch.cuda" if cuda else "torch",
        "__slots__": (),
        "__doc__": f"Tensors of dtype {kind.name}, by their old name.",
    }
    return TensorType(f"{kind.title}Tensor", (), space)


OLD = (
    dt.float64,
    dt.float32,
    dt.float16,
    dt.bfloat16,
    dt.int64,
    dt.int32,
    dt.int16,
    dt.int8,
    dt.uint8,
    dt.bool_,
)
TYPES = {kind: tensor_type(kind) for kind in OLD}
CUDA_TYPES = {kind: tensor_type(kind, cuda=True) for kind in OLD}
for _type in TYPES.values():
    NAMES[_type.__name__] = _type
BY_NAME = {tensor_type_name(t): kind for kind, t in TYPES.items()}


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False, **_: Any) -> Any:
    """'torch.FloatTensor' and the like; or, given a type or dtype, the tensor converted to it."""
    if dtype is None:
        return f"torch.{self.dtype.title}Tensor"
    kind = BY_NAME.get(dtype) if isinstance(dtype, str) else getattr(dtype, "dtype", dtype)
    if not isinstance(kind, dt.dtype):
        shown = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", repr(dtype))
        raise ValueError(f"invalid type: '{shown}'")
    return self.to(kind)  # type: ignore[attr-defined]


def set_default_tensor_type(t: Any) -> None:
    """The old form of set_default_dtype: takes FloatTensor or 'torch.FloatTensor'."""
    kind = BY_NAME.get(t) if isinstance(t, str) else getattr(t, "dtype", None)
    if not isinstance(kind, dt.dtype) or getattr(t, "is_cuda", False):
        raise TypeError(f"invalid type object: {t!r}")
    dt.set_default(kind)


NAMES["set_default_tensor_type"] = set_default_tensor_type


def new_(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """Old: a tensor of the same dtype, unfilled with these sizes or filled from a sequence."""
    check_device(device)
    return made(old_constructor(self.dtype, args, any_tensor=False))


for _fn in (type_, new_):
    _fn.__name__ = _fn.__qualname__ = _fn.__name__.rstrip("_")
    METHODS[_fn.__name__] = border(_fn)
