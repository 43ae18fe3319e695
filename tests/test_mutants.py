"""The samples are tested: a rule that is wrong by a sign, a factor or an operand must be noticed.

Each rule of the table is replaced by mutants of itself, in a door made for this purpose; finite
differences on the operation's samples must tell every one of them from the truth. Operations that
only other functions call are judged by the samples of those: there the plans are changed for a
moment, which can swap only what the rule reads anyway.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from sapwood._core.door import TABLE, make_entry
from sapwood._core.node import Node, saved_properties
from sapwood._core.op import MAP, Op, rule_names
from sapwood.testing import collect
from sapwood.testing.case import WANT_GRAD, Case, as_function, run
from sapwood.testing.check import Check

CASES = collect.cases()
LIMIT = 40  # samples per operation, from the smallest to the largest

# Mutants that are the same function as the rule, with the reason.
EQUIVALENT = {
    ("add", "x", "exchanged"): "both rules pass the gradient on",
    ("add", "y", "exchanged"): "both rules pass the gradient on",
    ("relu", "x", "operand"): "input and result are positive together",
    ("copysign", "x", "operand"): "the quotient is 1 or -1 either way",
    ("nextafter", "x", "operand"): "equality is symmetric",
    ("_clamp", "max", "operand"): "x > max or min > max: symmetric in x and min",
}


def with_rules(op: Op, grad: dict[str, Callable], style: str) -> Callable:
    """A door of the same operation with other rules; the table does not change."""
    twin = replace(op, grad=grad, add_into=None, erase=None, plans={})
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
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
    )
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


def mutants(op: Op, arg: str, *, zero: bool, private: bool) -> Iterator[tuple[str, Callable]]:
    """Wrong rules for one operand; where it is 0 everywhere, a rule that is not."""
    rule = op.grad[arg]
    names = rule_names(rule)
    if zero:
        yield "not zero", renamed(lambda g, *rest: g, names)
        return
    yield "sign", renamed(rule, names, lambda r: -r)
    yield "factor", renamed(rule, names, lambda r: r * 1.5)
    other = swapped(op, names)
    if other and (not private or sorted(other) == sorted(names)):
        yield "operand", renamed(rule, other)
    rest = [a for a in op.grad if a != arg]
    if rest and not other and op.kind == MAP and not private:
        yield "exchanged", op.grad[rest[0]]


class Trial:
    """An operation under test: the door to call instead of it, or its own plans changed."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.private = op.name not in CASES
        found = through().get(op.name, []) if self.private else CASES[op.name]
        cases = [c for c in found if any(a.dtype in WANT_GRAD and a.size for a in c.arrays())]
        cases.sort(key=lambda c: (not c.sample.grad, sum(a.size for a in c.arrays())))
        cases = cases[:: max(1, len(cases) // LIMIT)]
        self.cases = [c for c in cases if not self.noticed(c, {})]

    def noticed(self, case: Case, rules: dict[str, Callable]) -> bool:
        """Whether finite differences on this case disagree with the operation under these rules."""
        op = self.op
        if self.private:
            with patched(op, rules):
                return wrong(case, None)
        style = "method" if case.sample.method else "function"
        return wrong(case, with_rules(op, {**op.grad, **rules}, style))

    def zero(self, arg: str) -> bool:
        """Whether the derivative is 0 on all cases: then finite differences see no rule at all."""
        lost = renamed(lambda *values: None, ["g"])
        return not any(self.noticed(c, {arg: lost}) for c in self.cases)


def wrong(case: Case, door: Callable | None) -> bool:
    """Whether the derivative on this case shows that a rule is wrong."""
    try:
        fn, inputs = as_function(case, swap=door)
        Check(fn, inputs, np.random.default_rng(0), 1e-5, 1e-7).first_order()
    except Exception:
        return True
    return False


@contextmanager
def patched(op: Op, rules: dict[str, Callable]) -> Iterator[None]:
    """Other rules in the plans that every door of the operation uses."""
    kept = [(plan, plan.rules, plan.back) for plan in op.plans.values()]
    instead = op.add_into, op.erase  # they would run instead of the rule
    op.add_into = op.erase = None
    try:
        for plan, old, _ in kept:
            plan.rules = [
                (arg, rules.get(arg, rule), rule_names(rules[arg]) if arg in rules else names)
                for arg, rule, names in old
            ]
            plan.back = plan._compile()
        yield
    finally:
        op.add_into, op.erase = instead
        for plan, old, back in kept:
            plan.rules, plan.back = old, back


@cache
def through() -> dict[str, list[Case]]:
    """The cases in whose graph an operation occurs that has no samples of its own."""
    found: dict[str, list[Case]] = {}
    for cases in CASES.values():
        for case in cases:
            try:
                outputs = run(case).outputs
            except Exception:
                continue  # test_table says what is wrong with it
            stack, seen = [t.node for t in outputs if t.node is not None], set()
            while stack:
                node = stack.pop()
                if node not in seen:
                    seen.add(node)
                    stack += [n for n in node.inputs if n is not None]
            for name in {n.op.name for n in seen} - set(CASES):
                found.setdefault(name, []).append(case)
    return found


@pytest.mark.parametrize("name", [name for name, op in TABLE.items() if op.add_into])
def test_wrong_regions_are_noticed(name: str) -> None:
    """`add_into` does at first order what the rule says: wrong by a factor, it is noticed."""
    op = TABLE[name]
    trial = Trial(op)
    assert not any(wrong(case, None) for case in trial.cases)  # and the plans are made now
    kept = [(plan, plan.add_into) for plan in op.plans.values() if plan.add_into is not None]

    def scaled(old: Callable) -> Callable:
        return lambda buffer, g, node: old(buffer, 1.5 * g, node)

    try:
        for plan, old in kept:
            plan.add_into = scaled(old)
        assert any(wrong(case, None) for case in trial.cases), f"no sample runs add_into of {name}"
    finally:
        for plan, old in kept:
            plan.add_into = old


@pytest.mark.parametrize("name", [name for name, op in TABLE.items() if op.erase])
def test_wrong_erasing_is_noticed(name: str) -> None:
    """`erase` makes the first gradient inside g: wrong by a factor, it is noticed."""
    op = TABLE[name]
    trial = Trial(op)
    assert not any(wrong(case, None) for case in trial.cases)  # and the plans are made now
    kept = [(plan, plan.erase) for plan in op.plans.values() if plan.erase is not None]

    def scaled(old: Callable) -> Callable:
        def erase(g: Any, node: Node) -> tuple:
            first, *others = old(g, node)
            return (1.5 * first, *others)

        return erase

    try:
        for plan, old in kept:
            plan.erase = scaled(old)
        assert any(wrong(case, None) for case in trial.cases), f"no sample runs erase of {name}"
    finally:
        for plan, old in kept:
            plan.erase = old


# Rules that are no derivatives: PyTorch says that no gradient flows through a random draw, and
# refuses to differentiate unique values.
BY_CONVENTION = frozenset(
    {"_normal", "_bernoulli", "_poisson", "_drawn", "_drawn_by", "_unique2", "_unique_consecutive"}
)

# An operation that PyTorch has without a derivative raises in backward.
RULES = [
    name
    for name, op in TABLE.items()
    if op.grad
    and op.planner is None
    and op.title != "torch::autograd::NotImplemented"
    and name not in BY_CONVENTION
]


@pytest.mark.parametrize("name", RULES)
def test_wrong_rules_are_noticed(name: str) -> None:
    op = TABLE[name]
    trial = Trial(op)
    assert trial.cases, f"{name} has rules but no sample on which a derivative can be checked"
    survivors = []
    for arg in op.grad:
        for kind, rule in mutants(op, arg, zero=trial.zero(arg), private=trial.private):
            found = any(trial.noticed(c, {arg: rule}) for c in trial.cases)
            same = (name, arg, kind) in EQUIVALENT
            if found == same:
                survivors.append(f"{arg}: {kind}" + (" is not equivalent" if same else ""))
    assert not survivors, f"{name}: no sample notices these wrong rules: {survivors}"
