"""Public functions that are made of several operations.

They set the *site*, the user's line, once at the border, so that every operation inside carries
it. A plain function of operations; for one node in the graph see composite.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from sys import _getframe
from typing import Any

from sapwood._core.mode import MODE

FUNCTIONS: dict[str, Callable] = {}  # public functions that are not primitives
METHODS: dict[str, Callable] = {}  # methods of Tensor that are not primitives
NAMES: dict[str, Any] = {}  # public names that are no operations: types, settings, questions
ALIASES: dict[str, str] = {}  # second names: "multiply" -> "mul"


def border(fn: Callable) -> Callable:
    """Make operations inside `fn` carry the line of its caller."""

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        if mode.site is not None:
            return fn(*args, **kwargs)
        frame = _getframe(1)
        try:  # the setting, too: a signal may come after any call
            MODE.set(mode.at((frame.f_code, frame.f_lasti)))
            return fn(*args, **kwargs)
        finally:
            MODE.set(mode)

    return wrapped


def function(fn: Callable) -> Callable:
    """A public function and a method of the same name: `sapwood.f(x)` and `x.f()`."""
    wrapped = border(fn)
    FUNCTIONS[fn.__name__] = METHODS[fn.__name__] = wrapped
    return wrapped


def function_only(fn: Callable) -> Callable:
    """A public function that is no method of tensors."""
    wrapped = FUNCTIONS[fn.__name__] = border(fn)
    return wrapped


def method(fn: Callable) -> Callable:
    """A method of tensors only."""
    wrapped = METHODS[fn.__name__] = border(fn)
    return wrapped


def alias(target: Callable, *names: str) -> None:
    """Second names for a public function, its method and its in-place twin: one record."""
    for name in names:
        FUNCTIONS[name] = target
        ALIASES[name] = target.__name__
