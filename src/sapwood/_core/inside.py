"""Values computed inside the forward of a custom Function, where no graph is recorded.

A value that such a forward keeps for itself looks like a constant afterwards, and a second
derivative through it would silently miss a path. So results inside carry a cut whose kind is the
`Inside` of that run, inherited like every cut; `hides` then tells whether a value that was kept
depends on the inputs. Operations without derivative (comparisons, argmax) end the inheritance.
"""

from __future__ import annotations

from typing import Any

from sapwood._core import where
from sapwood._core.mode import MODE


class Inside(str):
    """The kind of the cuts made in one run of a custom forward, such as "Cube.forward"."""

    __slots__ = ("left", "written")

    def __init__(self, _: str) -> None:
        self.written: list[Any] = []  # versions of tensors that such values were written into
        self.left: tuple | None = None  # the line where such values went to NumPy, if any did

    __eq__ = object.__eq__  # two runs of one forward are two
    __hash__ = object.__hash__


def made_inside(cuts: tuple | None, inside: Inside) -> bool:
    """Whether one of the cuts was made in this run."""
    return cuts is not None and any(cut[0] is inside for cut in cuts)


def hides(t: Any, inside: Inside) -> bool:
    """Whether a tensor was computed, in this run, from something that requires grad."""
    if made_inside(t.cuts, inside) or any(version is t.version for version in inside.written):
        return True
    # it may have come back from NumPy
    return inside.left is not None and t.cuts is None and t.node is None


def apart(cuts: tuple | None) -> tuple | None:
    """The cuts without those of custom forwards: for results that have no derivative anyway."""
    if cuts is None:
        return None
    return tuple(cut for cut in cuts if type(cut[0]) is not Inside) or None


def wrote(t: Any, cuts: tuple | None) -> None:
    """Values with these cuts were written into the memory of `t`."""
    inside = MODE.get().why
    if type(inside) is Inside and made_inside(cuts, inside):
        inside.written.append(t.version)


def left(t: Any) -> None:
    """The values of `t` went to NumPy."""
    inside = MODE.get().why
    if type(inside) is Inside and (t.node is not None or made_inside(t.cuts, inside)):
        inside.left = where.user_site()
