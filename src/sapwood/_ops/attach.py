"""From the table to the methods, dunders and in-place twins of Tensor.

Nothing here says what an operation does: it only gives entries their places.
"""

from __future__ import annotations

from typing import Any

from sapwood._core.border import ALIASES, METHODS
from sapwood._core.door import TABLE, make_entry
from sapwood._core.inplace import in_place
from sapwood._core.tensor import Tensor

BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "pow": "pow",
    "matmul": "matmul",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
REFLECTED = {"sub": "rsub"}  # 2 - x has a record of its own
COMPARE = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
UNARY = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}
IN_PLACE = {  # x += y
    "iadd": "add_",
    "isub": "sub_",
    "imul": "mul_",
    "itruediv": "div_",
    "ipow": "pow_",
    "ifloordiv": "floor_divide_",
    "imod": "remainder_",
    "iand": "bitwise_and_",
    "ior": "bitwise_or_",
    "ixor": "bitwise_xor_",
    "ilshift": "bitwise_left_shift_",
    "irshift": "bitwise_right_shift_",
}

IN_PLACE_FUNCTIONS = (  # these exist as functions, too: relu_(x)
    "abs_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ "
    "atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach_ "
    "erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ lcm_ ldexp_ log10_ log1p_ log2_ "
    "log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ round_ rsqrt_ sigmoid_ "
    "sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_ "
)


def in_place_functions() -> dict[str, Any]:
    """The in-place methods that are functions of the package as well."""
    names = (name for name in IN_PLACE_FUNCTIONS.split() if hasattr(Tensor, name))
    return {name: getattr(Tensor, name) for name in names}


def attach() -> None:
    """Give Tensor everything that the table and the functions offer."""
    for op in TABLE.values():
        if isinstance(op.in_place, str):
            put(op.in_place, in_place(op, op.door))
        if op.name.startswith("_"):
            continue
        same = op.method_sig == op.sig
        if op.name not in METHODS:
            put(op.name, op.door if same else make_entry(op, "method"))
        if op.in_place is True:
            put(f"{op.name}_", in_place(op, op.door))
    for name, fn in METHODS.items():
        put(name, fn)
    for name, target in ALIASES.items():
        for end in ("", "_"):
            if hasattr(Tensor, target + end):
                put(name + end, getattr(Tensor, target + end))
    for dunder, name in (BINARY | COMPARE | UNARY).items():
        if name in TABLE:
            put(f"__{dunder}__", make_entry(TABLE[name], "dunder", f"__{dunder}__"))
            if dunder in REFLECTED:
                twin = TABLE[REFLECTED[dunder]]
                put(f"__r{dunder}__", make_entry(twin, "dunder", f"__r{dunder}__"))
            elif dunder in BINARY:
                put(f"__r{dunder}__", make_entry(TABLE[name], "reflected", f"__r{dunder}__"))
    for dunder, name in IN_PLACE.items():
        if hasattr(Tensor, name):
            put(f"__{dunder}__", getattr(Tensor, name))


def put(name: str, value: Any) -> None:
    """Set an attribute of Tensor that its own class does not define already."""
    if name not in Tensor.__dict__ or name.startswith("__"):
        setattr(Tensor, name, value)
