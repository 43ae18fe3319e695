"""A handle on a gradient: the output of a node, usable when its tensor was changed or dropped."""

from __future__ import annotations

from typing import Any, NamedTuple

from sapwood._core.memory import heal
from sapwood._core.node import Node
from sapwood._core.tensor import Tensor


class GradientEdge(NamedTuple):
    """The output `output_nr` of `node`; a root or an input of backward and grad."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that computes the gradient of `tensor`."""
    if tensor.memory is not None:
        heal(tensor)
    if tensor.node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(tensor.node, tensor.port)
