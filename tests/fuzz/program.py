"""A random program as data: a list of steps, each a line or two of Python over variables v0, v1,
...

Owns the two records `Step` and `Program` and how they are printed. A step's text *is* what runs
(the executor compiles it with the engine under test bound to the name `torch`), so a failing
program can be printed and run as it stands. Knows no engine and draws no random numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

# A swap is (finding, old, new): how the text must read for PyTorch to avoid its own defect of that
# number (reference/autograd-semantics.md, section 0). It defines the *right* result of a step where
# PyTorch is wrong.
Swap = tuple[int, str, str]

PRELUDE = """\
import torch  # or: import sapwood as torch

def log(name, *values):
    print(name, *values)

kept = {}
"""


@dataclass(frozen=True)
class Step:
    """One step. `op` names its letter; `peek` asks for a look at every variable after it."""

    op: str
    text: str
    peek: bool = False
    swaps: tuple[Swap, ...] = ()

    def reading(self, fixes: Collection[int]) -> str:
        """The text with the swaps of the given findings made."""
        text = self.text
        for finding, old, new in self.swaps:
            if finding in fixes:
                text = text.replace(old, new)
        return text

    def under(self, manager: str) -> Step:
        """The same step inside `with manager:`; swaps made of whole lines are indented with it."""
        swaps = tuple(
            (n, indent(old), indent(new)) if "\n" in old else (n, old, new)
            for n, old, new in self.swaps
        )
        return replace(self, text=f"with {manager}:\n{indent(self.text)}", swaps=swaps)


@dataclass(frozen=True)
class Program:
    """The steps drawn for one seed."""

    seed: int
    steps: tuple[Step, ...]

    def findings(self) -> frozenset[int]:
        """The findings of PyTorch's that could show in this program."""
        found = frozenset(swap[0] for step in self.steps for swap in step.swaps)
        return found if any(step.op == "hook on several" for step in self.steps) else found - {4}

    def source(self, refused: Collection[int] = ()) -> str:
        """Runnable Python. Steps whose positions are in `refused` are expected to raise."""
        parts = [PRELUDE]
        for position, step in enumerate(self.steps):
            if position in refused:
                parts.append(
                    f"try:\n{indent(step.text)}\n"
                    "except Exception as e:\n    print(type(e).__name__, e)"
                )
            else:
                parts.append(step.text)
        return "\n".join(parts) + "\n"


def indent(text: str) -> str:
    """Every line of the text, four spaces to the right."""
    return "\n".join("    " + line if line else line for line in text.split("\n"))
