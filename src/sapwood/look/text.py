"""A graph as a tree of text: the result at the top, what it was computed from below it.

Each line shows the user's own words, the operation, the shape and, where it changes, the source
line. What is used twice is shown once and named afterwards; a tree that grows too deep goes on
further down. Reads the protocol only. Iterative: no graph is too deep for it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from sapwood.look.folding import Plan
from sapwood.look.protocol import CONSTANT, LEAF, OPERATION, ViewGraph, ViewNode
from sapwood.look.words import called, label, many, place_of, shapes, size

DEEP = 12  # levels; what lies deeper goes on in a tree of its own
SMALL = 4  # lines that may stand deeper
WIDE = 60  # columns for tree and words
ASCII = str.maketrans(
    {"│": "|", "├": "|", "└": "`", "─": "-", "⋮": ":", "…": "~", "↑": "^", "↓": "v", "×": "x"}
)


class Row(NamedTuple):
    """One line before its columns are aligned."""

    words: str
    op: str = ""
    shape: str = ""
    place: str = ""
    marks: str = ""


def text(graph: ViewGraph, *, lines: int = 60, ascii: bool = False) -> str:
    """The whole text. `ascii`: without signs that an old terminal lacks."""
    facts = Facts(graph)
    rows = Tree(graph, lines, facts.usual).rows
    end = [*facts.sentences(), *graph.notes]
    words = {arrow for row in rows for arrow in "↑↓" if arrow in row.words}
    if "↑" in words:
        end.append("↑ shown above")
    if "↓" in words:
        end.append("↓ goes on below")
    found = "\n".join([*aligned(rows), "", *wrapped(end)])
    return found.translate(ASCII) if ascii else found


def needs_ascii() -> bool:
    """Whether standard output cannot show the signs of a tree."""
    try:
        "│├└─⋮…↑↓×".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


class Facts:
    """What the text says about the whole graph: found in one walk."""

    def __init__(self, graph: ViewGraph) -> None:
        self.roles: Counter = Counter()
        self.dtypes: Counter = Counter()
        self.bytes = 0
        for node in graph.nodes:
            role = node.role
            self.roles[role] += 1
            if role != CONSTANT:
                self.dtypes[node.dtype] += 1
                self.bytes += node.saved_bytes

    @property
    def usual(self) -> str | None:
        """The dtype of most nodes, which lines need not say."""
        return self.dtypes.most_common(1)[0][0] if self.dtypes else None

    def counts(self) -> str:
        """How many operations, leaves and constants."""
        return ", ".join(
            [
                many(self.roles[OPERATION], "operation"),
                many(self.roles[LEAF], "leaf", "leaves"),
                many(self.roles[CONSTANT], "constant"),
            ]
        )

    def sentences(self) -> list[str]:
        """The end of the text."""
        found = [self.counts()]
        if self.bytes:
            found.append(f"keeps {size(self.bytes)} for backward")
        if self.dtypes:
            found.append(
                f"all {self.usual}" if len(self.dtypes) == 1 else f"{self.usual} where not said"
            )
        return found


def wrapped(parts: Iterable[str]) -> list[str]:
    """Sentences joined by semicolons, in lines of at most 100 columns."""
    found: list[str] = []
    for part in parts:
        if found and len(found[-1]) + len(part) + 2 <= 100:
            found[-1] += f"; {part}"
        else:
            found.append(part)
    return found


class Entry(NamedTuple):
    """A line that is to be written: a node in the tree of another."""

    node: int
    port: int
    before: str  # the branches to the left
    turn: str  # "├─ ", "└─ " or nothing for a root
    depth: int
    place: str  # the source line that the line above it stands for
    scope: str
    first: bool = False  # the head of a tree


class Tree:
    """The rows of a graph."""

    def __init__(self, graph: ViewGraph, lines: int, usual: str | None) -> None:
        self.graph, self.usual = graph, usual
        self.plan = Plan(graph, lines)
        self.rows: list[Row] = []
        self.done: set[int] = set()
        self.stack: list[Entry] = []
        self.later: list[Entry] = []
        self.words = self.find_words()
        self.twins = self.find_twins()
        self.tags: dict[int, str] = {}
        self.stack = [
            Entry(node.index, port, "", "", 0, "", "", first=True)
            for node, port in reversed(graph.roots)
        ]
        while self.stack or self.later:
            if self.stack:
                self.write(self.stack.pop())
                continue
            entry = self.later.pop(0)
            if entry.node not in self.done:
                self.write(entry)

    def find_words(self) -> dict[int, str]:
        """How to refer to each node: by its variable or, if several have that, its expression."""
        below = self.plan.below
        shown = {node.index for node, _ in self.graph.roots}.union(*below.values())
        nodes = [
            self.graph.nodes[i]
            for i in sorted(shown)
            if self.graph.nodes[i].role == LEAF or self.graph.links[i]
        ]
        names = Counter(called(node) for node in nodes)
        return {
            node.index: called(node)
            if names[called(node)] == 1 or len(node.outputs) > 1
            else node.expression or called(node)
            for node in nodes
        }

    def find_twins(self) -> dict[int, str]:
        """Nodes that a reader would take for another one, where a line refers to them."""
        uses = Counter(k for inputs in self.plan.below.values() for k in inputs)
        alike: dict[str, list[int]] = {}
        for i, words in self.words.items():
            if i not in self.plan.hidden:
                alike.setdefault(words, []).append(i)
        return {
            i: name
            for name, nodes in alike.items()
            if len(nodes) > 1
            and any(uses[k] > 1 or self.graph.nodes[k].role == LEAF for k in nodes)
            for i in nodes
        }

    def refer(self, node: ViewNode, port: int) -> str:
        """The words for a node that is shown elsewhere."""
        words = self.words.get(node.index)
        if words is None or len(node.outputs) > 1:
            words = called(node, port)
        return words + self.tag(node.index)

    def tag(self, i: int) -> str:
        """` #2` behind the second of two nodes that are called the same."""
        if i not in self.twins:
            return ""
        if i not in self.tags:
            count = sum(1 for k in self.tags if self.twins[k] == self.twins[i])
            self.tags[i] = f" #{count + 1}"
        return self.tags[i]

    def small(self, i: int) -> bool:
        """Whether only a few lines stand below a node."""
        todo, count = [i], 0
        while todo and count <= SMALL:
            below = self.plan.below.get(todo.pop(), ())
            count += len(below)
            todo.extend(k for k in below if k not in self.done)
        return count <= SMALL

    def write(self, entry: Entry) -> None:
        """One line, and what stands below it."""
        i = entry.node
        node = self.graph.nodes[i]
        opened = i in self.plan.below or i in self.plan.cut
        if i in self.done or (i in self.plan.hidden and i not in self.plan.folds):
            sign = " ↑" if opened or i in self.plan.hidden else ""
            self.put(entry, self.refer(node, entry.port) + sign)
            return
        if entry.depth > DEEP and opened and i not in self.plan.folds and not self.small(i):
            self.put(entry, self.refer(node, entry.port) + " ↓")
            if all(i != other.node for other in self.later):
                self.later.append(Entry(i, entry.port, "", "", 0, "", "", first=True))
            return
        self.done.add(i)
        place = place_of(node)
        fold = self.plan.folds.get(i)
        if fold is not None and i in self.plan.below:
            steps = "step" if fold.steps == 1 else f"{fold.steps} steps"
            self.put(
                entry,
                f"⋮ the same {steps} {many(fold.turns, 'more time')} ({many(fold.nodes, 'node')})",
            )
            place = "…"  # say the line again after so many turns
        else:
            self.put(entry, label(node) + self.tag(i), node, place)
        self.push(entry, node, place or entry.place)

    def push(self, entry: Entry, node: ViewNode, place: str) -> None:
        """Put what stands below a node on the stack, or say that it is not shown."""
        i = node.index
        bar = {"": "", "├─ ": "│  ", "└─ ": "   "}[entry.turn]
        cut = self.plan.cut.get(i)
        if cut is not None:
            self.put(entry._replace(before=entry.before + bar, turn="└─ "), more(cut))
            return
        inputs = self.plan.below.get(i, ())
        ports = node.ports if i not in self.plan.folds else [0] * len(inputs)
        last = len(inputs) - 1
        for k in range(last, -1, -1):
            turn = "└─ " if k == last else "├─ "
            self.stack.append(
                Entry(
                    inputs[k],
                    ports[k],
                    entry.before + bar,
                    turn,
                    entry.depth + 1,
                    place,
                    node.scope,
                )
            )

    def put(self, entry: Entry, words: str, node: ViewNode | None = None, place: str = "") -> None:
        """Add a row."""
        if entry.first and self.rows and entry.turn == "":
            self.rows.append(Row(""))
        room = max(WIDE - len(entry.before) - len(entry.turn), 24)
        if len(words) > room and words[0] not in "…⋮":
            half = room // 2
            words = f"{words[:half].rstrip()}…{words[half + 1 - room :].lstrip()}"
        words = entry.before + entry.turn + words
        if node is None:
            self.rows.append(Row(words))
            return
        marks = list(node.marks)
        if len(node.outputs) > 1 and entry.turn:
            name = node.outputs[entry.port].name
            marks.insert(0, f"output {entry.port}" + (f" ({name})" if name else ""))
        if node.scope and node.scope != entry.scope:
            marks.append(f"in {node.scope}")
        is_number = node.role == CONSTANT and node.outputs[0].dtype is None
        self.rows.append(
            Row(
                words,
                "" if is_number else node.op,
                shapes(node, self.usual),
                "" if place == entry.place else place,
                ", ".join(marks),
            )
        )


def more(cut: Any) -> str:
    """`… 12 more nodes: 6 add, 6 mul`."""
    if not cut.nodes:
        return "…"
    ops = cut.ops.most_common(4)
    kinds = [op for op in cut.ops if op not in ("leaf", "constant")]
    if len(kinds) == 1 and cut.nodes > 9:
        return f"… {many(cut.nodes, 'more node')}, a chain of {kinds[0]}"
    words = ", ".join(f"{count:,} {op}" for op, count in ops)
    return f"… {many(cut.nodes, 'more node')}: {words}{', …' if len(cut.ops) > 4 else ''}"


def aligned(rows: list[Row]) -> list[str]:
    """Columns as wide as their widest cell; empty columns vanish."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[0] = max((len(row.words) for row in rows if row.op), default=0)
    found = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width]
        found.append("   ".join(cells).rstrip())
    return found
