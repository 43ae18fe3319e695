"""The door: how an operation happens, in one Python frame.

From each record one specialised body per arity is generated for the frequent case (tensors of one
floating dtype, or one tensor and a Python number), with three entries: the function, which is
also the method, the dunder, and its reflected twin. No wrapper frame, so the caller is always
`_getframe(1)`. Everything else goes to `slow.general`, which does the same thing completely.

Budget for 32x32 float32: 1.2 us over NumPy with gradient, 0.6 us without.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import slow
from sapwood._core.inside import apart
from sapwood._core.later import later
from sapwood._core.memory import heal
from sapwood._core.mode import MODE
from sapwood._core.node import Node, next_seq, saved_properties
from sapwood._core.op import FIXED, MAP, Op, Version, compiled
from sapwood._core.quiet import IGNORE, restore, silence
from sapwood._core.tensor import KINDS, Tensor, merge_cuts, new

TABLE: dict[str, Op] = {}  # every primitive by name: what exists
RAW = frozenset({np.ndarray, int, float, bool, complex})
PUBLIC = {"x": "input", "y": "other"}


def primitive(
    name: str, spec: str, *, kind: str, run: Callable, grad: dict[str, Callable],
    sig: str | None = None, method_sig: str | None = None, bind: Callable | None = None,
    dtype: str | None = None, out: str | None = None, alias: bool | None = None,
    view: bool | str = False, keeps: bool = False, title: Any = None, saved: dict[str, Any] | None = None,
    add_into: Callable | None = None, erase: Callable | None = None, into: Callable | None = None,
    in_place: bool | str | None = None, doc: str = "", check: Callable | None = None,
    source: str = "", weak: bool = False, planner: Any = None, prologue: str = "",
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
        name=name, args=args, attrs=tuple(attrs.split()), kind=kind, run=run, grad=grad,
        variadic=variadic, dtype=dtype, out=tuple(out.split()) if out else None, bind=bind,
        alias=kind in ("MOVE",) if alias is None else alias, view=view, title=title,
        saved_names=saved, weak=weak, keeps=keeps, planner=planner, prologue=prologue, env=env or {},
        add_into=add_into, erase=erase, into=into, check=check, doc=doc, source=source,
        in_place=kind == MAP and not out if in_place is None else in_place,
    )
    op.sig = sig if sig is not None else default_sig(op)
    op.method_sig = method_sig or op.sig
    camel = "".join(part.capitalize() for part in name.split("_"))
    class_name = title if isinstance(title, str) else f"{camel}Backward0"
    op.node_class = type(class_name, (Node,), {"__slots__": (), "op": op, **saved_properties(op)})
    op.door = make_entry(op, "function")
    assert name not in TABLE, f"{name} is there twice"
    TABLE[name] = op
    return op.door


def default_sig(op: Op) -> str:
    """Public parameters where the record does not give them."""
    names = [PUBLIC.get(a, a) for a in op.args]
    if op.variadic:
        names = ["tensors"]
    return ", ".join([*names, *op.attrs])


def public_names(sig: str) -> list[str]:
    """Parameter names of a signature, in order: "input, dim=None, *, dtype=None"."""
    names = []
    for part in sig.split(","):
        name = part.split("=")[0].split(":")[0].strip().lstrip("*")
        if name and not keyword.iskeyword(name):
            names.append(name)
    return names


def make_entry(op: Op, style: str, name: str | None = None) -> Callable:
    """One entry of an op: "function", "method", "dunder" or "reflected"; written when first called."""
    name = name or op.name
    fn = later(name, lambda space: write_entry(op, style, name, space))
    fn.__qualname__, fn.__module__ = name, "sapwood"
    fn.__doc__ = documentation(op)
    fn.op = op  # type: ignore[attr-defined]
    return fn


def write_entry(op: Op, style: str, name: str, space: dict[str, Any]) -> Callable:
    """Generate the code of an entry, with everything that it names in `space`."""
    space |= {
        "KINDS": KINDS, "MODE": MODE.get, "OP": op, "run": op.run, "bind": op.bind,
        "F32": dt.F32, "F64": dt.F64, "ndarray": np.ndarray, "asarray": np.asarray,
        "Tensor": Tensor, "new": new, "Version": Version, "FIXED": FIXED, "heal": heal,
        "getframe": _getframe, "Node": op.node_class, "next_seq": next_seq, "plan": op.plan,
        "silence": silence, "restore": restore, "IGNORE": IGNORE, "general": slow.general,
        "explain": slow.explain, "viewed": slow.viewed, "merge": merge_cuts, "apart": apart, "RAW": RAW, "into": into, "foreign": foreign,
        "C32": CONSTANTS[dt.F32].get, "C64": CONSTANTS[dt.F64].get, "constant": constant,
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


class Writer:
    """Writes the source text of one entry."""

    def __init__(self, op: Op, style: str, name: str) -> None:
        self.op, self.style, self.name = op, style, name
        sig = op.method_sig if style == "method" else op.sig
        names = public_names(sig)
        if style == "reflected":
            sig, self.operands = "self, other", ["other", "self"]
        elif style == "dunder":
            sig = "self, other" if len(op.args) == 2 else "self"
            self.operands = ["self", "other"][: len(op.args)]
        else:
            self.operands = names[: len(op.args)]
        self.extra: list[str] = []
        self.prologue: list[str] = []
        if style in ("function", "method"):
            rest = names[len(self.operands):]
            self.extra = rest if op.bind is not None else [e for e in rest if e in op.attrs]
            self.prologue = ["    " + line for line in op.prologue.strip().splitlines()]
            self.rest = rest
        self.takes_out = style == "function" and not (op.variadic or op.out or op.view)
        if self.takes_out:
            sig += ", out=None" if "*" in sig else ", *, out=None"
        self.sig = sig

    def attrs(self, values: list[str]) -> str:
        """The expression that computes the attribute tuple."""
        if self.op.bind is not None:
            return f"bind({', '.join([*values, *self.extra])})"
        return "(" + "".join(f"{e}, " for e in self.extra) + ")"

    def text(self) -> str:
        """The whole function."""
        lines = [f"def {self.name}({self.sig}):"]
        if self.takes_out:
            lines.append("    if out is not None:")
            packed = [e for e in self.rest if f"*{e}" in self.op.sig]
            call = ", ".join([*self.operands, *(f"*{e}" for e in packed),
                              *(f"{e}={e}" for e in self.rest if e not in packed)])
            lines.append(f"        return into(out, {self.name}({call}), OP, getframe(1))")
        lines += self.prologue
        if self.style == "function" and not self.op.variadic and not self.op.out:
            lines += self.raw_body()
        if not self.op.variadic and not self.op.out and not self.op.view and self.fast():
            lines += self.fast_body()
        if self.op.view and not self.op.out and len(self.op.args) == 1:
            lines += self.view_body()
        lines += self.slow_body()
        return "\n".join(lines)

    def raw_body(self) -> list[str]:
        """Arrays in, array out: how rules call this at first order. The pass silences NumPy."""
        ops = self.operands
        tests = [f"type({o}) in RAW" for o in ops[1:]]
        args = list(ops)
        if self.op.attrs or self.op.bind is not None:
            args.append("*" + self.attrs(list(ops)))
        return [
            f"    if {' and '.join([f'type({ops[0]}) is ndarray', *tests])}:",
            f"        r = run({', '.join(args)})",
            "        return r if type(r) is ndarray else asarray(r)",
        ]

    def fast(self) -> bool:
        """Whether the frequent case gets its own body."""
        return len(self.op.args) <= 3

    def fast_body(self) -> list[str]:
        """try: one block per combination of tensors and numbers; errors get explained."""
        lines = ["    token = None", "    try:"]
        for numbers in self.combinations():
            lines += ["        " + line for line in self.block(numbers)]
        shown = ", ".join(self.operands)
        lines += [
            "    except BaseException as e:",
            "        if token is not None: restore(token)",
            f"        if not isinstance(e, Exception) or not any(type(q) in KINDS for q in "
            f"({shown},)): raise",
            "        f = getframe(1)",
            f"        raise explain(OP, e, ({shown},), (), MODE().site or (f.f_code, f.f_lasti)) "
            "from None",
        ]
        return lines

    def view_body(self) -> list[str]:
        """The frequent case of a view: one tensor, nothing special."""
        x = self.operands[0]
        attrs = self.attrs([f"{x}.array"]) if self.op.attrs or self.op.bind else "()"
        return [
            "    m = MODE()",
            f"    if type({x}) in KINDS and m.plain:",
            "        f = getframe(1)",
            "        try:",
            f"            attrs = {attrs}",
            f"            r = run({x}.array, *attrs)",
            "        except Exception as e:",
            f"            raise explain(OP, e, ({x},), (), m.site or (f.f_code, f.f_lasti)) "
            "from None",
            f"        return viewed(OP, {x}, r, attrs, m, (f.f_code, f.f_lasti))",
        ]

    def combinations(self) -> list[set[int]]:
        """Which operands are numbers, per block."""
        if self.op.kind != MAP or len(self.op.args) not in (2, 3) or self.op.dtype == "keep":
            return [set()]
        if len(self.op.args) == 3:  # where(c, x, 0), lerp(x, y, 0.5)
            return [set(), {2}, {1}]
        if self.style == "reflected":
            return [{0}]
        return [set(), {1}]

    def block(self, numbers: set[int]) -> list[str]:
        """The fast path for one combination."""
        n = len(self.operands)
        tensors = [i for i in range(n) if i not in numbers]
        names = (self.op.dtype or "").split()[1:]  # operands of one dtype: all, or those named
        alike = [i for i in tensors if not names or self.op.args[i] in names]
        first = alike[0]
        tests = [f"type({self.operands[i]}) in KINDS" for i in tensors]
        for i in numbers:
            kind = f"type({self.operands[i]})"
            tests.append(f"({kind} is float or {kind} is int)")
        lines = [f"if {' and '.join(tests)}:"]
        lines += [f"    a{i} = {self.operands[i]}.array" for i in tensors]
        lines += ["    m = MODE()", f"    d = a{first}.dtype"]
        same = "".join(f" and a{i}.dtype is d" for i in alike[1:])
        lines.append(f"    if (d is F32 or d is F64){same} and m.plain:")
        body = []
        for i in numbers:
            value = self.operands[i]
            if self.op.weak:
                body.append(f"a{i} = {value}")
            else:
                body += [f"a{i} = C32({value}) if d is F32 else C64({value})",
                         f"if a{i} is None: a{i} = constant({value}, d)"]
        body += self.compute(n) + self.wrap(tensors, numbers)
        return lines + ["        " + line for line in body]

    def compute(self, n: int) -> list[str]:
        """Attributes, the NumPy call without warnings, and the result as a tensor."""
        values = [f"a{i}" for i in range(n)]
        lines = []
        if self.op.attrs:
            lines.append(f"attrs = {self.attrs(values)}")
        stars = ["*attrs"] if self.op.attrs else []
        lines += [
            "token = silence(IGNORE)",
            f"r = run({', '.join(values + stars)})",
            "t = token; token = None; restore(t)",  # a signal may come after any call
            "if type(r) is not ndarray: r = asarray(r)",
            "t = new(Tensor)",
            "t.array = r; t.version = None; t.memory = None; t.port = 0",
        ]
        return lines

    def wrap(self, tensors: list[int], numbers: set[int]) -> list[str]:
        """Node, saved values and place where a gradient is needed; else the reasons why not."""
        names = [self.operands[i] for i in tensors]
        lines = []
        for name in names:
            lines.append(f"if {name}.memory is not None and {name}.gen != {name}.memory.gen: "
                         f"heal({name})")
        lines += [f"n{i} = {self.operands[i]}.node" for i in tensors]
        some = " or ".join(f"n{i} is not None" for i in tensors)
        if self.op.grad:
            lines.append(f"if ({some}) and m.grad:")
            lines += ["    " + line for line in self.node(tensors, numbers)]
            lines.append("    return t")
        lines.append("t.node = None")
        equal = f"t.cuts = {names[0]}.cuts"
        if len(names) > 1:
            for name in names[1:]:
                equal += f"; c = {name}.cuts"
                equal += "\nif c is not None: t.cuts = merge(t.cuts, c)"
        lines += equal.split("\n")
        if not self.op.grad:
            lines.append("if t.cuts is not None: t.cuts = apart(t.cuts)")
        lines.append(f"if {some}:")
        kind = "m.why" if self.op.grad else f"{self.op.name!r}"
        lines += [
            "    f = getframe(1)",
            f"    t.cuts = merge((({kind}, *(m.site or (f.f_code, f.f_lasti)), r.shape),), t.cuts)",
            "return t",
        ]
        return lines

    def node(self, tensors: list[int], numbers: set[int]) -> list[str]:
        """Make the node: one branch per need-mask, because each saves something else."""
        n = len(self.operands)
        nodes = "".join(f"n{i}, " if i in tensors else "None, " for i in range(n))
        number = "-1, " if callable(self.op.title) else "0, "
        ports = "".join(f"{self.operands[i]}.port, " if i in tensors else number for i in range(n))
        lines = [
            "node = new(Node)",
            f"node.inputs = ({nodes})",
            f"node.ports = ({ports})",
            f"node.attrs = {'attrs' if self.op.attrs else '()'}",
            "node.shape = r.shape; node.dtype = d if r.dtype is d else r.dtype",
            "s = m.site",
            "if s is None:",
            "    f = getframe(1); node.code = f.f_code; node.lasti = f.f_lasti",
            "else: node.code, node.lasti = s",
            "node.scope = m.scope; node.seq = next_seq(); node.hooks = None",
        ]
        lines += self.masks(tensors, numbers)
        lines.append("t.node = node; t.cuts = None")
        return lines

    def masks(self, tensors: list[int], numbers: set[int]) -> list[str]:
        """if/elif over the need-masks that this combination can have."""
        able = [i for i in tensors if self.op.args[i] in self.op.grad]
        lines = []
        choices = []
        for bits in range(2 ** len(able) - 1, 0, -1):
            chosen = [i for k, i in enumerate(able) if bits >> k & 1]
            choices.append((sum(1 << i for i in chosen), chosen))
        choices.sort(key=lambda c: -len(c[1]))
        for k, (mask, chosen) in enumerate(choices):
            test = " and ".join(f"n{i} is not None" for i in chosen)
            head = "if" if k == 0 else "elif"
            only = len(tensors) == 1
            lines.append("if True:" if only else f"{head} {test}:")
            lines += ["    " + line for line in self.save(mask, numbers)]
            if only:
                return [line.removeprefix("    ") for line in lines[1:]]
        if len(able) < len(tensors):  # only an operand without derivative requires grad
            lines += ["else:", "    t.node = None; t.cuts = None; return t"]
        return lines

    def save(self, mask: int, numbers: set[int]) -> list[str]:
        """Keep what the plan of this mask asks for, with versions."""
        lines, parts = [], []
        for name in self.op.plan(mask).saves:
            if name in self.op.args:
                i = self.op.args.index(name)
                if i in numbers:
                    parts.append(f"a{i}, FIXED, 0")
                    continue
                owner, array, v = self.operands[i], f"a{i}", f"v{i}"
            elif name == "out":
                owner, array, v = "t", "r", "vr"
            else:
                base, _, what = name.rpartition("_")
                i = self.op.args.index(base)
                value = f"a{i}.{what}" if i not in numbers else f"asarray(a{i}).{what}"
                parts.append(f"{value}, FIXED, 0")
                continue
            lines += [f"{v} = {owner}.version",
                      f"if {v} is None: {v} = {owner}.version = new(Version); {v}.n = 0; "
                      f"{v}.code = None"]
            parts.append(f"{array}, {v}, {v}.n")
        lines.append(f"node.plan = PLANS[{mask}]")
        lines.append(f"node.saved = ({', '.join(parts)}{',' if parts else ''})")
        return lines

    def slow_body(self) -> list[str]:
        """Everything that is not the frequent case."""
        ops = self.operands
        lines = []
        if self.style in ("dunder", "reflected") and len(ops) == 2:
            other = "other"
            lines.append(f"    if foreign({other}): return NotImplemented")
        if self.op.variadic:
            xs = ops[0]
            lines.append(f"    {xs} = list({xs})")
            attrs = self.attrs([f"[q.array if type(q) in KINDS else q for q in {xs}]"])
        else:
            xs = f"({', '.join(ops)},)"
            attrs = self.attrs([f"({o}.array if type({o}) in KINDS else {o})" for o in ops])
        lines += ["    f = getframe(1)"]
        if self.op.attrs or self.op.bind is not None:
            lines += [
                "    try:",
                f"        attrs = {attrs}",
                "    except Exception as e:",
                f"        raise explain(OP, e, {xs}, (), MODE().site or (f.f_code, f.f_lasti)) "
                "from None",
            ]
        else:
            lines.append("    attrs = ()")
        lines.append(f"    return general(OP, {xs}, attrs, (f.f_code, f.f_lasti))")
        return lines


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


def into(out: Tensor, value: Tensor, op: Op, frame: Any) -> Tensor:
    """`out=`: write a result into a tensor that exists."""
    if out.requires_grad or value.requires_grad:
        raise RuntimeError(
            f"{op.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    if out.array.shape != value.array.shape:
        out.array = np.empty(value.array.shape, out.array.dtype)
    np.copyto(out.array, value.array, casting="same_kind")
    slow.version_of(out).n += 1
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
