"""Gradients of a step: of every tensor by one hook per node, of chosen ones by either usual way.

Knows no particular network: `every_gradient(loss)` works before any backward.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

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
    """A tensor of the step and, after backward, the numbers of its gradient."""

    name: str
    shape: tuple[int, ...]
    line: str
    leaf: bool
    gradient: list[Numbers]


def every_gradient(loss: Tensor) -> list[Row]:
    """Rows for all tensors that `loss` was computed from; the next backward fills them in."""
    rows = []
    for node in sapwood.graph(loss).nodes:
        ...
    return rows


def nodes_of(root: Any) -> list[Any]:
    """The nodes that a gradient passes through, in the order of the forward pass."""
    found, todo = {root}, [root]
    while todo:
        for node, _ in todo.pop().next_functions:
            if node is not None and node not in found:
                found.add(node)
                todo.append(node)
    return sorted(found, key=lambda node: node._sequence_nr())


def by_hook(tensors: Iterable[Tensor], backward: Callable[[], None]) -> list[Numbers]:
    """A function that is called with the gradient while it exists, and keeps numbers only."""
    kept: list[Numbers] = []
    for tensor in tensors:
        tensor.register_hook(lambda gradient: kept.append(measure(gradient)))
    backward()
    return kept


def by_retaining(tensors: Iterable[Tensor], backward: Callable[[], None]) -> list[Numbers]:
    """`.grad` as leaves have it: easy to use afterwards, and it stays in memory."""
    for tensor in tensors:
        tensor.retain_grad()
    backward()
    return [measure(tensor.grad) for tensor in tensors]


def unique_bytes(run: Callable[[], Any]) -> int:
    """How much array memory is alive after run() that was not before, each buffer once."""
    tracemalloc.start()
    try:
        result = run()
        arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([arrays]).traces
        return sum(trace.size for trace in traces)
    finally:
        tracemalloc.stop()
