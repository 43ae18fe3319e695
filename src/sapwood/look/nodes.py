"""What one node of a graph says about itself, read from sapwood's own nodes when it is asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.node import Leaf, Node, Released
from sapwood.look.protocol import CONSTANT, LEAF, OPERATION, Output, Saved
from sapwood.look.source import STORE, UNKNOWN
from sapwood.look.words import label

if TYPE_CHECKING:
    from sapwood.look.graphs import Graph

NAMES = {"overlay": "write", "fit": "sum", "spread": "expand"}  # for people
ENDS = ("_basic", "_dim", "_all")  # of one operation's several records


class Constant(NamedTuple):
    """An operand that needs no gradient: a number, or a tensor without graph."""

    value: Any  # UNKNOWN where it was not kept
    number: bool
    text: str | None
    literal: tuple | None = None  # for a number in the source: where it stands


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
        if isinstance(raw, Constant):
            return CONSTANT
        name = raw.op.name.lstrip("_")
        for end in ENDS:
            name = name.removesuffix(end)
        return NAMES.get(name, name)

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
        elif raw.op.name == "_overlay":
            return self._graph.base_name(self.index)
        spot = self._graph.spot(raw)
        names = spot.names if type(raw) is Leaf or self._graph.outermost(self.index) else ()
        if names and names[0] is not None:
            return None if spot.unpacked else names[0]
        if raw.op.out and len(raw.shape) > 1:
            return None
        asked = self._graph.asked.get(self.index)
        return asked or self._graph.argument_name(self.index)

    @property
    def expression(self) -> str | None:
        """The user's own words for this value."""
        raw = self.raw
        if isinstance(raw, Constant):
            return raw.text
        spot = self._graph.spot(raw)
        if raw.op.name == "_overlay" and spot.text and spot.call != STORE:
            return f"{self.name or 'it'} after {spot.text}"  # a write through a view of it
        return spot.text if self._graph.outermost(self.index) else None

    @property
    def statement(self) -> bool:
        """Whether the expression is a whole statement, such as `x += 1`."""
        raw = self.raw
        return not isinstance(raw, Constant) and (
            raw.op.name == "_overlay" or self._graph.spot(raw).whole
        )

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
            found.append(
                Saved(
                    name,
                    None if array is None else array.shape,
                    None if array is None else dt.of(array.dtype).name,
                    0 if owner is None else owner.nbytes,
                    first,
                )
            )
        return tuple(found)

    @property
    def saved_bytes(self) -> int:
        """Bytes that it keeps and that no earlier node of the graph keeps already."""
        if isinstance(self.raw, Constant) or not self.raw.saved:
            return 0
        sizes = {id(buffer_of(v)): buffer_of(v) for _, v in kept(self.raw) if hasattr(v, "nbytes")}
        return sum(
            owner.nbytes
            for owner in sizes.values()
            if self._graph.first_keeper(owner) == self.index
        )

    @property
    def marks(self) -> tuple[str, ...]:
        """What users attached."""
        hooks = None if isinstance(self.raw, Constant) else self.raw.hooks
        if hooks is None:
            return ()
        count = sum(map(len, hooks.tensor.values()))
        count += len(hooks.pre) + len(hooks.post) + len(hooks.post_accumulate)
        found = []
        if any(ref() is not None for _, ref, _ in hooks.retain):
            found.append("keeps its gradient")
        if count:
            found.append(f"{count} hooks" if count > 1 else "1 hook")
        return tuple(found)

    def __repr__(self) -> str:
        return f"<{self.op} {label(self)!r}>"


def kept(raw: Node | Constant) -> list[tuple[str, Any]]:
    """(name, value) of everything that a node saved and still has."""
    flat: Any = () if isinstance(raw, Constant) else raw.saved
    if isinstance(raw, Constant) or not flat or type(flat) is Released:
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
