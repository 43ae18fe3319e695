"""Holds a trace against PyTorch's, and decides whether a difference is one that is allowed.

Allowed differences are those where PyTorch is wrong (reference/autograd-semantics.md, section 0).
They are not waved through: the program is run on PyTorch again in a way that avoids the defect, and
the trace must equal *that* one. Finding 11 (a leak) can not show in values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from types import ModuleType
from typing import Any

import numpy as np

from .execute import Refusal, Seen, Trace, execute
from .program import Program

ALLOWED = {
    3: "a hook that writes into its argument changes a sibling's gradient",
    4: "a hook on several tensors misfires when one of them is the root",
    6: "retain_grad on a view is lost when the view or its base is written",
    10: "an exception during backward leaves the graph half freed",
}
TOLERANCE = {
    False: 1e-12,
    True: 3e-6,
}  # relative to the program's largest value; True: float32 took part


@dataclass(frozen=True)
class Difference:
    """The first place where two traces part. `silent`: neither run refused there."""

    kind: str  # value, flag, dtype, shape, log, refusal, message
    step: int
    what: str
    left: str
    right: str

    @property
    def silent(self) -> bool:
        return self.kind not in ("refusal", "message")

    def __str__(self) -> str:
        where = f"{self.kind} after step {self.step}: {self.what}"
        return f"{where}\n    PyTorch: {self.left}\n    other:   {self.right}"


@dataclass(frozen=True)
class Verdict:
    """What was found for one program."""

    program: Program
    reference: Trace
    difference: Difference | None
    findings: tuple[int, ...] = ()  # the allowed differences that were met and found right

    @property
    def ran_to_end(self) -> bool:
        return not self.reference.refused()


OWN = ("requires_grad", "is_leaf", "grad_fn is None", "same object as")


class Comparison:
    """One pair of traces, with the tolerance that their values call for."""

    def __init__(self, left: Trace, right: Trace) -> None:
        self.left, self.right = left, right
        top, single = 1.0, False
        for array in left.arrays():
            single = single or array.dtype == np.float32
            if array.dtype.kind == "f" and array.size:
                finite = np.abs(array[np.isfinite(array)])
                top = max(top, float(finite.max(initial=0.0)))
        self.tolerance = TOLERANCE[single] * min(top, 1e6)

    def first(self) -> Difference | None:
        for step, (a, b) in enumerate(zip(self.left.events, self.right.events, strict=True)):
            found = (
                self.refusals(step, a.refusal, b.refusal)
                or self.logs(step, a.log, b.log)
                or self.tables(step, a.variables, b.variables)
            )
            if found:
                return found
        for name, x in self.left.kept.items():
            found = self.maybe(
                len(self.left.events), name, x, self.right.kept.get(name), ("requires_grad",)
            )
            if found:
                return found
        return None

    def refusals(self, step: int, a: Refusal | None, b: Refusal | None) -> Difference | None:
        def text(r: Refusal | None) -> str:
            return f"{r.cls}: {r.message}" if r else "no error"

        if (a is None) != (b is None):
            return Difference("refusal", step, "only one refuses", text(a), text(b))
        if a and b and (a.cls, a.kind) != (b.cls, b.kind):
            return Difference("message", step, "another error", text(a), text(b))
        return None

    def logs(
        self, step: int, a: list[tuple[str, Any]], b: list[tuple[str, Any]]
    ) -> Difference | None:
        left, right = [name for name, _ in a], [name for name, _ in b]
        if left != right:
            return Difference("log", step, "hooks fired", str(left), str(right))
        for (name, x), (_, y) in zip(a, b, strict=True):
            if isinstance(x, Seen) and isinstance(y, Seen):
                # A gradient's own bookkeeping (its version, whether it is a view) is nobody's
                # promise
                found = self.seen(step, f"hook {name}", x, y, ("requires_grad",))
            else:
                found = (
                    None
                    if type(x) is type(y) and x == y
                    else Difference("log", step, name, str(x), str(y))
                )
            if found:
                return found
        return None

    def tables(
        self, step: int, a: dict[str, Seen | None] | None, b: dict[str, Seen | None] | None
    ) -> Difference | None:
        if a is None or b is None:
            return None
        if list(a) != list(b):
            return Difference(
                "value", step, "variables that are tensors", str(list(a)), str(list(b))
            )
        for name, x in a.items():
            flags = OWN if name in self.left.products else None
            found = self.maybe(step, name, x, b[name], flags)
            if found is None and x is not None:
                found = self.maybe(step, f"{name}.grad", x.grad, b[name].grad, ("requires_grad",))  # type: ignore[union-attr]
            if found:
                return found
        return None

    def maybe(
        self, step: int, what: str, a: Seen | None, b: Seen | None, flags: tuple[str, ...] | None
    ) -> Difference | None:
        if a is None or b is None:
            return None if a is b else Difference("value", step, what, brief(a), brief(b))
        return self.seen(step, what, a, b, flags)

    def seen(
        self, step: int, what: str, a: Seen, b: Seen, flags: tuple[str, ...] | None
    ) -> Difference | None:
        if a.value.shape != b.value.shape:
            return Difference("shape", step, what, str(a.value.shape), str(b.value.shape))
        if a.dtype != b.dtype:
            return Difference("dtype", step, what, a.dtype, b.dtype)
        for flag in a.flags if flags is None else flags:
            # A view that PyTorch declares invalid (made under no_grad, base written since) has no
            # flags to agree on
            if a.flags[flag] != "refused" and a.flags[flag] != b.flags.get(flag):
                return Difference(
                    "flag", step, f"{what}: {flag}", str(a.flags[flag]), str(b.flags.get(flag))
                )
        if not self.equal(a.value, b.value):
            return Difference("value", step, what, brief(a), brief(b))
        return None

    def equal(self, a: np.ndarray, b: np.ndarray) -> bool:
        if a.dtype.kind != "f":
            return bool(np.array_equal(a, b))
        return bool(np.allclose(a, b, rtol=self.tolerance, atol=self.tolerance, equal_nan=True))


def brief(seen: Seen | None) -> str:
    return (
        "None"
        if seen is None
        else np.array2string(seen.value, precision=17, threshold=24).replace("\n", "")
    )


def compare(left: Trace, right: Trace) -> Difference | None:
    """The first difference between two traces of one program."""
    return Comparison(left, right).first()


def judge(program: Program, reference: ModuleType, run: Callable[[Program], Trace]) -> Verdict:
    """Compare PyTorch with `run`; where they differ, try PyTorch's corrected ways of running."""
    plain = execute(program, reference)
    other = run(program)
    difference = compare(plain, other)
    if difference is None:
        return Verdict(program, plain, None)
    refused = plain.refused()
    possible = sorted(program.findings() - (set() if refused else {10}))
    for size in range(1, len(possible) + 1):
        for fixes in combinations(possible, size):
            if compare(execute(program, reference, fixes, refused), other) is None:
                return Verdict(program, plain, None, fixes)
    return Verdict(program, plain, difference)
