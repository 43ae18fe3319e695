"""Values computed inside the forward of a custom Function, where no graph is recorded.

A value that such a forward keeps for itself looks like a constant afterwards, and a second
derivative through it would silently miss a path. So results inside carry a cut whose kind is the
`Inside` of that run, inherited like every cut; `computed_at` then tells whether a value that was
kept depends on the inputs, and where it was computed. Operations without derivative (comparisons,
argmax) end the inheritance. A number taken out with item() is a constant.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from sapwood._core import where
from sapwood._core.mode import MODE


class Inside(str):
    """The kind of the cuts made in one run of a custom forward, such as "Cube.forward"."""

    __slots__ = ("left", "written")

    def __init__(self, _: str) -> None:
        self.written: list[tuple] = []  # arrays that such values went into, weakly, and the lines
        self.left: tuple | None = None  # the line where such values went to NumPy, if any did

    __eq__ = object.__eq__  # two runs of one forward are two
    __hash__ = object.__hash__


def made_inside(cuts: tuple | None, inside: Inside) -> bool:
    """Whether one of the cuts was made in this run."""
    return cuts is not None and any(cut[0] is inside for cut in cuts)


def computed_at(t: Any, inside: Inside) -> tuple | None:
    """The line where a tensor was computed, in this run, from what requires grad; else None."""
    for kind, code, lasti, _shape in t.cuts or ():
        if kind is inside:
            return code, lasti
    if inside.written:
        memory = owner(t.array)
        for ref, site in inside.written:
            if ref() is memory:
                return site
    # it may have come back from NumPy
    return inside.left if t.cuts is None and t.node is None else None


def owner(a: Any) -> Any:
    """The array that has the memory of a view."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def apart(cuts: tuple | None) -> tuple | None:
    """The cuts without those of custom forwards: for results that have no derivative anyway."""
    if cuts is None:
        return None
    return tuple(cut for cut in cuts if type(cut[0]) is not Inside) or None


def wrote(t: Any, cuts: tuple | None) -> None:
    """Values with these cuts were written into the memory of `t`."""
    inside = MODE.get().why
    if type(inside) is Inside and made_inside(cuts, inside):
        inside.written.append((weakref.ref(owner(t.array)), where.user_site()))


def left(t: Any) -> None:
    """The values of `t` went to NumPy."""
    inside = MODE.get().why
    if type(inside) is Inside and (t.node is not None or made_inside(t.cuts, inside)):
        inside.left = where.user_site()


CUTS = 4  # a tensor remembers at most this many reasons for having no graph


def merge_cuts(a: tuple | None, b: tuple | None) -> tuple | None:
    """The union of two lists of reasons, the first ones first, capped."""
    if a is None or a is b:
        return b
    if b is None:
        return a
    both = (*a, *(cut for cut in b if cut not in a))
    if len(both) > CUTS:  # those of custom forwards must not get lost: they guard a derivative
        both = tuple(sorted(both, key=lambda cut: type(cut[0]) is not Inside)[:CUTS])
    return both
