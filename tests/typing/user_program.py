"""A small program as a user writes it; `tests/test_stubs.py` has mypy check it, and runs it."""

from __future__ import annotations

import numpy as np

import sapwood
from sapwood import Tensor


def network(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return (x @ w + b).tanh().mean()


def train(steps: int) -> float:
    sapwood.manual_seed(0)
    x = sapwood.randn(8, 3, dtype=sapwood.float64)
    w = sapwood.zeros(3, 2, dtype=sapwood.float64, requires_grad=True)
    b = sapwood.tensor([0.1, 0.2], dtype=sapwood.float64, requires_grad=True)
    loss = network(x, w, b)
    for _ in range(steps):
        loss = network(x, w, b)
        loss.backward()
        with sapwood.no_grad():
            for p in (w, b):
                assert p.grad is not None
                p -= 0.1 * p.grad
                p.grad = None
    last: float = loss.item()
    return last


def shapes() -> None:
    t = sapwood.arange(6, dtype=sapwood.float32).reshape(2, 3)
    rows, columns = t.shape
    doubled: Tensor = 2 * t + t / 2 - sapwood.ones_like(t)
    part: Tensor = doubled[0, 1:]
    chosen: Tensor = sapwood.where(doubled > 1, doubled, 0.0)
    back: np.ndarray = chosen.detach().numpy()
    assert back.shape == (rows, columns) and part.ndim == 1
    assert t.dtype is sapwood.float32


def second_order() -> Tensor:
    x = sapwood.tensor(3.0, requires_grad=True)
    (first,) = sapwood.autograd.grad(x**3, x, create_graph=True)
    first.register_hook(lambda g: g * 2)
    second: Tensor = sapwood.autograd.grad(first, x)[0]
    return second


if __name__ == "__main__":
    shapes()
    train(3)
    second_order()
