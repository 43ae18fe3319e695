"""The record of an operation: what it computes and the derivative of each operand.

One record per primitive; every reader (doors, reverse pass, drawing, stubs, tests) reads this.
A rule is a function whose parameter *names* say what must be kept for backward:

    g             gradient of the output (a tuple where the op has several outputs)
    <operand>     the operand's value                out, or an output's name   the result
    <operand>_shape, <operand>_dtype                 an attribute's name        its value
    attrs         all attributes as a tuple

Any other name is an error at import. A `Plan` is what one need-mask (bit i: operand i needs a
gradient) keeps, and one compiled function that runs the rules of those operands.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MAP, FOLD, MOVE, PICK, DOT, MAKE, CALL = ["MAP", "FOLD", "MOVE", "PICK", "DOT", "MAKE", "CALL"]
KINDS_OF_OP = (MAP, FOLD, MOVE, PICK, DOT, MAKE, CALL)


class Version:
    """How often the memory of a tensor was written; shared by views and by saved values."""

    __slots__ = ("code", "lasti", "memories", "n")

    def __init__(self) -> None:
        self.n = 0
        self.memories: tuple = ()  # weak references to the memories whose views a write concerns
        self.code = None  # where the last write happened
        self.lasti = 0


class InferenceVersion(Version):
    """The version of inference tensors: there is none, and saving for backward asks for it."""

    __slots__ = ()

    @property
    def n(self) -> int:
        """Refused: nothing of inference mode may enter a graph."""
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please make a clone to use in "
            "autograd instead."
        )

    @n.setter
    def n(self, value: int) -> None:
        pass


INFERENCE = InferenceVersion()
FIXED = Version()  # the version of values that cannot change (numbers, shapes)


@dataclass(slots=True, eq=False, kw_only=True, repr=False)
class Op:
    """One primitive operation. See `sapwood._core.door.primitive` for the meaning of the fields."""

    name: str
    args: tuple[str, ...]
    attrs: tuple[str, ...]
    kind: str
    grad: dict[str, Callable]
    run: Callable = None  # type: ignore[assignment]
    variadic: bool = False
    dtype: str | None = None
    out: tuple[str, ...] | None = None
    pack: Callable = tuple  # what the results become where there are several
    bind: Callable | None = None
    alias: bool = False
    view: bool | str = False
    keeps: bool = False
    title: Any = None
    saved_names: dict[str, str] | None = None
    weak: bool = False
    planner: Any = None
    prologue: str = ""
    env: dict[str, Any] = field(default_factory=dict)
    add_into: Callable | None = None
    erase: Callable | None = None
    into: Callable | None = None
    check: Callable | None = None
    in_place: bool | str = False
    doc: str = ""
    source: str = ""
    sig: str = ""
    method_sig: str = ""
    node_class: Any = None  # one class of nodes per op
    door: Callable = None  # type: ignore[assignment] # the public function
    plain: bool = False  # nothing special: the reverse pass may take its short way
    plans: dict[int, Plan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        special = self.out or self.add_into or self.erase
        self.plain = not special and self.kind != CALL
        assert self.kind in KINDS_OF_OP, self.name
        for operand, rule in self.grad.items():
            assert operand in self.args, f"{self.name}: a rule for unknown operand {operand}"
            for name in rule_names(rule):
                assert name == "g" or self.known(name), f"{self.name}: unknown name {name} in rule"

    def known(self, name: str) -> bool:
        """Whether a rule of this op may ask for `name`."""
        base = name.removesuffix("_shape").removesuffix("_dtype")
        return base in self.args or name in self.attrs or name in (*self.outputs, "attrs")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the results: ("out",) for the usual single one."""
        return self.out or ("out",)

    def plan(self, mask: int, *, low: bool = False) -> Plan:
        """The plan of a need-mask, built once. `low`: half precision, rules run in float32."""
        key = mask << 1 | low
        found = self.plans.get(key)
        if found is None:
            found = self.plans[key] = (self.planner or Plan)(self, mask, low=low)
        return found

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def rule_names(rule: Callable) -> list[str]:
    """The parameter names of a rule."""
    return list(inspect.signature(rule).parameters)


class Plan:
    """What one (op, need-mask) saves, and the function that turns g into operand gradients."""

    __slots__ = (
        "add_into",
        "alias",
        "back",
        "erase",
        "low",
        "many",
        "mask",
        "op",
        "plain",
        "rules",
        "saves",
    )

    add_into: Callable | None  # add_into(buffer, g, node): only what the record's add_into touches
    alias: bool
    back: Callable
    erase: Callable | None  # as back, but g itself becomes the first operand's gradient
    low: bool
    many: bool
    mask: int
    op: Op
    plain: bool
    rules: list[tuple[str, Callable, list[str]]]
    saves: list[str]
    custom = False  # user code: runs inside Pass.call, also where every gradient is absent

    def __init__(self, op: Op, mask: int, *, low: bool) -> None:
        self.op, self.mask, self.low = op, mask, low
        self.alias, self.plain, self.many = op.alias, op.plain, op.out is not None
        self.rules, self.saves = [], []
        for i, arg in enumerate(op.args):
            if mask >> i & 1 and arg in op.grad:
                names = rule_names(op.grad[arg])
                self.rules.append((arg, op.grad[arg], names))
                for name in names:
                    if self.must_save(name) and name not in self.saves:
                        self.saves.append(name)
        self.back = self._compile()
        self.erase = self._compile(erase=True) if op.erase is not None and mask & 1 else None
        self.add_into = self._compile_add() if op.add_into is not None and mask & 1 else None

    def must_save(self, name: str) -> bool:
        """Whether `name` is kept on the node (the rest is read off attributes and inputs)."""
        if name in ("g", "attrs") or name in self.op.attrs:
            return False
        base = name.removesuffix("_shape").removesuffix("_dtype")
        if base != name:  # the shape of an operand with a node is on that node
            return not (self.mask >> self.op.args.index(base) & 1)
        return True

    def read(self, name: str) -> str:
        """The expression for `name` in the compiled backward function."""
        if name == "g":
            return "g"
        if name == "attrs":
            return "node.attrs"
        if name in self.saves:
            return f"v{self.saves.index(name)}"
        if name in self.op.attrs:
            return f"node.attrs[{self.op.attrs.index(name)}]"
        base, _, what = name.rpartition("_")
        return f"node.input_meta({self.op.args.index(base)}).{what}"

    def _opening(self) -> list[str]:
        """The first lines of a compiled function: unpack saved values and check their versions."""
        lines = []
        if self.saves:
            unpacked = ", ".join(f"v{i}, c{i}, k{i}" for i in range(len(self.saves)))
            lines.append(f"    {unpacked} = node.saved")
            changed = " or ".join(f"c{i}.n != k{i}" for i in range(len(self.saves)))
            lines.append(f"    if {changed}: stale(node)")
        if self.low:
            lines.append("    g = up(g)")
            lines += [f"    v{i} = up(v{i})" for i in range(len(self.saves))]
        return lines

    def _compile(self, *, erase: bool = False) -> Callable:
        """`back(g, node)`: check versions, run the rules; on raw arrays.

        erase: the first operand's gradient is made inside g, last, when nobody else needs g.
        """
        space: dict[str, Any] = {"stale": stale, "up": up, "apart": apart}
        lines = ["def back(g, node):", *self._opening()]
        results = ["None"] * len(self.op.args)
        for arg, rule, names in reversed(self.rules):
            i = self.op.args.index(arg)
            if erase and i == 0:
                rule, names = self.op.erase, rule_names(self.op.erase)  # type: ignore[arg-type]
            space[f"rule_{arg}"] = rule
            results[i] = f"rule_{arg}({', '.join(map(self.read, names))})"
            if erase and i:
                lines.append(f"    r{i} = apart({results[i]}, g)")
                results[i] = f"r{i}"
        if self.op.variadic:
            lines.append(f"    return {results[0]}")
        else:
            lines.append(f"    return ({''.join(r + ', ' for r in results)})")
        label = f"<sapwood back {self.op.name} {self.mask:b}{'L' * self.low}{'E' * erase}>"
        return compiled("\n".join(lines), label, space)

    def _compile_add(self) -> Callable:
        """`add_into(buffer, g, node)`: as the first operand's rule, into a part of `buffer`."""
        rule: Any = self.op.add_into
        values = ", ".join(map(self.read, rule_names(rule)[2:]))
        lines = [
            "def add_into(buffer, g, node):",
            *self._opening(),
            f"    rule(buffer, g{', ' * bool(values)}{values})",
        ]
        label = f"<sapwood add {self.op.name} {self.mask:b}>"
        return compiled("\n".join(lines), label, {"stale": stale, "up": up, "rule": rule})


def compiled(text: str, filename: str, space: dict[str, Any]) -> Callable:
    """Run generated source and return its last function; debuggers and tracebacks can show it."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space["__name__"] = "sapwood._generated"
    exec(compile(text, filename, "exec"), space)  # noqa: S102 (our own text)
    name = text.rsplit("def ", 1)[1].split("(")[0]
    return space[name]


def apart(result: Any, g: np.ndarray) -> Any:
    """A rule's result in memory of its own: g is about to be written."""
    shared = isinstance(result, np.ndarray) and (result is g or result.base is not None)
    return result.copy() if shared else result


def up(value: Any) -> Any:
    """Half precision to float32; everything else as it is."""
    if isinstance(value, np.ndarray) and value.dtype.itemsize == 2 and value.dtype.kind in "fV":
        return value.astype(np.float32)
    return tuple(map(up, value)) if type(value) is tuple else value


def stale(node: Any) -> None:
    """Raise for a saved value that was overwritten since (set by `node`, which knows places)."""
    node.raise_stale()
