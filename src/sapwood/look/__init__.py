"""Readers for people: graphs as data and text. They read nodes, and no part of the machine needs them.

`protocol` says what a view may ask of a graph; `graphs` makes such a graph from tensors; `source`
finds the user's own words for it; `text` writes it as a tree, with the help of `folding`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Graph", "graph"]


def __getattr__(name: str) -> Any:
    """`graph` and `Graph`, loaded when first asked for: importing sapwood costs nothing of this."""
    if name in __all__:
        from sapwood.look import graphs

        return getattr(graphs, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
