"""`sapwood run --as-torch`: `import torch` gives sapwood, for scripts written for PyTorch.

sapwood's own modules are entered in `sys.modules` under torch's names, so that an attribute costs
what it always costs; submodules follow when they are first imported. The modules' class is
changed to one whose `__getattr__` names what is missing. The real torch is never imported.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib import abc
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from sapwood._names import missing


def install() -> None:
    """From now on `torch` means sapwood, in this process."""
    sys.meta_path.insert(0, TorchFinder())
    for name, module in list(sys.modules.items()):
        if is_public(name):
            adopt(module, "torch" + name.removeprefix("sapwood"))


def is_public(name: str) -> bool:
    """sapwood and its modules, without the private ones."""
    first, *rest = name.split(".")
    return first == "sapwood" and not any(part.startswith("_") for part in rest)


def adopt(module: ModuleType, name: str) -> None:
    """Enter a module of sapwood's under torch's name."""
    sys.modules[name] = module
    if type(module) is ModuleType:
        module.__class__ = TorchModule


class TorchModule(ModuleType):
    """A module that says what is missing, under torch's name."""

    def __getattr__(self, name: str) -> Any:
        """Only reached for names that the module lacks."""
        # obj=None: without it Python would add a "Did you mean" of its own.
        raise AttributeError(missing(self, name), name=name, obj=None)


class TorchFinder:
    """Finds torch.x where sapwood has x. It also answers for `sapwood.x`: `from torch import x`
    looks for a submodule of that name, because the module's own name is sapwood.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """Of `import torch.x`, and of `from torch import x` where sapwood has no attribute x."""
        first, _, rest = name.partition(".")
        if first not in ("torch", "sapwood") or not rest:
            return None
        ours = f"sapwood.{rest}"
        spec = find(ours, self)
        if spec is not None and first == "sapwood":
            return spec
        if spec is not None and is_public(ours):
            return ModuleSpec(name, Loader(ours))
        owner, _, last = ours.rpartition(".")
        # `from torch import x` asks for sapwood.x and would hide an error of that very name.
        raise ModuleNotFoundError(missing(sys.modules[owner], last), name=f"torch.{rest}")


def find(name: str, asking: TorchFinder) -> ModuleSpec | None:
    """The spec of a module of sapwood's, asked of the other finders."""
    owner = sys.modules[name.rpartition(".")[0]]
    for finder in sys.meta_path:
        if finder is not asking:
            spec = finder.find_spec(name, getattr(owner, "__path__", None), None)
            if spec is not None:
                return spec
    return None


class Loader(abc.Loader):
    """Loads torch.x by importing sapwood.x; the module keeps its own name and spec."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of sapwood's; its spec is about to be overwritten by the import system."""
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        adopt(module, spec.name)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run; put the spec back."""
        module.__spec__ = self.spec
