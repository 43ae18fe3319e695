"""The door: how an operation happens, in one Python frame.

From each record one specialised body per arity is generated for the frequent case (tensors of one
floating dtype, or one tensor and a Python number), with three entries: the function, which is
also the method, the dunder, and its reflected twin. No wrapper frame, so the caller is always
`_getframe(1)`. Everything else goes to `slow.general`, which does the same thing completely.

Budget for 32x32 float32: 1.2 us over NumPy with gradient, 0.6 us without.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import slow
from sapwood._core.inside import apart, merge_cuts, wrote
from sapwood._core.later import later
from sapwood._core.memory import bump, heal
from sapwood._core.mode import MODE
from sapwood._core.node import Node, next_seq, saved_properties
from sapwood._core.op import FIXED, MAP, Op, Version, compiled
from sapwood._core.quiet import IGNORE, restore, silence
from sapwood._core.results import result_type
from sapwood._core.tensor import KINDS, Tensor, new
from sapwood._core.writer import Writer

TABLE: dict[str, Op] = {}  # every primitive by name: what exists
RAW = frozenset({np.ndarray, int, float, bool, complex})
PUBLIC = {"x": "input", "y": "other"}


def primitive(
    name: str,
    spec: str,
    *,
    kind: str,
    run: Callable,
    grad: dict[str, Callable],
    sig: str | None = None,
    method_sig: str | None = None,
    bind: Callable | None = None,
    dtype: str | None = None,
    out: str | None = None,
    named: str | None = None,
    alias: bool | None = None,
    view: bool | str = False,
    keeps: bool = False,
    title: Any = None,
    saved: dict[str, Any] | None = None,
    add_into: Callable | None = None,
    erase: Callable | None = None,
    into: Callable | None = None,
    in_place: bool | str | None = None,
    doc: str = "",
    check: Callable | None = None,
    source: str = "",
    weak: bool = False,
    planner: Any = None,
    prologue: str = "",
    env: dict[str, Any] | None = None,
) -> Any:
    """Put one operation into the table and return its door (the public function).

    name    the function's name; the node is called <Name>Backward0 unless `title` says otherwise
    spec    operands, then attributes after a semicolon: "x y", "x; dim keepdim", "*xs; dim"
    kind    MAP FOLD MOVE PICK DOT MAKE CALL
    run     NumPy: arrays (or numbers) and attributes in, array(s) out. Equal dtypes only
    grad    one rule per differentiable operand, by name; {} means: no derivative, on purpose
    sig     the public parameters, PyTorch's names; default: operands x, y are input, other
    method_sig  those of the method, where they differ: "input, *dims"
    bind    bind(operand values, public arguments) -> attributes; default: as given
    dtype   "promote" (default), "float" (integers become the default float), "keep";
            after it the operands concerned, if not all: "promote x y"
    out     names of several outputs: "values indices"
    named   the result is a torch.return_types.<named> with these names, not a plain tuple
    alias   results or gradients may share memory with operands
    view    results are views of the first operand; "maybe": where they share its memory
    keeps   an attribute is an index that PyTorch saves: a used-up node refuses a second backward
    title   node name, or a function of the node
    saved   PyTorch's names of saved values where they differ: {"exponent": "y"}; or a constant
    add_into  add_into(buffer, g, <names>): adds the gradient of x into a region of a buffer
    erase   erase(g, <names>): where x's gradient is g with a part set to zero, does that inside g
            (or a copy) and returns it; the pass calls it with a g that nobody else sees
    into    into(x, other operands, *attributes): `run` as a write into x, so that the in-place
            method costs what it touches; no rule may read x or the result
    in_place  whether `name_` exists (default: for MAP), or the name of the in-place method where
            that is all there is
    check   check(common dtype, *operand values) refuses dtypes; not called for float32, float64
    planner  the class of the op's plans, for rules that are derived (composite.py)
    weak    `run` and rules want a Python number as such, not as a 0-d array (pow)
    prologue  source lines that run first in the function and the method, for public parameters
            that are no attributes (alpha=, dtype=); `env` holds the names they use
    doc, source  one line, and where the formula comes from
    """
    operands, _, attrs = spec.partition(";")
    variadic = operands.strip().startswith("*")
    args = tuple(operands.replace("*", " ").split())
    op = Op(
        name=name,
        args=args,
        attrs=tuple(attrs.split()),
        kind=kind,
        run=run,
        grad=grad,
        variadic=variadic,
        dtype=dtype,
        out=tuple(out.split()) if out else None,
        bind=bind,
        pack=result_type(named, tuple((out or "").split())) if named else tuple,
        alias=kind in ("MOVE",) if alias is None else alias,
        view=view,
        title=title,
        saved_names=saved,
        weak=weak,
        keeps=keeps,
        planner=planner,
        prologue=prologue,
        env=env or {},
        add_into=add_into,
        erase=erase,
        into=into,
        check=check,
        doc=doc,
        source=source,
        in_place=kind == MAP and not out if in_place is None else in_place,
    )
    op.sig = sig if sig is not None else default_sig(op)
    op.method_sig = method_sig or op.sig
    return register(op)


def register(op: Op) -> Any:
    """Give a record its class of nodes and its door, and put it into the table."""
    camel = "".join(part.capitalize() for part in op.name.split("_"))
    class_name = op.title if isinstance(op.title, str) else f"{camel}Backward0"
    op.node_class = type(class_name, (Node,), {"__slots__": (), "op": op, **saved_properties(op)})
    op.door = make_entry(op, "function")
    assert op.name not in TABLE, f"{op.name} is there twice"
    TABLE[op.name] = op
    return op.door


def default_sig(op: Op) -> str:
    """Public parameters where the record does not give them."""
    names = [PUBLIC.get(a, a) for a in op.args]
    if op.variadic:
        names = ["tensors"]
    return ", ".join([*names, *op.attrs])


def make_entry(op: Op, style: str, name: str | None = None) -> Callable:
    """One entry of an op ("function", "method", "dunder", "reflected"), written when called."""
    name = name or op.name
    fn = later(name, lambda space: write_entry(op, style, name, space))
    fn.__qualname__, fn.__module__ = name, "sapwood"
    fn.__doc__ = documentation(op)
    fn.op = op  # type: ignore[attr-defined]
    return fn


def write_entry(op: Op, style: str, name: str, space: dict[str, Any]) -> Callable:
    """Generate the code of an entry, with everything that it names in `space`."""
    space |= {
        "KINDS": KINDS,
        "MODE": MODE.get,
        "OP": op,
        "run": op.run,
        "bind": op.bind,
        "F32": dt.F32,
        "F64": dt.F64,
        "ndarray": np.ndarray,
        "asarray": np.asarray,
        "Tensor": Tensor,
        "new": new,
        "Version": Version,
        "FIXED": FIXED,
        "heal": heal,
        "getframe": _getframe,
        "Node": op.node_class,
        "next_seq": next_seq,
        "plan": op.plan,
        "silence": silence,
        "restore": restore,
        "IGNORE": IGNORE,
        "general": slow.general,
        "explain": slow.explain,
        "viewed": slow.viewed,
        "merge": merge_cuts,
        "apart": apart,
        "RAW": RAW,
        "into": into,
        "foreign": foreign,
        "C32": CONSTANTS[dt.F32].get,
        "C64": CONSTANTS[dt.F64].get,
        "constant": constant,
        "PLANS": [None] * 2 ** len(op.args) if not op.variadic else [],
    }
    for mask in range(1, len(space["PLANS"])):
        space["PLANS"][mask] = op.plan(mask)
    space.update(op.env)
    return compiled(Writer(op, style, name).text(), f"<sapwood {style} {name}>", space)


def documentation(op: Op) -> str:
    """The docstring of a door: what it computes, its node, its derivatives' source."""
    lines = [op.doc or f"{op.name}({op.sig})", "", f"    {op.name}({op.sig}) -> Tensor"]
    if op.source:
        lines.append(f"    Formula: {op.source}")
    if not op.grad:
        lines.append("    Not differentiable.")
    return "\n".join(lines)


CONSTANTS: dict[Any, dict[float, np.ndarray]] = {dt.F32: {}, dt.F64: {}}


def constant(value: float, dtype: Any) -> np.ndarray:
    """A Python number as a 0-d array, kept: NumPy takes 0.2 us more for a number than for that."""
    a = np.array(value, dtype)
    a.flags.writeable = False
    kept = CONSTANTS[dtype]
    if value != 0 and value == value:  # 0.0 == -0.0, and NaN never finds itself again
        if len(kept) >= 1024:
            kept.clear()
        kept[value] = a
    return a


def foreign(other: Any) -> bool:
    """Whether an operand is of a type that operators must leave to its own reflected method."""
    return not isinstance(other, (Tensor, int, float, complex, np.ndarray, np.generic))


def into(out: Any, value: Any, op: Op, frame: Any) -> Any:
    """`out=`: write a result into a tensor that exists, or several into several."""
    if isinstance(value, tuple):
        return type(value)(into(o, v, op, frame) for o, v in zip(out, value, strict=True))
    if MODE.get().grad and (out.requires_grad or value.requires_grad):
        raise RuntimeError(
            f"{op.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    if out.array.shape != value.array.shape:
        out.array = np.empty(value.array.shape, out.array.dtype)
    np.copyto(out.array, value.array, casting="same_kind")
    bump(out)
    if out.node is None:
        out.cuts = merge_cuts(value.cuts, out.cuts)
        wrote(out, value.cuts)
    return out


def apply(op: Op, x: Any, attrs: tuple) -> Any:
    """An op with ready attributes: on an array or a tensor."""
    if type(x) in KINDS:
        return slow.general(op, (x,), attrs, (None, 0))
    return op.run(x, *attrs)


def follow(x: Any, path: tuple) -> Any:
    """The part of an array or tensor that the view steps of `path` select."""
    for op, attrs in path:
        if op.out:  # a step of a view with several results: the last attribute says which
            x = apply(op, x, attrs[:-1])[attrs[-1]]
        else:
            x = apply(op, x, attrs)
    return x
