"""Functions whose code is written at their first call.

The table has several entries per operation, and writing one takes about as long as importing a
module: together they would be most of the time that `import sapwood` takes. So an entry begins as
a function that knows how to become itself. It stays the same object: only its code changes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from sys import _getframe
from types import FunctionType
from typing import Any

from sapwood._core.mode import MODE

ONE = threading.RLock()  # one thread writes; the others wait, and find it written


def unwritten(*args: Any, **kwargs: Any) -> Any:
    """The code of an entry before its first call; `begin` is a global of that entry."""
    return begin(args, kwargs)  # type: ignore[name-defined]  # noqa: F821


def later(name: str, write: Callable[[dict], Callable]) -> FunctionType:
    """A function that becomes what `write(space)` makes, `space` being its globals."""

    def begin(args: tuple, kwargs: dict) -> Any:
        """Write the code, then do the call for the caller of the entry."""
        with ONE:
            if fn.__code__ is unwritten.__code__:
                written: Any = write(space)
                fn.__defaults__, fn.__kwdefaults__ = written.__defaults__, written.__kwdefaults__
                fn.__code__ = written.__code__
        mode, frame = MODE.get(), _getframe(2)
        if mode.site is not None:
            return fn(*args, **kwargs)
        MODE.set(mode.at((frame.f_code, frame.f_lasti)))
        try:
            return fn(*args, **kwargs)
        finally:
            MODE.set(mode)

    space: dict[str, Any] = {"__name__": "sapwood._generated", "begin": begin}
    fn = FunctionType(unwritten.__code__, space, name)
    return fn
