"""The user's own words for what an operation computed: expression, variable and operands.

From the stored position of a call (code, instruction) to the expression in the file, by the exact
columns that Python keeps for each instruction. Nothing is read before somebody asks. Where there
is no file (a prompt, `exec`), or it changed since, answers are empty and never wrong on purpose.
"""

from __future__ import annotations

import ast
import dis
import linecache
from bisect import bisect_right
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

from sapwood._core import where

SIGNS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "div",
    "Pow": "pow",
    "MatMult": "matmul",
    "FloorDiv": "floor_divide",
    "Mod": "remainder",
    "USub": "neg",
    "Invert": "bitwise_not",
    "BitAnd": "bitwise_and",
    "BitOr": "bitwise_or",
    "BitXor": "bitwise_xor",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
    "Eq": "eq",
    "NotEq": "ne",
}
SYMBOLS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "**": "pow",
    "@": "matmul",
    "//": "floor_divide",
    "%": "remainder",
}
STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})
INDEX, STORE = "[]", "[]="  # the calls of `x[...]` and `x[...] = y`
UNKNOWN = object()  # the value of an operand that is no plain number


@dataclass(frozen=True, slots=True)
class Operand:
    """What the user wrote for one operand, and its value where that is a plain number."""

    text: str
    value: Any = UNKNOWN


@dataclass(frozen=True, slots=True)
class Spot:
    """What the source says about one call."""

    place: where.Place | None = None
    text: str | None = None  # "3*x**2"
    call: str = ""  # "mul", "tanh", INDEX; empty where unknown
    operands: tuple[Operand | None, ...] | None = None  # by position; None where unknown
    names: tuple[str | None, ...] = ()  # variables that take the results
    unpacked: bool = False  # `a, b = ...`: one variable per output
    whole: bool = False  # the text is a statement and names the variable itself
    keywords: dict[str, Operand] | None = None  # of a call: operands by name; None: no call


class Reader:
    """Answers `spot(code, lasti)`. Keeps what it read, and the code objects that it read about."""

    def __init__(self) -> None:
        self.spots: dict[tuple[int, int], Spot] = {}
        self.codes: dict[int, Code] = {}
        self.files: dict[str, File] = {}

    def spot(self, code: CodeType | None, lasti: int) -> Spot:
        """What the source says about the instruction at `lasti`."""
        if code is None or where.is_library(code.co_filename):
            return NOWHERE
        key = id(code), lasti
        found = self.spots.get(key)
        if found is None:
            found = self.spots[key] = self.read(code, lasti)
        return found

    def read(self, code: CodeType, lasti: int) -> Spot:
        """Look into the file."""
        known = self.codes.get(id(code))
        if known is None:
            known = self.codes[id(code)] = Code(code)
        span = known.span(lasti)
        name = known.stored_in(lasti)
        place = where.Place(
            code.co_filename, span[0] or code.co_firstlineno, span[2] or 0, code.co_name, name
        )
        plain = Spot(place, None, *known.operands(lasti), (name,))
        if None in span:
            return plain
        file = self.files.get(code.co_filename)
        if file is None:
            file = self.files[code.co_filename] = File(code.co_filename)
        return file.describe(span, place, plain)


class Code:
    """The instructions of one function: what can be told without its source."""

    def __init__(self, code: CodeType) -> None:
        self.code = code  # kept: its id stands for it
        self.spans = list(code.co_positions())
        self.steps = [ins for ins in dis.get_instructions(code) if ins.opname != "CACHE"]
        self.offsets = [ins.offset for ins in self.steps]

    def span(self, lasti: int) -> tuple:
        """(line, last line, column, last column) of the instruction at `lasti`."""
        return self.spans[lasti // 2] if lasti // 2 < len(self.spans) else (None,) * 4

    def stored_in(self, lasti: int) -> str | None:
        """The variable that takes the result of the instruction at `lasti`."""
        for ins in self.steps[bisect_right(self.offsets, lasti) :]:
            if ins.opname in STORES:
                return str(ins.argval)
            if ins.opname != "COPY":  # `a = b = x * 2` copies before it stores
                return None
        return None

    def operands(self, lasti: int) -> tuple[str, tuple[Operand | None, ...] | None]:
        """What an arithmetic instruction computes, and its operands where they are simple."""
        end = bisect_right(self.offsets, lasti)
        steps = self.steps[max(end - 3, 0) : end]
        if not steps or steps[-1].opname != "BINARY_OP":
            return "", None
        call = SYMBOLS.get(steps[-1].argrepr.removesuffix("="), "")
        right = loaded(steps[-2]) if len(steps) > 1 else None
        left = loaded(steps[-3]) if len(steps) > 2 and right is not None else None
        return call, (left, right)


class File:
    """One source file: its syntax tree by position."""

    def __init__(self, name: str) -> None:
        self.lines = linecache.getlines(name)
        self.at: dict[tuple, ast.AST] = {}
        self.parent: dict[int, ast.AST] = {}
        self.modules: set[str] = set()
        try:
            self.tree = ast.parse("".join(self.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        todo: list[ast.AST] = [self.tree]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.modules |= {(a.asname or a.name).split(".")[0] for a in node.names}
            elif isinstance(node, ast.expr | ast.AugAssign):
                self.at[node.lineno, node.end_lineno, node.col_offset, node.end_col_offset] = node
            for child in ast.iter_child_nodes(node):
                self.parent[id(child)] = node
                todo.append(child)

    def describe(self, span: tuple, place: where.Place | None, plain: Spot) -> Spot:
        """The call at exactly this span; `plain` where there is none."""
        node = self.at.get(span)
        if node is None:
            return plain
        call, operands = self.call(node)
        spot = replace(
            plain, text=self.text(node), call=call, operands=operands, keywords=self.keywords(node)
        )
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return self.describe_store(node, spot)  # y[0] = value
        changed = self.changed(node)
        if changed is not None:
            return replace(spot, names=(self.target(changed),), whole=True)
        names, unpacked = self.names(node)
        return replace(spot, names=names or plain.names, unpacked=unpacked)

    def describe_store(self, node: ast.Subscript, spot: Spot) -> Spot:
        """The statement that assigns to a part of a variable."""
        statement = self.parent[id(node)]
        value = getattr(statement, "value", None)
        operands = self.written([node.value, value]) if value else None
        return replace(
            spot,
            text=self.text(statement),
            call=STORE,
            operands=operands,
            names=(self.target(node.value),),
            whole=True,
        )

    def keywords(self, node: ast.AST) -> dict[str, Operand] | None:
        """The operands of a call that are given by name."""
        if not isinstance(node, ast.Call):
            return None
        return {k.arg: self.written([k.value])[0] for k in node.keywords if k.arg}

    def text(self, node: ast.AST) -> str:
        """The source of a node on one line."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        if first != last:
            return ast.unparse(node)
        line = self.lines[first - 1].encode()
        part = line[node.col_offset : node.end_col_offset]  # type: ignore[attr-defined]
        return part.decode(errors="replace")

    def changed(self, node: ast.AST) -> ast.expr | None:
        """The variable that a statement writes into: `x += 1`, `x.mul_(2)`; None for others."""
        if isinstance(node, ast.AugAssign):
            return node.target
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        name = node.func.attr
        if not name.endswith("_") or name.endswith("__"):
            return None
        alone = isinstance(self.parent.get(id(node)), ast.Expr)
        return node.func.value if alone and self.target(node.func.value) else None

    def call(self, node: ast.AST) -> tuple[str, tuple[Operand, ...] | None]:
        """What is called, and with which operands, as far as the words tell."""
        parts: list[ast.expr]
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
            return SIGNS.get(type(node.op).__name__, ""), self.written(parts)
        if isinstance(node, ast.AugAssign):
            sign = SIGNS.get(type(node.op).__name__, "")
            return sign, self.written([node.target, node.value])
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sign = SIGNS.get(type(node.ops[0]).__name__, "")
            return sign, self.written([node.left, node.comparators[0]])
        if isinstance(node, ast.Subscript):
            return INDEX, None
        if isinstance(node, ast.Attribute):
            return node.attr, self.written([node.value])
        if not isinstance(node, ast.Call):
            return "", None
        if isinstance(node.func, ast.Attribute):
            parts = list(node.args)
            if node.func.attr != "apply" and not self.is_module(node.func.value):
                parts = [node.func.value, *parts]
            name = node.func.attr
        elif isinstance(node.func, ast.Name):
            name, parts = node.func.id, list(node.args)
        else:
            return "", None
        if any(isinstance(part, ast.Starred) for part in parts):
            return name, None
        return name, self.written(parts)

    def is_module(self, node: ast.AST) -> bool:
        """Whether `a` in `a.f(x)` was imported: then x is the first operand, else a is."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.modules

    def written(self, parts: list[ast.expr]) -> tuple[Operand, ...]:
        """The operands as they stand there. The parts of a list of operands stand for it."""
        if parts and isinstance(parts[0], ast.List | ast.Tuple) and parts[0].elts:
            parts = parts[0].elts
        found = []
        for part in parts:
            try:
                value = ast.literal_eval(part)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                value = UNKNOWN
            found.append(Operand(self.text(part), value))
        return tuple(found)

    def names(self, node: ast.AST) -> tuple[tuple[str | None, ...], bool]:
        """The variables that take the value of an expression, and whether it is unpacked."""
        above = self.parent.get(id(node))
        if isinstance(above, ast.NamedExpr):
            return (above.target.id,), False
        if isinstance(above, ast.AnnAssign):
            return (self.target(above.target),), False
        if isinstance(above, ast.Assign):
            target = above.targets[0]
            if isinstance(target, ast.Tuple | ast.List):
                if any(isinstance(part, ast.Starred) for part in target.elts):
                    return (), False
                return tuple(self.target(part) for part in target.elts), True
            return (self.target(target),), False
        if isinstance(above, ast.Tuple):  # a, b = x * 2, x + 1
            statement = self.parent.get(id(above))
            if isinstance(statement, ast.Assign):
                target = statement.targets[0]
                if isinstance(target, ast.Tuple) and len(target.elts) == len(above.elts):
                    return (self.target(target.elts[above.elts.index(node)]),), False  # type: ignore[arg-type]
        return (), False

    def target(self, node: ast.AST) -> str | None:
        """The name of a variable: `w`, `self.w`, `weights["out"]`; None for a region of one."""
        if isinstance(node, ast.Subscript):
            key = node.slice
            named = isinstance(key, ast.Constant) and isinstance(key.value, str)
            return self.text(node) if named else None
        return self.text(node) if isinstance(node, ast.Name | ast.Attribute) else None


NOWHERE = Spot()


def loaded(ins: dis.Instruction) -> Operand | None:
    """The operand that one instruction puts on the stack; None for all but names and constants."""
    if ins.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
        return Operand(repr(ins.argval), ins.argval)
    if ins.opname in ("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF"):
        return Operand(str(ins.argval))
    return None
