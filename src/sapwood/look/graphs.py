"""From tensors to a graph that can be read: `sapwood.graph(loss)`.

Owns the reading of sapwood's own nodes; answers `protocol`. The graph is built by one walk without
recursion; what a node says about itself (name, source, values) is found when it is asked for. A
graph keeps its nodes alive, and with them what they saved for backward, but no tensor.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.border import ALIASES
from sapwood._core.memory import heal
from sapwood._core.node import Leaf, Node, Released
from sapwood._core.op import FIXED
from sapwood._core.tensor import Tensor
from sapwood.look import text as writing
from sapwood.look.protocol import CONSTANT, LEAF, OPERATION, Edge, Output, Saved
from sapwood.look.source import INDEX, NOWHERE, UNKNOWN, Operand, Reader, Spot

# Calls that only look at a tensor. A view that is brought up to date there carries their line.
LOOKS = frozenset({"print", "repr", "str", "format", "backward", "len", "graph", "isinstance"})
FAMILIES = {
    "matmul": {"mm", "mv", "bmm", "dot", "baddbmm"}, "pow": {"square"}, "div": {"true_divide"},
}


def graph(*tensors: Any) -> Graph:
    """The computation graph behind one or several tensors: `print(sapwood.graph(loss))`.

    Iterate over it for its nodes, or ask by variable name, expression or tensor: `g["h1"]`.
    """
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


class Constant(NamedTuple):
    """An operand that needs no gradient: a number, or a tensor without graph."""

    value: Any  # UNKNOWN where it was not kept
    number: bool
    text: str | None
    literal: tuple | None = None  # for a number in the source: where it stands
    lone: Tensor | None = None  # a result without graph that was asked for


class GraphNode:
    """One node of a graph. See `sapwood.look.protocol.ViewNode` for what each property means."""

    __slots__ = ("_graph", "index", "raw")

    def __init__(self, graph: Graph, index: int, raw: Node | Constant) -> None:
        self._graph, self.index, self.raw = graph, index, raw

    # ---- what it is ----

    @property
    def role(self) -> str:
        """OPERATION, LEAF or CONSTANT."""
        if type(self.raw) is Constant:
            return CONSTANT
        return LEAF if type(self.raw) is Leaf else OPERATION

    @property
    def is_leaf(self) -> bool:
        """True where no operation of this graph made it: leaves and constants."""
        return self.role != OPERATION

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to it."""
        return type(self.raw) is not Constant

    @property
    def op(self) -> str:
        """What it computes: "mul"; "leaf" and "constant" for those."""
        raw = self.raw
        return CONSTANT if isinstance(raw, Constant) else raw.op.name.lstrip("_")

    @property
    def title(self) -> str:
        """PyTorch's name of the backward node; empty for constants."""
        return "" if isinstance(self.raw, Constant) else self.raw.name()

    @property
    def kind(self) -> str:
        """The family of the operation: "MAP", "FOLD", ...; "LEAF", "CONSTANT"."""
        role = self.role
        if isinstance(self.raw, Constant) or role == LEAF:
            return role.upper()
        return self.raw.op.kind

    # ---- what flows ----

    @property
    def inputs(self) -> tuple[GraphNode, ...]:
        """The nodes whose results come in, operand by operand."""
        nodes = self._graph.nodes
        return tuple(nodes[i] for i in self._graph.links[self.index])

    @property
    def ports(self) -> tuple[int, ...]:
        """Which output of each input."""
        if isinstance(self.raw, Constant):
            return ()
        kept = self._graph.present(self.index)
        return tuple(max(self.raw.ports[i], 0) for i in kept)

    @property
    def operands(self) -> tuple[str, ...]:
        """The operation's names of the inputs."""
        if isinstance(self.raw, Constant):
            return ()
        op = self.raw.op
        if op.variadic or len(op.args) < len(self.raw.inputs):
            stem = op.args[0] if op.args else "x"
            return tuple(f"{stem}[{i}]" for i in self._graph.present(self.index))
        return tuple(op.args[i] for i in self._graph.present(self.index))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The results; most operations have one."""
        raw = self.raw
        if isinstance(raw, Constant):
            return (Output(self.shape, self.dtype, self.name),)
        if not raw.op.out or len(raw.shape) == 1:
            return (Output(self.shape, self.dtype, self.name),)
        names: Sequence[str | None] = ()
        if self._graph.outermost(self.index):
            spot = self._graph.spot(raw)
            names = spot.names if spot.unpacked else ()
        return tuple(
            Output(tuple(shape), dtype_name(d), names[i] if i < len(names) else None)
            for i, (shape, d) in enumerate(zip(raw.shape, raw.dtype, strict=True))
        )

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the (first) result; None where it is not known."""
        raw = self.raw
        if isinstance(raw, Constant):
            known = isinstance(raw.value, np.ndarray) and not raw.number
            return raw.value.shape if known else () if raw.number else None
        return tuple(raw.shape[0] if raw.op.out else raw.shape)

    @property
    def dtype(self) -> str | None:
        """The dtype of the (first) result; None where it is not known."""
        raw = self.raw
        if isinstance(raw, Constant):
            known = isinstance(raw.value, np.ndarray) and not raw.number
            return dt.of(raw.value.dtype).name if known else None
        return dtype_name(raw.dtype[0] if raw.op.out else raw.dtype)

    @property
    def attrs(self) -> dict[str, Any]:
        """What else the operation was given."""
        raw = self.raw
        return {} if isinstance(raw, Constant) else dict(zip(raw.op.attrs, raw.attrs, strict=False))

    @property
    def value(self) -> Any:
        """The array or number where it is known: of constants that were kept, and of leaves."""
        raw = self.raw
        if isinstance(raw, Constant):
            if raw.value is UNKNOWN:
                return None
            return raw.value.item() if raw.number and hasattr(raw.value, "item") else raw.value
        tensor = raw.ref() if isinstance(raw, Leaf) else None
        return None if tensor is None else tensor.array

    # ---- where it comes from ----

    @property
    def name(self) -> str | None:
        """A leaf's own name, or the user's variable."""
        raw = self.raw
        if isinstance(raw, Constant):
            text = raw.text
            return text if text and text.replace(".", "").isidentifier() else None
        if isinstance(raw, Leaf):
            own = getattr(raw.ref(), "name", None)
            if own:
                return own
        elif not self._graph.outermost(self.index):
            return None
        spot = self._graph.spot(raw)
        return spot.names[0] if spot.names and not spot.unpacked else None

    @property
    def expression(self) -> str | None:
        """The user's own words for this value."""
        raw = self.raw
        if isinstance(raw, Constant):
            return raw.text
        spot = self._graph.spot(raw)
        return spot.text if self._graph.outermost(self.index) else None

    @property
    def statement(self) -> bool:
        """Whether the expression is a whole statement, such as `x += 1`."""
        return not isinstance(self.raw, Constant) and self._graph.spot(self.raw).whole

    @property
    def scope(self) -> str:
        """The module that it was computed in."""
        return "" if isinstance(self.raw, Constant) else self.raw.scope

    @property
    def place(self) -> where.Place | None:
        """The user's line: file, line, function, text."""
        return None if isinstance(self.raw, Constant) else self._graph.spot(self.raw).place

    @property
    def call(self) -> Hashable:
        """Equal for nodes that one call in the source made."""
        raw = self.raw
        return None if isinstance(raw, Constant) else (id(raw.code), raw.lasti)

    # ---- what it keeps ----

    @property
    def saved(self) -> tuple[Saved, ...]:
        """What it keeps for backward; empty after backward released it."""
        found = []
        for name, value in kept(self.raw):
            array = value if isinstance(value, np.ndarray) else None
            owner = None if array is None else buffer_of(array)
            first = owner is not None and self._graph.first_keeper(owner) == self.index
            found.append(Saved(
                name, None if array is None else array.shape,
                None if array is None else dt.of(array.dtype).name,
                0 if owner is None else owner.nbytes, first,
            ))
        return tuple(found)

    @property
    def saved_bytes(self) -> int:
        """Bytes that it keeps and that no earlier node of the graph keeps already."""
        if isinstance(self.raw, Constant) or not self.raw.saved:
            return 0
        sizes = {id(buffer_of(v)): buffer_of(v) for _, v in kept(self.raw) if hasattr(v, "nbytes")}
        return sum(owner.nbytes for owner in sizes.values()
                   if self._graph.first_keeper(owner) == self.index)

    @property
    def marks(self) -> tuple[str, ...]:
        """What users attached."""
        hooks = None if isinstance(self.raw, Constant) else self.raw.hooks
        if hooks is None:
            return ()
        count = sum(map(len, hooks.tensor.values()))
        count += len(hooks.pre) + len(hooks.post) + len(hooks.post_accumulate)
        found = ["keeps its gradient"] if any(ref() is not None for _, ref, _ in hooks.retain) else []
        return (*found, f"{count} hooks" if count > 1 else "1 hook") if count else tuple(found)

    def __repr__(self) -> str:
        return f"<{self.op} {writing.label(self)!r}>"


def kept(raw: Node | Constant) -> list[tuple[str, Any]]:
    """(name, value) of everything that a node saved and still has."""
    flat = () if isinstance(raw, Constant) else raw.saved
    if not flat or type(flat) is Released:
        return []
    names = raw.plan.saves or [f"saved_tensors[{i}]" for i in range(len(flat) // 3)]
    return list(zip(names, flat[::3], strict=False))


def dtype_name(dtype: Any) -> str | None:
    """The name of a NumPy dtype; None for an output that is no tensor."""
    return None if dtype is None else dt.of(dtype).name


def buffer_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


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
                i = self._add(Constant(t.array, number=False, text=None, lone=t), ())
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
        return Constant(written.value, True, text, literal)  # type: ignore[union-attr]

    def _find_written(self, raw: Node, i: int) -> tuple[Operand | None, bool]:
        """What the user wrote for operand i, and whether the source says: nothing."""
        spot = self.spot(raw)
        if spot.operands is None or not related(spot.call, raw):
            return None, False
        if raw.op.variadic and len(spot.operands) != len(raw.inputs):
            return None, False
        written = spot.operands[i] if i < len(spot.operands) else None
        return written, written is None or written.value is None

    # ---- what nodes ask ----

    def spot(self, raw: Node) -> Spot:
        """What the source says about a node."""
        spot = self._reader.spot(raw.code, raw.lasti)
        if type(raw) is Leaf or not spot.text or related(spot.call, raw):
            return spot
        if spot.call in LOOKS or not spot.call or spot.call == INDEX:
            return NOWHERE if spot.call in LOOKS else Spot(spot.place)
        return spot

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
                        if not related(call, below) or (raw.op.name == "_overlay"
                                                        and below.op is not raw.op):
                            inner.add(k)
            self._inner = inner
        return i not in self._inner

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
        return op.kind in ("MOVE", "PICK")
    if call == "apply":  # F.apply(...) of a custom Function
        return op.kind == "CALL" and op.variadic
    call = ALIASES.get(call, call)
    return call == name or name in FAMILIES.get(call, ()) or name.startswith(f"{call}_")


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
