"""Grad modes (section 1.7). A test that takes `m` runs in sapwood and in PyTorch."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import sapwood


def leaf(m: Any, *values: float) -> Any:
    return m.tensor(list(values), dtype=m.float64, requires_grad=True)


def test_contexts(m):
    x = leaf(m, 1)
    with m.no_grad():
        assert not m.is_grad_enabled() and not (x * 2).requires_grad
        with m.enable_grad():
            assert m.is_grad_enabled() and (x * 2).requires_grad
        assert not m.is_grad_enabled()
        with m.set_grad_enabled(True):
            assert (x * 2).requires_grad
        with m.set_grad_enabled(False):
            assert not (x * 2).requires_grad
        assert not m.is_grad_enabled()
    assert m.is_grad_enabled()


def test_leaves_made_inside_no_grad(m):
    with m.no_grad():
        made = m.ones(1, requires_grad=True)
        y = (made * 2).requires_grad_()
    assert made.requires_grad and y.is_leaf and y.requires_grad
    (made * 3 + y).sum().backward()
    assert made.grad.tolist() == [3] and y.grad.tolist() == [1]


def test_set_grad_enabled_acts_at_once(m):
    try:
        m.set_grad_enabled(False)
        assert not m.is_grad_enabled()
        switch = m.set_grad_enabled(True)
        assert m.is_grad_enabled()
        with switch:
            assert m.is_grad_enabled()
        assert not m.is_grad_enabled()
    finally:
        m.set_grad_enabled(True)


def test_decorators(m):
    @m.no_grad()
    def with_parentheses(a, *, b):
        """Doc."""
        return a, b, m.is_grad_enabled()

    @m.no_grad
    def without():
        return m.is_grad_enabled()

    @m.no_grad()
    @m.enable_grad()
    def twice():
        return m.is_grad_enabled()

    @m.enable_grad
    def on():
        return m.is_grad_enabled()

    assert with_parentheses(1, b=2) == (1, 2, False)
    assert with_parentheses.__name__ == "with_parentheses" and with_parentheses.__doc__ == "Doc."
    assert without() is False and twice() is True and m.is_grad_enabled()
    with m.no_grad():
        assert on() is True

    @m.set_grad_enabled(False)
    def off():
        return m.is_grad_enabled()

    assert m.is_grad_enabled() and off() is False and m.is_grad_enabled()


def test_a_decorated_function_that_calls_itself(m):
    @m.no_grad()
    def f(n):
        return [m.is_grad_enabled(), *(f(n - 1) if n else [])]

    assert f(3) == [False] * 4 and m.is_grad_enabled()


def test_exceptions_restore_the_mode(m):
    with pytest.raises(ValueError, match="x"), m.no_grad():
        raise ValueError("x")
    assert m.is_grad_enabled()

    @m.no_grad()
    def f():
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        f()
    assert m.is_grad_enabled()


def test_decorating_a_class_is_deprecated(m):
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @m.no_grad()
        class Made:
            def __init__(self):
                self.mode = m.is_grad_enabled()

    assert Made().mode is False


def test_generators_hold_the_mode_inside_only(m):
    log = []

    @m.no_grad()
    def numbers():
        try:
            for i in range(3):
                got = yield i, m.is_grad_enabled()
                log.append((got, m.is_grad_enabled()))
        finally:
            log.append(m.is_grad_enabled())
        return "end"

    def outer():
        result = yield from numbers()
        log.append(result)

    gen = outer()
    assert next(gen) == (0, False) and m.is_grad_enabled()
    assert gen.send("a") == (1, False) and m.is_grad_enabled()
    with m.enable_grad():
        assert gen.send("b") == (2, False) and m.is_grad_enabled()
    with pytest.raises(StopIteration):
        gen.send("c")
    assert log == [("a", False), ("b", False), ("c", False), False, "end"]
    log.clear()
    gen = numbers()
    next(gen)
    gen.close()
    assert log == [False] and m.is_grad_enabled()
    gen = numbers()
    next(gen)
    with pytest.raises(KeyError):
        gen.throw(KeyError("k"))
    assert m.is_grad_enabled()


def test_a_generator_with_its_own_mode_is_closed_elsewhere(m):
    """The mode is restored by value: closing in another context must not fail."""

    def gen():
        with m.no_grad():
            yield m.is_grad_enabled()

    g = gen()
    assert next(g) is False and not m.is_grad_enabled()
    thread = threading.Thread(target=g.close)
    thread.start()
    thread.join()
    m.set_grad_enabled(True)
    assert m.is_grad_enabled()


def test_coroutines_hold_the_mode_inside_only():
    """PyTorch's modes belong to the thread, so that tasks of one loop disturb each other."""
    m = sapwood
    log = []

    @m.no_grad()
    async def quiet(name):
        for _ in range(3):
            log.append((name, m.is_grad_enabled()))
            await asyncio.sleep(0)
        return name

    async def loud():
        for _ in range(3):
            log.append(("loud", m.is_grad_enabled()))
            await asyncio.sleep(0)

    async def within():
        with m.no_grad():
            for _ in range(3):
                log.append(("within", m.is_grad_enabled()))
                await asyncio.sleep(0)

    async def main():
        return await asyncio.gather(quiet("a"), loud(), quiet("b"), within())

    assert asyncio.run(main()) == ["a", None, "b", None]
    assert {(name, on) for name, on in log} == {
        ("a", False),
        ("b", False),
        ("loud", True),
        ("within", False),
    }
    assert m.is_grad_enabled()


def test_a_new_thread_starts_with_grad_on(m):
    seen = []
    with m.no_grad(), m.inference_mode():
        thread = threading.Thread(
            target=lambda: seen.append((m.is_grad_enabled(), m.is_inference_mode_enabled()))
        )
        thread.start()
        thread.join()
    assert seen == [(True, False)]


def test_the_mode_of_a_backward_is_the_callers(m):
    """Switching it off around backward changes nothing."""
    x = leaf(m, 2)
    y = (x * x).sum()
    with m.no_grad():
        y.backward()
        assert not m.is_grad_enabled()
    assert x.grad.tolist() == [4] and m.is_grad_enabled()


# ---- inference mode ----------------------------------------------------------------------------


def test_inference_mode(m):
    x = leaf(m, 1)
    with m.inference_mode():
        assert m.is_inference_mode_enabled() and not m.is_grad_enabled()
        y = x * 2
        made = m.ones(1)
        assert y.is_inference() and made.is_inference() and m.is_inference(y)
        y.add_(1)
        assert not x.is_inference()
        with m.inference_mode(False):
            assert not m.is_inference_mode_enabled() and m.is_grad_enabled()
            assert (x * 2).requires_grad
        assert m.is_inference_mode_enabled()
    assert not m.is_inference_mode_enabled() and m.is_grad_enabled()
    assert not y.requires_grad and y.is_leaf


def test_inference_tensors_outside(m):
    x = leaf(m, 2)
    with m.inference_mode():
        y = m.ones(1, dtype=m.float64) * 3
    with pytest.raises(
        RuntimeError,
        match="Inplace update to inference tensor outside InferenceMode is not allowed",
    ):
        y.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y
    with pytest.raises(
        RuntimeError,
        match="Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
    ):
        y.requires_grad_()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = y._version
    plain = y * 1  # operations outside give normal tensors
    assert not plain.is_inference() and plain._version == 0
    assert y.view(1).is_inference() and not y.clone().is_inference()
    z = x + y  # nothing is saved
    z.sum().backward()
    assert x.grad.tolist() == [1]
    y.clone().requires_grad_()


def test_inference_mode_as_a_decorator(m):
    @m.inference_mode()
    def f(x):
        return x * 2

    @m.inference_mode
    def g(x):
        return x * 2

    assert f(leaf(m, 1)).is_inference() and g(leaf(m, 1)).is_inference()
    assert not m.is_inference_mode_enabled()


def test_a_function_in_inference_mode(m):
    class F(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

    with m.inference_mode():
        y = F.apply(leaf(m, 1))
    assert y.is_inference() and not y.requires_grad


def test_set_multithreading_enabled_is_accepted(m):
    with m.autograd.set_multithreading_enabled(False):
        x = leaf(m, 1)
        (x * 2).sum().backward()
    assert x.grad.tolist() == [2]
