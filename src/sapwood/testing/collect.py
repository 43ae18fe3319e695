"""All samples of all files, and which public names must have some."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

import sapwood
from sapwood._core.border import ALIASES, FUNCTIONS, METHODS
from sapwood._core.door import TABLE
from sapwood._core.tensor import Tensor
from sapwood.testing import samples
from sapwood.testing.case import Case
from sapwood.testing.sample import Sample


def files() -> dict[str, dict[str, list[Sample]]]:
    """SAMPLES of every file in `testing/samples`, by the file's name."""
    found = {}
    for info in pkgutil.iter_modules(samples.__path__):
        module = importlib.import_module(f"{samples.__name__}.{info.name}")
        found[info.name] = module.SAMPLES
    return found


def cases() -> dict[str, list[Case]]:
    """The cases of every operation, by its name."""
    together: dict[str, list[Case]] = {}
    for table in files().values():
        for name, several in table.items():
            known = together.setdefault(name, [])
            known += [Case(name, len(known) + i, s) for i, s in enumerate(several)]
    return dict(sorted(together.items()))


def operations() -> dict[str, str]:
    """Every name that must have samples, with the module that defines it."""
    found = {name: getattr(op.run, "__module__", None) or "numpy" for name, op in TABLE.items()}
    for table in (FUNCTIONS, METHODS):
        for name, fn in table.items():
            if name not in ALIASES and not isinstance(fn, property):
                found.setdefault(name, fn.__module__)
    return found


def missing(names: Iterable[str]) -> dict[str, str]:
    """Operations without samples."""
    known = set(names)
    return {name: where for name, where in operations().items() if name not in known}


def unknown(names: Iterable[str]) -> list[str]:
    """Samples of names that nobody offers."""
    return [
        name
        for name in names
        if name not in TABLE and not hasattr(sapwood, name) and not hasattr(Tensor, name)
    ]
