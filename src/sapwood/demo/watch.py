"""Gradients of a step: of every tensor by one hook per node, of chosen ones by either usual way.

Knows no particular network: `every_gradient(loss)` works before any backward.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

import sapwood
from sapwood import Tensor


class Numbers(NamedTuple):
    """What remains of a gradient when its memory is let go."""

    rms: float
    largest: float
    zeros: float
    nans: int


def measure(gradient: Tensor) -> Numbers:
    """Root mean square, largest magnitude, share of zeros and count of NaN."""
    with sapwood.no_grad():
        return Numbers(
            rms=gradient.square().mean().sqrt().item(),
            largest=gradient.abs().max().item(),
            zeros=(gradient == 0).float().mean().item(),
            nans=int(gradient.isnan().sum().item()),
        )


class Row(NamedTuple):
    """A tensor of the step; its gradient's numbers are there after backward."""

    name: str
    shape: tuple[int, ...]
    line: str
    leaf: bool
    gradient: list[Numbers]


def every_gradient(loss: Tensor) -> list[Row]:
    """Rows for all tensors that lead to `loss`; the next backward fills them in.

    A hook before a node runs sees the gradient of the node's result. It keeps four numbers.
    """
    rows = []
    for node in nodes_of(loss.grad_fn):
        shape = tuple(node._input_metadata[0].shape)
        row = Row(name_of(node), shape, node.site, not sources(node), [])
        node.register_prehook(lambda gradients, row=row: row.gradient.append(measure(*gradients)))
        rows.append(row)
    return rows


def nodes_of(root: Any) -> list[Any]:
    """The nodes that a gradient passes through, in the order of the forward pass."""
    found, todo = {root}, [root]
    while todo:
        for node in sources(todo.pop()):
            if node not in found:
                found.add(node)
                todo.append(node)
    ordered: dict[Any, None] = {}  # a leaf has no order of its own: it stands before its first use
    for node in sorted(filter(sources, found), key=lambda node: node._sequence_nr()):
        ordered |= dict.fromkeys([*sources(node), node])
    return list(ordered)


def sources(node: Any) -> list[Any]:
    """The nodes that a node delivers gradients to; none for a leaf."""
    return [source for source, _ in node.next_functions if source is not None]


def name_of(node: Any) -> str:
    """The user's variable, or the operation in brackets where the result went into none."""
    return (node.place and node.place.name) or f"({node.op.name})"


Reading = Callable[[], list[Numbers]]  # what was seen, after backward
Way = Callable[[Sequence[Tensor]], Reading]


def by_hook(tensors: Sequence[Tensor]) -> Reading:
    """Before backward: have a function called with each gradient; it keeps four numbers."""
    kept: dict[int, Numbers] = {}  # gradients come in the order of the backward pass
    for i, tensor in enumerate(tensors):
        tensor.register_hook(lambda gradient, i=i: kept.update({i: measure(gradient)}))
    return lambda: [kept[i] for i in range(len(tensors))]


def by_retaining(tensors: Sequence[Tensor]) -> Reading:
    """Before backward: ask for `.grad` as leaves have it. Easier to use, and it stays."""
    for tensor in tensors:
        tensor.retain_grad()
    return lambda: [measure(tensor.grad) for tensor in tensors]


def by_nothing(tensors: Sequence[Tensor]) -> Reading:
    """What both ways are compared with."""
    return list


T = TypeVar("T")


def unique_bytes(work: Callable[[], T]) -> tuple[T, int]:
    """The result of work(), and the array memory that it left alive, each buffer counted once."""
    tracemalloc.start()
    try:
        result = work()
        arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([arrays]).traces
        return result, sum(trace.size for trace in traces)
    finally:
        tracemalloc.stop()
