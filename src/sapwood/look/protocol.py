"""What a view may ask of a graph, and nothing else: text, pictures and exports read only this.

`sapwood.look.graphs` answers it for sapwood's own tensors. Whoever wants to show another library's
graph writes these two classes over it, and every view works. Nothing here knows sapwood's nodes.

A graph is a list of nodes in an order in which every node stands behind its inputs. A node is an
operation, a leaf (a tensor that requires grad and that no operation made) or a constant (an
operand that needs no gradient: a number, or a tensor without graph).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol

OPERATION, LEAF, CONSTANT = "operation", "leaf", "constant"


class Output(NamedTuple):
    """One result of a node."""

    shape: tuple[int, ...] | None  # None where it is not known (a constant that was not kept)
    dtype: str | None  # "float32"
    name: str | None  # the user's variable


class Saved(NamedTuple):
    """A value that a node keeps for backward."""

    name: str  # the operand, "out" for the result, or what of them: "x_shape"
    shape: tuple[int, ...] | None  # None for what is no array
    dtype: str | None
    nbytes: int  # of the whole buffer that this value keeps alive
    counted: bool  # False where an earlier node of the graph already keeps that buffer


class Edge(NamedTuple):
    """A value that flows from one node into another; gradients flow the other way."""

    source: ViewNode
    port: int  # which output of the source
    target: ViewNode
    operand: str  # the name of the target's operand


class PlaceLike(Protocol):
    """A line of the user's."""

    @property
    def file(self) -> str:
        """The path of the file."""

    @property
    def line(self) -> int:
        """The number of the line."""

    @property
    def text(self) -> str:
        """The source line, stripped; empty where the file cannot be read."""


class ViewNode(Protocol):
    """One node, as views see it. Everything is read-only."""

    @property
    def index(self) -> int:
        """The position in the graph's list of nodes."""

    @property
    def role(self) -> str:
        """OPERATION, LEAF or CONSTANT."""

    @property
    def op(self) -> str:
        """What it computes: "mul"; "leaf" and "constant" for those."""

    @property
    def title(self) -> str:
        """The name that PyTorch gives the backward node: "MulBackward0"; empty for constants."""

    @property
    def kind(self) -> str:
        """The family of the operation, for colours: "MAP", "FOLD", "MOVE", "PICK", "DOT", ..."""

    @property
    def inputs(self) -> Sequence[ViewNode]:
        """The nodes whose results come in, operand by operand."""

    @property
    def ports(self) -> Sequence[int]:
        """Which output of each input."""

    @property
    def operands(self) -> Sequence[str]:
        """The operation's names of the inputs."""

    @property
    def outputs(self) -> Sequence[Output]:
        """The results; most operations have one."""

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the first result."""

    @property
    def dtype(self) -> str | None:
        """The dtype of the first result."""

    @property
    def attrs(self) -> dict[str, Any]:
        """What else the operation was given: dim, keepdim, ..."""

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to it: True for operations and leaves, False for constants."""

    @property
    def name(self) -> str | None:
        """A parameter's or a leaf's own name, or the user's variable; None where there is none."""

    @property
    def expression(self) -> str | None:
        """The user's own words for this value: "3*x**2"; None where the source cannot be read."""

    @property
    def statement(self) -> bool:
        """Whether the expression is a statement that names the variable itself: "x += 1"."""

    @property
    def scope(self) -> str:
        """The module that it was computed in: "layer3.7.conv2"; empty outside of modules."""

    @property
    def place(self) -> PlaceLike | None:
        """The line where it was made."""

    @property
    def call(self) -> Hashable:
        """Equal for nodes that one call in the source made, in whatever turn of a loop."""

    @property
    def value(self) -> Any:
        """The array or number, where it is known: of constants that were kept, and of leaves."""

    @property
    def saved(self) -> Sequence[Saved]:
        """What it keeps for backward; empty again after backward released it."""

    @property
    def saved_bytes(self) -> int:
        """Bytes that it keeps for backward and that no earlier node of the graph keeps already."""

    @property
    def marks(self) -> Sequence[str]:
        """What users attached: "keeps its gradient", "2 hooks"."""


class ViewGraph(Protocol):
    """All nodes behind some results."""

    @property
    def nodes(self) -> Sequence[ViewNode]:
        """Inputs stand before the nodes that use them."""

    @property
    def links(self) -> Sequence[Sequence[int]]:
        """For each node the positions of its inputs: `inputs` for those who walk long graphs."""

    @property
    def roots(self) -> Sequence[tuple[ViewNode, int]]:
        """The results that the graph was asked for, each with its output number."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences about the whole: why there is no graph, what was released by which backward."""
