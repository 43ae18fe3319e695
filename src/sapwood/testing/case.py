"""A sample made ready to run: fresh arrays, tensors from them, and the results as flat lists.

The same `Case` is run by sapwood (`OURS`) and by an oracle (`oracle.py`): they differ only in the
`Library` that makes tensors, finds functions and differentiates.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import sapwood
from sapwood._core import dtype as dt
from sapwood._core.door import TABLE
from sapwood._core.tensor import Tensor, plain
from sapwood.testing.check import copied
from sapwood.testing.sample import Sample

WANT_GRAD = frozenset({np.dtype("f8"), np.dtype("c16")})  # sample arrays that require grad


def leaves(value: Any) -> Iterator[np.ndarray]:
    """The arrays in nested lists, tuples and dicts, in order."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)


def rebuilt(value: Any, make: Callable[[Any], Any]) -> Any:
    """The same nesting with every part that is no container replaced by make(part)."""
    if type(value) in (list, tuple):
        return type(value)(rebuilt(part, make) for part in value)
    if type(value) is dict:
        return {key: rebuilt(part, make) for key, part in value.items()}
    return make(value)


def described(value: Any) -> str:
    """A short text of an argument: `f64[2,3]` for arrays."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.str[1:] if value.dtype.kind != "V" else value.dtype.name
        gaps = "" if value.flags.c_contiguous else f" strides {value.strides}"
        return f"{kind}{list(value.shape)}{gaps}".replace(" ", "" if not gaps else " ")
    if type(value) in (list, tuple):
        return f"({', '.join(map(described, value))})"
    return f"{value!r:.40}"


@dataclass(frozen=True)
class Case:
    """One sample of one operation."""

    name: str
    number: int
    sample: Sample

    def __str__(self) -> str:
        given = [
            *map(described, self.sample.args),
            *(f"{k}={described(v)}" for k, v in self.sample.kwargs.items()),
        ]
        how = "method" if self.sample.method else "call"
        return f"sample {self.number}: {how} {self.name}({', '.join(given)})"

    @property
    def writes(self) -> bool:
        """Whether the operation writes into its first argument: `add_`, `__setitem__`."""
        name = self.name
        return name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))

    def arrays(self) -> list[np.ndarray]:
        """The arrays of the sample, copied with their layout."""
        return [copied(a) for a in leaves((self.sample.args, self.sample.kwargs))]

    def cast(self, to: Callable[[np.dtype], np.dtype]) -> Case:
        """The case with its arrays in other dtypes."""

        def make(part: Any) -> Any:
            if isinstance(part, np.ndarray) and to(part.dtype) != part.dtype:
                return copied(part, to(part.dtype))
            return part

        args, kwargs = rebuilt((self.sample.args, self.sample.kwargs), make)
        return replace(self, sample=replace(self.sample, args=args, kwargs=kwargs))

    def random(self, salt: str) -> np.random.Generator:
        """Random numbers that depend on the case and on `salt` only."""
        return np.random.default_rng(zlib.crc32(f"{self.name}:{self.number}:{salt}".encode()))


class Library:
    """sapwood, as the harness uses it; an oracle overrides all of this."""

    def tensor(self, a: np.ndarray, *, grad: bool) -> Any:
        """A tensor around the array; a leaf that requires grad where asked."""
        t = plain(dt.canonical(a))
        return t.requires_grad_() if grad else t

    def array(self, t: Any) -> np.ndarray:
        """The elements of a tensor."""
        return t.array

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of this library."""
        return isinstance(value, Tensor)

    def constant(self, value: Any) -> Any:
        """An argument that is no tensor, in this library's terms."""
        return value

    def function(self, case: Case, first: Any) -> Callable:
        """What the case calls; `first` is its first argument, bound already for methods."""
        name = case.name
        if case.sample.method or (case.writes and not hasattr(sapwood, name)):
            return getattr(first, name)
        return TABLE[name].door if name.startswith("_") else getattr(sapwood, name)

    def clone(self, t: Any) -> Any:
        """A non-leaf of the same elements."""
        return t.clone()

    def differentiable(self, t: Any) -> bool:
        """Whether a gradient flows to the tensor."""
        return t.requires_grad

    def grad(self, outputs: list, inputs: list, seeds: list, *, graph: bool) -> list:
        """Gradients, None where absent."""
        return list(
            sapwood.autograd.grad(
                outputs, inputs, seeds, create_graph=graph, retain_graph=True, allow_unused=True
            )
        )

    def seed(self) -> None:
        """Put random numbers at their beginning."""
        getattr(sapwood, "manual_seed", lambda seed: None)(7)

    def named(self, kind: Any) -> str:
        """The name of a dtype of this library."""
        return kind.name


OURS = Library()


@dataclass
class Run:
    """What one call of a case gave."""

    library: Library
    given: list[Any]  # one tensor per array of the sample
    inputs: list[Any]  # those that require grad
    outputs: list[Any]  # the tensors of the result, flat
    others: list[Any] = field(default_factory=list)  # results that are no tensors

    @property
    def differentiable(self) -> list[Any]:
        """The outputs that require grad."""
        return [t for t in self.outputs if self.library.differentiable(t)]


def run(
    case: Case,
    library: Library = OURS,
    *,
    arrays: list[np.ndarray] | None = None,
    grad: bool = True,
    wants: frozenset = WANT_GRAD,
    swap: Callable | None = None,
) -> Run:
    """Call the operation of a case. `swap` replaces the function that is called."""
    values = iter(case.arrays() if arrays is None else arrays)
    out = case.sample.kwargs.get("out")
    given, inputs = [], []

    def make(part: Any) -> Any:
        if not isinstance(part, np.ndarray):
            return library.constant(part)
        t = library.tensor(next(values), grad=grad and part.dtype in wants and part is not out)
        given.append(t)
        if grad and library.differentiable(t):
            inputs.append(t)
        return t

    args, kwargs = rebuilt((case.sample.args, case.sample.kwargs), make)
    if case.writes:
        args = (library.clone(args[0]), *args[1:])
    first = args[0] if args else None
    library.seed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        called = library.function(case, first)
        if swap is not None:
            result = swap(*args, **kwargs)
        elif getattr(called, "__self__", None) is first and first is not None:
            result = called(*args[1:], **kwargs)
        else:
            result = called(*args, **kwargs)
    outputs, others = flat(library, first if case.writes else result)
    return Run(library, given, inputs, outputs, others)


def flat(library: Library, result: Any) -> tuple[list, list]:
    """The tensors of a result, and everything else in it."""
    if library.is_tensor(result):
        return [result], []
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)) and any(map(library.is_tensor, result)):
        parts = [flat(library, part) for part in result]
        return [t for p in parts for t in p[0]], [o for p in parts for o in p[1]]
    return [], [simple(library, result)]


def simple(library: Library, value: Any) -> Any:
    """A result that is no tensor, in terms that both libraries share."""
    if isinstance(value, (tuple, list)):
        return [simple(library, part) for part in value]
    if type(value).__name__ == "dtype":
        return library.named(value)
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    return str(value)


def directions(case: Case, salt: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Random arrays like the given ones: seeds of a backward, or directions to move in."""
    rng = case.random(salt)
    made = []
    for a in arrays:
        v = rng.normal(size=a.shape)
        if a.dtype.kind == "c":
            v = v + 1j * rng.normal(size=a.shape)
        made.append(np.asarray(v).astype(a.dtype))
    return made


@dataclass
class Gradients:
    """First and second derivatives of one run, None where absent."""

    first: list[Any]
    second: list[Any]  # with respect to the inputs, then to the seeds


def gradients(case: Case, got: Run, *, order: int = 1) -> Gradients:
    """Differentiate the outputs with seeded gradients, and with order=2 the result once more."""
    library, outputs = got.library, got.differentiable
    seeds = [
        library.tensor(s, grad=order > 1)
        for s in directions(case, "seeds", [library.array(t) for t in outputs])
    ]
    first = library.grad(outputs, got.inputs, seeds, graph=order > 1)
    if order < 2:
        return Gradients(first, [])
    again = [g for g in first if g is not None and library.differentiable(g)]
    if not again:
        return Gradients(first, [None] * (len(got.inputs) + len(seeds)))
    seeds2 = [
        library.tensor(s, grad=False)
        for s in directions(case, "again", [library.array(g) for g in again])
    ]
    return Gradients(first, library.grad(again, got.inputs + seeds, seeds2, graph=False))


def as_function(case: Case, *, swap: Callable | None = None) -> tuple[Callable, list[np.ndarray]]:
    """The case as a function of the arrays that require grad, and these arrays."""
    given = case.arrays()
    probe = run(case, swap=swap)
    places = [i for i, t in enumerate(probe.given) if any(t is x for x in probe.inputs)]

    def fn(*tensors: Tensor) -> list[Tensor]:
        return run(case, Given(tensors), arrays=[a.copy() for a in given], swap=swap).outputs

    return fn, [given[i] for i in places]


class Given(Library):
    """sapwood, with the tensors that would require grad given from outside."""

    def __init__(self, tensors: tuple[Tensor, ...]) -> None:
        self.tensors = iter(tensors)

    def tensor(self, a: np.ndarray, *, grad: bool) -> Any:
        """The next given tensor where one is to require grad."""
        return next(self.tensors) if grad else super().tensor(a, grad=False)
