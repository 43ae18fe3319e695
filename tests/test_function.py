"""autograd.Function. A test that takes `m` runs in sapwood and in PyTorch and must hold in both."""

# ruff: noqa: N806 - Functions are classes, also inside tests

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import sapwood


def leaf(m: Any, *values: float) -> Any:
    return m.tensor(list(values), dtype=m.float64, requires_grad=True)


def numbers(t: Any) -> Any:
    return None if t is None else t.detach().tolist()


def function(m: Any, forward: Any, backward: Any, name: str = "F", **more: Any) -> Any:
    """A Function of the module `m` from two Python functions."""
    space = {"forward": staticmethod(forward), "backward": staticmethod(backward), **more}
    return type(name, (m.autograd.Function,), space)


def identity(m: Any, **more: Any) -> Any:
    return function(m, lambda ctx, x: x * 1, lambda ctx, g: g, **more)


# ---- the two styles ----------------------------------------------------------------------------


def test_forward_with_ctx(m):
    class Cube(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    x = leaf(m, 2, 3)
    y = Cube.apply(x)
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "CubeBackward"
    assert isinstance(y.grad_fn, m.autograd.graph.Node)
    assert "grad_fn=<CubeBackward>" in repr(y)
    (g,) = m.autograd.grad(y.sum(), x, create_graph=True)
    assert numbers(g) == [12, 27]
    (h,) = m.autograd.grad(g.sum(), x, create_graph=True)
    assert numbers(h) == [12, 18]
    assert numbers(m.autograd.grad(h.sum(), x)[0]) == [6, 6]


def test_forward_with_setup_context(m):
    seen = []

    class Scale(m.autograd.Function):
        @staticmethod
        def forward(x, factor=3, power=1):
            return x * factor**power

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((inputs[1:], ctx.needs_input_grad, output.requires_grad))
            ctx.factor = inputs[1] ** inputs[2]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, None

    x = leaf(m, 1, 2)
    Scale.apply(x).sum().backward()
    Scale.apply(x, power=2).sum().backward()
    Scale.apply(x, 2, 2).sum().backward()
    needs = (True, False, False)
    assert seen == [((3, 1), needs, False), ((3, 2), needs, False), ((2, 2), needs, False)]
    assert numbers(x.grad) == [3 + 9 + 4] * 2


def test_arguments_by_name_are_inputs(m):
    def forward(ctx, x, n=2):
        ctx.n = n
        return x * n

    F = function(m, forward, lambda ctx, g: (g * ctx.n, None))
    x = leaf(m, 1)
    F.apply(x, n=5).sum().backward()
    assert numbers(x.grad) == [5]
    G = function(m, forward, lambda ctx, g: g)
    with pytest.raises(RuntimeError, match=r"number of gradients \(expected 2, got 1\)"):
        G.apply(x, n=5).sum().backward()
    with pytest.raises(TypeError):
        function(m, lambda ctx, x, a=1, n=2: x * n, None).apply(x, n=5)


def test_inside_forward_grad_mode_is_off(m):
    seen = []

    def forward(ctx, x, c, n):
        y = x * 2
        seen.append(
            (
                m.is_grad_enabled(),
                x.requires_grad,
                x is given,
                y.requires_grad,
                ctx.needs_input_grad,
                ctx.saved_tensors,
            )
        )
        return y

    given = leaf(m, 1)
    F = function(m, forward, lambda ctx, g: (g, None, None))
    F.apply(given, m.ones(1), 7)
    with m.no_grad():
        out = F.apply(given, m.ones(1), 7)
    assert seen == [(False, True, True, False, (True, False, False), ())] * 2
    assert not out.requires_grad and out.is_leaf


def test_grad_mode_in_backward_follows_create_graph(m):
    seen = []

    def backward(ctx, g):
        seen.append((m.is_grad_enabled(), g.requires_grad))
        return g * 2

    F = function(m, lambda ctx, x: x * 2, backward)
    x = leaf(m, 1)
    F.apply(x).sum().backward()
    m.autograd.grad(F.apply(x).sum(), x, create_graph=True)
    m.autograd.grad((F.apply(x) ** 2).sum(), x, create_graph=True)
    assert seen == [(False, False), (True, False), (True, True)]


def test_vjp_is_another_name_of_backward(m):
    class F(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def vjp(ctx, g):
            return g * 3

    x = leaf(m, 1)
    F.apply(x).sum().backward()
    assert numbers(x.grad) == [3]
    both = type("Both", (F,), {"backward": staticmethod(lambda ctx, g: g)})
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(x).sum().backward()


def test_what_is_missing_is_said(m):
    Nothing = type("Nothing", (m.autograd.Function,), {})
    with pytest.raises(NotImplementedError, match="must implement the forward function"):
        Nothing.apply(leaf(m, 1))
    Half = type("Half", (m.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 1)})
    with pytest.raises(NotImplementedError, match="must implement either the backward or vjp"):
        Half.apply(leaf(m, 1)).sum().backward()
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Half()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        instance(leaf(m, 1))


def test_vmap_and_jvp_are_refused_clearly():
    for name in ("jvp", "vmap"):
        with pytest.raises(NotImplementedError, match="sapwood has no"):
            getattr(sapwood.autograd.Function, name)(None, None)


# ---- what is saved -----------------------------------------------------------------------------


def test_saved_tensors(m):
    x, c = leaf(m, 2), m.ones(1, dtype=m.float64)

    def forward(ctx, x, c):
        ctx.save_for_backward(c)
        y = x * c
        ctx.save_for_backward(x, None, c, y)  # the last call counts
        return y

    def backward(ctx, g):
        a, none, b, y = ctx.saved_tensors
        assert a is x and none is None and not b.requires_grad
        assert y.grad_fn is out.grad_fn
        return g * b, None

    F = function(m, forward, backward)
    out = F.apply(x, c)
    assert out.grad_fn.saved_tensors[0] is x
    out.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = out.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        out.sum().backward()


def test_nothing_saved_may_run_twice(m):
    x = leaf(m, 2)
    y = identity(m).apply(x)
    y.sum().backward()
    y.sum().backward()
    assert numbers(x.grad) == [2]


def test_retained_graph_runs_twice(m):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = leaf(m, 0)
    y = function(m, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert numbers(x.grad) == [2]


def test_only_tensors_are_saved(m):
    for wrong, kind in ((5, "int"), ((1, 2), "tuple")):
        F = function(m, lambda ctx, x, w=wrong: [ctx.save_for_backward(w), x * 1][1], None)
        with pytest.raises(
            TypeError, match=f"can only save variables, but argument 0 is of type {kind}"
        ):
            F.apply(leaf(m, 1))


def test_a_saved_tensor_that_was_written_is_refused(m):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    F = function(m, forward, lambda ctx, g: g * ctx.saved_tensors[1], name="Exp")
    x = leaf(m, 1)
    y = F.apply(x)
    y.mul_(2)
    with pytest.raises(
        RuntimeError,
        match=r"modified by an inplace operation: \[torch.DoubleTensor "
        r"\[1\]\], which is output 0 of Exp.*is at version 1; expected version 0",
    ):
        y.sum().backward()
    b = x * 1
    y = F.apply(b)
    b.mul_(2)
    with pytest.raises(RuntimeError, match=r"which is output 0 of Mul.* is at version 1"):
        y.sum().backward()


def test_clear_saved_tensors_on_access(m):
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with pytest.raises(RuntimeError, match="saved_tensors can only be accessed once"):
            _ = ctx.saved_tensors
        return g * x

    F = function(
        m,
        lambda ctx, x: [ctx.save_for_backward(x), x * x][1],
        backward,
        clear_saved_tensors_on_access=True,
    )
    x = leaf(m, 3)
    F.apply(x).sum().backward()
    assert numbers(x.grad) == [3]


def test_any_attribute_on_ctx(m):
    """Also names that mean something to the engine's own nodes."""

    def forward(ctx, x):
        ctx.shape, ctx.dtype, ctx.inputs, ctx.op, ctx.saved, ctx.name = x.shape, 1, 2, 3, 4, "n"
        ctx.hooks = ctx.plan = ctx.seq = ctx.attrs = ctx.ports = ctx.code = ctx.scope = 5
        return x.sum()

    def backward(ctx, g):
        assert (ctx.dtype, ctx.inputs, ctx.op, ctx.saved, ctx.name, ctx.hooks) == (
            1,
            2,
            3,
            4,
            "n",
            5,
        )
        return g.expand(ctx.shape)

    x = leaf(m, 1, 2)
    y = function(m, forward, backward).apply(x)
    assert not hasattr(y.grad_fn, "other")
    y.backward()
    assert numbers(x.grad) == [1, 1]


def test_the_node_gives_what_is_on_ctx(m):
    def forward(ctx, x, n):
        ctx.mine = n
        return x * n

    x = leaf(m, 1)
    node = function(m, forward, lambda ctx, g: (g, None)).apply(x, 7).grad_fn
    assert node.mine == 7 and node.needs_input_grad == (True, False)
    assert len(node.next_functions) == 1 and node.next_functions[0][0].variable is x
    assert node.metadata == {}


# ---- outputs -----------------------------------------------------------------------------------


def test_several_outputs_and_outputs_that_are_no_tensors(m):
    got = []

    def forward(ctx, x):
        constant, integer = x * 3, m.tensor([1, 2])
        ctx.mark_non_differentiable(constant)
        return x * 2, integer, constant, 5, None, "s", {"k": x * 2}, [x * 2]

    def backward(ctx, *grads):
        got.append([numbers(g) for g in grads])
        return grads[0] * 2

    x = leaf(m, 1, 2)
    outs = function(m, forward, backward).apply(x)
    assert type(outs) is tuple and outs[3:6] == (5, None, "s")
    assert [t.requires_grad for t in outs[:3]] == [True, False, False]
    assert not outs[6]["k"].requires_grad and not outs[7][0].requires_grad
    outs[0].sum().backward()
    assert got == [[[1, 1], [0, 0], [0, 0], None, None, None, None, None]]
    assert numbers(x.grad) == [2, 2]


def test_what_kind_of_value_comes_back(m):
    x = leaf(m, 1)

    def returned(make):
        return function(m, lambda ctx, x: make(x), lambda ctx, *g: g[0]).apply(x)

    assert returned(lambda x: [x * 1])[0].requires_grad is False  # a list is no tuple
    (one,) = returned(lambda x: (x * 1,))
    assert one.requires_grad
    assert returned(lambda x: 5) == 5 and returned(lambda x: None) is None
    assert returned(lambda x: ()) == ()
    assert returned(lambda x: {"k": x * 1})["k"].requires_grad is False


def test_tensors_in_lists_are_no_inputs(m):
    F = function(m, lambda ctx, xs: xs[0] * 1, lambda ctx, g: g)
    assert not F.apply([leaf(m, 1)]).requires_grad


def test_one_tensor_returned_twice(m):
    got = []

    def backward(ctx, *grads):
        got.append([numbers(g) for g in grads])
        return grads[0] + grads[1]

    x = leaf(m, 1)
    a, b = function(m, lambda ctx, x: (x * 2,) * 2, backward).apply(x)
    doubled = function(m, lambda ctx, x: (lambda y: (y, y))(x * 2), backward).apply(x)
    assert a is b and a.output_nr == 1
    (doubled[0] * 2 + doubled[1] * 3).sum().backward()
    assert got == [[[0], [5]]] and numbers(x.grad) == [5]


def test_returning_an_input_gives_a_view_of_it(m):
    F = function(m, lambda ctx, x: x, lambda ctx, g: g * 2)
    x = leaf(m, 1)
    b = x * 1
    r = F.apply(b)
    assert r is not b and r._is_view() and r._base is b and r.grad_fn.name() == "FBackward"
    r.sum().backward()
    assert numbers(x.grad) == [2]
    with pytest.raises(
        RuntimeError,
        match=r"Output 0 of F is a view and is being modified inplace. "
        "This view was created inside a custom Function",
    ):
        r.mul_(2)
    y = F.apply(x)
    assert y is not x and y.requires_grad and not y.is_leaf and x.is_leaf
    with m.no_grad():
        y = F.apply(x)
    assert y is not x and not y.requires_grad
    c = m.ones(1)
    y = F.apply(c)
    assert y is not c and y._is_view() and not y.requires_grad


def test_returning_an_input_that_setup_context_saves_is_refused(m):
    class F(m.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

    with pytest.raises(RuntimeError, match="An input that has been returned as-is as output"):
        F.apply(leaf(m, 1))


def test_views_as_outputs(m):
    F = function(m, lambda ctx, x: x[:1], lambda ctx, g: m.cat([g * 3, g * 0]), name="Head")
    x = leaf(m, 1, 2)
    b = x * 1
    v = F.apply(b)
    assert v._is_view() and v._base is b
    v.sum().backward()
    assert numbers(x.grad) == [3, 0]
    with pytest.raises(
        RuntimeError, match="Output 0 of Head is a view and is being modified inplace"
    ):
        v.mul_(2)
    b.mul_(2)
    assert "grad_fn=<Invalid>" in repr(v)
    with pytest.raises(
        RuntimeError,
        match="Output 0 of Head is a view and its base or another view "
        "of its base has been modified inplace",
    ):
        _ = v.grad_fn
    G = function(m, lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: m.cat([g, h]), name="Two")
    v, _ = G.apply(x * 1)
    with pytest.raises(RuntimeError, match="the output of a function that returns multiple views"):
        v.mul_(2)


def test_a_tensor_from_elsewhere_keeps_its_own_graph():
    """PyTorch rewrites the grad_fn of a tensor that forward returns although it is no input."""
    x = leaf(sapwood, 1)
    for other in (leaf(sapwood, 5), leaf(sapwood, 5) * 1):
        before = other.grad_fn
        y = function(sapwood, lambda ctx, x, o=other: o, lambda ctx, g: g * 2).apply(x)
        assert y is not other and other.grad_fn is before
        y.sum().backward()
    assert numbers(x.grad) == [4]


# ---- mark_dirty, mark_non_differentiable, set_materialize_grads --------------------------------


def double_in_place(m: Any) -> Any:
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return function(m, forward, lambda ctx, g: g * 2, name="Double")


def test_mark_dirty(m):
    F = double_in_place(m)
    x = leaf(m, 1, 2)
    b = x * 3
    before = b.grad_fn
    c = F.apply(b)
    assert c is b and b.grad_fn.name() == "DoubleBackward" and b.grad_fn is not before
    assert b._version == 2 and numbers(b) == [6, 12]
    (b * 1).sum().backward()
    assert numbers(x.grad) == [6, 6]


def test_mark_dirty_reaches_the_base_of_a_view(m):
    x = leaf(m, 1, 2)
    b = x * 3
    v = b[:1]
    double_in_place(m).apply(v)
    assert numbers(b) == [6, 6] and b.grad_fn.name().endswith("CopySlices")
    b.sum().backward()
    assert numbers(x.grad) == [6, 3]


def test_mark_dirty_refusals(m):
    x = leaf(m, 1, 2)
    with pytest.raises(
        RuntimeError,
        match="a leaf Variable that requires grad has been used in an in-place operation",
    ):
        double_in_place(m).apply(x)

    def keep_it(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x * 3

    with pytest.raises(
        RuntimeError,
        match="Some elements marked as dirty during the forward method were not returned as output",
    ):
        function(m, keep_it, None).apply(x * 1)

    def two(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x * 3

    F = function(m, two, lambda ctx, g, h: g * 2 + h * 6)
    with pytest.raises(RuntimeError, match="modifies inplace an input that is a view of another"):
        F.apply((x * 1)[:1])
    a, b = F.apply(x * 1)
    y = leaf(m, 1)
    a, b = F.apply(y * 1)
    (a + b).sum().backward()
    assert numbers(y.grad) == [8]
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        function(m, lambda ctx, x: (lambda y: [ctx.mark_dirty(y), y][1])(x * 1), None).apply(x)
    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables"):
        function(m, lambda ctx, x: ctx.mark_dirty(5), None).apply(x)
    with pytest.raises(RuntimeError, match="mark_non_differentiable only accepts variable"):
        function(m, lambda ctx, x: ctx.mark_non_differentiable(5), None).apply(x)


def test_an_input_marked_non_differentiable(m):
    x = leaf(m, 1)
    F = function(m, lambda ctx, x: [ctx.mark_non_differentiable(x), x][1], None)
    y = F.apply(x)
    assert y is not x and not y.requires_grad and x.requires_grad


def test_absent_gradients_of_non_differentiable_outputs(m):
    got = []

    def forward(ctx, x):
        ctx._materialize_non_diff_grads = False
        other = x * 3
        ctx.mark_non_differentiable(other)
        return x * 2, other

    def backward(ctx, *grads):
        got.extend(grads[1:])
        return grads[0]

    function(m, forward, backward).apply(leaf(m, 1))[0].sum().backward()
    assert got == [None]


@pytest.mark.parametrize("materialize", [True, False])
def test_materialize_grads(m, materialize):
    got = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 2, x * 3

    def backward(ctx, g, h):
        got.append([numbers(g), numbers(h)])
        return h * 3

    x = leaf(m, 1)
    function(m, forward, backward).apply(x)[1].sum().backward()
    assert got == [[[0] if materialize else None, [1]]] and numbers(x.grad) == [3]


def test_a_function_that_returns_none(m):
    """Absent is not zero: None goes on, hooks see it, a custom backward gets zeros for it."""
    stop = function(m, lambda ctx, x: x * 1, lambda ctx, g: None)
    log = []
    x = leaf(m, 1)
    y = x.exp()
    y.register_hook(lambda g: log.append(("y", g)))
    x.register_hook(lambda g: log.append(("x", g)))
    stop.apply(y).sum().backward()
    assert log == [("y", None), ("x", None)] and x.grad is None

    def backward(ctx, g):
        log.append(numbers(g))
        return g

    z = leaf(m, 1)
    log.clear()
    stop.apply(function(m, lambda ctx, x: x * 1, backward).apply(z)).sum().backward()
    assert log == [[0]] and numbers(z.grad) == [0]


# ---- what backward returns ---------------------------------------------------------------------


def returns(m: Any, result: Any) -> Any:
    """A Function of two tensors and a number with a given result of backward."""
    return function(m, lambda ctx, x, w, n: x * 1, lambda ctx, g: result(), name="F")


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (
            lambda g: None,
            r"function FBackward returned an incorrect number of gradients \(expected 3, got 1\)",
        ),
        (lambda g: (g, None), r"\(expected 3, got 2\)"),
        (lambda g: [g, None, None], r"\(expected 3, got 1\)"),
        (lambda g: (g, None, None, g), r"\(expected 3, got 4\)"),
        (
            lambda g: (g, g, g),
            "returned a gradient different than None at position 3, but the "
            "corresponding forward input was not a Variable",
        ),
        (
            lambda g: (g[:1], None, None),
            r"Function FBackward returned an invalid gradient at index 0 - "
            r"got \[1\] but expected shape compatible with \[2\]",
        ),
        (
            lambda g: (None, g.expand(3, 2).reshape(6), None),
            r"invalid gradient at index 1 - got \[6\]",
        ),
        (lambda g: (g.sum(), None, None), r"got \[\] but expected shape compatible with \[2\]"),
        (lambda g: (1, None, None), r"expected Variable or None \(got int\)"),
        (lambda g: (None, "s", None), r"expected Variable or None \(got str\)"),
    ],
)
def test_wrong_results_of_backward(m, make, phrase):
    x, w = leaf(m, 1, 2), leaf(m, 1, 2)
    g = m.ones(2, dtype=m.float64)
    with pytest.raises(RuntimeError, match=phrase):
        returns(m, lambda: make(g)).apply(x, w, 5).sum().backward()
    assert x.grad is None and w.grad is None


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda m, g: (g, None, None, None, None), [1, 1]),  # trailing Nones
        (lambda m, g: (g.expand(2, 2), None, None), [2, 2]),  # broadcast shapes are summed
        (lambda m, g: (g[None], None, None), [1, 1]),
        (lambda m, g: (g.to(m.float32), None, None), [1, 1]),  # the dtype is restored
        (lambda m, g: (g.to(m.int64), None, None), [1, 1]),
        (lambda m, g: (None, None, None), None),
    ],
)
def test_right_results_of_backward(m, make, expected):
    x, w = leaf(m, 1, 2), leaf(m, 1, 2)
    g = m.ones(2, dtype=m.float64)
    returns(m, lambda: make(m, g)).apply(x, w, 5).sum().backward()
    assert numbers(x.grad) == expected and w.grad is None
    assert x.grad is None or x.grad.dtype == m.float64


def test_a_complex_gradient_of_a_real_input_is_refused(m):
    F = function(m, lambda ctx, x: x * 1, lambda ctx, g: g * (1 + 1j))
    with pytest.raises(RuntimeError):
        F.apply(leaf(m, 1)).sum().backward()


def test_gradients_of_inputs_that_need_none_are_ignored(m):
    F = function(m, lambda ctx, x, c: x * 1, lambda ctx, g: (g, m.ones(7)))
    x = leaf(m, 1)
    F.apply(x, m.ones(1)).sum().backward()
    assert numbers(x.grad) == [1]


def test_boxed_gradients(m):
    def backward(ctx, grads):
        assert type(grads) is list
        return grads.pop(0) * 5

    F = function(m, lambda ctx, x: (x * 1, x * 2), backward, boxed_grads_call=True)
    x = leaf(m, 1)
    F.apply(x)[0].sum().backward()
    assert numbers(x.grad) == [5]


def test_errors_name_the_line():
    F = function(sapwood, lambda ctx, x: x * 1, lambda ctx, g: (g, g), name="Two")
    with pytest.raises(RuntimeError, match=r"Two.apply at .*test_function.py:\d+  \(y = F.apply"):
        y = F.apply(leaf(sapwood, 1))
        y.sum().backward()


def test_an_exception_in_backward_comes_through_and_the_graph_survives():
    """Finding 10: PyTorch's second backward says "second time"."""
    x = leaf(sapwood, 2)
    w = leaf(sapwood, 3)
    fail = [True]

    def backward(ctx, g):
        if fail[0]:
            raise ValueError("on purpose")
        return g

    y = function(sapwood, lambda ctx, x: x * 1, backward).apply(x.exp())
    loss = (y * w).sum()
    with pytest.raises(ValueError, match="on purpose"):
        loss.backward()
    assert x.grad is None and w.grad is None
    fail[0] = False
    loss.backward()
    np.testing.assert_allclose(numbers(x.grad), [3 * np.exp(2)])
    np.testing.assert_allclose(numbers(w.grad), [np.exp(2)])


def test_a_backward_that_writes_into_its_argument_changes_no_sibling():
    """As with hooks (finding 3): PyTorch changes b.grad, too."""
    a, b = leaf(sapwood, 1), leaf(sapwood, 1)
    F = function(sapwood, lambda ctx, x: x * 1, lambda ctx, g: g.mul_(10))
    (F.apply(a) + b).sum().backward()
    assert (numbers(a.grad), numbers(b.grad)) == ([10], [1])


# ---- double backward ---------------------------------------------------------------------------


def filled(m: Any, x: Any, fill: Any) -> Any:
    """A fresh tensor like x after fill(it, 2 * x)."""
    made = m.zeros_like(x)
    fill(made, 2 * x)
    return made


INDEX = [0]
MAKE: dict[str, Any] = {  # ways to an intermediate t = 2x
    "plain": lambda m, x: 2 * x,
    "attribute": lambda m, x: 2 * x,
    "detached": lambda m, x: x.detach() * 2,
    "data": lambda m, x: x.data * 2,
    "third operand": lambda m, x: m.addcmul(m.zeros_like(x), m.ones_like(x), 2 * x),
    "cat": lambda m, x: m.cat([2 * x]),
    "view of an input": lambda m, x: x[:1] + x[:1],
    "inner": lambda m, x: identity(m).apply(2 * x),
    "in place": lambda m, x: m.zeros_like(x).add_(x).mul_(2),
    "copy_": lambda m, x: filled(m, x, lambda a, b: a.copy_(b)),
    "item assignment": lambda m, x: filled(m, x, lambda a, b: a.__setitem__(0, b[0])),
    "through a view": lambda m, x: filled(m, x, lambda a, b: a.view(1, 1)[0].add_(b)),
    "through data": lambda m, x: filled(m, x, lambda a, b: a.data.copy_(b)),
    "data assignment": lambda m, x: filled(m, x, lambda a, b: setattr(a, "data", b)),
    "index_add_": lambda m, x: filled(m, x, lambda a, b: a.index_add_(0, m.tensor(INDEX), b)),
    "scatter_": lambda m, x: filled(m, x, lambda a, b: a.scatter_(0, m.tensor(INDEX), b)),
    "out": lambda m, x: filled(m, x, lambda a, b: m.mul(b, 1, out=a)),
    "numpy": lambda m, x: m.from_numpy(2 * x.detach().numpy()),
    "tolist": lambda m, x: m.tensor([2 * v for v in x.tolist()], dtype=x.dtype),
    "dlpack": lambda m, x: m.from_dlpack((2 * x).detach()),
}


def fourth_power(m: Any, keep: str) -> Any:
    """16 x^4 by way of t = 2x, an intermediate that is made and kept in one of several ways."""

    class Power(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if keep == "recorded":
                with m.enable_grad():
                    t = 2 * x
            else:
                t = MAKE[keep](m, x)
            ctx.save_for_backward(x, t)
            if keep == "attribute":
                ctx.t = t
                ctx.save_for_backward(x, x)
            return (t**4).detach()

        @staticmethod
        def backward(ctx, g):
            x, t = ctx.saved_tensors
            t = ctx.t if keep == "attribute" else t
            return g * 32 * x * x * t

    return Power


KEPT = tuple(MAKE)


@pytest.mark.parametrize("keep", KEPT)
def test_second_derivatives_through_an_intermediate_are_refused(keep):
    """Finding 5: 1728 or an error, never 1152."""
    x = leaf(sapwood, 3)
    y = fourth_power(sapwood, keep).apply(x)
    assert numbers(sapwood.autograd.grad(y.sum(), x, retain_graph=True)[0]) == [1728.0]
    (g,) = sapwood.autograd.grad(y.sum(), x, create_graph=True)
    assert numbers(g) == [1728.0]  # 64 x^3 at 3
    with pytest.raises(RuntimeError, match=r"(saved_tensors\[1\]|ctx.t) of PowerBackward") as e:
        sapwood.autograd.grad(g.sum(), x)
    assert "test_function.py:" in str(e.value) and "in backward" in str(e.value)


@pytest.mark.torch
@pytest.mark.parametrize("keep", KEPT)
def test_pytorch_is_silently_wrong_there(torch, keep):
    x = leaf(torch, 3)
    (g,) = torch.autograd.grad(fourth_power(torch, keep).apply(x).sum(), x, create_graph=True)
    assert numbers(torch.autograd.grad(g.sum(), x)[0]) == [1152.0]


def test_second_derivative_through_a_recorded_intermediate(m):
    x = leaf(m, 3)
    (g,) = m.autograd.grad(fourth_power(m, "recorded").apply(x).sum(), x, create_graph=True)
    assert numbers(m.autograd.grad(g.sum(), x)[0]) == [1728.0]


def masked(m: Any, make: Any) -> Any:
    """x * x times a mask that forward makes and keeps."""

    def forward(ctx, x):
        mask = make(x)
        ctx.save_for_backward(x, mask)
        return x * x * mask

    def backward(ctx, g):
        x, mask = ctx.saved_tensors
        return g * 2 * x * mask

    return function(m, forward, backward)


@pytest.mark.parametrize(
    "make",
    [
        lambda m: lambda x: (x > 0).to(x.dtype),
        lambda m: lambda x: ((2 * x).exp() > 0).to(x.dtype),
        lambda m: lambda x: m.ones(1, dtype=x.dtype),
        lambda m: lambda x: m.ones_like(x),
        lambda m: lambda x: m.tensor([1.0], dtype=x.dtype) * 1,
        lambda m: lambda x: m.zeros_like(x).add_(1),
        lambda m: (lambda c: lambda x: c)(m.ones(1, dtype=m.float64) * 1),
        lambda m: lambda x: x > 0,
    ],
)
def test_constants_that_forward_keeps_stay_constants(m, make):
    x = leaf(m, 3)
    (g,) = m.autograd.grad(masked(m, make(m)).apply(x).sum(), x, create_graph=True)
    assert numbers(m.autograd.grad(g.sum(), x)[0]) == [2]


def test_an_old_value_computed_without_a_graph_is_a_constant(m):
    """A running statistic, say: computed from earlier inputs, in an earlier forward."""
    x = leaf(m, 3)
    kept = []

    def forward(ctx, x):
        kept.append(x * 1)
        ctx.save_for_backward(x, kept[0])
        return x * x * kept[0]

    def backward(ctx, g):
        x, c = ctx.saved_tensors
        return g * 2 * x * c

    F = function(m, forward, backward)
    F.apply(x)
    (g,) = m.autograd.grad(F.apply(x).sum(), x, create_graph=True)
    assert numbers(m.autograd.grad(g.sum(), x)[0]) == [6]


def test_detach_in_backward_makes_an_intermediate_constant():
    x = leaf(sapwood, 3)

    class F(sapwood.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            t = 2 * x
            ctx.save_for_backward(x, t)
            return x * t

        @staticmethod
        def backward(ctx, g):
            x, t = ctx.saved_tensors
            return g * (t.detach() + 2 * x)

    (g,) = sapwood.autograd.grad(F.apply(x).sum(), x, create_graph=True)
    assert numbers(sapwood.autograd.grad(g.sum(), x)[0]) == [2]


def test_first_order_users_never_notice(m):
    """An intermediate is an ordinary tensor in an ordinary backward."""

    def backward(ctx, g):
        x, t = ctx.saved_tensors
        assert not t.requires_grad and t.numpy().tolist() == [6]
        with m.enable_grad():
            again = t.detach().requires_grad_()
            (h,) = m.autograd.grad((again * x.detach()).sum(), again)
        return g * h

    F = function(
        m, lambda ctx, x: (lambda t: [ctx.save_for_backward(x, t), t * 1][1])(2 * x), backward
    )
    x = leaf(m, 3)
    F.apply(x).sum().backward()
    assert numbers(x.grad) == [3]


def square_once(m: Any) -> Any:
    class Square(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @m.autograd.function.once_differentiable
        def backward(ctx, g):
            assert not m.is_grad_enabled()
            return 2 * g * ctx.saved_tensors[0]

    return Square


def test_once_differentiable(m):
    x = leaf(m, 3)
    square_once(m).apply(x).sum().backward()
    assert numbers(x.grad) == [6]
    y = square_once(m).apply(x)
    (g,) = m.autograd.grad((y * y).sum(), x, create_graph=True)
    assert numbers(g) == [108] and "grad_fn=<Error>" in repr(g)
    with pytest.raises(
        RuntimeError,
        match="trying to differentiate twice a function that was marked with @once_differentiable",
    ):
        g.sum().backward()


def test_once_differentiable_refuses_where_pytorch_leaves_a_term_out():
    """d/dx (2x * x) is 4x; PyTorch's gradient of the first factor is a constant: 2x."""
    x = leaf(sapwood, 3)
    (g,) = sapwood.autograd.grad(square_once(sapwood).apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        (g * x).sum().backward()


@pytest.mark.torch
def test_pytorch_leaves_the_term_out(torch):
    x = leaf(torch, 3)
    (g,) = torch.autograd.grad(square_once(torch).apply(x).sum(), x, create_graph=True)
    (g * x).sum().backward()
    assert numbers(x.grad) == [6]


def test_double_backward_through_a_saved_output(m):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    F = function(m, forward, lambda ctx, g: g * ctx.saved_tensors[0])
    x = leaf(m, 0)
    g = F.apply(x)
    for _ in range(4):
        (g,) = m.autograd.grad(g.sum(), x, create_graph=True)
        assert numbers(g) == [1]


def test_a_function_inside_a_function(m):
    inner = function(
        m,
        lambda ctx, x: [ctx.save_for_backward(x), x * x][1],
        lambda ctx, g: 2 * g * ctx.saved_tensors[0],
        name="Inner",
    )

    class Outer(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return inner.apply(x) * 3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with m.enable_grad():
                return m.autograd.grad(inner.apply(x).sum() * 3, x, create_graph=True)[0] * g

    x = leaf(m, 3)
    y = Outer.apply(x)
    (g,) = m.autograd.grad(y.sum(), x, create_graph=True)
    assert numbers(g) == [18]
    assert numbers(m.autograd.grad(g.sum(), x)[0]) == [6]


# ---- lifetime ----------------------------------------------------------------------------------


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_an_output_on_ctx_is_no_leak(no_collector):
    """PyTorch #25340: the output, its node and ctx would be a cycle."""

    def forward(ctx, x):
        ctx.out = x.exp()
        ctx.save_for_backward(ctx.out)
        ctx.seen = weakref.ref(ctx)
        return ctx.out

    def backward(ctx, g):
        assert ctx.out.grad_fn is not None
        return g * ctx.out

    F = function(sapwood, forward, backward)
    for used in (False, True):
        x = leaf(sapwood, 1)
        y = F.apply(x)
        ctx, node, out = y.grad_fn.seen, weakref.ref(y.grad_fn), weakref.ref(y)
        assert ctx() is not None and ctx().out is y
        if used:
            z = y * 1
            del y
            z.sum().backward()
            np.testing.assert_allclose(numbers(x.grad), [np.e])
            del z
        else:
            del y
        assert (ctx(), node(), out()) == (None, None, None)


def test_saved_values_are_freed_by_backward(no_collector):
    kept = []

    def forward(ctx, x):
        t = x * 2
        kept.append(weakref.ref(t.array.base if t.array.base is not None else t.array))
        ctx.save_for_backward(t)
        return t * 1

    x = leaf(sapwood, *range(100))
    y = function(sapwood, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    assert kept[0]() is not None
    y.sum().backward()
    assert kept[0]() is None


def test_function_classes_can_be_collected():
    F = identity(sapwood)
    F.apply(leaf(sapwood, 1)).sum().backward()
    ref = weakref.ref(F)
    del F
    gc.collect()
    assert ref() is None
