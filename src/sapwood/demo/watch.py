"""Gradients of a step: of every tensor by one hook per node, of chosen ones by either usual way.

Knows no particular network: `every_gradient(loss)` works before any backward.
"""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

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
    """Rows for all tensors that `loss` was computed from; the next backward fills them in.

    A hook that runs before a node sees the gradient of the node's result. It keeps four numbers.
    """
    rows = []
    for node in sapwood.graph(loss).nodes:
        if node.shape is None or (not node.requires_grad and isinstance(node.value, int | float)):
            continue  # a number is no tensor
        row = Row(
            name=node.name or node.expression or f"({node.op})",
            shape=node.shape,
            line=f"{os.path.basename(node.place.file)}:{node.place.line}" if node.place else "",
            leaf=node.is_leaf,
            gradient=[],
        )
        if node.requires_grad:
            node.raw.register_prehook(lambda grads, row=row: row.gradient.append(measure(*grads)))
        rows.append(row)
    return rows


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
