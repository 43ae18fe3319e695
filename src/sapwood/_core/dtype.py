"""PyTorch's dtypes over NumPy's, and PyTorch's promotion (which differs from NumPy's).

A Python number is weaker than a 0-d tensor, which is weaker than an n-d tensor, within one
category (bool < integer < floating < complex). int with float32 gives float32.
"""

from __future__ import annotations

import numpy as np

try:  # bfloat16 is optional: everything else works without ml_dtypes
    import ml_dtypes

    BF16: np.dtype | None = np.dtype(ml_dtypes.bfloat16)
except ImportError:  # pragma: no cover
    BF16 = None

BOOL, INT, FLOAT, COMPLEX = range(4)


class dtype:  # noqa: N801 (PyTorch's name)
    """The type of a tensor's elements, `torch.float32` and so on. Compare with `is` or `==`."""

    __slots__ = (
        "category",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "np",
        "title",
    )

    def __init__(self, name: str, np_dtype: np.dtype | None, category: int, title: str) -> None:
        self.name = name
        self.np = np_dtype
        self.category = category
        self.title = title  # the old type name: "Float" of torch.FloatTensor
        self.is_floating_point = category == FLOAT
        self.is_complex = category == COMPLEX
        self.is_signed = not name.startswith(("u", "bool"))
        self.itemsize = 2 if np_dtype is None else np_dtype.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self):
        return (named, (self.name,))

    def to_complex(self) -> dtype:
        """The complex dtype of the same precision."""
        return {"float64": complex128, "complex128": complex128}.get(self.name, complex64)

    def to_real(self) -> dtype:
        """The floating dtype of the parts of a complex dtype."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)


bool_ = dtype("bool", np.dtype("bool"), BOOL, "Bool")
uint8 = dtype("uint8", np.dtype("u1"), INT, "Byte")
int8 = dtype("int8", np.dtype("i1"), INT, "Char")
int16 = dtype("int16", np.dtype("i2"), INT, "Short")
int32 = dtype("int32", np.dtype("i4"), INT, "Int")
int64 = dtype("int64", np.dtype("i8"), INT, "Long")
uint16 = dtype("uint16", np.dtype("u2"), INT, "UInt16")
uint32 = dtype("uint32", np.dtype("u4"), INT, "UInt32")
uint64 = dtype("uint64", np.dtype("u8"), INT, "UInt64")
float16 = dtype("float16", np.dtype("f2"), FLOAT, "Half")
bfloat16 = dtype("bfloat16", BF16, FLOAT, "BFloat16")
float32 = dtype("float32", np.dtype("f4"), FLOAT, "Float")
float64 = dtype("float64", np.dtype("f8"), FLOAT, "Double")
complex64 = dtype("complex64", np.dtype("c8"), COMPLEX, "ComplexFloat")
complex128 = dtype("complex128", np.dtype("c16"), COMPLEX, "ComplexDouble")

ALL = (
    bool_,
    uint8,
    int8,
    int16,
    int32,
    int64,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
)
ALIASES = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "cfloat": complex64,
    "cdouble": complex128,
}
_PYTHON_TYPES = {bool: bool_, int: int64, float: float64, complex: complex128}
_BY_NAME = {d.name: d for d in ALL}
_BY_NP = {d.np: d for d in ALL if d.np is not None}
LOW = frozenset({float16, bfloat16})  # stored as such, computed in float32
F32, F64 = float32.np, float64.np

_default = float32


def named(name: str) -> dtype:
    """The dtype of that name; used by pickle."""
    return _BY_NAME[name]


def of(np_dtype: np.dtype) -> dtype:
    """sapwood's dtype of a NumPy dtype."""
    found = _BY_NP.get(np_dtype) or _BY_NP.get(np_dtype.newbyteorder("="))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {np_dtype}. The only supported types are: "
            + ", ".join(d.name for d in ALL)
        )
    return found


def numpy_of(d: dtype) -> np.dtype:
    """The NumPy dtype to store `d` in; says what to install where it needs a package."""
    if not isinstance(d, dtype):
        raise TypeError(f"dtype must be a torch.dtype, not {type(d).__name__} ({d!r})")
    if d.np is None:
        raise TypeError("bfloat16 needs the package ml_dtypes: pip install 'sapwood[bf16]'")
    return d.np


def as_dtype(given: object, name: str) -> dtype:
    """The dtype that an argument `dtype=` of the function `name` means: ours or a Python type."""
    if isinstance(given, dtype):
        return given
    if isinstance(given, type) and given in _PYTHON_TYPES:
        return _PYTHON_TYPES[given]
    raise TypeError(
        f"{name}(): argument 'dtype' must be torch.dtype, not {type(given).__name__} "
        f"({given!r:.60})"
    )


def canonical(array: np.ndarray) -> np.ndarray:
    """The same memory as a plain ndarray with NumPy's own dtype object; copies only to swap bytes.

    The doors compare types and dtypes with `is`; memory maps, unpickled arrays and arrays that came
    through a buffer are of subclasses or carry an equal, but other, dtype object.
    """
    array = np.asarray(array)
    want = numpy_of(of(array.dtype))
    if array.dtype is want:
        return array
    return array.view(want) if array.dtype.isnative else array.astype(want)


def default() -> dtype:
    """The dtype of floating tensors made from Python numbers."""
    return _default


def set_default(d: dtype) -> None:
    """Make `d` the dtype of new floating tensors."""
    global _default
    if isinstance(d, dtype) and d.is_floating_point:
        _default = d
    else:
        raise TypeError(f"only floating-point types are supported as the default type, got {d!r}")


def of_number(value: object) -> dtype:
    """The dtype that a Python number counts as."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, float):
        return _default
    return _default.to_complex()


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that both convert to, PyTorch's table."""
    if a is b:
        return a
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        if high.is_complex and low is float64:
            return complex128
        return high
    if a.is_floating_point and {a, b} == LOW:
        return float32
    if a.category == INT and a.is_signed != b.is_signed:
        unsigned, signed = (b, a) if a.is_signed else (a, b)
        wider = {1: int16, 2: int32, 4: int64, 8: int64}[unsigned.itemsize]
        return signed if signed.itemsize > unsigned.itemsize else wider
    return a if a.itemsize >= b.itemsize else b


def _combine(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """A stronger operand's dtype, changed by a weaker one only if that has a higher category."""
    if higher is None or lower is None:
        return higher or lower
    if lower.category <= higher.category:
        return higher
    if higher.is_floating_point:
        return higher.to_complex()
    return promote_types(higher, lower)


def result(dims: list[dtype], zeros: list[dtype], numbers: list[dtype]) -> dtype:
    """PyTorch's result_type for operands with dimensions, 0-d tensors and Python numbers."""
    merged: list[dtype | None] = []
    for group in (dims, zeros, numbers):
        out: dtype | None = None
        for d in group:
            out = d if out is None else promote_types(out, d)
        merged.append(out)
    found = _combine(merged[0], _combine(merged[1], merged[2]))
    assert found is not None
    return found
