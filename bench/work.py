"""What is measured: the same lines for sapwood and for PyTorch, which come in as `lib`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np


def polynomial(lib: Any) -> Callable[[], None]:
    """y = 3x^2 + 4x + 2 of one number, forward and backward."""
    x = lib.tensor(3.0, requires_grad=True)

    def step() -> None:
        x.grad = None
        y = 3 * x**2 + 4 * x + 2
        y.backward()

    step()
    assert float(x.grad) == 22.0
    return step


def product(lib: Any, *, grad: bool) -> Callable[[], object]:
    """One 32x32 float32 multiplication."""
    a, b = (lib.tensor(v) for v in matrices(32))
    if grad:
        a.requires_grad_()
        b.requires_grad_()
    return lambda: a * b


def numpy_product() -> Callable[[], object]:
    """The same multiplication in NumPy alone."""
    a, b = matrices(32)
    return lambda: np.multiply(a, b)


def matrices(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two n x n matrices of float32."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, n)).astype("f4"), rng.normal(size=(n, n)).astype("f4")


SIZES = (64, 128, 64, 10)


def training(lib: Any) -> Callable[[], None]:
    """A training step on 64 examples: two hidden layers, cross entropy, gradient descent."""
    rng = np.random.default_rng(0)
    x = lib.tensor(rng.normal(size=(64, SIZES[0])).astype("f4"))
    hot = lib.tensor(np.eye(SIZES[-1], dtype="f4")[rng.integers(0, SIZES[-1], 64)])
    weights, biases = [], []
    for wide, narrow in itertools.pairwise(SIZES):
        w = rng.normal(size=(wide, narrow)) / wide**0.5
        weights.append(lib.tensor(w.astype("f4")).requires_grad_())
        biases.append(lib.zeros(narrow).requires_grad_())

    def step() -> None:
        h = x
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = lib.tanh(h @ w + b)
        z = h @ weights[-1] + biases[-1]
        loss = (lib.logsumexp(z, 1) - (z * hot).sum(1)).mean()
        loss.backward()
        with lib.no_grad():
            for p in weights + biases:
                p -= 0.1 * p.grad
                p.grad = None

    step()
    return step


def chain(lib: Any, n: int) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """n multiplications in a row: the forward part and the backward part."""
    x = lib.tensor(1.0, requires_grad=True)

    def forward() -> Any:
        t = x
        for _ in range(n):
            t = t * 1.0
        return t

    return forward, lambda t: t.backward()
