"""torch.autograd.graph: nodes, edges, hooks on several tensors, and what is saved."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sapwood._core import where
from sapwood._core.firing import CURRENT
from sapwood._core.memory import bump
from sapwood._core.node import Node as Node
from sapwood._core.node import RemovableHandle
from sapwood._core.tensor import Tensor
from sapwood.autograd.edge import GradientEdge as GradientEdge
from sapwood.autograd.edge import get_gradient_edge as get_gradient_edge

MODES = ("all", "any")


class MultiHook:
    """A hook on the gradients of several tensors. Refers to their nodes weakly: no cycle."""

    def __init__(self, edges: list, fn: Callable, mode: str) -> None:
        self.edges = edges  # (weak node, output), or None for a tensor without graph
        self.fn, self.mode = fn, mode

    def hook(self, i: int) -> Callable:
        """What is registered on tensor number i."""
        return lambda grad: self.arrived(i, grad)

    def arrived(self, i: int, grad: Any) -> None:
        """The gradient of tensor i (or None for an absent one) is known in this pass."""
        run = CURRENT.get()
        if run is None:
            raise RuntimeError("expected this hook to be called inside a backward call")
        state = run.notes.get(self)
        if self.mode == "any":
            if state is None:
                run.notes[self] = True
                self.fn(grad)
            return
        if state is None:
            state = run.notes[self] = self.expected(run), [None] * len(self.edges)
        missing, grads = state
        grads[i] = grad
        missing.discard(i)
        if not missing:
            run.notes[self] = set(range(len(grads))), grads  # never again in this pass
            self.fn(grads)

    def expected(self, run: Any) -> set[int]:
        """The tensors whose gradients this pass computes."""
        found = set()
        for i, edge in enumerate(self.edges):
            node = None if edge is None else edge[0]()
            if node is not None and run.visits(node):
                found.add(i)
        return found


class MultiHandle(RemovableHandle):
    """Removes a hook from all of its tensors."""

    __slots__ = ("handles",)

    def __init__(self, handles: tuple) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all"
) -> RemovableHandle:
    """Call a hook on the gradients of several tensors.

    mode "all": fn(gradients) once per backward, when the last of those that it computes is there;
    None stands for the others. mode "any": fn(gradient) for the first only.
    """
    if mode not in MODES:
        raise ValueError(f"Expects mode to be one of {MODES} but got {mode}")
    tensors = tuple(tensors)
    edges: list = []
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected a Tensor, got {type(t).__name__} at position {i}")
        if t.requires_grad:
            assert t.node is not None
            edges.append((weakref.ref(t.node), t.port))
        elif mode == "all":
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient: tensors"
                f"[{i}] (Expected gradient function to be set), at {where.here()}"
            )
        else:
            edges.append(None)
    multi = MultiHook(edges, fn, mode)
    handles = tuple(
        t.register_hook(multi.hook(i)) for i, t in enumerate(tensors) if edges[i] is not None
    )
    return MultiHandle(handles)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that sapwood cannot see, so that saved values know of it."""
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable) or isinstance(tensors, (str, bytes)):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
        bump(t)
