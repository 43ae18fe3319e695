"""The contract in a few seconds: a bit of everything that sapwood promises. For every commit."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import sapwood
from sapwood import no_grad
from sapwood.autograd import grad


def leaf(values: object, dtype: object = None) -> sapwood.Tensor:
    return sapwood.tensor(values, dtype=dtype or sapwood.float64, requires_grad=True)


def test_the_first_article() -> None:
    x = leaf(3.0)
    for expected in (22.0, 44.0, 66.0):
        y = 3 * x**2 + 4 * x + 2
        y.backward()
        assert x.grad.item() == expected
    x.grad.zero_()
    (3 * x**2 + 4 * x + 2).backward()
    assert x.grad.item() == 22.0


def test_the_second_article() -> None:
    x = leaf([1.0, 2.0, 3.0])
    loss = ((2 * x + 3) ** 2).mean()
    loss.backward()
    np.testing.assert_allclose(loss.item(), 155 / 3)
    np.testing.assert_allclose(x.grad.numpy(), [20 / 3, 28 / 3, 12])


def test_both_ways_to_a_gradient_of_a_non_leaf() -> None:
    x = leaf([[1.0, 1.0], [1.0, 1.0]])
    y = x + 2
    seen = []
    y.register_hook(seen.append)
    y.retain_grad()
    (y * y * 3).mean().backward()
    np.testing.assert_allclose(seen[0].numpy(), np.full((2, 2), 4.5))
    np.testing.assert_allclose(y.grad.numpy(), np.full((2, 2), 4.5))
    assert "4.5000" in repr(y.grad)


def test_broadcasting_and_matrices() -> None:
    x, w, b = leaf(np.ones((4, 3))), leaf(np.arange(6.0).reshape(3, 2)), leaf([0.5, -0.5])
    (x @ w + b).tanh().sum().backward()
    assert [tuple(p.grad.shape) for p in (x, w, b)] == [(4, 3), (3, 2), (2,)]


def test_second_order() -> None:
    x = leaf(2.0)
    (first,) = grad(x**3, x, create_graph=True)
    (second,) = grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


def test_dtypes() -> None:
    a = sapwood.tensor([1.5, 2.5])
    assert a.dtype is sapwood.float32
    assert (a + sapwood.tensor([1, 2])).dtype is sapwood.float32
    assert (sapwood.tensor([1, 2]) / 2).dtype is sapwood.float32
    assert (a * 2.0).dtype is sapwood.float32
    assert (a > 2).dtype is sapwood.bool
    assert (a.half() * a.half()).dtype is sapwood.float16


def test_views_and_in_place() -> None:
    x = leaf([1.0, 2.0, 3.0, 4.0])
    b = x * 1
    v = b[:2]
    v.mul_(3)
    b.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 3, 1, 1])
    assert b._version == v._version == 1


def test_errors_name_the_line() -> None:
    x = leaf([1.0, 2.0])
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation") as caught:
        y.sum().backward()
    assert "y.add_(1)" in str(caught.value) and "y = x.exp()" in str(caught.value)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    z = x.exp().sum()
    z.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        z.backward()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        sapwood.ones(2).sum().backward()
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match=r"size.* must match|shape"):
        x + leaf([1.0, 2.0, 3.0])


def test_grad_modes() -> None:
    x = leaf(1.0)
    with no_grad():
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
    assert not x.detach().requires_grad

    @no_grad()
    def quiet() -> bool:
        return (x * 2).requires_grad

    assert not quiet()


def test_graph() -> None:
    x = leaf(1.0)
    y = x * 2 + 1
    assert y.grad_fn.name() == "AddBackward0"
    assert y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    assert y.grad_fn.next_functions[0][0].next_functions[0][0].variable is x
    assert x.is_leaf and not y.is_leaf


def test_random_numbers_are_those_of_pytorch() -> None:
    sapwood.manual_seed(0)
    np.testing.assert_allclose(sapwood.rand(3).numpy(), [0.4963, 0.7682, 0.0885], atol=1e-4)


def test_everything_is_freed() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf([1.0, 2.0])
        y = (x * x).exp()
        refs = [weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(x)]
        y.sum().backward()
        del x, y
        assert [r() for r in refs] == [None] * 3
    finally:
        gc.enable()


def test_threads_have_their_own_mode() -> None:
    seen = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(sapwood.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_numpy_and_back() -> None:
    a = np.arange(3.0)
    t = sapwood.from_numpy(a)
    a[0] = 9
    assert t[0].item() == 9
    assert np.exp(t).sum().item() > 0
    assert isinstance(a * t, sapwood.Tensor)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        leaf([1.0]).numpy()


def test_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sapwood", "info"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "NumPy" in done.stdout, done.stderr
