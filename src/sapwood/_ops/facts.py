"""Questions about tensors and dtypes that compute nothing: is_tensor, result_type, .device, ..."""

from __future__ import annotations

from typing import Any

from sapwood._core import dtype as dt
from sapwood._core.border import FUNCTIONS, METHODS, NAMES
from sapwood._core.device import CPU, strided
from sapwood._core.slow import common_dtype
from sapwood._core.tensor import Tensor


def public(fn: Any) -> Any:
    """A function that is no operation."""
    NAMES[fn.__name__] = fn
    return fn


def question(fn: Any) -> Any:
    """A question about a tensor, as a function and a method; no border, as nothing is recorded."""
    FUNCTIONS[fn.__name__] = METHODS[fn.__name__] = fn
    return fn


def must_be_tensor(x: Any, name: str) -> Tensor:
    """The tensor, or PyTorch's error."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}"
        )
    return x


@public
def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


@public
def is_storage(obj: Any) -> bool:
    """False: sapwood has no storage objects apart from the arrays themselves."""
    return False


@question
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating one (complex ones are not)."""
    return must_be_tensor(input, "is_floating_point").dtype.is_floating_point


@question
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return must_be_tensor(input, "is_complex").dtype.is_complex


@question
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return must_be_tensor(input, "is_signed").dtype.is_signed


@question
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made inside inference_mode."""
    return must_be_tensor(input, "is_inference").inference


@question
def numel(input: Tensor) -> int:
    """How many elements there are."""
    return must_be_tensor(input, "numel").array.size


def result_type(tensor1: Any, tensor2: Any) -> dt.dtype:
    """The dtype that an operation of two tensors or numbers computes in."""
    for x in (tensor1, tensor2):
        if not isinstance(x, (Tensor, bool, int, float, complex)):
            raise TypeError(f"result_type() takes tensors and numbers, got {type(x).__name__}")
    return common_dtype([tensor1, tensor2])


def promote_types(type1: Any, type2: Any) -> dt.dtype:
    """The smallest dtype that both convert to."""
    a, b = (dt.as_dtype(d, "promote_types") for d in (type1, type2))
    return dt.promote_types(a, b)


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a conversion goes up, or nowhere, in the order bool, int, float, complex."""
    a, b = dt.as_dtype(from_, "can_cast"), dt.as_dtype(to, "can_cast")
    return a.category <= b.category


@public
def get_default_dtype() -> dt.dtype:
    """The dtype of floating tensors made from Python numbers."""
    return dt.default()


@public
def set_default_dtype(d: Any) -> None:
    """Make `d` the dtype of floating tensors made from Python numbers."""
    dt.set_default(d)


@public
def get_default_device() -> Any:
    """The CPU."""
    return CPU


@public
def typename(obj: Any) -> str:
    """The name of an object's type; for tensors 'torch.FloatTensor' and the like."""
    if isinstance(obj, Tensor):
        return obj.type()  # type: ignore[attr-defined]
    kind = obj if isinstance(obj, type) else type(obj)
    module = kind.__module__
    if module.partition(".")[0] == "sapwood":
        module = "torch"
    return kind.__qualname__ if module in ("builtins", None) else f"{module}.{kind.__qualname__}"


for _fn in (result_type, promote_types, can_cast):
    FUNCTIONS[_fn.__name__] = _fn
PROPERTIES: dict[str, tuple[Any, str]] = {
    "device": (CPU, "Where the tensor is: the CPU."),
    "layout": (strided, "How elements are stored: strided."),
    "is_cpu": (True, "True: there is no other device."),
}
for _name in (
    "cuda",
    "mps",
    "xpu",
    "mkldnn",
    "meta",
    "sparse",
    "sparse_csr",
    "quantized",
    "nested",
    "vulkan",
    "mtia",
    "ipu",
    "xla",
):
    PROPERTIES[f"is_{_name}"] = (False, "False: sapwood computes on the CPU only.")


def always(value: Any, doc: str) -> property:
    """A property that is the same for every tensor."""
    return property(lambda self: value, doc=doc)


for _name, (_value, _doc) in PROPERTIES.items():
    setattr(Tensor, _name, always(_value, _doc))


def get_device(self: Tensor) -> int:
    """-1: the CPU has no number."""
    return -1


def no_pinning(self: Tensor, *_: Any) -> bool:
    """False: memory is pinned for GPUs only."""
    return False


METHODS["get_device"] = get_device
METHODS["is_pinned"] = no_pinning
