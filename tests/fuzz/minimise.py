"""Shrinks a program that differs to the few steps that matter."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from .compare import Difference, Verdict
from .program import Program, Step


def minimise(program: Program, differ: Callable[[Program], Verdict]) -> Verdict:
    """Leave out steps, in blocks and then one by one, while a difference of the same kind remains.

    A step that uses a variable that is gone raises NameError in both engines, which is no
    difference; so steps can be left out in any order, and the useless ones go in the last round.
    """
    verdict = differ(program)
    assert verdict.difference is not None
    wanted = verdict.difference
    steps = list(program.steps[: wanted.step + 1])
    steps[-1] = replace(steps[-1], peek=True)

    def still(candidate: list[Step]) -> Verdict | None:
        if not candidate:
            return None
        found = differ(Program(program.seed, tuple(candidate)))
        return found if found.difference and alike(found.difference, wanted) else None

    best = without_steps(still(steps) or verdict, still)
    return without_steps(with_fewer_names(best, still), still)


Still = Callable[[list[Step]], Verdict | None]


def without_steps(best: Verdict, still: Still) -> Verdict:
    """Leave out blocks of steps, halving the size of the blocks, until no single step can go."""
    steps = list(best.program.steps)
    size = max(len(steps) // 2, 1)
    while True:
        start, shrunk = 0, False
        while start < len(steps):
            found = still(steps[:start] + steps[start + size :])
            if found:
                best, steps, shrunk = found, list(found.program.steps), True
            else:
                start += size
        if size == 1 and not shrunk:
            return best
        size = max(size // 2, 1)


def with_fewer_names(best: Verdict, still: Still) -> Verdict:
    """Let each step use one variable where it uses two, so that more steps can go."""
    for position in range(len(best.program.steps) - 1, -1, -1):
        names = sorted(set(re.findall(r"\bv\d+\b", best.program.steps[position].text)))
        for old in names:
            for new in names:
                steps = list(best.program.steps)
                if old != new and f"{old} =" not in steps[position].text:
                    steps[position] = renamed(steps[position], old, new)
                    best = still(steps) or best
    return best


def renamed(step: Step, old: str, new: str) -> Step:
    def change(text: str) -> str:
        return re.sub(rf"\b{old}\b", new, text)

    return replace(
        step,
        text=change(step.text),
        swaps=tuple((n, change(a), change(b)) for n, a, b in step.swaps),
    )


def alike(a: Difference, b: Difference) -> bool:
    """The same kind of difference: shrinking must not slide to another bug of less weight."""
    return a.kind == b.kind and a.silent == b.silent
