"""From tensors to a graph that can be read: `sapwood.graph(loss)`.

Answers `protocol` for sapwood's own tensors. The graph is built by one walk without recursion; what
a node says about itself (`nodes.py`) is found when it is asked for. A graph keeps its nodes alive,
and with them what they saved for backward, but no tensor.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sapwood._core import where
from sapwood._core.border import ALIASES
from sapwood._core.door import public_names
from sapwood._core.memory import heal
from sapwood._core.node import Leaf, Node, Released
from sapwood._core.op import FIXED
from sapwood._core.tensor import Tensor
from sapwood.look import text as writing
from sapwood.look.nodes import Constant, GraphNode, buffer_of, kept
from sapwood.look.protocol import LEAF, Edge
from sapwood.look.source import INDEX, NOWHERE, STORE, UNKNOWN, Operand, Reader, Spot

# Calls that only look at a tensor. A view that is brought up to date there carries their line.
LOOKS = frozenset({"print", "repr", "str", "format", "backward", "len", "graph", "isinstance"})
STORING = frozenset({"overlay", "put", "index_put", "index_copy", "masked_fill", "fill"})
FAMILIES = {
    "matmul": {"mm", "mv", "bmm", "dot", "baddbmm"}, "pow": {"square"}, "div": {"true_divide"},
}


def build(*tensors: Any) -> Graph:
    """The graph behind tensors, or lists of tensors."""
    flat: list[Any] = []
    for t in tensors:
        flat.extend(t if isinstance(t, list | tuple) else [t])
    if not flat:
        raise TypeError("graph() needs at least one tensor")
    for t in flat:
        if not isinstance(t, Tensor):
            raise TypeError(
                f"graph(): expected tensors, got {type(t).__name__} at {where.here()}"
            )
    return Graph(flat)


class Graph:
    """The nodes and edges behind some tensors. Made by `sapwood.graph`; `print` shows it."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.nodes: list[GraphNode] = []
        self.links: list[tuple[int, ...]] = []
        self._reader = Reader()
        self._at: dict[Any, int] = {}  # id of a raw node or of a constant's array, or literal
        self._given: dict[int, list[int]] = {}  # where operands are missing: those that are there
        self._written: dict[tuple, tuple[Operand | None, bool]] = {}
        self._inner: set[int] | None = None
        self._keepers: dict[int, int] | None = None
        self._called: dict[str, list[int]] | None = None
        self._notes: list[str] = []
        self.roots: list[tuple[GraphNode, int]] = []
        for t in tensors:
            if t.memory is not None:
                heal(t)
            if t.node is None:
                i = self._place(Constant(t.array, number=False, text=None))
                self._notes += why_none(t)
            else:
                self._walk(t.node)
                i = self._at[id(t.node)]
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
        if raw.op.variadic and len(spot.operands) != len(raw.inputs):
            return None, False
        operands, k = spot.operands, i
        if raw.op.name == f"r{spot.call}":  # 1 - x is rsub(x, 1)
            operands = operands[::-1]
        if spot.keywords is not None and raw.op.sig and not raw.op.variadic:
            names = public_names(raw.op.sig)
            own = [name for name in names if name not in raw.op.attrs]
            if i < len(own):
                k = names.index(own[i])
                if own[i] in spot.keywords:
                    return spot.keywords[own[i]], spot.keywords[own[i]].value is None
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
        if self._inner is None:
            inner = set()
            for node, inputs in zip(self.nodes, self.links, strict=True):
                raw = node.raw
                if isinstance(raw, Constant):
                    continue
                for k in inputs:
                    below = self.nodes[k].raw
                    if not isinstance(below, Constant) and below.lasti == raw.lasti \
                            and below.code is raw.code and type(below) is not Leaf:
                        call = self._reader.spot(below.code, below.lasti).call
                        if not related(call, below):
                            inner.add(k)
            self._inner = inner
        return i not in self._inner

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
        return self._given.get(i) or list(range(len(raw.inputs)))

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
        owners = {id(o): o.nbytes for node in self.nodes for _, v in kept(node.raw)
                  if isinstance(v, np.ndarray) for o in [buffer_of(v)]}
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
        names = ", ".join(writing.label(node) for node, _ in self.roots)
        return f"<Graph of {names}: {writing.Facts(self).counts()}>"


def related(call: str, raw: Node) -> bool:
    """Whether a call in the source is this very operation, and not a function that contains it."""
    op = raw.op
    name = op.name.strip("_")
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
