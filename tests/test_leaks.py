"""Everything is freed by reference counting; cycles that users build are left to the collector.

Issue numbers are PyTorch's; cases 44 and 45 of user-problems.md and finding 11 are here.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sapwood as m


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Only reference counting frees anything in here."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(*values: float) -> Any:
    return m.tensor(list(values), dtype=m.float64, requires_grad=True)


def dead(*refs: Any) -> bool:
    return all(ref() is None for ref in refs)


class Cube(m.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.square = x * x
        ctx.save_for_backward(x)
        ctx.out = x * x * x
        return ctx.out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


# Each makes a loss from leaves; between them they cover every kind of reference that a graph holds.
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "arithmetic": lambda x, w: (x * w + x.exp()).tanh().sum(),
    "views": lambda x, w: (x.view(1, -1).expand(2, -1)[:, 1:].t() * w[0]).sum(),
    "in place": lambda x, w: in_place(x * 1, w),
    "several outputs": lambda x, w: sum(t * w.sum() for t in (x * 1).unbind(0)),
    "matmul": lambda x, w: (x[None] @ w[:, None]).sum(),
    "softmax": lambda x, w: (x - x.amax()).exp().sum().log() * w.sum(),
    "function": lambda x, w: (Cube.apply(x) * w).sum(),
    "index": lambda x, w: (x[m.tensor([0, 1, 1])] * w[w > 0].sum()).sum(),
}


def in_place(b: Any, w: Any) -> Any:
    v = b[:1]
    v.mul_(w[:1])
    b[1:] = w[1:] * 2
    b.add_(1)
    return (v * 3).sum() + b.sum()


def backward(loss: Any, x: Any, w: Any) -> None:
    loss.backward()


def create_graph(loss: Any, x: Any, w: Any) -> None:
    loss.backward(create_graph=True)
    (x.grad * x.grad).sum().backward()


def twice(loss: Any, x: Any, w: Any) -> None:
    m.autograd.grad(loss, x, create_graph=True, retain_graph=True)
    loss.backward()


WAYS = {"nothing": lambda loss, x, w: None, "backward": backward, "twice": twice}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_dies_with_its_last_name(no_collector: None, name: str, way: str) -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    loss = PROGRAMS[name](x, w)
    refs = [weakref.ref(t) for t in (x, w, loss, loss.grad_fn)]
    WAYS[way](loss, x, w)
    grads = [weakref.ref(t.grad) for t in (x, w) if t.grad is not None]
    del loss
    assert dead(*refs[2:])
    del x, w
    assert dead(*refs, *grads)


def test_create_graph_is_no_cycle(no_collector: None) -> None:
    """#4661, #82528: in PyTorch parameter and gradient hold each other."""
    x, w = leaf(1, 2), leaf(3, 4)
    create_graph((x * x * w).sum(), x, w)
    refs = [weakref.ref(t) for t in (x, w, x.grad, x.grad.grad_fn)]
    del x, w
    assert dead(*refs)


def test_intermediates_die_at_once(no_collector: None) -> None:
    x = leaf(*range(1000))
    y = x.exp()
    z = y * y
    array = weakref.ref(y.array)
    loss = z.sum()
    del y, z
    assert array() is not None  # saved
    loss.backward()
    assert array() is None  # freed by backward, although the loss lives


def test_retained_gradients_and_hooks_die(no_collector: None) -> None:
    x = leaf(1, 2)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    y.grad_fn.register_prehook(lambda go: None)
    x.register_hook(lambda g: None)
    x.register_post_accumulate_grad_hook(lambda p: None)
    m.autograd.graph.register_multi_grad_hook((x, y), lambda gs: None)
    refs = [weakref.ref(t) for t in (x, y, y.grad_fn)]
    y.sum().backward()
    refs.append(weakref.ref(y.grad))
    del x, y
    assert dead(*refs)


def test_views_die_in_any_order(no_collector: None) -> None:
    b = leaf(1, 2, 3) * 1
    v = b[:2]
    w = v[:1]
    refs = [weakref.ref(t) for t in (b, v, w)]
    del b
    assert w._base is not None
    v.mul_(2)
    del v
    w.add_(1)
    assert w._base.tolist() == [3, 4, 3]
    del w
    assert dead(*refs)


def test_an_exception_in_a_hook_leaves_nothing(no_collector: None) -> None:
    def fail(g: Any) -> None:
        raise ValueError("on purpose")

    x = leaf(1, 2)
    y = x.exp()
    y.register_hook(fail)
    loss = y.sum()
    refs = [weakref.ref(t) for t in (x, y, y.grad_fn, loss, loss.grad_fn)]
    with pytest.raises(ValueError, match="on purpose") as info:
        loss.backward()
    info.value.__traceback__ = None
    del info, loss, x, y
    assert dead(*refs)


def test_an_error_of_the_engine_leaves_nothing(no_collector: None) -> None:
    x = leaf(1, 2)
    y = x.exp()
    loss = y.sum()
    y.mul_(2)
    refs = [weakref.ref(t) for t in (x, y, y.grad_fn, loss)]
    with contextlib.suppress(RuntimeError):
        loss.backward()
    with pytest.raises(RuntimeError) as info:
        y + m.ones(7)
    info.value.__traceback__ = None
    del info, loss, x, y
    assert dead(*refs)


def test_a_deep_graph_is_freed_without_recursion(no_collector: None) -> None:
    """#5534: PyTorch's users met stack overflows at freeing."""
    x = leaf(1)
    y = x
    for _ in range(200_000):
        y = y * 1.0
    ref, middle = weakref.ref(y), weakref.ref(y.grad_fn.next_functions[0][0])
    del y
    assert dead(ref, middle)


def test_a_deep_chain_of_views_and_functions_is_freed(no_collector: None) -> None:
    x = leaf(1)
    y = x
    for _ in range(2_000):
        y = Cube.apply(y.view(1)) * 1e-3
    ref = weakref.ref(y.grad_fn)
    del y
    assert dead(ref)


# ---- cycles of the user's own: the collector finds them ----------------------------------------


def own_hook(y: Any) -> None:
    y.register_hook(lambda g: setattr(y, "my_grad", g))


def own_node_hook(y: Any) -> None:
    y.grad_fn.register_hook(lambda gi, go: [None, y][0])


def own_prehook(y: Any) -> None:
    y.grad_fn.register_prehook(lambda go: [None, y][0])


def own_multi_hook(y: Any) -> None:
    m.autograd.graph.register_multi_grad_hook((y,), lambda gs: setattr(y, "my_grads", gs))


def own_metadata(y: Any) -> None:
    y.grad_fn.metadata["me"] = y


def own_attribute(y: Any) -> None:
    y.me = y


CYCLES = (own_hook, own_node_hook, own_prehook, own_multi_hook, own_metadata, own_attribute)


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("attach", CYCLES)
def test_a_hook_that_closes_over_its_tensor_is_collected(attach: Any, *, used: bool) -> None:
    """Finding 11 (#12863, pytorch-grad-cam#88): in PyTorch these live for ever."""
    x = leaf(1, 2)
    y = x.exp()
    attach(y)
    refs = [weakref.ref(t) for t in (y, y.grad_fn, y.array)]
    if used:
        y.sum().backward()
    del y
    gc.collect()
    assert dead(*refs) and x.requires_grad
    del x


@pytest.mark.parametrize("used", [False, True])
def test_leaf_hooks_that_close_over_their_leaf_are_collected(*, used: bool) -> None:
    x = leaf(1, 2)
    x.register_hook(lambda g: setattr(x, "my_grad", g))
    x.register_post_accumulate_grad_hook(lambda p: setattr(x, "seen", p))
    ref = weakref.ref(x)
    if used:
        (x * 2).sum().backward()
    x = None
    gc.collect()
    assert dead(ref)


def test_a_hook_is_not_collected_while_it_is_needed() -> None:
    """#102174: the reverse mistake."""
    seen = []
    x = leaf(1)

    def build() -> Any:
        y = x * 2
        own_hook(y)
        y.register_hook(lambda g: seen.append((g.tolist(), y.tolist())))
        return (y * 3).sum()

    loss = build()
    gc.collect()
    loss.backward()
    assert seen == [([3], [2])]


def test_outputs_in_containers_on_ctx_are_collected() -> None:
    """Cases that Function cannot take apart."""

    class Keep(m.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.outs, ctx.me = {"y": [y]}, ctx
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = leaf(1)
    y = Keep.apply(x)
    refs = [weakref.ref(y), weakref.ref(y.grad_fn)]
    y.sum().backward()
    del y
    gc.collect()
    assert dead(*refs)


# ---- counts ------------------------------------------------------------------------------------


def step(x: Any, w: Any, i: int) -> None:
    """One training step with views, in-place, hooks, a Function and create_graph."""
    x.grad = w.grad = None
    h = (x.view(1, -1) * w).tanh()
    h.retain_grad()
    h.register_hook(lambda g: g * 1)
    b = Cube.apply(h) * 1
    b[0, :1].mul_(2)
    loss = (b * b).sum()
    (g,) = m.autograd.grad(loss, w, create_graph=True)
    (loss + (g * g).sum()).backward()
    with m.no_grad():
        for p in (x, w):
            p -= 1e-4 * p.grad


def failing_step(x: Any, w: Any, i: int) -> None:
    """The same, and every tenth time a hook raises."""

    def fail(g: Any) -> None:
        if i % 10 == 0:
            raise ValueError("on purpose")

    y = x * w
    y.register_hook(fail)
    with contextlib.suppress(ValueError):
        (y * y).sum().backward()


def cyclic_step(x: Any, w: Any, i: int) -> None:
    """A hook that closes over its own tensor."""
    y = x * w
    own_hook(y)
    (y * y).sum().backward()


def objects() -> Counter:
    return Counter(type(o).__name__ for o in gc.get_objects())


def growth(run: Any, collect: bool = False) -> tuple[Counter, int]:
    """Objects by type, and memory blocks, that 1,000 steps add once everything is warm."""
    x, w = leaf(0.1, 0.2), leaf(0.3, 0.4)
    found: list[tuple[Counter, int]] = []
    for steps in (1000, 10, 1000):  # free lists fill up first
        for i in range(steps):
            run(x, w, i)
        if collect:
            gc.collect()
        found.append((objects(), sys.getallocatedblocks()))
    return found[2][0] - found[1][0], found[2][1] - found[1][1]


@pytest.mark.parametrize("run", [step, failing_step])
def test_the_number_of_objects_is_flat(no_collector: None, run: Any) -> None:
    grown, blocks = growth(run)
    assert sum(grown.values()) < 20, grown
    assert blocks < 5000  # the allocators' own lists move a little; a tensor takes 10


def test_the_number_of_objects_is_flat_after_a_collection() -> None:
    grown, _ = growth(cyclic_step, collect=True)
    assert sum(grown.values()) < 20, grown


def test_hooks_that_were_removed_leave_nothing(no_collector: None) -> None:
    x = leaf(1)
    big = np.zeros(1000)
    ref = weakref.ref(big)

    def hook(g: Any, big: Any = big) -> None:
        pass

    handle = x.register_hook(hook)
    del hook, big
    assert not dead(ref)
    handle.remove()
    assert dead(ref)
    handle = x.register_hook(lambda g: None)
    del x
    handle.remove()
