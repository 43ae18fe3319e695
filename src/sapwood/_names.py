"""Names of the package that are found late: rare submodules, and the words for missing names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any


def missing(module: ModuleType, name: str) -> str:
    """`sapwood has no torch.X yet`, with the nearest names."""
    import difflib  # takes as long to import as all of autograd

    title = "torch" + module.__name__.removeprefix("sapwood")
    message = f"sapwood has no {title}.{name} yet"
    near = [] if name.startswith("__") else difflib.get_close_matches(name, names(module), 3, 0.6)
    if near:
        message += "; nearest: " + ", ".join(f"{title}.{found}" for found in near)
    return message


def names(module: ModuleType) -> list[str]:
    """What a module offers to scripts."""
    return [name for name in dir(module) if not name.startswith("_")]


def late(module_name: str, submodules: tuple[str, ...] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of a module: imports submodules on demand, else says what is missing."""

    def find(name: str) -> Any:
        module = sys.modules[module_name]
        full = f"{module_name}.{name}"
        # PathFinder, not the general way: `--as-torch` has a finder that refuses missing names.
        if name in submodules and PathFinder.find_spec(full, module.__path__) is not None:
            return importlib.import_module(full)
        raise AttributeError(missing(module, name), name=name, obj=None)

    return find
