"""The user's own words for what an operation computed: expression, variable and operands.

From the stored position of a call (code, instruction) to the expression in the file, by the exact
columns that Python keeps for each instruction. Nothing is read before somebody asks. Where there
is no file (a prompt, `exec`), or it changed since, answers are empty and never wrong on purpose.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from types import CodeType
from typing import Any

from sapwood._core import where

SIGNS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "div", "Pow": "pow", "MatMult": "matmul",
    "FloorDiv": "floor_divide", "Mod": "remainder", "USub": "neg", "Invert": "bitwise_not",
    "BitAnd": "bitwise_and", "BitOr": "bitwise_or", "BitXor": "bitwise_xor",
    "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge", "Eq": "eq", "NotEq": "ne",
}
INDEX = "[]"  # the call of `x[...]`
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
    operands: tuple[Operand, ...] | None = None  # None: unknown, () too
    names: tuple[str | None, ...] = ()  # variables that take the results
    unpacked: bool = False  # `a, b = ...`: one variable per output
    whole: bool = False  # the text is a statement and names the variable itself


class Reader:
    """Answers `spot(code, lasti)`; keeps what it read. Holds the code objects that it was asked for."""

    def __init__(self) -> None:
        self.spots: dict[tuple[int, int], Spot] = {}
        self.codes: dict[int, tuple[CodeType, list]] = {}
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
        if id(code) not in self.codes:
            self.codes[id(code)] = code, list(code.co_positions())
        positions = self.codes[id(code)][1]
        place = where.place(code, lasti)
        name = place.name if place else None
        plain = Spot(place, names=(name,))
        span = positions[lasti // 2] if lasti // 2 < len(positions) else (None,) * 4
        if None in span:
            return plain
        file = self.files.get(code.co_filename)
        if file is None:
            file = self.files[code.co_filename] = File(code.co_filename)
        return file.describe(span, place, plain)


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
        if self.is_target(node):  # y[0] = value: the statement says it
            statement = self.parent[id(node)]
            return Spot(place, self.text(statement), INDEX, None, (), whole=True)
        if isinstance(node, ast.AugAssign):
            return Spot(place, self.text(node), call, operands, (self.text(node.target),),
                        whole=True)
        if self.writes(node):  # x.mul_(2) as a statement of its own: its result is x
            return Spot(place, self.text(node), call, operands, (self.text(node.func.value),),  # type: ignore[attr-defined]
                        whole=True)
        names, unpacked = self.names(node)
        return Spot(place, self.text(node), call, operands, names or plain.names, unpacked)

    def text(self, node: ast.AST) -> str:
        """The source of a node on one line."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        if first != last:
            return ast.unparse(node)
        line = self.lines[first - 1].encode()
        part = line[node.col_offset : node.end_col_offset]  # type: ignore[attr-defined]
        return part.decode(errors="replace")

    def writes(self, node: ast.AST) -> bool:
        """Whether this is `x.mul_(2)`, the whole statement, for a variable x."""
        return (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and node.func.attr.endswith("_") and not node.func.attr.endswith("__")
            and self.target(node.func.value) is not None
            and isinstance(self.parent.get(id(node)), ast.Expr)
        )

    def is_target(self, node: ast.AST) -> bool:
        """Whether this is the left side of an assignment."""
        return isinstance(getattr(node, "ctx", None), ast.Store)

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
        if len(parts) >= 1 and isinstance(parts[0], ast.List | ast.Tuple):
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
