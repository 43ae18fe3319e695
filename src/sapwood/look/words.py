"""The words for one node of a graph: what a line of text, a label or a tooltip says about it.

The user's own words come first; where the source cannot be read, words are made from the operation
and what is known of its operands. Reads the protocol only.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sapwood.look.protocol import CONSTANT, LEAF, OPERATION, ViewNode

FEW = 4  # values of arrays that are shown
SHORT = 20  # characters of an expression inside another
SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "mm": "@",
    "mv": "@",
    "matmul": "@",
    "bmm": "@",
    "dot": "@",
}


def label(node: ViewNode) -> str:
    """What a line says about a node: the user's words, or words made from the operation."""
    if node.role == CONSTANT:
        return node.expression or number(node.value) or "constant"
    if node.role == LEAF:
        value = number(node.value)
        name = node.name or node.expression or "leaf"
        return f"{name} = {value}" if value and node.name else name
    words = node.expression or formula(node)
    if node.statement:
        return words
    names = [output.name for output in node.outputs if output.name]
    if node.name or not names:
        return f"{node.name} = {words}" if node.name else words
    return f"{', '.join(o.name or '_' for o in node.outputs)} = {words}"


def called(node: ViewNode, port: int = 0) -> str:
    """How a line refers to a node that is shown elsewhere."""
    if node.role == OPERATION and len(node.outputs) > 1:
        name = node.outputs[port].name
        return name or f"{node.name or node.expression or formula(node)}[{port}]"
    return (
        node.name or node.expression or (formula(node) if node.role == OPERATION else label(node))
    )


def formula(node: ViewNode) -> str:
    """Words for an operation whose source is not known: `… * 2`, `sum(…, dim=1)`."""
    parts = [brief(k, port) for k, port in zip(node.inputs, node.ports, strict=True)]
    sign = SIGNS.get(node.op)
    if sign or node.op in ("rsub", "neg"):
        parts = [f"({part})" if " " in part and part[-1] not in ")]" else part for part in parts]
    if node.op == "rsub" and len(parts) == 2:
        return f"{parts[1]} - {parts[0]}"
    if sign and len(parts) == 2:
        return f"{parts[0]} {sign} {parts[1]}"
    if node.op == "neg":
        return f"-{parts[0]}"
    index = key(node)
    if index:
        return f"{parts[0]}[{index}]"
    if len(parts) > 3:
        parts[2:] = ["…"]
    for name, value in node.attrs.items():
        if isinstance(value, int | float | str) and value is not False:
            parts.append(f"{name}={value}")
    return f"{node.op}({', '.join(parts)})"


def key(node: ViewNode) -> str:
    """What an index operation selects, as it is written between brackets; empty for others."""
    attrs = node.attrs
    before = ":, " * attrs["dim"] if isinstance(attrs.get("dim"), int) else ""
    if node.op == "select":
        return f"{before}{attrs['index']}"
    if node.op == "slice":
        shape = node.inputs[0].outputs[node.ports[0]].shape or ()
        start, end, step = attrs["start"], attrs["end"], attrs["step"]
        ends = [str(start or ""), "" if end == shape[attrs["dim"]] else str(end)]
        return before + ":".join(ends + [str(step)] * (step != 1))
    if node.op == "index" and isinstance(attrs.get("indices"), tuple):
        return ", ".join(":" if part is None else "…" for part in attrs["indices"])
    return ""


def brief(node: ViewNode, port: int) -> str:
    """An operand inside a formula."""
    words = called(node, port) if node.role != OPERATION else node.outputs[port].name
    if words is None and node.expression and len(node.expression) <= SHORT:
        words = node.expression
    return words or "…"


def number(value: Any) -> str:
    """A small value in a few characters; empty for everything else."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc" or value.size > FEW or value.ndim > 1:
            return ""
        if value.ndim:
            return f"[{', '.join(number(v) for v in value.tolist())}]"
        value = value.item()
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value) if isinstance(value, int | complex) else ""


def shapes(node: ViewNode, usual: str | None) -> str:
    """The shape of the result, and its dtype where it is not the usual one."""
    found = []
    for output in node.outputs:
        if output.shape is None or (node.role == CONSTANT and output.dtype is None):
            continue
        shape = f"[{', '.join(map(str, output.shape))}]" if output.shape else "scalar"
        found.append(shape if output.dtype == usual else f"{shape} {output.dtype}")
    if len(found) > 2 and len(set(found)) == 1:
        return f"{len(found)} × {found[0]}"
    return ", ".join(found[:3] + ["…"] * (len(found) > 3))


def place_of(node: ViewNode) -> str:
    """`file.py:12`."""
    found = node.place
    return f"{os.path.basename(found.file)}:{found.line}" if found else ""


def size(count: int) -> str:
    """Bytes for people."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= step:
            return f"{count / step:.3g} {unit}"
    return f"{count} bytes" if count != 1 else "1 byte"


def many(count: int, word: str, plural: str = "") -> str:
    """`1 leaf`, `1,000 leaves`."""
    return f"{count:,} {word if count == 1 else plural or word + 's'}"
