"""Every operation of the table on every sample: value, dtype, shape, first and second derivative.

The judges are PyTorch where it is installed, values recorded from it (`tests/golden`), and finite
differences. Where an operation should differ from PyTorch, DIFFERENT says why.
"""

from __future__ import annotations

import functools
import gc
import inspect
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sapwood
from golden_table import Golden
from known_differences import DIFFERENT
from sapwood._core import dtype as dt
from sapwood._core.border import ALIASES, FUNCTIONS, METHODS
from sapwood._core.door import TABLE
from sapwood._core.op import CALL, MAP
from sapwood._core.tensor import Tensor, plain
from sapwood.testing import collect
from sapwood.testing.case import OURS, Case, Gradients, Run, as_function, gradients, run
from sapwood.testing.check import check_gradients
from sapwood.testing.oracle import CLOSE, difference, same_value

CASES = collect.cases()
EVERY = pytest.mark.parametrize("name", CASES)
IN_TABLE = pytest.mark.parametrize("name", [n for n in CASES if n in TABLE])

# Public functions that compute nothing from tensors; they have tests of their own.
NO_OPERATIONS = frozenset(
    {"manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state", "cuda"}
)
UNDEFINED = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
# Methods whose name with an underscore belongs to another function, not to an in-place twin.
# as_strided reads the layout, which a clone does not keep.
NO_TWIN = frozenset({"bernoulli", "normal", "as_strided"})
# In-place methods that give the tensor itself another shape.
RESHAPES = frozenset(
    {"squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided"}
)
IMPOSSIBLE = {"fill": ["first operand broadcasts"]}  # samples that an operation cannot have
NARROW = {dt.F64: dt.F32, dt.complex128.np: dt.complex64.np}


@pytest.fixture(scope="module")
def oracle(torch: Any) -> Any:
    from sapwood.testing.oracle import Torch

    return Torch()


def every(cases: list[Case], check: Callable[[Case], str | None]) -> None:
    """Run a check on each case; fail once, with everything that is wrong."""
    wrong = []
    for case in cases:
        try:
            text = check(case)
        except pytest.skip.Exception:
            continue
        except Exception as e:
            text = f"{type(e).__name__}: {e}"
        if text:
            wrong.append(f"  {case}\n    {text}")
    if wrong:
        pytest.fail(f"{len(wrong)} of {len(cases)} samples:\n" + "\n".join(wrong), pytrace=False)


def unlike(what: str, mine: list, theirs: list, **how: float) -> str | None:
    """The first difference between two lists of arrays (None: no gradient)."""
    if len(mine) != len(theirs):
        return f"{len(mine)} {what}s, expected {len(theirs)}"
    for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        text = difference(a, b, **how)
        if text:
            return f"{what} {i}: {text}"
    return None


def arrays(r: Run, tensors: list, like: list | None = None) -> list:
    """The arrays of tensors; zeros for an absent gradient of `like`."""
    found = []
    for i, t in enumerate(tensors):
        if t is None:
            assert like is not None
            t = like[i]
            found.append(np.zeros_like(r.library.array(t)))
        else:
            found.append(r.library.array(t))
    return found


def differs(case: Case, what: str, text: str | None) -> str | None:
    """A difference from PyTorch, unless it is a known one; a known one that is gone is an error."""
    reason = DIFFERENT.get((case.name, what)) or DIFFERENT.get((case.name, what, case.number))
    if reason is None:
        return text
    exact = (case.name, what, case.number) in DIFFERENT
    return f"no difference any more: {reason}" if exact and text is None else None


# ---- completeness ---------------------------------------------------------------------------


def test_every_operation_has_samples() -> None:
    without = {n: w for n, w in collect.missing(CASES).items() if n not in NO_OPERATIONS}
    by_module: dict[str, list[str]] = {}
    for name, where in without.items():
        by_module.setdefault(where, []).append(name)
    text = "\n".join(f"  {where}: {' '.join(sorted(names))}" for where, names in by_module.items())
    assert not without, f"{len(without)} operations without samples\n{text}"


def test_every_sample_is_of_something() -> None:
    assert collect.unknown(CASES) == []


@pytest.mark.parametrize("name", TABLE)
def test_record(name: str) -> None:
    op = TABLE[name]
    assert op.doc.strip(), f"{name} needs a doc line"
    assert op.doc[0] != " " and op.doc.endswith("."), f"{name}: {op.doc!r}"
    assert set(op.grad) <= set(op.args)
    assert op.door.__doc__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_has_a_docstring(name: str) -> None:
    assert (FUNCTIONS[name].__doc__ or "").strip(), f"{name} needs a docstring"
    if name in ALIASES:
        assert FUNCTIONS[name] is (FUNCTIONS.get(ALIASES[name]) or TABLE[ALIASES[name]].door)


def traits(case: Case, operands: int) -> Iterator[str]:
    """What is special about the arrays of a sample."""
    for a in case.arrays():
        yield "0-d" if a.ndim == 0 else "n-d"
        if not a.size:
            yield "size 0"
        if not a.flags.c_contiguous:
            yield "strided"
        if min(a.strides, default=0) < 0:
            yield "negative strides"
    shapes = [a.shape for a in case.sample.args[:operands] if isinstance(a, np.ndarray)]
    if len(shapes) > 1 and all(isinstance(a, np.ndarray) for a in case.sample.args[:2]):
        wide = np.broadcast_shapes(*shapes)
        if shapes[0] != wide:
            yield "first operand broadcasts"
        if shapes[1] != wide:
            yield "second operand broadcasts"


@pytest.mark.parametrize("name", [n for n in CASES if n in TABLE and not n.startswith("_")])
def test_samples_are_various(name: str) -> None:
    """Empty and strided arrays for all; for MAP also 0-d, negative strides and broadcasting."""
    op = TABLE[name]
    wanted = {"size 0", "strided"}
    if op.kind == MAP:
        wanted |= {"0-d", "negative strides"}
        if len(op.args) > 1:
            wanted |= {"first operand broadcasts", "second operand broadcasts"}
    operands = len(op.args) if op.kind == MAP else 0
    have = {t for case in CASES[name] for t in traits(case, operands)}
    lack = wanted - have - set(IMPOSSIBLE.get(name, ()))
    assert not lack, f"no sample of {name} is {sorted(lack)}"


# ---- values -----------------------------------------------------------------------------------


def as_torch(name: str) -> list[Case]:
    """The cases that PyTorch can run, too."""
    return [c for c in CASES[name] if c.sample.torch != ""]


def compare_values(case: Case, mine: Run, theirs: Run) -> str | None:
    """Values, dtypes, shapes, and whether a gradient flows."""
    if case.name in UNDEFINED:
        a, b = (
            [(r.library.array(o).shape, r.library.named(o.dtype)) for o in r.outputs]
            for r in (mine, theirs)
        )
        return None if a == b else f"{a}, expected {b}"
    text = unlike("output", arrays(mine, mine.outputs), arrays(theirs, theirs.outputs))
    if text:
        return text
    if not same_value(mine.others, theirs.others):
        return f"{mine.others}, expected {theirs.others}"
    flags = [[t.requires_grad for t in r.outputs] for r in (mine, theirs)]
    return None if flags[0] == flags[1] else f"requires_grad {flags[0]}, expected {flags[1]}"


@EVERY
def test_value(name: str, oracle: Any) -> None:
    def check(case: Case) -> str | None:
        theirs = run(case, oracle)
        return differs(case, "value", compare_values(case, run(case), theirs))

    every(as_torch(name), check)


@EVERY
def test_golden(name: str) -> None:
    if name in UNDEFINED:
        return

    def check(case: Case) -> str | None:
        known = {(name, what, *n) for what in ("value", "grad") for n in ((), (case.number,))}
        return None if known & set(DIFFERENT) else Golden.check(case)

    every(as_torch(name), check)


# ---- derivatives ----------------------------------------------------------------------------


def with_grad(name: str, *, smooth: bool = True) -> Iterator[Case]:
    """Cases with inputs that require grad; `smooth`: where the derivative exists."""
    for case in CASES[name]:
        if (case.sample.grad or not smooth) and any(a.dtype in NARROW for a in case.arrays()):
            yield case


@EVERY
def test_finite_differences(name: str) -> None:
    def check(case: Case) -> None:
        fn, inputs = as_function(case)
        if inputs and run(case).differentiable:
            check_gradients(fn, inputs)

    every(list(with_grad(name)), check)


def judged(case: Case, oracle: Any) -> tuple[int, Gradients]:
    """PyTorch's derivatives, up to the order that it can do on this case."""
    for order in (2, 1) if case.sample.grad else (1,):
        try:
            return order, gradients(case, run(case, oracle), order=order)
        except (RuntimeError, NotImplementedError) as e:
            if order == 1 and "not implemented" not in str(e):
                raise
    return 0, Gradients([], [])


def compare_gradients(case: Case, mine: Run, theirs: Run, oracle: Any) -> str | None:
    """First and second derivatives, and which of them are absent."""
    order, expected = judged(case, oracle)
    if not order:
        return None
    found = gradients(case, mine, order=order)
    close = max(
        CLOSE.get(a.dtype.name, 0.0)
        for r in (mine, theirs)
        for a in arrays(r, r.inputs + r.differentiable)
    )
    for i, (a, b) in enumerate(zip(found.first, expected.first, strict=True)):
        if (a is None) != (b is None):
            return f"gradient {i}: {'absent' if a is None else 'present'} here only"
    text = unlike(
        "gradient",
        arrays(mine, found.first, mine.inputs),
        arrays(theirs, expected.first, theirs.inputs),
        close=close,
    )
    if text is None and order == 2:
        likes = [r.inputs + r.differentiable for r in (mine, theirs)]
        text = unlike(
            "second derivative",
            arrays(mine, found.second, likes[0]),
            arrays(theirs, expected.second, likes[1]),
            close=close,
            slack=0.1,
        )
    return text


@EVERY
def test_gradients_as_torch(name: str, oracle: Any) -> None:
    def check(case: Case) -> str | None:
        theirs = run(case, oracle)
        if not theirs.differentiable or not theirs.inputs:
            return None
        return differs(case, "grad", compare_gradients(case, run(case), theirs, oracle))

    every([c for c in with_grad(name, smooth=False) if c.sample.torch != ""], check)


# ---- dtypes ---------------------------------------------------------------------------------


def narrow(kind: np.dtype) -> np.dtype:
    """float64 to float32, complex128 to complex64."""
    return NARROW.get(kind, kind)


@EVERY
def test_float32_in_float32_out(name: str) -> None:
    """No operation widens float32, in values or gradients."""

    def check(case: Case) -> str | None:
        wide, small = run(case), run(case.cast(narrow), wants=frozenset(NARROW.values()))
        for i, (a, b) in enumerate(zip(wide.outputs, small.outputs, strict=True)):
            explicit = "dtype" in case.sample.kwargs or a.dtype == b.dtype
            if not explicit and b.array.dtype != narrow(a.array.dtype):
                return f"output {i} is {b.dtype} of float32 and {a.dtype} of float64"
            if a.dtype == b.dtype and a.array.dtype in NARROW and not fixed(case):
                return f"output {i} is {b.dtype} also of float32"
        if small.inputs and small.differentiable:
            for i, g in enumerate(gradients(case, small).first):
                if g is not None and g.dtype != small.inputs[i].dtype:
                    return f"gradient {i} is {g.dtype} for {small.inputs[i].dtype}"
        return None

    if name != "float_power_":  # exists for float64 only
        every([c for c in CASES[name] if any(a.dtype in NARROW for a in c.arrays())], check)


def fixed(case: Case) -> bool:
    """Whether something in the call asks for a dtype: an argument, or a name such as `double`."""
    given = [*case.sample.args, *case.sample.kwargs.values()]
    return (
        case.name in dt.ALIASES
        or case.name.startswith("float_power")
        or any(
            isinstance(v, (dt.dtype, np.dtype)) or v in (float, complex)
            for v in given
            if not isinstance(v, (np.ndarray, list, tuple, dict, slice))
        )
    )


def in_half(case: Case, kind: np.dtype, oracle: Any) -> str | None:
    """The case in a 16-bit dtype: values as PyTorch's within an ulp, gradients of that dtype."""
    low = case.cast(lambda old: kind if old == dt.F64 else old)
    wants = frozenset({kind})
    try:
        theirs = run(low, oracle, wants=wants)
    except (RuntimeError, NotImplementedError):  # PyTorch has no kernel for it
        return None
    mine = run(low, wants=wants)
    if case.name in UNDEFINED:
        return None
    text = unlike("output", arrays(mine, mine.outputs), arrays(theirs, theirs.outputs))
    if text is None and mine.inputs and mine.differentiable:
        for i, g in enumerate(gradients(low, mine).first):
            if g is not None and g.dtype != mine.inputs[i].dtype:
                text = f"gradient {i} is {g.dtype}"
    return text


@EVERY
def test_half_precision(name: str, oracle: Any) -> None:
    """16-bit numbers are stored as such, computed in float32, rounded once."""
    kinds = [k for k in (dt.float16.np, dt.BF16) if k is not None]

    def check(case: Case) -> str | None:
        wrong = [f"{k.name}: {text}" for k in kinds if (text := in_half(case, k, oracle))]
        return differs(case, "half", "; ".join(wrong) or None)

    every([c for c in as_torch(name) if any(a.dtype == dt.F64 for a in c.arrays())], check)


# ---- hygiene --------------------------------------------------------------------------------


@EVERY
def test_inputs_are_not_written(name: str) -> None:
    def check(case: Case) -> str | None:
        given = case.arrays()
        before = [a.copy() for a in given]
        out = case.sample.kwargs.get("out")
        got = run(case, arrays=given)
        if got.inputs and got.differentiable:
            gradients(case, got, order=2 if case.sample.grad else 1)
        for i, (a, b) in enumerate(zip(given, before, strict=True)):
            if a.tobytes() != b.tobytes() and out is None:
                return f"array {i} was written"
        return None

    every(CASES[name], check)


@EVERY
def test_everything_is_freed(name: str) -> None:
    """By reference counting: no cycle is left after forward, backward and double backward."""

    def check(case: Case) -> str | None:
        gc.disable()
        try:
            got = run(case)
            parts = [*got.given, *got.outputs, *(t.grad_fn for t in got.outputs)]
            if got.inputs and got.differentiable:
                found = gradients(case, got, order=2 if case.sample.grad else 1)
                parts += [*found.first, *found.second]
                parts += [g.grad_fn for g in found.first if g is not None]
                del found
            refs = [weakref.ref(p) for p in parts if p is not None]
            del got, parts
            alive = [r() for r in refs if r() is not None]
            return f"{len(alive)} of {len(refs)} objects live on: {alive[:3]}" if alive else None
        finally:
            gc.enable()

    every(CASES[name], check)


def sharing(r: Run) -> list[list[bool]]:
    """Which outputs share memory with which inputs."""
    return [
        [np.may_share_memory(r.library.array(o), r.library.array(x)) for x in r.given]
        for o in r.outputs
    ]


@EVERY
def test_aliases_as_torch(name: str, oracle: Any) -> None:
    """An output shares memory with an input exactly where PyTorch's does."""

    def check(case: Case) -> str | None:
        given = case.arrays()
        if any(not a.size or min(a.strides, default=0) < 0 for a in given):
            return None  # PyTorch has no negative strides
        mine, theirs = run(case), run(case, oracle)
        a, b = sharing(mine), sharing(theirs)
        return differs(case, "alias", None if a == b else f"shares {a}, expected {b}")

    every([c for c in as_torch(name) if not c.writes], check)


@IN_TABLE
def test_aliases_as_recorded(name: str) -> None:
    """What the record does not call alias or view has memory of its own."""
    op = TABLE[name]

    def check(case: Case) -> str | None:
        got = run(case)
        shared = any(any(row) for row in sharing(got))
        return "shares memory with an input" if shared and not (op.alias or op.view) else None

    every([c for c in CASES[name] if not c.writes], check)


# ---- one operation, several entries -----------------------------------------------------------


@IN_TABLE
def test_door_on_arrays(name: str) -> None:
    """Rules call doors with raw arrays at first order: the same result, as an array."""
    op = TABLE[name]

    def check(case: Case) -> str | None:
        args, kwargs = case.sample.args, case.sample.kwargs
        operands = args[0] if op.variadic else args[: len(op.args)]
        kinds = {a.dtype for a in operands if isinstance(a, np.ndarray)}
        plain_kind = (len(kinds) == 1 and next(iter(kinds)).kind in "fc") or op.dtype == "keep"
        if case.sample.method or not plain_kind or not isinstance(operands[0], np.ndarray):
            return None
        if "out" in kwargs or (any(k in op.prologue for k in kwargs) and op.kind != CALL):
            return None
        got = run(case)
        OURS.seed()
        with np.errstate(all="ignore"):  # the reverse pass silences NumPy
            raw = op.door(*args, **kwargs)
        raw = list(raw) if isinstance(raw, tuple) else [raw]
        if not all(type(r) is np.ndarray for r in raw):
            return f"gives {[type(r).__name__ for r in raw]} on arrays"
        return unlike("output", raw, arrays(got, got.outputs))

    every(CASES[name], check)


@EVERY
def test_method_agrees(name: str) -> None:
    if not callable(getattr(Tensor, name, None)) or name in UNDEFINED:
        return
    if name in TABLE and name in METHODS:
        return  # the method takes its operands in another order: where

    def check(case: Case) -> str | None:
        if (
            case.sample.method
            or not case.sample.args
            or "out" in case.sample.kwargs
            or not isinstance(case.sample.args[0], np.ndarray)
        ):
            return None
        function = run(case)
        method = run(case, swap=lambda first, *rest, **more: getattr(first, name)(*rest, **more))
        return unlike("output", arrays(method, method.outputs), arrays(function, function.outputs))

    every(CASES[name], check)


@EVERY
def test_out_agrees(name: str) -> None:
    """`out=` takes the result, also where it had another shape, and is returned."""
    door = getattr(sapwood, name, None)
    if not callable(door) or "out" not in inspect.signature(door).parameters or name in UNDEFINED:
        return

    def check(case: Case) -> str | None:
        if case.sample.method or "out" in case.sample.kwargs:
            return None
        if name == "where" and len(case.sample.args) == 1:
            return None  # this form gives positions
        want = run(case, grad=False).outputs
        if len(want) != 1 or want[0].requires_grad:
            return None
        for shape in (want[0].array.shape, (7,)):
            out = plain(np.zeros(shape, want[0].array.dtype))
            with warnings.catch_warnings():  # PyTorch warns, too, where out must be resized
                warnings.simplefilter("ignore", UserWarning)
                got = run(case, grad=False, swap=functools.partial(door, out=out)).outputs[0]
            if got is not out:
                return "does not return out"
            text = unlike("output", [out.array], [want[0].array])
            if text:
                return f"into shape {shape}: {text}"
        return None

    every(CASES[name], check)


@EVERY
def test_in_place_agrees(name: str) -> None:
    """`x.name_()` is `x = x.name()`, in values and gradients, or a refusal that changes nothing."""
    twin = f"{name}_"
    if not callable(getattr(Tensor, twin, None)) or name.startswith("_") or name in NO_TWIN:
        return

    def check(case: Case) -> str | None:
        if (
            not case.sample.args
            or "out" in case.sample.kwargs
            or not isinstance(case.sample.args[0], np.ndarray)
        ):
            return None
        function = run(case)
        target: list[Tensor] = []

        def write(first: Tensor, *rest: Any, **more: Any) -> Tensor:
            target.append(first.clone())
            target.append(target[0].detach().clone())
            return getattr(target[0], twin)(*rest, **more)

        want = function.outputs[0]
        fits = (
            want.array.shape == function.given[0].array.shape
            and want.dtype.category <= function.given[0].dtype.category
        )
        if name == "float_power":  # it computes in float64, and writes only there
            fits = fits and want.dtype is function.given[0].dtype
        fits = fits or name in RESHAPES
        try:
            written = run(case, swap=write)
        except RuntimeError as e:
            if fits:
                return f"refused: {e}"
            same = np.array_equal(target[0].array, target[1].array, equal_nan=True)
            return None if same else "a refused write changed the tensor"
        if not fits:
            return f"wrote {want.dtype}{list(want.array.shape)} into {case.sample.args[0].shape}"
        if written.outputs[0] is not target[0]:
            return "does not return self"
        kind = target[0].array.dtype
        text = unlike("output", [target[0].array], [want.array.astype(kind)])
        if text or not function.differentiable or not function.inputs:
            return text
        a, b = gradients(case, written), gradients(case, function)
        if target[0].dtype != want.dtype:
            return None
        return unlike(
            "gradient",
            arrays(written, a.first, written.inputs),
            arrays(function, b.first, function.inputs),
        )

    every([c for c in CASES[name] if not c.sample.method and "dtype" not in c.sample.kwargs], check)


def test_sapwood_is_whole() -> None:
    """Every public operation can be reached from the package."""
    lost = [n for n in (*TABLE, *FUNCTIONS) if not n.startswith("_") and not hasattr(sapwood, n)]
    assert lost == []
