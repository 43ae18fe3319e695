"""Runs a program on an engine and writes down everything a user could see.

Owns `Session` (the variables of one run), `Trace` (what was seen) and the four corrected ways of
running a program on PyTorch where PyTorch itself is wrong. Every engine is used through PyTorch's
public names only. A refused step is recorded and the run goes on: a refusal must leave everything
as it was.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from .program import Program, Step

# What a refusal is about, by a phrase of PyTorch's message. Both engines must use a phrase of the
# same kind.
KINDS_OF_REFUSAL = {
    name: re.compile(pattern)
    for name, pattern in {
        "in-place on a view of a leaf": "a view of a leaf Variable that requires grad",
        "in-place on a leaf": "a leaf Variable that requires grad",
        "saved value was changed": "modified by an inplace operation",
        "second time": "second time",
        "root needs no grad": "does not require grad and does not have a grad_fn",
        "root is not a scalar": "implicitly created only for scalar outputs",
        "unused input": "appears to not have been used",
        "several views": "output of a function that returns multiple views",
        "view made under no_grad": "created in no_grad mode|made in no_grad|inside a no_grad",
        "overlapping memory": "single memory location",
        "flag of a non-leaf": "can only change requires_grad flags of leaf",
        "grad of an integer": "floating point and complex dtype can require gradients",
        "retain without grad": "can't retain_grad",
        "hook without grad": "cannot register a hook on a tensor that doesn't require grad",
        "post-accumulate on a non-leaf": "post accumulate grad hooks cannot be",
        "seed of another shape": "Mismatch in shape",
        "hook changed the size": "has changed the size of value",
        "hook changed the type": "has changed the type of value",
        "hook returned no tensor": "expected Variable, but hook returned",
        "detach_ of a view": "[Cc]an't detach views in-place|detach\\(\\) instead of detach_",
        "view does not fit": "view size is not compatible",
        "own grad": "can't assign Variable as its own grad",
        "grad of another shape": "assigned grad has data of a different",
        "raised by a hook": "raised on purpose",
    }.items()
}


def builtin_name(kind: type) -> str:
    """The built-in exception that an `except` would name: RuntimeError for a subclass of it."""
    return next(c.__name__ for c in kind.__mro__ if c.__module__ == "builtins")


@dataclass(frozen=True)
class Refusal:
    """An exception, reduced to what must agree: its class and, where known, its kind."""

    cls: str
    kind: str
    message: str

    @classmethod
    def of(cls, error: Exception) -> Refusal:
        message = str(error)
        kind = next(
            (name for name, phrase in KINDS_OF_REFUSAL.items() if phrase.search(message)), ""
        )
        return cls(builtin_name(type(error)), kind, message.split("\n")[0][:300])


@dataclass(frozen=True)
class Seen:
    """One tensor as a user sees it."""

    value: np.ndarray
    dtype: str
    flags: dict[str, Any]
    grad: Seen | None = None


@dataclass
class Event:
    """What one step did: its refusal, its hook log and, if it asked for a look, the variables."""

    refusal: Refusal | None
    log: list[tuple[str, Any]]
    variables: dict[str, Seen | None] | None


@dataclass
class Trace:
    """Everything seen in one run; the last event holds the final look."""

    events: list[Event] = field(default_factory=list)
    kept: dict[str, Seen | None] = field(default_factory=dict)

    # products (PyTorch squeezes some of them in place, which counts as a write) and their views
    products: set[str] = field(default_factory=set)

    def refused(self) -> list[int]:
        return [i for i, event in enumerate(self.events) if event.refusal]

    def arrays(self) -> Iterator[np.ndarray]:
        """Every value in the trace."""
        for event in self.events:
            yield from (e.value for _, e in event.log if isinstance(e, Seen))
            for seen in (event.variables or {}).values():
                if seen is not None:
                    yield seen.value
                    if seen.grad is not None:
                        yield seen.grad.value


def see(t: Any, grad: bool = False) -> Seen | None:
    """A copy of a tensor's value and flags (None for None)."""
    if t is None:
        return None
    flags = {
        "requires_grad": attempt(lambda: t.requires_grad),
        "is_leaf": attempt(lambda: t.is_leaf),
        "grad_fn is None": attempt(lambda: t.grad_fn is None),
        "_version": attempt(lambda: t._version),
        "_is_view()": attempt(lambda: t._is_view()),
    }
    dtype = str(t.dtype).rpartition(".")[2]
    value = np.array(t.detach().numpy(), copy=True)
    return Seen(value, dtype, flags, see(attempt(lambda: t.grad, None)) if grad else None)


def attempt(look: Callable[[], Any], otherwise: Any = "refused") -> Any:
    """A property, which may refuse: a view made under no_grad does once its base is written."""
    try:
        return look()
    except (RuntimeError, AttributeError):
        return otherwise


@lru_cache(maxsize=4096)
def compiled(text: str) -> CodeType:
    return compile(text, "<step>", "exec")


class Session:
    """The variables of one run of one program on one engine."""

    def __init__(self, engine: ModuleType, fixes: Collection[int] = ()) -> None:
        self.engine = engine
        self.fixes = frozenset(fixes)
        # PyTorch 2.13 renews a view's node only when asked for it, and does not ask where it must:
        # after a write to the base, view.register_hook() crashes the process, retain_grad() is
        # lost, requires_grad_(False) is accepted.
        self.stale = engine.__name__ == "torch"
        self.log: list[tuple[str, Any]] = []
        self.kept: dict[str, Any] = {}
        self.retained: list[Any] = []
        self.env: dict[str, Any] = {
            "torch": engine,
            "log": self._log,
            "kept": self.kept,
            "retain": self._retain,
            "through": self._through,
        }

    def run(self, step: Step, skip: Collection[int] = ()) -> Refusal | None:
        """Do one step; `skip` names fixes that do not apply to it."""
        fixes = self.fixes - frozenset(skip)
        if self.stale and step.op.startswith(("hook", "retain_grad", "requires_grad_", "refused")):
            for t in self.tensors().values():
                attempt(lambda t=t: t.grad_fn)  # type: ignore[misc]
        before = self._gradients() if 10 in fixes and step.op.startswith("backward") else []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with self._retaining() if self.retained else _nothing():
                    exec(compiled(step.reading(fixes)), self.env)
        except Exception as error:
            for t, grad, value in before:  # nothing is written half: the leaves are as they were
                t.grad = grad
                if grad is not None:
                    grad.data.copy_(value)
            return Refusal.of(error)
        return None

    def _gradients(self) -> list[tuple[Any, Any, Any]]:
        leaves = [
            t
            for t in self.tensors().values()
            if attempt(lambda t=t: t.is_leaf and t.requires_grad, False)  # type: ignore[misc]
        ]
        return [(t, t.grad, None if t.grad is None else t.grad.detach().clone()) for t in leaves]

    def tensors(self) -> dict[str, Any]:
        """The program's variables that hold tensors, in the order of their creation."""
        kind = self.engine.Tensor
        return {
            k: v
            for k, v in self.env.items()
            if k[0] == "v" and k[1:].isdigit() and isinstance(v, kind)
        }

    def look(self) -> dict[str, Seen | None]:
        """Every variable as it is now. Of several names of one object, later ones say so."""
        seen: dict[str, Seen | None] = {}
        first: dict[int, str] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, t in self.tensors().items():
                seen[name] = record = see(t, grad=True)
                assert record is not None
                record.flags["same object as"] = first.setdefault(id(t), name)
        return seen

    def take_log(self) -> list[tuple[str, Any]]:
        taken, self.log = self.log, []
        return taken

    def close(self) -> None:
        """Break the cycles of hooks and create_graph; PyTorch can not collect them itself."""
        self.engine.set_grad_enabled(True)
        for t in self.tensors().values():
            t.grad = None
        self.env.clear()
        self.kept.clear()

    def _log(self, name: str, *values: Any) -> None:
        kind = self.engine.Tensor
        for value in values or ("",):
            self.log.append((name, see(value) if isinstance(value, kind) else value))

    # Finding 6: PyTorch forgets retain_grad on a view when the view or its base is written. The
    # right result is what a pre-hook of the node that the tensor has *at the time of the backward*
    # sees.

    def _retain(self, t: Any) -> None:
        if t.is_leaf or not t.requires_grad:
            t.retain_grad()
        elif not any(t is r for r, _ in self.retained):
            self.retained.append((t, t._base.grad_fn if t._is_view() else None))

    @contextmanager
    def _retaining(self) -> Iterator[None]:
        handles = []
        for t, before in self.retained:
            base = t._base if t._is_view() else None
            if base is not None and base.grad_fn is not before and base.is_contiguous():
                # the value of the view is a region of the base's new value, and so is its gradient
                if base.grad_fn is not None:
                    handles.append(base.grad_fn.register_prehook(_store(t, base.output_nr, base)))
            elif attempt(lambda t=t: t.grad_fn, None) is not None:  # type: ignore[misc]
                handles.append(t.grad_fn.register_prehook(_store(t, t.output_nr)))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    # Finding 4: a hook on several tensors misfires when one of them is the root. Behind a view, it
    # is not the root.

    def _through(self, t: Any) -> Any:
        with self.engine.enable_grad():
            return t.view_as(t) if t.requires_grad else t


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _store(t: Any, position: int, base: Any = None) -> Callable[[tuple[Any, ...]], None]:
    def store(grads: tuple[Any, ...]) -> None:
        g = grads[position]
        if g is not None:
            if base is not None:
                start = t.storage_offset() - base.storage_offset()
                g = g.contiguous().as_strided(t.size(), t.stride(), start)
            t.grad = g.clone() if t.grad is None else t.grad + g

    return store


def execute(
    program: Program, engine: ModuleType, fixes: Collection[int] = (), refused: Collection[int] = ()
) -> Trace:
    """Run the program.

    `fixes` are the findings to avoid (PyTorch only), `refused` the steps that finding 10 is about.
    """
    session, trace = Session(engine, fixes), Trace()
    last = len(program.steps) - 1
    for position, step in enumerate(program.steps):
        refusal = session.run(step, skip=() if position in refused else (10,))
        look = session.look() if step.peek or position == last else None
        trace.events.append(Event(refusal, session.take_log(), look))
        left, _, right = step.text.partition(" = ")
        if (
            " @ " in right
            or "matmul" in right
            or ".grad" in right
            or trace.products & set(re.findall(r"\bv\d+", right))
        ):
            trace.products.update(re.findall(r"\bv\d+", left))
    trace.kept = {name: see(t) for name, t in session.kept.items()}
    session.close()
    return trace
