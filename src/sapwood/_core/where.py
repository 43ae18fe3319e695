"""From `(code, lasti)` to a place in the user's file, only when somebody asks.

An operation stores two references, never a frame. The instruction after the call tells the
name that the user gave to the result. Nothing here is on a fast path.
"""

from __future__ import annotations

import dis
import linecache
import os
import sys
from dataclasses import dataclass
from types import CodeType

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
DEMO = PACKAGE + "demo" + os.sep  # an ordinary script that happens to be shipped
GENERATED = "<sapwood "  # the filename of generated doors starts so


@dataclass(frozen=True)
class Place:
    """A line of the user's: `file:line`, the function, the source text and the assigned name."""

    file: str
    line: int
    column: int
    function: str
    name: str | None

    @property
    def text(self) -> str:
        """The source line, stripped; empty where the file is not readable."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        text = self.text
        return f"{self.file}:{self.line}" + (f"  ({text})" if text else "")


UNKNOWN = "(place unknown)"


def place(code: CodeType | None, lasti: int) -> Place | None:
    """Resolve a stored position; None where there is none."""
    if code is None:
        return None
    line, column = code.co_firstlineno, 0
    for i, (start, _end, col, _ecol) in enumerate(code.co_positions()):
        if i == lasti // 2:
            line, column = start or line, col or 0
            break
    return Place(code.co_filename, line, column, code.co_name, assigned_name(code, lasti))


def at(code: CodeType | None, lasti: int) -> str:
    """`file:line  (source text)` for messages."""
    found = place(code, lasti)
    return UNKNOWN if found is None else str(found)


def assigned_name(code: CodeType, lasti: int) -> str | None:
    """The user's variable that takes the result of the instruction at `lasti`, if it is stored."""
    for ins in dis.get_instructions(code):
        if ins.offset > lasti and ins.opname != "CACHE":
            if ins.opname in ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"):
                return str(ins.argval)
            if ins.opname not in ("COPY",):  # `a = b = x * 2` copies before it stores
                return None
    return None


def is_library(filename: str) -> bool:
    """Whether a code's file belongs to sapwood itself."""
    return filename.startswith((PACKAGE, GENERATED)) and not filename.startswith(DEMO)


def user_site() -> tuple[CodeType | None, int]:
    """The innermost frame outside the library: for messages and rare events, never per op."""
    frame = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return (None, 0) if frame is None else (frame.f_code, frame.f_lasti)


def here() -> str:
    """The user's current line, for messages."""
    return at(*user_site())
