"""Hooks, retained gradients and the order of the engine: sections 1.3 and 1.4 of the specification.

A test that takes `m` runs in sapwood and in PyTorch and must hold in both. Where PyTorch is wrong
(findings 3, 4, 6, 10, 11) a test says what is right, and `test_findings_still_stand` that PyTorch
still does otherwise.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sapwood


def leaf(m: Any, *values: float) -> Any:
    return m.tensor(list(values), dtype=m.float64, requires_grad=True)


def numbers(t: Any) -> Any:
    return None if t is None else t.detach().tolist()


class Log(list):
    """Hooks that write down their name and what they see."""

    def hook(self, name: str, result: Any = None) -> Any:
        def fn(g):
            self.append((name, numbers(g)))
            return result(g) if result else None

        return fn

    def name(self, name: str) -> Any:
        return lambda *_: self.append(name)


# ---- what a tensor hook is ---------------------------------------------------------------------


def test_a_hook_sees_the_gradient_and_may_replace_it(m):
    log = Log()
    x = leaf(m, 2)
    y = x * 3
    y.register_hook(log.hook("first", lambda g: g * 10))
    y.register_hook(log.hook("second"))
    y.retain_grad()
    (y * 7).sum().backward()
    assert log == [("first", [7]), ("second", [70])]
    assert numbers(y.grad) == [70] and numbers(x.grad) == [210]


def test_a_hook_fires_once_with_the_sum(m):
    log = Log()
    x = leaf(m, 1)
    x.register_hook(log.hook("x"))
    (x * 2 + x * 3).sum().backward()
    y = x.exp()
    y.register_hook(log.hook("y"))
    (y * 2 + y * 3).sum().backward()
    assert log[:2] == [("x", [5]), ("y", [5])] and log[2][0] == "x"


def test_order_for_a_non_leaf(m):
    """Finding 1: tensor hooks, the store of retain_grad, pre-hooks, the node, node hooks."""
    log = Log()
    x = leaf(m, 1)
    y = x * 3
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", numbers(go[0]), y.grad is not None)))
    y.grad_fn.register_prehook(lambda go: [log.append(("pre", y.grad.tolist())), (go[0] * 10,)][1])
    y.retain_grad()
    y.register_hook(log.hook("a", lambda g: g + 4))
    y.register_hook(log.hook("b"))
    (y * 7).sum().backward()
    assert log == [("a", [7]), ("b", [11]), ("pre", [11]), ("post", [110], True)]
    assert numbers(y.grad) == [11] and numbers(x.grad) == [330]


def test_order_for_a_leaf(m):
    log = Log()
    x = leaf(m, 1)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    assert type(node).__name__ == "AccumulateGrad" and node.variable is x
    assert node.name() == "torch::autograd::AccumulateGrad"
    node.register_hook(lambda gi, go: log.append(("post", gi, numbers(go[0]), numbers(x.grad))))
    node.register_prehook(lambda go: [log.append(("pre", x.grad)), (go[0] * 10,)][1])
    x.register_post_accumulate_grad_hook(lambda p: log.append(("accumulated", numbers(p.grad))))
    x.register_hook(log.hook("tensor"))
    (x * 7).sum().backward()
    assert log == [("tensor", [7]), ("pre", None), ("accumulated", [70]), ("post", (), [70], [70])]


def test_newest_first(m):
    """Nodes run in the reverse of the order in which they were made; leaves as soon as ready."""
    log = Log()
    x = leaf(m, 1)
    p, q, r = x * 1, x * 1, x * 1
    for name, t in (("p", p), ("q", q), ("r", r)):
        t.register_hook(log.name(name))
    (q + p + r).sum().backward()
    assert log == ["r", "q", "p"]
    log.clear()
    a, b, c = leaf(m, 1), leaf(m, 1), leaf(m, 1)
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_post_accumulate_grad_hook(log.name(name))
    (a * 2 * b * c).sum().backward()
    assert log == ["c", "b", "a"]


def test_the_sequence_number_can_be_set(m):
    log = Log()
    x = leaf(m, 1)
    p, q = x * 1, x * 1
    p.register_hook(log.name("p"))
    q.register_hook(log.name("q"))
    assert q.grad_fn._sequence_nr() == p.grad_fn._sequence_nr() + 1
    p.grad_fn._set_sequence_nr(2**40)
    (p + q).sum().backward()
    assert log == ["p", "q"]


def test_hooks_of_outputs_that_nothing_used_get_none(m):
    """Finding 7."""
    log = Log()
    x = leaf(m, 1, 2)
    a, b = (x * 1).unbind(0)
    a.register_hook(log.hook("a"))
    b.register_hook(log.hook("b"))
    a.backward()
    assert log == [("a", 1), ("b", None)] and numbers(x.grad) == [1, 0]


@pytest.mark.parametrize(
    ("make", "kind", "phrase"),
    [
        (lambda m: lambda g: 1, TypeError, "expected Variable, but hook returned 'int'"),
        (lambda m: lambda g: g[:1], RuntimeError, "hook '<lambda>' has changed the size of value"),
        (
            lambda m: lambda g: g.to(m.float32),
            RuntimeError,
            r"hook '<lambda>' has changed the type of value \(was torch.DoubleTensor got "
            r"torch.FloatTensor\)",
        ),
    ],
)
def test_wrong_results_of_a_hook(m, make, kind, phrase):
    for shape in (lambda x: x, lambda x: x * 1):
        x = leaf(m, 1, 2)
        y = shape(x)
        y.register_hook(make(m))
        with pytest.raises(kind, match=phrase):
            (y * 2).sum().backward()
        assert x.grad is None


def test_a_hook_needs_a_gradient(m):
    with pytest.raises(
        RuntimeError, match="cannot register a hook on a tensor that doesn't require"
    ):
        m.ones(1).register_hook(lambda g: None)


def test_grad_mode_in_hooks(m):
    seen = []
    x = leaf(m, 1)
    y = x * 2
    y.register_hook(lambda g: seen.append((m.is_grad_enabled(), g.requires_grad)))
    y.sum().backward(retain_graph=True)
    m.autograd.grad(y.sum(), x, create_graph=True)
    with m.no_grad():
        y.backward(m.ones_like(y), retain_graph=True)
    assert seen == [(False, False), (True, False), (False, False)]


def test_hooks_and_create_graph(m):
    """What a hook does is differentiated, too."""
    x = leaf(m, 3)
    y = x * x
    y.register_hook(lambda g: g * y)
    (g,) = m.autograd.grad(y.sum(), x, create_graph=True)
    assert numbers(g) == [54]
    # the hook fires again: d(2 x y)/dy = 6 becomes 6 y = 54, then 54 * 2 x + 2 y
    assert numbers(m.autograd.grad(g.sum(), x)[0]) == [342]


# ---- removing ----------------------------------------------------------------------------------


def test_removal(m):
    log = Log()
    x = leaf(m, 1)
    first = x.register_hook(log.name("first"))
    with x.register_hook(log.name("within")):
        (x * 1).sum().backward()
    (x * 1).sum().backward()
    first.remove()
    first.remove()
    (x * 1).sum().backward()
    assert log == ["first", "within", "first"]


def test_a_hook_removed_in_the_same_pass_still_fires(m):
    log = Log()
    x = leaf(m, 1)
    x.register_hook(lambda g: [log.append("a"), second.remove()][0])
    second = x.register_hook(log.name("b"))
    (x * 1).sum().backward()
    (x * 1).sum().backward()
    assert log == ["a", "b", "a"]


def test_a_hook_registered_by_a_hook_does_not_fire_in_the_same_pass(m):
    log = Log()
    x = leaf(m, 1)
    h = x.register_hook(lambda g: [log.append("a"), h.remove(), x.register_hook(log.name("b"))][0])
    (x * 1).sum().backward()
    assert log == ["a"]
    (x * 1).sum().backward()
    assert log == ["a", "b"]


def test_handles_keep_nothing_alive(m):
    handle = (leaf(m, 1) * 2).register_hook(lambda g: None)
    handle.remove()


# ---- writing into a gradient -------------------------------------------------------------------


WRITES = {
    "mul_": lambda g: g.mul_(10) and None,
    "imul": lambda g: g.__imul__(10) and None,
    "view": lambda g: g.view(-1).mul_(10) and None,
    "item": lambda g: g.__setitem__(Ellipsis, g * 10),
    "detach": lambda g: g.detach().mul_(10) and None,
    "data": lambda g: g.data.mul_(10) and None,
    "numpy": lambda g: g.numpy().__imul__(10) and None,
}


@pytest.mark.parametrize("write", WRITES)
def test_a_hook_that_writes_changes_its_own_gradient_only(write):
    """Finding 3: PyTorch changes b.grad, too."""

    def both(hooked, other):
        (hooked + other).sum().backward()
        return numbers(a.grad), numbers(b.grad)

    a, b = leaf(sapwood, 1), leaf(sapwood, 1)
    a.register_hook(WRITES[write])
    assert both(a, b) == ([10], [1])
    a, b = leaf(sapwood, 1), leaf(sapwood, 1)
    y = a * 1
    y.register_hook(WRITES[write])
    assert both(y, b) == ([10], [1])
    a, b = leaf(sapwood, 1), leaf(sapwood, 1)
    y, z = a * 1, b * 1
    z.retain_grad()
    y.register_hook(WRITES[write])
    assert both(z, y) == ([10], [1]) and numbers(z.grad) == [1]


def test_later_hooks_see_what_an_earlier_one_wrote():
    log = Log()
    x = leaf(sapwood, 1)
    y = x * 1
    y.register_hook(lambda g: g.mul_(10) and None)
    y.register_hook(log.hook("y"))
    y.retain_grad()
    (y + y).sum().backward()
    assert log == [("y", [20])] and numbers(y.grad) == numbers(x.grad) == [20]


def test_a_hook_that_writes_into_the_seed_leaves_it_alone():
    x, seed = leaf(sapwood, 1), sapwood.tensor([5.0], dtype=sapwood.float64)
    y = x * 1
    y.register_hook(lambda g: g.mul_(10) and None)
    y.backward(seed)
    assert numbers(x.grad) == [50] and numbers(seed) == [5]


def test_a_hook_that_keeps_its_gradient_keeps_the_value():
    """What a hook put aside is not changed by sums that follow."""
    kept: list = []
    x = leaf(sapwood, 1)
    x.register_hook(kept.append)
    for _ in range(2):
        y, z = x * 2, x * 3
        y.register_hook(kept.append)
        (y + z).sum().backward()
    assert [numbers(g) for g in kept] == [[1], [5], [1], [5]] and numbers(x.grad) == [10]


# ---- retain_grad -------------------------------------------------------------------------------


def test_retain_grad(m):
    x = leaf(m, 1, 2)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    x.retain_grad()
    assert not x.retains_grad
    y.sum().backward(retain_graph=True)
    first = y.grad
    assert first.is_contiguous() and numbers(first) == [1, 1]
    y.sum().backward()
    assert numbers(y.grad) == [2, 2] and y.grad is not first and numbers(first) == [1, 1]
    with pytest.raises(
        RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"
    ):
        m.ones(1).retain_grad()


def test_grad_of_a_non_leaf_warns_and_is_none(m):
    y = leaf(m, 1) * 2
    with pytest.warns(
        UserWarning, match="attribute of a Tensor that is not a leaf Tensor is being"
    ):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None


def test_retain_grad_stores_after_all_hooks_whatever_the_order(m):
    y = leaf(m, 1) * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert numbers(y.grad) == [10]


def test_retain_grad_does_not_keep_the_tensor(m):
    import gc
    import weakref

    x = leaf(m, 1)
    y = x * 2
    y.retain_grad()
    z, ref = (y * 3).sum(), weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None
    z.backward()
    assert numbers(x.grad) == [6]


def test_retained_gradients_of_expanded_gradients_have_memory_of_their_own(m):
    """Finding 2: the gradient that flows here is a view with stride 0."""
    y = leaf(m, 1, 2, 3) * 1
    y.retain_grad()
    y.sum().backward()
    assert y.grad.stride() == (1,)
    y.grad[:1] = 5
    assert numbers(y.grad) == [5, 1, 1]


def test_grad_of_a_non_leaf_named_in_inputs(m):
    x = leaf(m, 2)
    y = x * 3
    (y * y).sum().backward(inputs=[y])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numbers(y.grad) == [12]
    assert x.grad is None


def test_retain_grad_runs_for_autograd_grad(m):
    x = leaf(m, 2)
    y = x * 3
    y.retain_grad()
    m.autograd.grad((y * y).sum(), x)
    assert numbers(y.grad) == [12] and x.grad is None


# ---- hooks and in-place writes -----------------------------------------------------------------


def test_hooks_stay_with_the_old_value_and_retain_grad_moves(m):
    log = Log()
    x = leaf(m, 1)
    t = x * 2
    t.register_hook(log.hook("h1"))
    t.retain_grad()
    t.mul_(5)
    t.register_hook(log.hook("h2"))
    (t * 7).sum().backward()
    assert log == [("h2", [7]), ("h1", [35])] and numbers(t.grad) == [7] and numbers(x.grad) == [70]


def test_retain_grad_of_a_view_survives_a_write_to_its_base():
    """Finding 6 (#8874): in PyTorch .grad is None."""
    x = leaf(sapwood, 1, 2)
    b = x * 1
    v = b[:1]
    v.retain_grad()
    b.mul_(10)
    (v * 3).sum().backward()
    assert numbers(v.grad) == [3] and numbers(x.grad) == [30, 0]


def test_retain_grad_of_a_view_survives_a_write_through_itself():
    """Finding 6."""
    x = leaf(sapwood, 1, 2, 3, 4)
    b = x * 1
    v = b[:2]
    v.retain_grad()
    b.retain_grad()
    v.mul_(10)
    (b * sapwood.tensor([1.0, 2, 3, 4])).sum().backward()
    assert numbers(v.grad) == [1, 2] and numbers(b.grad) == [1, 2, 3, 4]
    assert numbers(x.grad) == [10, 20, 3, 4]


def test_retain_grad_of_the_base_survives_a_write_through_a_view(m):
    x = leaf(m, 1, 2, 3, 4)
    b = x * 1
    b.retain_grad()
    b[:2].mul_(10)
    (b * m.tensor([1.0, 2, 3, 4])).sum().backward()
    assert numbers(b.grad) == [1, 2, 3, 4]


# ---- leaves ------------------------------------------------------------------------------------


def test_post_accumulate_hooks(m):
    log = Log()
    x = leaf(m, 1)
    x.register_post_accumulate_grad_hook(lambda p: log.append((p is x, p.grad)))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    # the live object is handed out, so that saved references all show the final value
    assert [(same, numbers(g)) for same, g in log] == [(True, [4]), (True, [4])]
    m.autograd.grad((x * 2).sum(), x)
    assert len(log) == 2
    with pytest.raises(
        RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf"
    ):
        (x * 2).register_post_accumulate_grad_hook(lambda p: None)
    y = leaf(m, 1)
    y.register_post_accumulate_grad_hook(lambda p: 5)
    with pytest.raises(TypeError):
        (y * 2).sum().backward()


def test_an_optimiser_step_in_backward(m):
    """A post-accumulate hook may change the parameter and clear the gradient."""
    x, w = leaf(m, 3), leaf(m, 5)

    def step(p):
        with m.no_grad():
            p.sub_(0.5 * p.grad)
        p.grad = None

    for p in (x, w):
        p.register_post_accumulate_grad_hook(step)
    (x + w * 2).sum().backward()
    assert (numbers(x), numbers(w), x.grad, w.grad) == ([2.5], [4], None, None)


def test_hooks_fire_after_the_tensor_is_gone(m):
    log = Log()
    x = leaf(m, 1)
    x.register_hook(log.hook("x"))
    y = (x * 2).sum()
    del x
    y.backward()
    assert log == [("x", [2])]


def test_requires_grad_switched_off_after_the_graph_was_built(m):
    x = leaf(m, 1)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_hooks_survive_requires_grad_off_and_on(m):
    log = Log()
    x = leaf(m, 1)
    x.register_hook(log.hook("x"))
    x.requires_grad_(False)
    x.requires_grad_(True)
    (x * 2).sum().backward()
    assert log == [("x", [2])]


def test_autograd_grad_and_hooks(m):
    """Tensor hooks of the inputs run and change the result; post-accumulate hooks do not."""
    log = Log()
    x, w = leaf(m, 2), leaf(m, 3)
    x.register_hook(log.hook("x", lambda g: g * 10))
    w.register_hook(log.hook("w"))
    x.register_post_accumulate_grad_hook(log.name("accumulated"))
    (g,) = m.autograd.grad((x * w).sum(), x)
    assert numbers(g) == [30] and log == [("x", [3])] and x.grad is None


def test_a_target_on_the_way_to_another_is_returned_before_its_hooks(m):
    """A target's own hooks change what goes on; its value only where nothing goes on."""
    x = leaf(m, 2)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    (g,) = m.autograd.grad((y * 2).sum(), y, retain_graph=True)
    assert numbers(g) == [20]
    g, h = m.autograd.grad((y * 2).sum(), (y, x))
    assert (numbers(g), numbers(h)) == ([2], [60])


def test_backward_with_inputs_runs_their_own_nodes(m):
    log = Log()
    x = leaf(m, 2)
    y = x * 3
    y.grad_fn.register_prehook(log.name("pre"))
    y.sum().backward(inputs=[y])
    assert log == ["pre"] and numbers(y.grad) == [1] and y.retains_grad


def test_node_hooks_see_only_what_the_targets_need(m):
    seen = []
    x, w = leaf(m, 2), leaf(m, 3)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: seen.append([numbers(g) for g in gi]))
    m.autograd.grad(y.sum(), x)
    assert seen == [[[3], None]]


def test_node_hooks_of_an_input_of_grad(m):
    """They run only where another requested input needs the node."""
    log = Log()
    x = leaf(m, 2)
    y = x * 3
    y.grad_fn.register_prehook(log.name("pre"))
    y.grad_fn.register_hook(log.name("post"))
    m.autograd.grad((y * y).sum(), y, retain_graph=True)
    assert log == []
    g, h = m.autograd.grad((y * y).sum(), (y, x))
    assert log == ["pre", "post"] and (numbers(g), numbers(h)) == ([12], [36])


# ---- node hooks --------------------------------------------------------------------------------


def test_node_hooks_replace_gradients(m):
    x, w = leaf(m, 2), leaf(m, 3)
    y = x * w
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, None))
    y.sum().backward()
    assert numbers(x.grad) == [31] and w.grad is None


def test_node_hooks_see_none_for_constants(m):
    seen = []
    x = leaf(m, 2)
    y = x * m.tensor([3.0], dtype=m.float64)
    y.grad_fn.register_hook(lambda gi, go: seen.append([numbers(g) for g in (*gi, *go)]))
    y.sum().backward()
    assert seen == [[[3], None, [1]]]


@pytest.mark.parametrize(
    ("register", "result", "kind", "phrase"),
    [
        (
            "register_prehook",
            lambda go: go[0],
            TypeError,
            "expected tuple, but hook returned 'Tensor'",
        ),
        ("register_prehook", lambda go: (*go, None), RuntimeError, "incorrect number of values"),
        (
            "register_hook",
            lambda gi, go: gi[0],
            TypeError,
            "expected tuple, but hook returned 'Tensor'",
        ),
        (
            "register_hook",
            lambda gi, go: (*gi, None),
            RuntimeError,
            r"hook '<lambda>' has returned an incorrect number of values \(got 3, but expected 2\)",
        ),
    ],
)
def test_wrong_results_of_node_hooks(m, register, result, kind, phrase):
    x, w = leaf(m, 2), leaf(m, 3)
    y = x * w
    getattr(y.grad_fn, register)(result)
    with pytest.raises(kind, match=phrase):
        y.sum().backward()
    assert x.grad is None


def test_metadata_is_one_dict_per_node(m):
    node = (leaf(m, 1) * 2).grad_fn
    node.metadata["note"] = 1
    assert node.metadata == {"note": 1}


# ---- hooks on several tensors ------------------------------------------------------------------


def multi(m: Any, log: list, *tensors: Any, **options: Any) -> Any:
    def fn(gs):
        log.append([numbers(g) for g in gs] if isinstance(gs, (list, tuple)) else numbers(gs))

    return m.autograd.graph.register_multi_grad_hook(tensors, fn, **options)


def test_multi_grad_hook(m):
    log = Log()
    a, b = leaf(m, 2), leaf(m, 3)
    c, d = a * b, a * b
    handle = multi(m, log, a, b, c, d)
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    handle.remove()
    c.sum().backward()
    assert log == [[[3], [2], [1], None], [[3], None, [1], None]]


def test_multi_grad_hook_on_roots():
    """Finding 4: PyTorch fires with b missing, and twice with inputs=."""
    log = Log()
    a, b = leaf(sapwood, 2), leaf(sapwood, 3)
    c, d = a * b, a * b
    multi(sapwood, log, a, b, c, d)
    seed = sapwood.ones(1, dtype=sapwood.float64)
    c.backward(seed, retain_graph=True)
    c.backward(seed, inputs=(a,), retain_graph=True)
    sapwood.autograd.backward([c, d], [seed, seed])
    assert log == [[[3], [2], [1], None], [[3], None, [1], None], [[6], [4], [1], [1]]]


def test_multi_grad_hook_and_grad_of_leaves():
    """PyTorch refuses (#131753)."""
    log = Log()
    a, b = leaf(sapwood, 2), leaf(sapwood, 3)
    c = a * b
    multi(sapwood, log, a, b, c)
    sapwood.autograd.grad(c.sum(), a, retain_graph=True)
    sapwood.autograd.grad(c.sum(), (a, b), retain_graph=True)
    sapwood.autograd.grad(c.sum(), c)
    assert log == [[[3], None, [1]], [[3], [2], [1]], [None, None, [1]]]


def test_multi_grad_hook_any(m):
    log = Log()
    a, b = leaf(m, 2), leaf(m, 3)
    c = a * b
    multi(m, log, a, b, c, mode="any")
    (c * 5).sum().backward(retain_graph=True)
    (c * 5).sum().backward()
    assert log == [[5], [5]]


def test_multi_grad_hook_arguments(m):
    a = leaf(m, 1)
    register = m.autograd.graph.register_multi_grad_hook
    with pytest.raises(ValueError, match=r"Expects mode to be one of .* but got some"):
        register((a,), print, mode="some")
    with pytest.raises(
        (RuntimeError, AssertionError), match="Expected gradient function to be set"
    ):
        register((a, m.ones(1)), print)
    register((a, m.ones(1)), print, mode="any").remove()


def test_multi_grad_hook_counts_what_is_none(m):
    log = Log()
    x = leaf(m, 1, 2)
    a, b = (x * 1).unbind(0)
    multi(m, log, a, b)
    (a * 2).backward()
    assert log == [[2, None]]


def test_multi_grad_hook_and_a_backward_inside_a_hook(m):
    """Two passes over the same tensors do not mix."""
    log = Log()
    a, b = leaf(m, 2), leaf(m, 3)
    c = a * b

    def inner(g):
        handle.remove()
        with m.enable_grad():
            (c * 10).sum().backward(retain_graph=True)

    multi(m, log, a, b, c)
    handle = c.register_hook(inner)
    (c * 1).sum().backward()
    assert log == [[[30], [20], [10]], [[3], [2], [1]]]


# ---- edges, callbacks, versions ----------------------------------------------------------------


def test_gradient_edges(m):
    graph = m.autograd.graph
    x = leaf(m, 2)
    y = x * 3
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    y.mul_(5)
    log = Log()
    (g,) = m.autograd.grad(y.sum(), edge, retain_graph=True)
    assert numbers(g) == [5]
    z = x * 4
    edge = graph.get_gradient_edge(z)
    del z
    m.autograd.backward(edge, m.ones(1, dtype=m.float64))
    assert numbers(x.grad) == [4] and log == []
    assert graph.get_gradient_edge(x).node.variable is x
    with pytest.raises(RuntimeError, match="for a Tensor that does not require gradients"):
        graph.get_gradient_edge(m.ones(1))


def test_queue_callback(m):
    log = Log()
    engine = m.autograd.Variable._execution_engine
    x = leaf(m, 1)

    def first():
        log.append(("first", numbers(x.grad), m.is_grad_enabled()))
        engine.queue_callback(lambda: log.append("second"))

    x.register_hook(lambda g: engine.queue_callback(first))
    (x * 2).sum().backward()
    assert log == [("first", [2], False), "second"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward"):
        engine.queue_callback(print)


def test_increment_version(m):
    t = m.ones(2)
    increment = m.autograd.graph.increment_version
    increment(t)
    increment([t, t])
    increment((t,))
    assert t._version == 4
    with pytest.raises(RuntimeError, match="increment_version expect"):
        increment(5)
    x = leaf(m, 1)
    y = x * 2
    z = y * y
    increment(y)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        z.sum().backward()


def test_node_is_the_type_of_all_nodes(m):
    kind = m.autograd.graph.Node
    x = leaf(m, 1)
    for t in (x * 2, x.exp(), x.view(1), x.view_as(x)):
        assert isinstance(t.grad_fn, kind) and issubclass(type(t.grad_fn), kind)
        assert isinstance(t.grad_fn.next_functions[0][0], kind)
    assert not isinstance(x, kind) and not isinstance(None, kind)
    y = x * 2
    assert y.grad_fn is y.grad_fn


# ---- backward inside backward, exceptions ------------------------------------------------------


def test_backward_inside_a_hook(m):
    log = Log()
    x, w = leaf(m, 2), leaf(m, 3)

    def hook(g):
        with m.enable_grad():
            (w * 5).sum().backward()
        log.append(numbers(w.grad))

    x.register_hook(hook)
    (x * 2).sum().backward()
    assert log == [[5]] and numbers(x.grad) == [2] and numbers(w.grad) == [5]


def test_backward_inside_backward_to_any_depth(m):
    def nested(depth):
        x = leaf(m, 1)
        if depth:
            x.register_hook(lambda g: g * (1 + nested(depth - 1)))
        with m.enable_grad():
            (x * 1).sum().backward()
        return x.grad[0].item()

    assert nested(60) == 61


def test_an_exception_in_a_hook_comes_through(m):
    def hook(g):
        raise ValueError("on purpose")

    x = leaf(m, 1)
    y = x.exp()
    y.register_hook(hook)
    with pytest.raises(ValueError, match="on purpose"):
        y.sum().backward()
    assert x.grad is None


def test_after_an_exception_in_a_hook_backward_runs_again():
    """Finding 10: PyTorch's graph is half freed, and the second backward raises."""
    fail = [True]

    def hook(g):
        if fail[0]:
            raise ValueError("on purpose")

    x, w = leaf(sapwood, 1), leaf(sapwood, 2)
    y = x.exp()
    y.register_hook(hook)
    loss = (y * w).exp().sum()
    for _ in range(3):
        with pytest.raises(ValueError, match="on purpose"):
            loss.backward()
        assert x.grad is None and w.grad is None
    fail[0] = False
    loss.backward()
    e = np.e
    np.testing.assert_allclose(numbers(x.grad), [np.exp(2 * e) * 2 * e])
    np.testing.assert_allclose(numbers(w.grad), [np.exp(2 * e) * e])
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        loss.backward()


def test_grads_are_all_written_or_none():
    """An exception late in the pass leaves the gradients of leaves that were done as they were."""

    def hook(g):
        raise ValueError("on purpose")

    x, w = leaf(sapwood, 1), leaf(sapwood, 2)
    x.register_hook(hook)
    loss = (x.exp() * w).sum()  # w is ready first
    w.grad = sapwood.tensor([7.0], dtype=sapwood.float64)
    with pytest.raises(ValueError, match="on purpose"):
        loss.backward()
    assert x.grad is None and numbers(w.grad) == [7]


def test_an_exception_takes_back_what_a_post_accumulate_hook_saw():
    """A hook on a leaf must see the new .grad; if a later hook raises, the old one is back."""
    seen = []

    def fail(g):
        raise ValueError("on purpose")

    x, w = leaf(sapwood, 0), leaf(sapwood, 2)
    w.grad = before = sapwood.tensor([7.0], dtype=sapwood.float64)
    w.register_post_accumulate_grad_hook(lambda p: seen.append(numbers(p.grad)))
    x.register_hook(fail)
    with pytest.raises(ValueError, match="on purpose"):
        (x.exp() * w).sum().backward()
    assert seen == [[8]] and w.grad is before and numbers(before) == [7] and x.grad is None


def test_numpy_settings_and_warnings_of_the_user_hold_in_hooks():
    x = leaf(sapwood, 1)
    x.register_hook(lambda g: seen.append(np.geterr()["divide"]))
    seen = []
    with np.errstate(divide="raise"):
        (x * 2).sum().backward()
        assert np.geterr()["divide"] == "raise"
    assert seen == ["raise"]


# ---- values written through NumPy and .data ----------------------------------------------------


SILENT = {"data": lambda y: y.data.mul_(2), "numpy": lambda y: y.detach().numpy().__imul__(2)}


@pytest.mark.parametrize("write", SILENT)
def test_silent_writes_give_the_same_numbers(m, write):
    """Finding 9: not noticed, and the new value is used."""
    x = leaf(m, 0)
    y = x.exp()
    SILENT[write](y)
    y.sum().backward()
    assert numbers(x.grad) == [2]


@pytest.mark.parametrize("write", SILENT)
def test_silent_writes_raise_inside_checked(write):
    def run():
        with sapwood.checked():
            y = x.exp()
            z = (y * y).sum()
        SILENT[write](y)
        z.backward()

    x = leaf(sapwood, 0)
    with pytest.raises(
        RuntimeError,
        match=r"(?s)modified by an inplace operation: .*output 0 of Exp "
        r"\(y\), was changed without a trace.*MulBackward0 saved it.*test_hooks.py:\d+",
    ):
        run()
    assert x.grad is None


def test_checked_leaves_counted_writes_and_results_alone():
    x = leaf(sapwood, 0, 1)
    with sapwood.checked():
        y = x.exp()
        z = (y * 3).tanh()
        (g,) = sapwood.autograd.grad(z.sum(), x, create_graph=True)
        (h,) = sapwood.autograd.grad(g.sum(), x)
        y = x.exp()
        y.mul_(2)
        with pytest.raises(RuntimeError, match=r"written at: .*test_hooks.py"):
            y.sum().backward()
        y = x * 1
        y.exp_()
        y.sum().backward()
    t = np.tanh(3 * np.exp([0, 1]))
    first = 3 * np.exp([0, 1]) * (1 - t * t)
    np.testing.assert_allclose(numbers(g), first)
    np.testing.assert_allclose(numbers(h), first * (1 - 2 * t * 3 * np.exp([0, 1])))
    np.testing.assert_allclose(numbers(x.grad), np.exp([0, 1]))


def test_checked_holds_for_functions_and_as_a_decorator():
    class F(sapwood.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    x = leaf(sapwood, 3)
    forward = sapwood.checked()(F.apply)
    y = forward(x)
    y.sum().backward(retain_graph=True)
    x.data.mul_(2)
    with pytest.raises(RuntimeError, match=r"was changed without a trace.*FBackward saved it"):
        y.sum().backward()


def test_detached_writes_are_noticed(m):
    y = leaf(m, 1).exp()
    y.detach().mul_(2)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()


# ---- PyTorch's side of the findings ------------------------------------------------------------


@pytest.mark.torch
def test_findings_still_stand(torch):
    """What the tests above call wrong is what PyTorch does: if this fails, look again."""
    a, b = leaf(torch, 1), leaf(torch, 1)
    a.register_hook(lambda g: g.mul_(10) and None)
    (a + b).backward(torch.ones(1, dtype=torch.float64))
    assert numbers(b.grad) == [10]  # 3
    log: list = []
    a, b = leaf(torch, 2), leaf(torch, 3)
    c = a * b
    multi(torch, log, a, b, c)
    c.backward(torch.ones(1, dtype=torch.float64), retain_graph=True)
    assert log == [[[3], None, [1]]] or log == [[None, [2], [1]]]  # 4
    with pytest.raises(RuntimeError, match="currently not supported"):
        torch.autograd.grad(c.sum(), a)
    b = leaf(torch, 1, 2) * 1
    v = b[:1]
    v.retain_grad()
    v.mul_(10)
    (b * 3).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert v.grad is None  # 6
    y = leaf(torch, 1).exp()
    handle = y.register_hook(lambda g: 1 / 0)
    z = y.exp().sum()
    with pytest.raises(ZeroDivisionError):
        z.backward()
    handle.remove()
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()  # 10
