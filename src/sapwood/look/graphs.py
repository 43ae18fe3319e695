"""From tensors to a graph that can be read: `sapwood.graph(loss)`.

Answers `protocol` for sapwood's own tensors. The graph is built by one walk without recursion; what
a node says about itself (`nodes.py`) is found when it is asked for. A graph keeps its nodes alive,
and with them what they saved for backward, but no tensor.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sapwood._core import where
from sapwood._core.border import ALIASES, FUNCTIONS
from sapwood._core.memory import heal
from sapwood._core.node import Leaf, Node, Released
from sapwood._core.op import FIXED
from sapwood._core.tensor import Tensor
from sapwood._core.writer import public_names
from sapwood.look import text as writing
from sapwood.look.nodes import Constant, GraphNode, buffer_of, kept
from sapwood.look.protocol import LEAF, Edge
from sapwood.look.source import INDEX, NOWHERE, STORE, UNKNOWN, Operand, Reader, Spot
from sapwood.look.words import label

# Calls that only look at a tensor. A view that is brought up to date there carries their line.
LOOKS = frozenset({"print", "repr", "str", "format", "backward", "len", "graph", "isinstance"})
PARAMETERS = {
    "x": ("input", "self"),
    "y": ("other", "source", "src", "value", "exponent"),
    "z": ("tensor2",),
    "cond": ("condition",),
}
STORING = frozenset({"overlay", "put", "index_put", "index_copy", "masked_fill", "fill"})
FAMILIES = {
    "matmul": {"mm", "mv", "bmm", "dot", "baddbmm"},
    "pow": {"square"},
    "div": {"true_divide"},
}


def build(*tensors: Any, code: Any = None, lasti: int = 0) -> Graph:
    """The graph behind tensors, or lists of tensors. `code`, `lasti`: where it is asked for."""
    flat: list[Any] = []
    for t in tensors:
        flat.extend(t if isinstance(t, list | tuple) else [t])
    if not flat:
        raise TypeError("graph() needs at least one tensor")
    for t in flat:
        if not isinstance(t, Tensor):
            raise TypeError(f"graph(): expected tensors, got {type(t).__name__} at {where.here()}")
    return Graph(flat, code, lasti)


class Users(NamedTuple):
    """What the users of nodes tell about them."""

    inner: set[int]  # steps inside of one call of the user's
    names: dict[int, str]  # variables under which a value was used


class Graph:
    """The nodes and edges behind some tensors. Made by `sapwood.graph`; `print` shows it."""

    def __init__(self, tensors: Sequence[Tensor], code: Any = None, lasti: int = 0) -> None:
        self.nodes: list[GraphNode] = []
        self.links: list[tuple[int, ...]] = []
        self._reader = Reader()
        self._at: dict[Any, int] = {}  # id of a raw node or of a constant's array, or literal
        self._given: dict[int, list[int]] = {}  # where operands are missing: those that are there
        self._written: dict[tuple, tuple[Operand | None, bool]] = {}
        self._words: dict[tuple, list[str | None]] = {}
        self._told: Users | None = None
        self._keepers: dict[int, int] | None = None
        self._called: dict[str, list[int]] | None = None
        self._notes: list[str] = []
        self.roots: list[tuple[GraphNode, int]] = []
        self.asked: dict[int, str] = {}  # what the user called the results
        spot = self._reader.spot(code, lasti)
        words = [word.text if word else None for word in spot.operands or ()]
        if spot.call != "graph" or len(words) != len(tensors):
            words = [None] * len(tensors)
        for t, word in zip(tensors, words, strict=True):
            if t.memory is not None:
                heal(t)
            if t.node is None:
                i = self._place(Constant(t.array, number=False, text=word))
                self._notes += why_none(t)
            else:
                self._walk(t.node)
                i = self._at[id(t.node)]
            if word and word.isidentifier():
                self.asked[i] = word
            self.roots.append((self.nodes[i], t.port if t.node is not None else 0))

    # ---- building ----

    def _add(self, raw: Node | Constant, inputs: tuple[int, ...]) -> int:
        i = len(self.nodes)
        self.nodes.append(GraphNode(self, i, raw))
        self.links.append(inputs)
        return i

    def _walk(self, root: Node) -> None:
        """Add everything behind `root`, inputs before the nodes that use them."""
        at = self._at
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            raw, ready = stack.pop()
            if id(raw) in at:
                continue
            if not ready:
                stack.append((raw, True))
                stack += [(n, False) for n in reversed(raw.inputs) if n is not None]
                continue
            inputs, given = [], []
            for i, n in enumerate(raw.inputs):
                constant = None
                if n is None:
                    constant = self._constant(raw, i)
                    if constant is None:
                        continue
                inputs.append(at[id(n)] if constant is None else self._place(constant))
                given.append(i)
            at[id(raw)] = self._add(raw, tuple(inputs))
            if len(given) < len(raw.inputs):
                self._given[at[id(raw)]] = given

    def _place(self, constant: Constant) -> int:
        """The position of a constant. One node is a tensor that several operations read, and a
        number at one place of the source, in whatever turn of a loop.
        """
        key: Any
        if constant.literal:
            key = constant.literal
        elif isinstance(constant.value, np.ndarray) and not constant.number:
            key = id(constant.value)
        else:
            return self._add(constant, ())
        if key not in self._at:
            self._at[key] = self._add(constant, ())
        return self._at[key]

    def _constant(self, raw: Node, i: int) -> Constant | None:
        """What came in as operand i; None where the user gave nothing for it."""
        op = raw.op
        key = id(raw.code), raw.lasti, i, op
        if key not in self._written:
            self._written[key] = self._find_written(raw, i)
        written, absent = self._written[key]
        text = literal = None
        if written is not None:
            text = written.text
            if isinstance(written.value, int | float | complex):
                literal = key
        name = op.args[i] if i < len(op.args) and not op.variadic else None
        if name in raw.plan.saves and type(raw.saved) is not Released:
            k = 3 * raw.plan.saves.index(name)
            value, version = raw.saved[k], raw.saved[k + 1]
            return None if value is None else Constant(value, version is FIXED, text, literal)
        if absent:
            return None
        if literal is None:
            return Constant(UNKNOWN, number=False, text=text)
        return Constant(written.value, number=True, text=text, literal=literal)  # type: ignore[union-attr]

    def _find_written(self, raw: Node, i: int) -> tuple[Operand | None, bool]:
        """What the user wrote for operand i, and whether the source says: nothing."""
        spot = self.spot(raw)
        copies = spot.call == STORE and raw.op.name.strip("_") == "copy"
        if spot.operands is None or not (copies or related(spot.call, raw)):
            return None, False
        if copies and i == 0:  # the region, not the variable
            return None, False
        if raw.op.variadic and len(spot.operands) != len(raw.inputs):
            return None, False
        operands = spot.operands
        if name_of(raw.op) == f"r{spot.call}":  # 1 - x is rsub(x, 1)
            operands = operands[::-1]
        if spot.keywords is None or raw.op.variadic or raw.op.kind == "CALL":
            k: int | None = i
        else:
            names = parameters(raw.op)
            k, word = position(raw.op.args[i], names)
            if word in spot.keywords:
                return spot.keywords[word], spot.keywords[word].value is None
        if k is None:
            return None, False
        if k >= len(operands):
            return None, True
        written = operands[k]
        return written, written is not None and written.value is None

    # ---- what nodes ask ----

    def spot(self, raw: Node) -> Spot:
        """What the source says about a node."""
        spot = self._reader.spot(raw.code, raw.lasti)
        if type(raw) is Leaf or not spot.text or related(spot.call, raw):
            return spot
        if spot.call in LOOKS:
            return NOWHERE
        return spot if spot.call not in ("", INDEX) else Spot(spot.place)

    def outermost(self, i: int) -> bool:
        """Whether a node is what the user's call returned, not a step inside of it."""
        return i not in self._users().inner

    def argument_name(self, i: int) -> str | None:
        """What the code that uses a value calls it: a parameter, where it was passed on unnamed."""
        return self._users().names.get(i)

    def _users(self) -> Users:
        """What the nodes that use a node tell about it. Found in one walk, on first request."""
        if self._told is None:
            told = self._told = Users(set(), {})
            for node, inputs in zip(self.nodes, self.links, strict=True):
                raw = node.raw
                if isinstance(raw, Constant):
                    continue
                words = self._argument_words(raw)
                for k, i in zip(inputs, self.present(node.index), strict=True):
                    below = self.nodes[k].raw
                    if isinstance(below, Constant) or type(below) is Leaf:
                        continue
                    if below.lasti == raw.lasti and below.code is raw.code:
                        call = self._reader.spot(below.code, below.lasti).call
                        if not related(call, below):
                            told.inner.add(k)
                    word = words[i]
                    if word is not None:
                        told.names.setdefault(k, word)
        return self._told

    def _argument_words(self, raw: Node) -> list[str | None]:
        """For each operand the variable that the user wrote there."""
        key = id(raw.code), raw.lasti, raw.op, len(raw.inputs)
        if key not in self._words:
            found: list[str | None] = []
            for i in range(len(raw.inputs)):
                written, _ = self._find_written(raw, i)
                text = written.text if written else ""
                found.append(text if text.isidentifier() else None)
            self._words[key] = found
        return self._words[key]

    def base_name(self, i: int) -> str | None:
        """The variable whose memory a write through a view changed."""
        while self.nodes[i].raw.op.name == "_overlay":  # type: ignore[union-attr]
            below = self.links[i][0]
            if isinstance(self.nodes[below].raw, Constant):
                break
            i = below
        else:
            return self.nodes[i].name
        return None

    def present(self, i: int) -> list[int]:
        """Positions of the operands of a node that are in the graph."""
        raw = self.nodes[i].raw
        if isinstance(raw, Constant):
            return []
        return self._given[i] if i in self._given else list(range(len(raw.inputs)))

    def first_keeper(self, owner: np.ndarray) -> int:
        """The first node that keeps a buffer for backward."""
        if self._keepers is None:
            self._keepers = {}
            for i, node in enumerate(self.nodes):
                for _, value in kept(node.raw):
                    if isinstance(value, np.ndarray):
                        self._keepers.setdefault(id(buffer_of(value)), i)
        return self._keepers.get(id(owner), -1)

    # ---- what users ask ----

    @property
    def edges(self) -> list[Edge]:
        """Every value that flows from one node into another."""
        return [
            Edge(source, port, node, operand)
            for node in self.nodes
            for source, port, operand in zip(node.inputs, node.ports, node.operands, strict=True)
        ]

    @property
    def leaves(self) -> list[GraphNode]:
        """The tensors that gradients are delivered to."""
        return [node for node in self.nodes if node.role == LEAF]

    @property
    def saved_bytes(self) -> int:
        """Bytes kept for backward, each buffer once. Leaves' own memory is part of it."""
        owners = {
            id(o): o.nbytes
            for node in self.nodes
            for _, v in kept(node.raw)
            if isinstance(v, np.ndarray)
            for o in [buffer_of(v)]
        }
        return sum(owners.values())

    @property
    def notes(self) -> list[str]:
        """Sentences about the whole."""
        found = list(self._notes)
        for node in self.nodes:
            mark = None if isinstance(node.raw, Constant) else node.raw.saved
            if type(mark) is Released:
                by = short(mark.code, mark.lasti)
                found.append(f"what backward needs was released by the one at {by}")
                break
        return found

    def named(self, name: str) -> list[GraphNode]:
        """All nodes that the user called so, by variable or expression, in order of the graph."""
        if self._called is None:
            self._called = {}
            for i, node in enumerate(self.nodes):
                words = {node.name, node.expression, *(o.name for o in node.outputs)}
                for word in words - {None}:
                    self._called.setdefault(str(word), []).append(i)
        return [self.nodes[i] for i in self._called.get(name, ())]

    def __getitem__(self, key: str | Tensor | Node | int) -> GraphNode:
        """By name (the last value that had it), expression, tensor, `grad_fn` or position."""
        if isinstance(key, int):
            return self.nodes[key]
        if isinstance(key, str):
            found = self.named(key)
            if not found:
                raise KeyError(f"no node of this graph is called {key!r}")
            return found[-1]
        if isinstance(key, Tensor) and key.memory is not None:
            heal(key)
        raw = key.node if isinstance(key, Tensor) else key
        i = self._at.get(id(raw))
        if i is None and isinstance(key, Tensor):
            i = self._at.get(id(key.array))
        if i is None:
            raise KeyError(f"{type(key).__name__} is not part of this graph")
        return self.nodes[i]

    def __contains__(self, key: object) -> bool:
        try:
            self[key]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[GraphNode]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def text(self, *, lines: int = 60, ascii: bool = False) -> str:
        """The graph as a tree of at most about `lines` lines; the rest is counted."""
        return writing.text(self, lines=lines, ascii=ascii)

    def __str__(self) -> str:
        return writing.text(self, ascii=writing.needs_ascii())

    def __repr__(self) -> str:
        names = ", ".join(label(node) for node, _ in self.roots)
        return f"<Graph of {names}: {writing.Facts(self).counts()}>"


def related(call: str, raw: Node) -> bool:
    """Whether a call in the source is this very operation, and not a function that contains it."""
    op = raw.op
    name = name_of(op)
    call = call.rstrip("_")
    if call == INDEX:
        return op.kind in ("MOVE", "PICK") and name != "overlay"
    if call == STORE:
        return name in STORING
    if call == "apply":  # F.apply(...) of a custom Function
        return op.kind == "CALL" and op.variadic
    call = ALIASES.get(call, call)
    if name in (call, f"r{call}") or name in FAMILIES.get(call, ()):
        return True
    return name.startswith(f"{call}_")


def name_of(op: Any) -> str:
    """The name of an operation without the mark of those that have no public door."""
    return op.name.strip("_")


def parameters(op: Any) -> list[str]:
    """The parameters of the public function that runs an operation."""
    public = FUNCTIONS.get(name_of(op)) if op.name.startswith("_") else None
    if public is not None:
        return list(inspect.signature(public).parameters)
    return public_names(op.sig)


def position(operand: str, names: list[str]) -> tuple[int | None, str]:
    """Which parameter an operand is: its position, None where that cannot be told, and name."""
    for word in (operand, *PARAMETERS.get(operand, ())):
        if word in names:
            return names.index(word), word
    return (0, names[0]) if operand in ("x", "xs") and names else (None, "")


def why_none(t: Tensor) -> list[str]:
    """Why a tensor has no graph."""
    if not t.cuts:
        return ["no graph: nothing behind it requires grad"]
    return [f"no graph: {kind} at {short(code, lasti)}" for kind, code, lasti, _ in t.cuts]


def short(code: Any, lasti: int) -> str:
    """`file:line  (source text)` without folders."""
    place = where.place(code, lasti)
    if place is None:
        return where.UNKNOWN
    text = f"  ({place.text})" if place.text else ""
    return f"{os.path.basename(place.file)}:{place.line}{text}"
