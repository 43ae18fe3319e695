"""MAP that selects or mixes: clamp, lerp, addcmul, masked_fill, nan_to_num; and writes.

`clamp` has one record per combination of numbers and tensors as bounds, under PyTorch's names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.border import alias
from sapwood._core.door import primitive
from sapwood._core.limits import finfo
from sapwood._core.op import MAP
from sapwood._core.tensor import KINDS
from sapwood._ops.checks import only
from sapwood._ops.compare import ge, gt, isfinite, le, logical_and, logical_or, lt, where
from sapwood._ops.rules import cj
from sapwood._ops.unary import neg, nothing

NUMBERS = frozenset({int, float, bool, complex})
NO_COMPLEX = only(
    "clamp", "bif", c="clamp is not supported for complex types", error=NotImplementedError
)


# ---- clamp ---------------------------------------------------------------------------------


def no_room(dtype: np.dtype) -> RuntimeError:
    """The error for a number that a dtype cannot hold."""
    words = {"i": "int{}_t", "u": "uint{}_t", "b": "bool", "f": "float", "V": "c10::BFloat16"}
    name = words[dtype.kind].format(8 * dtype.itemsize)
    if dtype.kind == "f":
        name = {2: "c10::Half", 4: "float", 8: "double"}[dtype.itemsize]
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def fitting(v: Any, dtype: np.dtype) -> Any:
    """A number for arrays of `dtype`; negative ones wrap in unsigned types, as in PyTorch."""
    if v is None or dtype.kind not in "iu":
        return v
    info = np.iinfo(dtype)
    if v > info.max or v < (info.min if dtype.kind == "i" else -info.max):
        raise no_room(dtype)
    return np.asarray(v).astype(dtype)


def clamp_run(x: np.ndarray, min: Any, max: Any) -> np.ndarray:
    """x limited to numbers: first from below, then from above; NaN stays or wins."""
    bounds = [b for b in (min, max) if b is not None]
    if x.dtype.kind in "biu":  # the numbers may raise the category
        common = dt.result([dt.of(x.dtype)], [], [dt.of_number(b) for b in bounds])
        x = x.astype(dt.numpy_of(common), copy=False)
    if x.dtype.kind == "b":
        raise NotImplementedError("\"clamp_scalar_cpu\" not implemented for 'Bool'")
    min, max = fitting(min, x.dtype), fitting(max, x.dtype)
    out = x if min is None else np.maximum(x, min)
    return out if max is None else np.minimum(out, max)


def bounds(x: Any, min: Any, max: Any) -> tuple:
    """At least one bound, as numbers."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    found = tuple(b.item() if isinstance(b, np.generic) else b for b in (min, max))
    for b in found:
        if b is not None and type(b) not in NUMBERS:
            raise TypeError(
                f"clamp(): argument must be a number or a tensor, not {type(b).__name__}"
            )
        if type(b) is complex:
            raise NotImplementedError("clamp is not supported for complex types")
    return found


def clamp_rule(g: Any, x: Any, min: Any, max: Any) -> Any:
    """The gradient inside, bounds included; zero outside."""
    inside = ge(x, min) if min is not None else le(x, max)
    if min is not None and max is not None:
        inside = logical_and(inside, le(x, max))
    return where(inside, g, 0)


def one_bound(name: str, run: Any, inside: Any, outside: Any, doc: str) -> Any:
    """The record of clamp_min or clamp_max; its last attribute is the node's name."""
    side = name.removeprefix("clamp_")
    camel = f"Clamp{side.capitalize()}Backward"

    def named(x: Any, y: Any) -> tuple:
        if y is None:
            raise TypeError(
                f"{name}() received an invalid combination of arguments: {side} is None"
            )
        return (f"{camel}{int(isinstance(y, np.ndarray))}",)

    return primitive(
        name,
        "x y; title",
        kind=MAP,
        run=lambda x, y, title: run(x, y),
        bind=named,
        sig=f"input, {side}",
        title=lambda node: node.attrs[0],
        saved={side: "y"},
        check=NO_COMPLEX,
        weak=True,
        grad=dict(
            x=lambda g, x, y: where(inside(x, y), g, 0),
            y=lambda g, x, y: where(outside(x, y), g, 0),
        ),
        doc=doc,
    )


clamp_min = one_bound("clamp_min", np.maximum, ge, lt, "input, but at least min.")
clamp_max = one_bound("clamp_max", np.minimum, le, gt, "input, but at most max.")
clamp_both = primitive(
    "_clamp",
    "x min max",
    kind=MAP,
    run=lambda x, min, max: np.minimum(np.maximum(x, min), max),
    title="ClampBackward0",
    in_place=False,
    check=NO_COMPLEX,
    doc="clamp between two tensors.",
    grad=dict(
        x=lambda g, x, min, max: where(logical_and(ge(x, min), le(x, max)), g, 0),
        min=lambda g, x, min, max: where(logical_and(lt(min, max), lt(x, min)), g, 0),
        max=lambda g, x, min, max: where(logical_or(gt(x, max), lt(max, min)), g, 0),
    ),
)


def is_tensor(v: Any) -> bool:
    """Whether a bound is a tensor (an array)."""
    return type(v) in KINDS or isinstance(v, np.ndarray)


def clamp_tensors(x: Any, min: Any, max: Any) -> tuple:
    """The record, operands and attributes for tensors as bounds."""
    if max is None:
        return clamp_min.op, (x, min), ("ClampBackward0",)
    if min is None:
        return clamp_max.op, (x, max), ("ClampBackward0",)
    return clamp_both.op, (x, min, max), ()


clamp = primitive(
    "clamp",
    "x; min max",
    kind=MAP,
    run=clamp_run,
    dtype="keep",
    bind=bounds,
    title="ClampBackward1",
    sig="input, min=None, max=None",
    grad=dict(x=clamp_rule),
    check=NO_COMPLEX,
    prologue="""
if (min is not None and is_tensor(min)) or (max is not None and is_tensor(max)):
    f = getframe(1)
    return general(*clamp_tensors(input, min, max), (f.f_code, f.f_lasti))
""",
    env={"is_tensor": is_tensor, "clamp_tensors": clamp_tensors},
    doc="input limited to [min, max]: numbers, tensors or None; max wins where they cross.",
)
alias(clamp, "clip")


# ---- mixtures ------------------------------------------------------------------------------


def lerp_run(x: Any, y: Any, w: Any) -> np.ndarray:
    """x + w (y - x), from the nearer end, so that w = 1 gives y exactly."""
    difference = y - x
    near = x + w * difference
    small = np.abs(w) < 0.5
    if small is True or (getattr(small, "ndim", 1) == 0 and small):
        return near
    return np.where(small, near, y - difference * (1 - w))


def check_lerp(common: dt.dtype, x: Any, y: Any, w: Any) -> None:
    """Lerp does not promote."""
    for v, name in ((y, "end"), (w, "weight")):
        if not isinstance(v, np.ndarray):
            if name == "end":
                raise TypeError(f"lerp(): argument 'end' must be Tensor, not {type(v).__name__}")
        elif v.dtype != x.dtype and (v.ndim or name == "end"):
            raise RuntimeError(
                f"expected dtype {said(x.dtype)} for `{name}` but got dtype {said(v.dtype)}"
            )
    kind = dt.of(x.dtype)
    if kind.category < dt.FLOAT:
        raise NotImplementedError(f"\"lerp_kernel_scalar\" not implemented for '{kind.title}'")


def said(dtype: np.dtype) -> str:
    """A dtype in the words of PyTorch's older messages."""
    names = {
        "float32": "float",
        "float64": "double",
        "int64": "long int",
        "int32": "int",
        "int16": "short int",
        "uint8": "unsigned char",
        "int8": "signed char",
        "float16": "c10::Half",
        "bfloat16": "c10::BFloat16",
        "bool": "bool",
        "complex64": "c10::complex<float>",
        "complex128": "c10::complex<double>",
    }
    return names.get(dtype.name, dtype.name)


lerp = primitive(
    "lerp",
    "x y w",
    kind=MAP,
    run=lerp_run,
    sig="input, end, weight",
    check=check_lerp,
    title=lambda node: f"LerpBackward{int(node.ports[2] >= 0)}",
    saved={"weight": "w", "end": "y"},
    grad=dict(
        x=lambda g, w: g * cj(1 - w), y=lambda g, w: g * cj(w), w=lambda g, x, y: g * cj(y - x)
    ),
    doc="input + weight * (end - input).",
)
addcmul = primitive(
    "addcmul",
    "x y z; value",
    kind=MAP,
    run=lambda x, y, z, value: x + value_of(value, y) * y * z,
    sig="input, tensor1, tensor2, *, value=1",
    saved={"tensor1": "y", "tensor2": "z"},
    grad=dict(
        x=lambda g: g,
        y=lambda g, z, value: g * cj(z * value),
        z=lambda g, y, value: g * cj(y * value),
    ),
    alias=True,
    check=only("addcmul", "ifc"),
    doc="input + value * tensor1 * tensor2.",
)


def value_of(value: Any, y: Any) -> Any:
    """value= in the operands' dtype: integers cut it off."""
    return int(value) if getattr(y, "dtype", np.dtype(float)).kind in "biu" else value


def check_addcdiv(common: dt.dtype, x: Any, y: Any, z: Any) -> None:
    """Refuse quotients of integers."""
    if all(getattr(v, "dtype", np.dtype(int)).kind in "biu" for v in (y, z)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported. Use input + value * "
            "trunc(tensor1 / tensor2) for rounded quotients, or convert one operand to float."
        )


addcdiv = primitive(
    "addcdiv",
    "x y z; value",
    kind=MAP,
    run=lambda x, y, z, value: x + value * (y / z),
    sig="input, tensor1, tensor2, *, value=1",
    saved={"tensor1": "y", "tensor2": "z"},
    check=check_addcdiv,
    alias=True,
    grad=dict(
        x=lambda g: g,
        y=lambda g, z, value: g * cj(value / z),
        z=lambda g, y, z, value: neg(g * cj((y * value) / (z * z))),
    ),
    doc="input + value * tensor1 / tensor2.",
)


# ---- masks and fills -----------------------------------------------------------------------


def convert(v: Any, dtype: np.dtype) -> Any:
    """A value to be stored in a dtype: numbers are cut to integers, never silently out of range."""
    if isinstance(v, np.ndarray):
        return v.astype(dtype, copy=False)
    if dtype.kind == "b":
        return np.asarray(bool(v))
    if isinstance(v, complex) and dtype.kind != "c":
        if v.imag:
            raise no_room(dtype)
        v = v.real
    if dtype.kind in "iu":
        negative = isinstance(v, float) and v < 0 and dtype.kind == "u"
        if v != v or v in (np.inf, -np.inf) or negative:
            raise no_room(dtype)
        return fitting(int(v), dtype)
    return np.asarray(v).astype(dtype)


def masked_fill_run(x: np.ndarray, mask: np.ndarray, y: Any) -> np.ndarray:
    """x with y where mask holds, in x's dtype."""
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {said(mask.dtype)}"
        )
    if getattr(y, "ndim", 0):
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got "
            f"tensor with {y.ndim} dimension(s)."
        )
    number = y.item() if isinstance(y, np.ndarray) and y.dtype.kind != "V" else y
    return np.where(mask, convert(number, x.dtype), x)


def fill_run(x: np.ndarray, y: Any) -> np.ndarray:
    """y in x's shape and dtype."""
    if getattr(y, "ndim", 0):
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {y.ndim} dimensions."
        )
    out = np.empty_like(x)
    out[...] = convert(y, x.dtype)
    return out


def nan_to_num_run(x: np.ndarray, nan: Any, posinf: Any, neginf: Any) -> np.ndarray:
    """NaN and infinities replaced; default: zero and the dtype's largest numbers."""
    if x.dtype.kind in "biu":
        return x.copy()
    if x.dtype.kind == "c":
        out = np.empty_like(x)
        out.real = nan_to_num_run(x.real, nan, posinf, neginf)
        out.imag = nan_to_num_run(x.imag, nan, posinf, neginf)
        return out
    most = finfo(dt.of(x.dtype)).max
    out = np.where(np.isnan(x), x.dtype.type(0 if nan is None else nan), x)
    out = np.where(x == np.inf, x.dtype.type(most if posinf is None else posinf), out)
    return np.where(x == -np.inf, x.dtype.type(-most if neginf is None else neginf), out)


masked_fill = primitive(
    "masked_fill",
    "x mask y",
    kind=MAP,
    run=masked_fill_run,
    dtype="exact x",
    sig="input, mask, value",
    title=lambda node: f"MaskedFillBackward{int(node.ports[2] >= 0)}",
    grad=dict(x=lambda g, mask: where(mask, 0, g), y=lambda g, mask: where(mask, g, 0)),
    doc="input with value where mask holds.",
)
fill = primitive(
    "fill",
    "x y",
    kind=MAP,
    run=fill_run,
    dtype="exact x",
    sig="input, value",
    in_place=False,
    title=lambda node: f"FillBackward{int(node.ports[1] >= 0)}",
    grad=dict(x=nothing, y=lambda g: g),
    doc="value in input's shape and dtype.",
)
fill_in_place = primitive(
    "_fill",
    "x y",
    kind=MAP,
    run=fill_run,
    dtype="exact x",
    sig="input, value",
    in_place="fill_",
    title=lambda node: f"FillBackward{2 + (node.ports[1] >= 0)}",
    grad=dict(x=nothing, y=lambda g: g),
    doc="value everywhere.",
)
zero_in_place = primitive(
    "_zero",
    "x",
    kind=MAP,
    run=np.zeros_like,
    dtype="exact",
    in_place="zero_",
    title="ZeroBackward0",
    grad=dict(x=nothing),
    doc="Zeros everywhere.",
)
copy_in_place = primitive(
    "_copy",
    "x y; non_blocking",
    kind=MAP,
    run=lambda x, y, non_blocking: copied(x, y),
    dtype="exact x",
    sig="input, src, non_blocking=False",
    in_place="copy_",
    title=lambda node: "torch::autograd::CopyBackwards",
    grad=dict(x=nothing, y=lambda g: g),
    alias=True,
    doc="The elements of another tensor, broadcast and converted.",
)
nan_to_num = primitive(
    "nan_to_num",
    "x; nan posinf neginf",
    kind=MAP,
    run=nan_to_num_run,
    dtype="exact",
    sig="input, nan=None, posinf=None, neginf=None",
    grad=dict(x=lambda g, x: where(isfinite(x), g, 0)),
    doc="NaN as 0 and infinities as the largest numbers, or as given.",
)


def copied(x: np.ndarray, y: Any) -> np.ndarray:
    """y in x's shape and dtype."""
    if isinstance(y, np.ndarray) and y.dtype.kind == "c" and x.dtype.kind != "c":
        y = y.real
    out = np.empty_like(x)
    np.copyto(out, y, casting="unsafe")
    return out
