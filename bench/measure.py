"""How to measure: interleaved runs in one process, medians, and an interval for their ratio.

Two things are never timed one after the other but in turns, each round in the other order, so
that a machine that slows down slows both. The interval is a bootstrap over the rounds.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

ROUNDS = 15


@dataclass(frozen=True)
class Ratio:
    """A quotient of two medians, with the interval that holds it with 90 % confidence."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def repeats(fn: Callable[[], object], at_least: float) -> int:
    """How often to call `fn` so that it takes `at_least` seconds."""
    n = 1
    while True:
        taken = timed(fn, n)
        if taken >= at_least:
            return n
        n = max(2 * n, int(n * at_least / max(taken, 1e-9)))


def timed(fn: Callable[[], object], n: int) -> float:
    """Seconds for n calls, with the collector off."""
    gc.disable()
    try:
        start = perf_counter()
        for _ in range(n):
            fn()
        return perf_counter() - start
    finally:
        gc.enable()


def interleaved(
    fns: dict[str, Callable[[], object]], *, rounds: int = ROUNDS, at_least: float = 0.02
) -> dict[str, list[float]]:
    """Seconds per call of several functions, measured in turns: one number a round for each."""
    for fn in fns.values():
        timed(fn, 3)
    counts = {name: repeats(fn, at_least) for name, fn in fns.items()}
    found: dict[str, list[float]] = {name: [] for name in fns}
    names = list(fns)
    for _ in range(rounds):
        names.reverse()
        for name in names:
            found[name].append(timed(fns[name], counts[name]) / counts[name])
        gc.collect()
    return found


def ratio(a: list[float], b: list[float], *, draws: int = 2000) -> Ratio:
    """median(a) / median(b), with its 90 % interval."""
    rng = random.Random(0)
    pairs = list(zip(a, b, strict=True))
    drawn = []
    for _ in range(draws):
        chosen = rng.choices(pairs, k=len(pairs))
        drawn.append(median(x for x, _ in chosen) / median(y for _, y in chosen))
    drawn.sort()
    return Ratio(median(a) / median(b), drawn[draws // 20], drawn[-draws // 20])


def excess(a: list[float], base: list[float]) -> float:
    """The median of a - base, round by round."""
    return median(x - y for x, y in zip(a, base, strict=True))
