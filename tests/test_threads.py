"""Threads and signals: modes and graphs do not mix, and Ctrl-C leaves nothing half done."""

from __future__ import annotations

import _thread
import contextvars
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sapwood as m

THREADS = 8


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any], count: int = THREADS) -> list:
    """Run work(0), work(1), ... at once; their results, or the first exception."""
    results: list = [None] * count
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(i: int) -> None:
        try:
            start.wait()
            results[i] = work(i)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]
    return results


def leaf(*values: float) -> Any:
    return m.tensor(list(values), dtype=m.float64, requires_grad=True)


class Square(m.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2 * ctx.saved_tensors[0]


def train(seed: int, steps: int = 25) -> tuple:
    """A small network with its own Generator, hooks, in-place updates and a custom Function."""
    g = m.Generator().manual_seed(seed)
    x, y = m.randn(16, 4, generator=g), m.randn(16, 1, generator=g)
    a = (m.randn(4, 8, generator=g) * 0.5).requires_grad_()
    b = (m.randn(8, 1, generator=g) * 0.5).requires_grad_()
    c = m.zeros(8, requires_grad=True)
    log = []
    b.register_hook(lambda grad: log.append(grad.sum().item()))
    for _ in range(steps):
        h = (x @ a + c).tanh()
        h.retain_grad()
        loss = Square.apply(h @ b - y).mean()
        loss.backward()
        log.append(h.grad.abs().sum().item())
        with m.no_grad():
            for p in (a, b, c):
                p -= 0.1 * p.grad
                p.grad.zero_()
    return (a.tolist(), b.tolist(), c.tolist(), loss.item(), log)


def test_eight_models_at_once(switching: None) -> None:
    expected = [train(i) for i in range(THREADS)]
    assert together(train) == expected
    assert expected[0][3] < train(0, steps=1)[3]


def test_a_shared_parameter_accumulates_the_serial_sum(switching: None) -> None:
    w = leaf(*[1.0] * 64)
    u = leaf(*[1.0] * 64)

    def work(i: int) -> None:
        for k in range(50):
            (w * float(i + k) + u).sum().backward()

    together(work)
    assert w.grad.tolist() == [float(sum(i + k for i in range(THREADS) for k in range(50)))] * 64
    assert u.grad.tolist() == [THREADS * 50.0] * 64


def test_the_first_gradient_of_a_shared_leaf_is_not_lost(switching: None) -> None:
    for _ in range(50):
        w = leaf(1)
        together(lambda i, w=w: (w * 1.0).sum().backward())
        assert w.grad.tolist() == [THREADS]


def test_a_shared_graph_backwards_in_many_threads(switching: None) -> None:
    x = leaf(*[1.0] * 32)
    y = (x * x).exp()
    y.retain_grad()
    loss = (y * y).sum()
    results = together(lambda i: m.autograd.grad(loss, x, retain_graph=True)[0].tolist())
    assert all(r == results[0] for r in results)
    np.testing.assert_allclose(results[0], 4 * np.exp(2) * np.ones(32))


def test_in_place_on_a_shared_constant_is_noticed(switching: None) -> None:
    """Versions of leaves exist before threads meet, so that no write goes unseen."""
    for _ in range(20):
        x, c = leaf(1.0), leaf(2.0)
        losses = together(lambda i, x=x, c=c: (x * c).sum())
        with m.no_grad():
            c.mul_(2)
        for loss in losses:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()


def test_modes_belong_to_the_thread(switching: None) -> None:
    x = leaf(1.0)

    def work(i: int) -> bool:
        assert m.is_grad_enabled() and not m.is_inference_mode_enabled()
        ok = True
        for _ in range(200):
            if i % 3 == 0:
                with m.no_grad():
                    ok &= not (x * 2).requires_grad
            elif i % 3 == 1:
                with m.inference_mode():
                    ok &= (x * 2).inference
            ok &= (x * 2).requires_grad
        return ok

    with m.no_grad():
        assert all(together(work))
        assert not m.is_grad_enabled()


def test_backward_runs_on_the_calling_thread() -> None:
    seen: list = []
    context: contextvars.ContextVar = contextvars.ContextVar("context", default=None)

    def work(i: int) -> None:
        context.set(i)
        x = leaf(1.0)
        x.register_hook(lambda g: seen.append((i, threading.get_ident() == me, context.get() == i)))
        me = threading.get_ident()
        (x * 2).sum().backward()

    together(work)
    assert sorted(seen) == [(i, True, True) for i in range(THREADS)]


def test_hooks_on_several_tensors_do_not_mix_passes(switching: None) -> None:
    a, b = leaf(1.0), leaf(1.0)
    seen: list = []
    m.autograd.graph.register_multi_grad_hook(
        (a, b), lambda gs: seen.append(tuple(None if g is None else g.item() for g in gs))
    )
    anys: list = []
    m.autograd.graph.register_multi_grad_hook((a, b), lambda g: anys.append(g.item()), mode="any")

    def work(i: int) -> None:
        for _ in range(25):
            m.autograd.grad((a * i + b * (i + 100)).sum(), (a, b) if i % 2 else (b,))

    together(work)
    expected = [(float(i) if i % 2 else None, i + 100.0) for i in range(THREADS)] * 25
    assert sorted(seen, key=str) == sorted(expected, key=str) and len(anys) == THREADS * 25


def test_callbacks_belong_to_their_pass(switching: None) -> None:
    engine = m.autograd.Variable._execution_engine

    def work(i: int) -> list:
        log: list = []
        for _ in range(25):
            x = leaf(1.0)
            x.register_hook(lambda g, x=x: engine.queue_callback(lambda: log.append(x.grad.item())))
            (x * float(i)).sum().backward()
        return log

    assert together(work) == [[float(i)] * 25 for i in range(THREADS)]


def test_a_thread_started_in_a_hook() -> None:
    """It has a mode of its own and may run a backward of its own."""
    x, w = leaf(1.0), leaf(1.0)

    def hook(g: Any) -> None:
        def work() -> None:
            assert m.is_grad_enabled()
            (w * 3).sum().backward()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    x.register_hook(hook)
    (x * 2).sum().backward()
    assert (x.grad.item(), w.grad.item()) == (2, 3)


# ---- Ctrl-C ------------------------------------------------------------------------------------

POSIX = pytest.mark.skipif(os.name != "posix", reason="sends signals")


def test_ctrl_c_in_a_hook_writes_nothing_and_backward_runs_again() -> None:
    for interrupt in (lambda: signal.raise_signal(signal.SIGINT), _thread.interrupt_main):
        calls: list = []

        def hook(g: Any, interrupt: Any = interrupt, calls: list = calls) -> None:
            calls.append(1)
            if len(calls) == 1:
                interrupt()

        x, w = leaf(1.0), leaf(2.0)
        y = x.exp()
        y.register_hook(hook)
        loss = (y * w).sum()  # w is done before the hook runs
        with pytest.raises(KeyboardInterrupt):
            loss.backward()
            time.sleep(0.1)  # the signal is handled between two instructions
        assert x.grad is None and w.grad is None and m.is_grad_enabled()
        loss.backward()
        np.testing.assert_allclose([x.grad.item(), w.grad.item()], [2 * np.e, np.e])


class Interrupts:
    """Sends this process a Ctrl-C again and again, at random moments, while `on`."""

    def __init__(self) -> None:
        self.stop, self.on = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self) -> None:
        rng = np.random.default_rng(0)
        while not self.stop.is_set():
            self.on.wait(0.1)
            time.sleep(rng.uniform(0, 2e-3))
            if self.on.is_set():
                self.on.clear()
                os.kill(os.getpid(), signal.SIGINT)

    def __enter__(self) -> Interrupts:
        self.thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.on.clear()
        self.stop.set()
        self.thread.join()


def hammer(work: Callable[[], None], check: Callable[[int], None], seconds: float = 2) -> int:
    """Run work() in a loop that is interrupted at random moments; check after each interrupt."""
    interrupted = 0
    end = time.monotonic() + seconds
    with Interrupts() as source:
        while time.monotonic() < end:
            try:
                source.on.set()
                while source.on.is_set():
                    work()
                for _ in range(100):  # it may still be on its way
                    time.sleep(1e-4)
            except KeyboardInterrupt:
                interrupted += 1
                check(interrupted)
    return interrupted


@POSIX
@pytest.mark.parametrize("hooked", [False, True])
def test_ctrl_c_leaves_gradients_all_old_or_all_new(*, hooked: bool) -> None:
    """Leaf gradients are written in one step, whatever the moment of the interrupt."""
    leaves = [leaf(*[1.0] * 50) for _ in range(12)]
    if hooked:
        for p in leaves[:6]:
            p.register_hook(lambda g: g * 1)

    def work() -> None:
        total = leaves[0] * 1.0
        for p in leaves[1:]:
            total = total + p * 1.0
        total.sum().backward()

    def check(_: int) -> None:
        counts = {0.0 if p.grad is None else float(p.grad.array[0]) for p in leaves}
        assert len(counts) == 1, f"half written: {counts}"
        assert all(p.grad is None or (p.grad.array == p.grad.array[0]).all() for p in leaves)
        assert m.is_grad_enabled()
        y = (leaves[0] * 2).sum()
        assert y.grad_fn is not None and y.grad_fn.site.startswith(__file__)
        work()
        counts = {float(p.grad.array[0]) for p in leaves}
        assert len(counts) == 1
        if next(iter(counts)) % 3 == 0:
            for p in leaves:
                p.grad = None

    assert hammer(work, check) > 5


@POSIX
def test_ctrl_c_leaves_no_mode_behind() -> None:
    """Neither the user's line, nor grad mode, nor NumPy's error state sticks."""
    x = leaf(1.0)
    with np.errstate(divide="raise"):
        expected = np.geterr()

        def work() -> None:
            y = (x * 2).exp()
            z = y.sum() + Square.apply(y).mean()
            z.backward()
            m.autograd.grad((x * x).sum(), x, create_graph=True)

        lost = []

        def check(n: int) -> None:
            assert m.is_grad_enabled()
            y = x * 2
            assert y.grad_fn is not None and y.grad_fn.site.startswith(__file__)
            assert y.grad_fn.place.function == "check"
            if np.geterr() != expected:
                lost.append(n)
                np.seterr(**expected)

        interrupted = hammer(work, check)
        assert interrupted > 5
        assert len(lost) <= 2 + interrupted // 5
