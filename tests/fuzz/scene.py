"""What the letters of the alphabet draw from: the random source and the variables of the program so
far.

The program is run on PyTorch while it is drawn, so that shapes, dtypes and flags are known without
a model of them. Owns the registry of letters (`letter`), the choice of operands and the writing of
literals.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from .execute import Session
from .program import Step

T = TypeVar("T")
Letter = Callable[["Scene"], Step | None]
LIMIT = 1e4  # magnitudes beyond this only in programs that are wild on purpose


@dataclass(frozen=True)
class Drawn:
    weight: float
    draw: Letter


ALPHABET: list[Drawn] = []


def letter(weight: float) -> Callable[[Letter], Letter]:
    """Adds a function that draws a step (or None: nothing fits) to the alphabet."""

    def add(draw: Letter) -> Letter:
        ALPHABET.append(Drawn(weight, draw))
        return draw

    return add


class Scene:
    """The state of a program that is being drawn."""

    def __init__(self, seed: int, torch: ModuleType, dirty: bool, wild: bool) -> None:
        self.rng = random.Random(seed)
        self.torch = torch
        self.dirty = dirty  # refused steps may stay
        self.wild = wild  # infinities and NaN may arise
        self.session = Session(torch)
        self.steps: list[Step] = []
        self.count = 0
        self.focus = ""  # a variable that the next few steps are likely to be about
        self.names: dict[str, list[str]] = {
            "retained": [],
            "scaled": [],
            "handles": [],
            "simple": [],
        }

    # Choosing

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def choice(self, items: Sequence[T]) -> T:
        return self.rng.choice(items)

    def __getitem__(self, name: str) -> Any:
        return self.session.env[name]

    def all(self, want: Callable[[Any], bool] = lambda t: True) -> list[str]:
        def wanted(t: Any) -> bool:
            try:
                return want(t)
            except RuntimeError:  # a view made under no_grad whose base was written has no flags
                return False

        return [name for name, t in self.session.tensors().items() if wanted(t)]

    def pick(self, want: Callable[[Any], bool] = lambda t: True) -> str | None:
        """A variable; the one in focus, newer ones and those that require grad more often.

        A dirty program sometimes ignores what is wanted.
        """
        if self.dirty and self.chance(0.06):
            want = lambda t: True  # noqa: E731
        names = self.all(want)
        if not names:
            return None
        if self.focus in names and self.chance(0.4):
            return self.focus
        weights = [
            (1.0 + 2.0 * i / len(names)) * (1 + 2 * self[n].requires_grad)
            for i, n in enumerate(names)
        ]
        return self.rng.choices(names, weights)[0]

    def handles(self) -> list[str]:
        """Handles of hooks that are registered."""
        return [name for name in self.names["handles"] if name in self.session.env]

    def floating(self, want: Callable[[Any], bool] = lambda t: True) -> str | None:
        return self.pick(lambda t: t.is_floating_point() and want(t))

    def tracked(self, want: Callable[[Any], bool] = lambda t: True) -> str | None:
        """A floating variable that requires grad."""
        return self.floating(lambda t: t.requires_grad and want(t))

    def target(self, want: Callable[[Any], bool] = lambda t: True) -> str | None:
        """A floating variable that may be written in place, mostly."""

        def writable(t: Any) -> bool:
            base = t._base if t._is_view() and t._base is not None else t
            leaf = (t.is_leaf and t.requires_grad) or (base.is_leaf and base.requires_grad)
            overlaps = any(
                stride == 0 and size > 1 for stride, size in zip(t.stride(), t.shape, strict=True)
            )
            return want(t) and not overlaps and (not leaf or not self.torch.is_grad_enabled())

        return self.floating(writable)

    def safe(self, guard: str, name: str) -> bool:
        """Whether an operation with this guard is well behaved on the variable's present values."""
        t = self[name].detach()
        if self.wild or not guard or not t.numel():
            return guard != "some" or bool(t.numel())
        t = t.double()
        tests: dict[str, Callable[[], Any]] = {
            "small": lambda: (t <= 3).all(),
            "tame": lambda: (t.abs() <= 20).all(),
            "positive": lambda: (t > 0.05).all(),
            "away": lambda: (t.abs() > 0.05).all(),
            # Ties must be ties in both engines: only where no rounding can have happened
            "exact": lambda: (t * 4096 == (t * 4096).round()).all(),
            "some": lambda: True,
        }
        return bool(tests[guard]())

    def tame(self) -> bool:
        """Whether all values are finite and of moderate size, or the program is wild."""
        if self.wild:
            return True
        for t in self.session.tensors().values():
            if t.is_floating_point() and t.numel():
                top = float(t.detach().abs().max())
                if not top <= LIMIT or math.isnan(top):
                    return False
        return True

    # Writing

    def new(self, kind: str = "v") -> str:
        self.count += 1
        return f"{kind}{self.count - 1}"

    def number(self) -> float:
        return self.choice((0.5, 2.0, -1.0, 1.5, 0.25, 3.0, -0.5, -2.0))

    def shape(self) -> tuple[int, ...]:
        rank = self.rng.choices((0, 1, 2, 3), (1, 3, 5, 2))[0]
        sizes = (2, 3, 4, 1, 0)
        return tuple(self.rng.choices(sizes, (6, 6, 3, 2, 0.3))[0] for _ in range(rank))

    def values(self, shape: Sequence[int]) -> str:
        """Nested lists of multiples of 1/4."""
        if not shape:
            return repr(self.rng.randint(-8, 8) / 4)
        return "[" + ", ".join(self.values(shape[1:]) for _ in range(shape[0])) + "]"

    def literal(self, shape: Sequence[int], dtype: str = "float64", extra: str = "") -> str:
        shape = tuple(shape)
        if 0 in shape:
            return f"torch.zeros({shape}, dtype=torch.{dtype}{extra})"
        return f"torch.tensor({self.values(shape)}, dtype=torch.{dtype}{extra})"

    def ints(self, n: int, size: int, distinct: bool = False) -> list[int]:
        if distinct:
            return self.rng.sample(range(size), min(n, size))
        return [self.rng.randrange(size) for _ in range(n)]

    def indices(self, shape: Sequence[int], size: int) -> str:
        """An int64 tensor literal with values below size."""

        def nest(rest: Sequence[int]) -> str:
            if not rest:
                return str(self.rng.randrange(size))
            return "[" + ", ".join(nest(rest[1:]) for _ in range(rest[0])) + "]"

        if 0 in shape:
            return f"torch.zeros({tuple(shape)}, dtype=torch.int64)"
        return f"torch.tensor({nest(shape)})"

    def axis(self, t: Any) -> int:
        """A dimension of t, counted from either end."""
        d = self.rng.randrange(max(t.ndim, 1))
        return d - max(t.ndim, 1) if self.chance(0.3) else d

    def fitting(self, t: Any, into: bool = False) -> str | None:
        """A variable that broadcasts with t (`into`: without enlarging t)."""

        def fits(o: Any) -> bool:
            try:
                shape = self.torch.broadcast_shapes(o.shape, t.shape)
            except RuntimeError:
                return False
            return (not into or shape == t.shape) and math.prod(shape) <= 64 and len(shape) <= 4

        return self.pick(
            lambda o: (o.is_floating_point() or (not into and self.chance(0.2))) and fits(o)
        )
