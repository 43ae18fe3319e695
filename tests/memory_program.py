"""Training steps whose memory `test_memory.py` watches: `python memory_program.py NAME STEPS`.

Prints, as JSON, the resident memory in KB after a warm-up and after each tenth of the steps.
"""

from __future__ import annotations

import gc
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sapwood


def parameters(*sizes: int) -> list[sapwood.Tensor]:
    """Weight matrices between layers of these sizes."""
    rng = np.random.default_rng(0)
    return [
        sapwood.tensor(rng.normal(size=pair).astype("f4") / pair[0] ** 0.5, requires_grad=True)
        for pair in itertools.pairwise(sizes)
    ]


def update(weights: list[sapwood.Tensor]) -> None:
    """A step of gradient descent."""
    with sapwood.no_grad():
        for w in weights:
            if w.grad is not None:
                w -= 0.01 * w.grad
                w.grad = None


def plain() -> Callable[[int], None]:
    """The demo's kind of network."""
    weights = parameters(64, 32, 16, 10)
    x = sapwood.tensor(np.random.default_rng(1).normal(size=(32, 64)).astype("f4"))
    hot = sapwood.tensor(np.eye(10, dtype="f4")[np.arange(32) % 10])

    def step(_: int) -> None:
        h = x
        for w in weights[:-1]:
            h = (h @ w).tanh()
        z = h @ weights[-1]
        loss = ((z.exp().sum(1)).log() - (z * hot).sum(1)).mean()
        loss.backward()
        update(weights)

    return step


def everything() -> Callable[[int], None]:
    """Views, in-place writes, hooks, retained gradients and create_graph=True."""
    weights = parameters(8, 8, 4)
    x = sapwood.tensor(np.random.default_rng(1).normal(size=(6, 8)).astype("f4"))

    def step(_: int) -> None:
        h = x @ weights[0]
        part = h[:, :4]
        part.mul_(2)
        h[0] = h[1] * 0.5
        h.register_hook(lambda g: g * 1.0)
        handle = weights[0].register_hook(lambda g: None)
        t = h.t().tanh()
        t.retain_grad()
        y = t.t() @ weights[1]
        y.grad_fn.register_prehook(lambda grads: None)
        loss = (y * y).mean()
        (g,) = sapwood.autograd.grad(loss, weights[0], create_graph=True)
        (loss + (g * g).sum()).backward()
        assert t.grad is not None
        handle.remove()
        update(weights)

    return step


class HookError(Exception):
    """What a hook raises."""


def closures() -> Callable[[int], None]:
    """Hooks that close over their own tensor; every tenth step one raises."""
    weights = parameters(8, 8, 4)
    x = sapwood.tensor(np.random.default_rng(1).normal(size=(64, 8)).astype("f4"))

    def step(number: int) -> None:
        h = (x @ weights[0]).tanh()
        y = h @ weights[1]

        def keep(g: sapwood.Tensor) -> None:
            h.seen = g
            if number % 10 == 0:
                raise HookError

        def on_node(*grads: object) -> None:
            y.seen = grads

        h.register_hook(keep)
        y.grad_fn.register_hook(on_node)
        y.grad_fn.register_prehook(lambda grads: setattr(y, "before", grads))
        try:
            (y * y).mean().backward()
        except HookError:
            for w in weights:
                w.grad = None
        update(weights)
        if number % 100 == 0:
            gc.collect()

    return step


def resident() -> int:
    """Resident memory of this process in KB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def main() -> None:
    name, steps = sys.argv[1], int(sys.argv[2])
    step = {"plain": plain, "everything": everything, "closures": closures}[name]()
    collected = name == "closures"
    if not collected:
        gc.disable()
    for number in range(steps // 5):
        step(number)
    gc.collect()
    found = [resident()]
    for _ in range(10):
        for number in range(steps // 10):
            step(number)
        if collected:
            gc.collect()
        found.append(resident())
    print(json.dumps({"resident": found, "objects": len(gc.get_objects())}))


if __name__ == "__main__":
    main()
