"""The samples are tested: a rule that is wrong by a sign, a factor or an operand must be noticed.

Each rule of the table is replaced, in a door made for this purpose, by mutants of itself; finite
differences on the operation's samples must tell every one of them from the truth.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sapwood._core.door import TABLE, make_entry
from sapwood._core.node import Node, saved_properties
from sapwood._core.op import MAP, Op, rule_names
from sapwood.testing import collect
from sapwood.testing.case import WANT_GRAD, Case, as_function, gradients, run
from sapwood.testing.check import Check

CASES = collect.cases()
OWN = ("plans", "plain", "node_class", "door")  # slots that each Op makes for itself

# Mutants that are the same function as the rule, with the reason.
EQUIVALENT = {
    ("add", "x", "exchanged"): "both rules pass the gradient on",
}


def with_rules(op: Op, grad: dict[str, Callable], style: str) -> Callable:
    """A door of the same operation with other rules; the table does not change."""
    fields = {slot: getattr(op, slot) for slot in Op.__slots__ if slot not in OWN}
    twin = Op(**{**fields, "grad": grad})
    body = {"__slots__": (), "op": twin, **saved_properties(twin)}
    twin.node_class = type(op.node_class.__name__, (Node,), body)
    return make_entry(twin, style)


def renamed(rule: Callable, names: list[str], change: Callable | None = None) -> Callable:
    """The rule under other parameter names, its result changed."""

    def mutant(*values: Any) -> Any:
        result = rule(*values)
        if change is None or result is None:
            return result
        if isinstance(result, (list, tuple)):
            return [None if r is None else change(r) for r in result]
        return change(result)

    mutant.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])
    return mutant


def swapped(op: Op, names: list[str]) -> list[str] | None:
    """The names with one value exchanged for another one of the operation."""
    values = [*op.args, *([] if op.variadic else op.outputs)]
    asked = [n for n in names if n in values]
    others = [v for v in values if v not in asked]
    if len(asked) >= 2:
        a, b = asked[:2]
    elif asked and others:
        a, b = asked[0], others[0]
    else:
        return None
    return [b if n == a else a if n == b else n for n in names]


def mutants(op: Op, arg: str, *, zero: bool) -> Iterator[tuple[str, dict[str, Callable]]]:
    """Wrong rules for one operand."""
    rule = op.grad[arg]
    names = rule_names(rule)
    if zero:  # the derivative is 0 everywhere: only a rule that is not can be told from it
        yield "not zero", {**op.grad, arg: renamed(lambda g, *rest: g, names)}
        return
    yield "sign", {**op.grad, arg: renamed(rule, names, lambda r: -r)}
    yield "factor", {**op.grad, arg: renamed(rule, names, lambda r: r * 1.5)}
    other = swapped(op, names)
    if other:
        yield "operand", {**op.grad, arg: renamed(rule, other)}
    rest = [a for a in op.grad if a != arg]
    if rest and not other and op.kind == MAP:
        yield "exchanged", {**op.grad, arg: op.grad[rest[0]]}


def killed(case: Case, door: Callable) -> bool:
    """Whether the derivative on this sample shows that the rule is wrong."""
    try:
        fn, inputs = as_function(case, swap=door)
        Check(fn, inputs, np.random.default_rng(0), 1e-5, 1e-7).first_order()
    except Exception:
        return True
    return False


def zeros(cases: list[Case]) -> bool:
    """Whether the derivative is 0 on all samples."""
    for case in cases:
        got = run(case)
        if any(g is not None and g.array.any() for g in gradients(case, got).first):
            return False
    return True


def smooth(name: str) -> list[Case]:
    """The samples on which a derivative can be checked, the smallest first."""
    found = [c for c in CASES.get(name, ()) if c.sample.grad and any(
        a.dtype in WANT_GRAD and a.size for a in c.arrays())]
    found = [c for c in found if run(c).differentiable]
    return sorted(found, key=lambda c: sum(a.size for a in c.arrays()))


RULES = [name for name, op in TABLE.items() if op.grad and op.planner is None]


@pytest.mark.parametrize("name", RULES)
def test_wrong_rules_are_noticed(name: str) -> None:
    op, cases = TABLE[name], smooth(name)
    assert cases, f"{name} has rules but no sample on which a derivative can be checked"
    survivors = []
    zero = zeros(cases)
    for arg in op.grad:
        for kind, grad in mutants(op, arg, zero=zero):
            doors = {how: with_rules(op, grad, how) for how in ("function", "method")}
            found = any(killed(c, doors["method" if c.sample.method else "function"])
                        for c in cases)
            same = (name, arg, kind) in EQUIVALENT
            if found == same:
                survivors.append(f"{arg}: {kind}" + (" is not equivalent" if same else ""))
    assert not survivors, f"{name}: no sample notices these wrong rules: {survivors}"
