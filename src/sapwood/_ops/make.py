"""MAKE: tensors from sizes and numbers.

`factory` gives a creation function its common keywords (out, dtype, layout, device, pin_memory,
requires_grad), so that each function below is only its formula. Values from outside are the
matter of `convert`, random ones that of `random`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.border import FUNCTIONS, METHODS
from sapwood._core.device import channels_last, channels_last_3d, contiguous_format, preserve_format
from sapwood._core.memory import bump, check_write
from sapwood._core.mode import MODE
from sapwood._core.op import INFERENCE
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.arguments import check_format, fits, number, resolve, sizes, whole

Array = np.ndarray[Any, Any]

# ---- what all creation functions share -------------------------------------------------------


def made(array: Array, *, requires_grad: bool = False) -> Tensor:
    """A fresh tensor around an array: a leaf, and an inference tensor inside inference_mode."""
    t: Any = plain(array)
    if MODE.get().inference:
        t.inference, t.version = True, INFERENCE
    if requires_grad and array.dtype.kind not in "fcV":
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients; this one "
            f"would be {t.dtype.name}. Give floating values or dtype=, at {where.here()}"
        )
    return t.requires_grad_() if requires_grad else t


def into(out: Tensor, array: Array, name: str, *, requires_grad: bool = False) -> Tensor:
    """Write a new value into the tensor that `out=` names, which takes on its shape."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if out.requires_grad and MODE.get().grad:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    check_write(out, name, graph=False)
    if out.array.shape != array.shape:
        out.array = np.empty(array.shape, out.array.dtype)
    np.copyto(out.array, array, casting="unsafe")
    bump(out)
    return out.requires_grad_() if requires_grad else out


def factory(fn: Callable) -> Callable:
    """A public creation function: `fn(..., kind)` makes the array, `kind` being a dtype or None."""
    name = fn.__name__

    @wraps(fn)
    def make(
        *args: Any,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        **more: Any,
    ) -> Tensor:
        kind = resolve(name, dtype, layout, device, pin=pin_memory)
        if out is None:
            return made(fn(*args, kind=kind, **more), requires_grad=requires_grad)
        if kind is not None and isinstance(out, Tensor) and kind is not out.dtype:
            raise RuntimeError(
                f"dtype {kind.title} does not match dtype of out parameter ({out.dtype.title})"
            )
        kind = out.dtype if isinstance(out, Tensor) else kind
        return into(out, fn(*args, kind=kind, **more), name, requires_grad=requires_grad)

    own = [p for p in inspect.signature(fn).parameters.values() if p.name != "kind"]
    common = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, default, kind in COMMON
    ]
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*own, *common], return_annotation="Tensor"
    )
    FUNCTIONS[name] = make
    return make


COMMON = (
    ("out", None, "Tensor | None"),
    ("dtype", None, "dtype | None"),
    ("layout", None, "layout | None"),
    ("device", None, "Any"),
    ("pin_memory", False, "bool"),
    ("requires_grad", False, "bool"),
)


# ---- filled with one value --------------------------------------------------------------------


def storage(kind: dt.dtype | None) -> np.dtype:
    """NumPy's dtype of `kind`, or of the default dtype."""
    return dt.numpy_of(kind or dt.default())


@factory
def zeros(*shape: Any, size: Any = None, kind: Any = None) -> Array:
    """A tensor of zeros: `zeros(2, 3)` or `zeros((2, 3))`."""
    return np.zeros(sizes("zeros", shape, size), storage(kind))


@factory
def ones(*shape: Any, size: Any = None, kind: Any = None) -> Array:
    """A tensor of ones: `ones(2, 3)` or `ones((2, 3))`."""
    return np.ones(sizes("ones", shape, size), storage(kind))


@factory
def empty(
    *shape: Any, size: Any = None, memory_format: Any = contiguous_format, kind: Any = None
) -> Array:
    """A tensor whose elements are whatever the memory holds: fill it before reading."""
    found = sizes("empty", shape, size)
    check_format(memory_format, "empty")
    if memory_format is preserve_format:
        raise RuntimeError("Unsupported memory format Preserve: empty() has nothing to preserve")
    return in_order(found, storage(kind), memory_format)


@factory
def full(size: Any, fill_value: Any, *, kind: Any = None) -> Array:
    """A tensor of one value; its dtype is that of the value, a Python float being the default."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    value = number(fill_value, "full", "'fill_value' (position 2)")
    kind = kind or dt.of_number(value)
    return np.full(sizes("full", (size,)), fits(value, kind, "full"), dt.numpy_of(kind))


@factory
def scalar_tensor(s: Any, *, kind: Any = None) -> Array:
    """A 0-d tensor of the default dtype."""
    kind = kind or dt.default()
    value = number(s, "scalar_tensor", "'s' (position 1)")
    return np.array(fits(value, kind, "scalar_tensor"), dt.numpy_of(kind))


@factory
def empty_strided(size: Any, stride: Any, *, kind: Any = None) -> Array:
    """An unfilled tensor with given strides, counted in elements."""
    shape = sizes("empty_strided", (size,))
    steps = [whole(s, "empty_strided", "'stride'") for s in stride]
    if len(steps) != len(shape):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(steps)})"
        )
    if any(s < 0 for s in steps):
        raise RuntimeError(f"empty_strided(): strides must not be negative, got {steps}")
    dtype = storage(kind)
    room = 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) if 0 not in shape else 0
    return np.lib.stride_tricks.as_strided(
        np.empty(room, dtype), shape, [s * dtype.itemsize for s in steps]
    )


# ---- like another tensor ----------------------------------------------------------------------


def in_order(shape: tuple[int, ...], dtype: np.dtype, order: Any) -> Array:
    """An unfilled array whose dimensions lie in memory as `order` says."""
    for wanted, rank in ((channels_last, 4), (channels_last_3d, 5)):
        if order is wanted:
            if len(shape) != rank:
                raise RuntimeError(f"required rank {rank} tensor to use {wanted.name} format")
            return np.moveaxis(np.empty((shape[0], *shape[2:], shape[1]), dtype), -1, 1)
    return np.empty(shape, dtype)


def unfilled_like(a: Array, dtype: np.dtype, order: Any = preserve_format) -> Array:
    """An unfilled array of the same shape; by default with its dimensions in the same order."""
    if order is not preserve_format:
        return in_order(a.shape, dtype, order)
    expanded = any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True))
    return np.empty_like(a, dtype, order="C" if expanded else "K", subok=False)


def like(fn: Callable) -> Callable:
    """A public `*_like` function: `fn(array, ...)` fills an array and returns it.

    Called with an array instead of a tensor, as rules do at first order, it returns an array.
    """
    name = fn.__name__

    @wraps(fn)
    def make(
        input: Any,
        *args: Any,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        memory_format: Any = preserve_format,
        **more: Any,
    ) -> Any:
        kind = resolve(name, dtype, layout, device, pin=pin_memory)
        raw = isinstance(input, np.ndarray)
        if not raw and not isinstance(input, Tensor):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not "
                f"{type(input).__name__}"
            )
        check_format(memory_format, name)
        a = input if raw else input.array
        target = unfilled_like(a, dt.numpy_of(kind) if kind else a.dtype, memory_format)
        filled = fn(target, *args, **more)
        return filled if raw else made(filled, requires_grad=requires_grad)

    own = list(inspect.signature(fn).parameters.values())[1:]
    first = inspect.Parameter("input", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Tensor")
    common = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, default, kind in (*COMMON[1:], ("memory_format", preserve_format, "Any"))
    ]
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [first, *own, *common], return_annotation="Tensor"
    )
    FUNCTIONS[name] = make
    return make


@like
def zeros_like(out: Array) -> Array:
    """Zeros of the shape, dtype and memory order of `input`."""
    if out.flags.c_contiguous:
        return np.zeros(out.shape, out.dtype)  # memory that the system has cleared already
    out.fill(0)
    return out


@like
def ones_like(out: Array) -> Array:
    """Ones of the shape, dtype and memory order of `input`."""
    out.fill(1)
    return out


@like
def empty_like(out: Array) -> Array:
    """An unfilled tensor of the shape, dtype and memory order of `input`."""
    return out


@like
def full_like(out: Array, fill_value: Any) -> Array:
    """One value in the shape, dtype and memory order of `input`."""
    value = number(fill_value, "full_like", "'fill_value' (position 2)")
    out.fill(fits(value, dt.of(out.dtype), "full_like"))
    return out


def new_like(name: str, base: Callable) -> None:
    """The method `new_zeros` and its like: another shape, the dtype of self."""

    def new(self: Tensor, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        return base(*args, dtype=self.dtype if dtype is None else dtype, **options)

    new.__name__ = new.__qualname__ = name
    new.__doc__ = f"As `{base.__name__}`, in the dtype of this tensor where none is given."
    METHODS[name] = new


for _base in (zeros, ones, empty, full, empty_strided):
    new_like(f"new_{_base.__name__}", _base)
