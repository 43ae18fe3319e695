"""A chain of a million operations: nothing recurses, and time and memory grow in proportion.

100,000 operations in the normal run; a million, in a process of its own, where slow tests run.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

import sapwood

ROOT = Path(__file__).resolve().parent.parent


def chain(n: int) -> tuple[Any, Any]:
    """A leaf, and n operations on it in a row."""
    x = sapwood.tensor(1.0, dtype=sapwood.float64, requires_grad=True)
    t = x
    for _ in range(n):
        t = t * 1.0
    return x, t


def test_forward_backward_and_freeing() -> None:
    gc.collect()
    gc.disable()
    try:
        x, t = chain(100_000)
        first = weakref.ref(t.grad_fn)
        middle = t.grad_fn
        for _ in range(50_000):
            middle = middle.next_functions[0][0]
        refs = [first, weakref.ref(middle), weakref.ref(t)]
        del middle
        t.backward()
        assert x.grad.item() == 1.0
        del t
        assert [r() for r in refs] == [None] * 3
    finally:
        gc.enable()


def test_freeing_without_backward() -> None:
    gc.disable()
    try:
        _, t = chain(100_000)
        node = weakref.ref(t.grad_fn)
        del t
        assert node() is None
    finally:
        gc.enable()


def test_freeing_from_the_middle() -> None:
    """What still holds a node in the middle keeps that half, and only that half."""
    _, t = chain(50_000)
    middle = t.grad_fn
    for _ in range(25_000):
        middle = middle.next_functions[0][0]
    last = weakref.ref(t.grad_fn)
    del t
    assert last() is None
    assert middle.next_functions[0][0] is not None


def test_repr() -> None:
    _, t = chain(100_000)
    assert "MulBackward0" in repr(t)
    assert "MulBackward0" in repr(t.grad_fn)


def test_grad_and_double_backward() -> None:
    x = sapwood.tensor(1.0, dtype=sapwood.float64, requires_grad=True)
    t = x
    for _ in range(20_000):
        t = t * x
    (g,) = sapwood.autograd.grad(t, x, create_graph=True)
    assert g.item() == 20_001
    (h,) = sapwood.autograd.grad(g, x)
    assert h.item() == 20_001 * 20_000


def test_hooks_on_a_chain() -> None:
    """With hooks, edges are counted; also that is no recursion."""
    x, t = chain(20_000)
    seen = []
    x.register_hook(seen.append)
    t.backward()
    assert len(seen) == 1


def test_graph_as_data_and_text() -> None:
    _, t = chain(100_000)
    found = sapwood.graph(t)
    assert len(list(found.nodes)) >= 100_000
    assert len(str(found)) > 0


def test_time_is_linear() -> None:
    """Ten times as long takes about ten times as long."""

    def best(n: int) -> float:
        times = []
        for _ in range(3):
            start = perf_counter()
            _, t = chain(n)
            t.backward()
            del t
            times.append(perf_counter() - start)
        return min(times)

    best(1000)
    assert best(50_000) < 25 * best(5_000)


LONG = """
import gc, json, resource, sys, time
sys.setrecursionlimit(1000)
import sapwood
gc.disable()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

found = {}
for n in (10_000, 100_000, 1_000_000):
    base, start = peak(), time.perf_counter()
    x = sapwood.tensor(1.0, dtype=sapwood.float64, requires_grad=True)
    t = x
    for _ in range(n):
        t = t * 1.0
    text = repr(t)
    if callable(getattr(sapwood, "graph", None)) and len(sys.argv) > 1:
        assert len(list(sapwood.graph(t).nodes)) >= n
    t.backward()
    assert x.grad.item() == 1.0
    del t
    found[n] = [time.perf_counter() - start, peak() - base]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_a_million() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LONG)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = {int(n): v for n, v in json.loads(done.stdout).items()}
    (time5, _), (time6, memory6) = found[100_000], found[1_000_000]
    assert time6 < 25 * time5
    assert memory6 < 2000  # MB: less than 2 kB per operation


@pytest.mark.slow
def test_the_graph_of_a_million() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LONG, "graph"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
