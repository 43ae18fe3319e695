"""backward and grad (sections 1.1-1.3 and 1.8): checks, values, accumulation, error phrases.

A test that takes `m` runs in sapwood and in PyTorch and must hold in both.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import sapwood


def leaf(m: Any, *values: float) -> Any:
    return m.tensor(list(values), dtype=m.float64, requires_grad=True)


def numbers(t: Any) -> Any:
    return None if t is None else t.detach().tolist()


def ones(m: Any, *shape: int) -> Any:
    return m.ones(*shape, dtype=m.float64)


# ---- the two articles --------------------------------------------------------------------------


def test_the_articles(m):
    x = m.tensor(3.0, requires_grad=True)
    for expected in (22, 44, 66):
        (3 * x**2 + 4 * x + 2).backward()
        assert x.grad.item() == expected
    for _ in range(3):
        x.grad.zero_()
        (3 * x**2 + 4 * x + 2).backward()
        assert x.grad.item() == 22
    x = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = ((2 * x + 3) ** 2).mean()
    y.backward()
    np.testing.assert_allclose(y.item(), 51.66667, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), [6.66667, 9.33333, 12], rtol=1e-6)
    x = m.ones(2, 2, requires_grad=True)
    y = x + 2
    y.retain_grad()
    (y * y * 3).mean().backward()
    assert repr(y.grad) == "tensor([[4.5000, 4.5000],\n        [4.5000, 4.5000]])"


# ---- roots and their gradients -----------------------------------------------------------------


def test_only_scalars_need_no_gradient(m):
    x = leaf(m, 1, 2)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        (x * 2).backward()
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        m.autograd.grad(x * 2, x)
    z = m.tensor(1 + 2j, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"only for real scalar outputs but got torch.complex"):
        (z * z).backward()
    (x[:1] * 2).backward()  # one element is enough
    (x * 2).backward(ones(m, 2))
    assert numbers(x.grad) == [4, 2]


def test_gradients_must_fit(m):
    y = leaf(m, 1, 2) * 2
    with pytest.raises(
        RuntimeError,
        match=r"Mismatch in shape: grad_output\[0\] has a shape of "
        r"torch.Size\(\[3\]\) and output\[0\] has a shape of torch.Size\(\[2\]\)",
    ):
        y.backward(ones(m, 3))
    with pytest.raises(RuntimeError, match="Mismatch in dtype"):
        y.backward(ones(m, 2) * 1j)
    with pytest.raises(TypeError):
        y.backward(5)
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got int"):
        m.autograd.backward([y], [5])
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        m.autograd.backward([y, y], [ones(m, 2)])


def test_the_second_gradient_that_does_not_fit():
    """PyTorch fails at writing this message."""
    y = leaf(sapwood, 1, 2) * 2
    with pytest.raises(RuntimeError, match=r"grad_output\[1\] has a shape of"):
        sapwood.autograd.backward([y.sum(), y], [None, ones(sapwood, 1)])


def test_roots_without_a_graph(m):
    for root in (m.ones(1), leaf(m, 1).detach() * 2):
        with pytest.raises(
            RuntimeError,
            match="element 0 of tensors does not require grad and does not have a grad_fn",
        ):
            root.sum().backward()
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        m.autograd.backward([leaf(m, 1).sum(), m.ones(1).sum()])
    with pytest.raises(RuntimeError, match="does not require grad"):
        m.autograd.grad(m.ones(1).sum(), leaf(m, 1))


def test_a_root_without_a_graph_says_why():
    x = leaf(sapwood, 1)
    x.requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"requires_grad_\(False\) at .*test_backward.py:\d+"):
        (x * 2).sum().backward()
    x = leaf(sapwood, 1)
    with sapwood.no_grad():
        y = x * 2
    with pytest.raises(RuntimeError, match=r"no_grad at .*test_backward.py:\d+  \(y = x \* 2\)"):
        (y * 3).sum().backward()
    with pytest.raises(RuntimeError, match=r"detach at .*test_backward.py:\d+"):
        (x.detach() * 3).sum().backward()
    c = sapwood.ones(1, dtype=sapwood.float64)
    with pytest.raises(RuntimeError, match=r"detach at .*test_backward.py:\d+"):
        sapwood.addcmul(c, c, x.detach()).sum().backward()


def test_several_roots(m):
    x, w = leaf(m, 2), leaf(m, 3)
    m.autograd.backward([(x * w).sum(), x * 5, x], [None, ones(m, 1) * 2, ones(m, 1)])
    assert (numbers(x.grad), numbers(w.grad)) == ([14], [2])
    y = x * w
    g = m.autograd.grad([y, y, x.exp().sum()], [x, w], [ones(m, 1), ones(m, 1), None])
    np.testing.assert_allclose([numbers(t) for t in g], [[6 + np.exp(2)], [4]])


def test_a_leaf_as_root(m):
    x = leaf(m, 2)
    x.backward()
    x.backward(ones(m, 1) * 3)
    assert numbers(x.grad) == [4]
    assert numbers(m.autograd.grad(x, x)[0]) == [1]


def test_the_seed_is_not_stored(m):
    x, seed = leaf(m, 2), ones(m, 1)
    x.backward(seed)
    assert x.grad is not seed
    x.grad.mul_(5)
    assert numbers(seed) == [1]


def test_the_dtype_of_the_seed_follows_the_root(m):
    x = m.ones(2, requires_grad=True)
    (x * 2).backward(ones(m, 2))
    assert x.grad.dtype == m.float32


# ---- inputs= and grad --------------------------------------------------------------------------


def test_inputs(m):
    x, w = leaf(m, 2), leaf(m, 3)
    (x * w).sum().backward(inputs=[x])
    assert numbers(x.grad) == [3] and w.grad is None
    (x * w).sum().backward(inputs=w)
    assert numbers(x.grad) == [3] and numbers(w.grad) == [2]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * w).sum().backward(inputs=[])


def test_only_the_path_to_the_inputs_runs(m):
    log = []
    x, w = leaf(m, 2), leaf(m, 3)
    a, b = x * 2, w * 3
    a.register_hook(lambda g: log.append("a"))
    b.register_hook(lambda g: log.append("b"))
    (a * b).sum().backward(inputs=[x])
    assert log == ["a"]


def test_grad(m):
    x, w, u = leaf(m, 2), leaf(m, 3), leaf(m, 1)
    y = (x * w).sum()
    gx, gw = m.autograd.grad(y, (x, w), retain_graph=True)
    assert (numbers(gx), numbers(gw)) == ([3], [2]) and x.grad is None
    found = m.autograd.grad(y, {"first": x, "second": w}, retain_graph=True)
    assert {k: numbers(v) for k, v in found.items()} == {"first": [3], "second": [2]}
    with pytest.raises(
        RuntimeError,
        match=r"appears? to not have been used in the graph. Set "
        "allow_unused=True",
    ):
        m.autograd.grad(y, (x, u), retain_graph=True)
    gx, gu = m.autograd.grad(y, (x, u), retain_graph=True, allow_unused=True)
    assert numbers(gx) == [3] and gu is None
    gx, gu = m.autograd.grad(y, (x, u), retain_graph=True, materialize_grads=True)
    assert numbers(gu) == [0]
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed"):
        m.autograd.grad(y, x, allow_unused=False, materialize_grads=True)
    with pytest.raises(
        RuntimeError, match="One of the differentiated Tensors does not require grad"
    ):
        m.autograd.grad(y, m.ones(1))
    g, h = m.autograd.grad(y, (x, x))
    assert numbers(g) == numbers(h) == [3]


def test_grad_of_non_leaves_and_edges(m):
    x = leaf(m, 2)
    y = x * 3
    z = (y * y).sum()
    edge = m.autograd.graph.get_gradient_edge(y)
    g, h, k = m.autograd.grad(z, (y, x, edge))
    assert (numbers(g), numbers(h), numbers(k)) == ([12], [36], [12])


def test_is_grads_batched(m):
    x = leaf(m, 1, 2)
    y = x * x
    (g,) = m.autograd.grad(y, x, m.eye(2, dtype=m.float64), is_grads_batched=True)
    assert numbers(g) == [[2, 0], [0, 4]]


# ---- the graph's life --------------------------------------------------------------------------


def test_a_second_backward(m):
    x = leaf(m, 1)
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        m.autograd.grad(y, x)
    y = (x + x).sum()  # nothing is saved
    y.backward()
    y.backward()
    np.testing.assert_allclose(numbers(x.grad), [np.e + 4])


def test_a_second_backward_names_the_lines():
    y = leaf(sapwood, 1).exp()
    z = y.sum()
    z.backward()
    with pytest.raises(
        RuntimeError,
        match=r"(?s)saved by: +ExpBackward0 at .*test_backward.py:\d+.*"
        r"released by: .*test_backward.py:\d+  \(z.backward\(\)\)",
    ):
        z.backward()


def test_retain_graph(m):
    x = leaf(m, 1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    assert numbers(x.grad) == [6, 12]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_saved_values_of_a_node(m):
    x, w = leaf(m, 2), leaf(m, 3)
    node = (x * w).grad_fn
    assert node._saved_self is x and node._saved_other is w
    assert (x * ones(m, 1)).grad_fn._saved_self is None
    y = x.exp()
    assert numbers(y.grad_fn._saved_result) == numbers(y)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_result
    assert y.grad_fn.next_functions[0][0].variable is x


def test_a_graph_may_be_used_in_part(m):
    x = leaf(m, 1)
    y = x.exp()
    a, b = y * 2, y * 3
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    np.testing.assert_allclose(numbers(x.grad), [5 * np.e])


# ---- create_graph ------------------------------------------------------------------------------


def test_higher_orders(m):
    x = leaf(m, 2)
    y = (x**4).sum()
    values = []
    for _ in range(5):
        (y,) = m.autograd.grad(y.sum(), x, create_graph=True)
        values.append(numbers(y)[0])
    assert values == [32, 48, 48, 24, 0]


def test_backward_with_create_graph(m):
    x = leaf(m, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of a cycle; there is none here
        (x**3).sum().backward(create_graph=True)
    first = x.grad
    assert numbers(first) == [12] and first.requires_grad and first.grad_fn is not None
    first.sum().backward()
    assert numbers(x.grad) == [24]


def test_create_graph_retains(m):
    x = leaf(m, 2)
    y = (x**3).sum()
    for _ in range(2):
        m.autograd.grad(y, x, create_graph=True)
    m.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        m.autograd.grad(y, x)


def test_a_gradient_penalty(m):
    w = leaf(m, 1, 2)
    x = leaf(m, 3, 4)
    (g,) = m.autograd.grad(((w * x) ** 2).sum(), x, create_graph=True)
    (g * g).sum().backward()  # sum (2 w^2 x)^2
    assert numbers(w.grad) == [16 * 9 * 1, 16 * 16 * 8]


# ---- accumulation ------------------------------------------------------------------------------


def test_accumulation_is_in_place(m):
    x = leaf(m, 1)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first and numbers(first) == [5] and first._version == 1
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad is not first


def test_accumulation_into_an_assigned_gradient(m):
    x, mine = leaf(m, 1), ones(m, 1)
    x.grad = mine
    (x * 2).sum().backward()
    assert x.grad is mine and numbers(mine) == [3]
    del x.grad
    assert x.grad is None


def test_what_may_be_assigned_to_grad(m):
    x = leaf(m, 1)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 5
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = ones(m, 2)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = m.ones(1)
    assert x.grad is None


def test_gradients_share_no_memory(m):
    a, b = leaf(m, 1), leaf(m, 1)
    (a + b).sum().backward()
    a.grad.mul_(5)
    assert numbers(b.grad) == [1]
    x, g = leaf(m, 1), ones(m, 1)
    x.backward(g)
    (x * 1).backward(g)
    assert numbers(g) == [1]
    seed = ones(m, 1)
    y = leaf(m, 1) * 1
    y.retain_grad()
    y.backward(seed)
    y.grad.mul_(5)
    assert numbers(seed) == [1]


def test_results_of_grad_share_no_memory():
    """In PyTorch they do."""
    a, b = leaf(sapwood, 1), leaf(sapwood, 1)
    g, h = sapwood.autograd.grad((a + b).sum(), (a, b))
    g.mul_(5)
    assert numbers(h) == [1]


def test_layout_follows_the_leaf(m):
    x = m.zeros(2, 3, dtype=m.float64).t().requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 3)
    y = leaf(m, 1, 2)
    y.sum().backward()  # what arrives has stride 0
    assert y.grad.stride() == (1,)


def test_no_gradient_is_not_zero(m):
    x, w = leaf(m, 1), leaf(m, 2)
    (x * 2).sum().backward()
    assert w.grad is None


def test_a_diamond(m):
    x = leaf(m, 2)
    y = x * x
    z = y * y + y
    (z * x).sum().backward()
    assert numbers(x.grad) == [5 * 16 + 3 * 4]


# ---- flags, detach, copies ---------------------------------------------------------------------


def test_requires_grad(m):
    with pytest.raises(RuntimeError, match=r"(?i)only Tensors of floating point"):
        m.ones(1, dtype=m.int64).requires_grad_()
    y = leaf(m, 1) * 1
    with pytest.raises(
        RuntimeError, match="you can only change requires_grad flags of leaf variables"
    ):
        y.requires_grad_(False)
    assert y.requires_grad_() is y
    x = leaf(m, 1)
    (x * 2).sum().backward()
    x.requires_grad_(False)
    assert numbers(x.grad) == [2] and not (x * 1).requires_grad
    assert x.is_leaf and not (leaf(m, 1) * 1).is_leaf and (leaf(m, 1) * 1).detach().is_leaf


def test_detach_in_place(m):
    a = leaf(m, 1)
    b = a * 2
    c = b * 2
    b.detach_()
    c.sum().backward()
    assert numbers(a.grad) == [4] and not b.requires_grad and b.is_leaf
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (a * 1)[:1].detach_()


def test_deepcopy(m):
    x = leaf(m, 1)
    x.register_hook(lambda g: g * 10)
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    assert numbers(y.grad) == [20] and y.grad is not x.grad and y.requires_grad
    (y * 2).sum().backward()
    assert numbers(y.grad) == [22]
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 1)


# ---- in-place ----------------------------------------------------------------------------------


def test_leaves_may_not_be_written(m):
    x = leaf(m, 1, 2)
    with pytest.raises(
        RuntimeError,
        match="a leaf Variable that requires grad is being used in an in-place operation",
    ):
        x.mul_(2)
    with pytest.raises(
        RuntimeError,
        match="a view of a leaf Variable that requires grad is being used in an in-place operation",
    ):
        x[:1].mul_(2)
    with m.no_grad():
        x.mul_(2)
    assert x._version == 1 and numbers(x) == [2, 4]


def test_a_saved_value_that_was_written(m):
    x = leaf(m, 1)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(
        RuntimeError,
        match=r"one of the variables needed for gradient computation has "
        r"been modified by an inplace operation: \[torch.DoubleTensor \[1\]\], which is "
        r"output 0 of Exp.*, is at version 1; expected version 0 instead",
    ):
        y.sum().backward()
    b = x * 1
    y = b.exp()
    b.mul_(2)  # exp saves its result, not its operand
    y.sum().backward()
    np.testing.assert_allclose(numbers(x.grad), [np.e])


def test_a_saved_value_that_was_written_names_the_lines():
    y = leaf(sapwood, 1).exp()
    y.mul_(2)
    with pytest.raises(
        RuntimeError,
        match=r"(?s)saved by: +ExpBackward0 at .*test_backward.py:\d+  "
        r"\(y = .*written at: .*test_backward.py:\d+  \(y.mul_\(2\)\)",
    ):
        y.sum().backward()


def test_writes_through_views(m):
    x = leaf(m, 1, 2, 3, 4)
    b = x * 1
    v = b[:2]
    v.mul_(3)
    b.sum().backward()
    assert numbers(x.grad) == [3, 3, 1, 1]
    assert b.grad_fn.name().endswith("CopySlices") and v._base is b
    x, w = leaf(m, 1, 2), leaf(m, 5)
    base = m.zeros(2, dtype=m.float64)
    other = base[1:]
    base[:1] = w
    assert base.requires_grad and other.requires_grad
    (base * x).sum().backward()
    assert numbers(w.grad) == [1] and numbers(x.grad) == [5, 0]


def test_forbidden_writes(m):
    x = leaf(m, 1, 2)
    b = x * 1
    with pytest.raises(
        RuntimeError, match=r"Output 0 of Unbind.* is a view and is being modified inplace"
    ):
        b.unbind(0)[0].mul_(2)
    with m.no_grad():
        v = b[:1]
    with pytest.raises(
        RuntimeError, match="A view was created in no_grad mode and is being modified"
    ):
        v.mul_(2)
    b.mul_(2)
    with pytest.raises(
        RuntimeError,
        match="A view was created in no_grad mode and its base or another "
        "view of its base has been modified inplace",
    ):
        _ = v.grad_fn
    with pytest.raises(
        RuntimeError,
        match="more than one element of the written-to tensor refers to a single memory location",
    ):
        m.ones(1).expand(3).mul_(2)


def test_in_place_equals_out_of_place(m):
    for name in ("add", "mul", "sub", "div"):
        x, w = leaf(m, 2), leaf(m, 3)
        a = x * 1
        getattr(a, name + "_")(w)
        b = getattr(x * 1, name)(w)
        got = m.autograd.grad((a * 5).sum(), (x, w))
        expected = m.autograd.grad((b * 5).sum(), (x, w))
        assert [numbers(g) for g in got] == [numbers(g) for g in expected]


# ---- depth -------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [False, True])
def test_a_deep_chain(graph):
    """No recursion anywhere (PyTorch is not run here: its create_graph chain is slow)."""
    x = leaf(sapwood, 1)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    (g,) = sapwood.autograd.grad(y.sum(), x, create_graph=graph)
    assert numbers(g) == [1]
    repr(y)
    repr(y.grad_fn)
    del y, g
