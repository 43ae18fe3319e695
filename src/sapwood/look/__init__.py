"""Readers for people: graphs as data and text. No part of the machine needs them.

`protocol` says what a view may ask of a graph. `graphs` and `nodes` answer it for tensors, and
`source` finds the user's own words. `text` writes a tree, with the help of `words` and `folding`.
All of it is loaded when first asked for: importing sapwood costs nothing of this.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.look.graphs import Graph as Graph


def graph(*tensors: Any) -> Graph:
    """The computation graph behind one or several tensors: `print(sapwood.graph(loss))`.

    Iterate over it for its nodes, or ask by variable name, expression or tensor: `g["h1"]`.
    """
    from sapwood.look import graphs

    frame = sys._getframe(1)
    return graphs.build(*tensors, code=frame.f_code, lasti=frame.f_lasti)


def __getattr__(name: str) -> Any:
    """`sapwood.look.Graph`, the type of graphs."""
    if name == "Graph":
        from sapwood.look import graphs

        return graphs.Graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
