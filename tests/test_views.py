"""Writes through every kind of view, held against PyTorch: values, gradients, versions, refusals.

Each program runs in sapwood and in PyTorch: a base, a view (or a view of a view), a write through
it or through the base, and a backward through base, view and a second view made before the write.
"""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sapwood

VALUES = np.arange(1.0, 25.0).reshape(4, 6) / 7
VIEWS: dict[str, Callable] = {
    "itself": lambda b: b[...],
    "int": lambda b: b[1],
    "column": lambda b: b[:, 2],
    "element": lambda b: b[1, 2],
    "slice": lambda b: b[1:3],
    "steps": lambda b: b[::2, 1::2],
    "none": lambda b: b[:, None],
    "select": lambda b: b.select(1, -1),
    "narrow": lambda b: b.narrow(1, 1, 3),
    "view": lambda b: b.view(3, 8) if b.is_contiguous() else b[1:],
    "flat": lambda b: b.reshape(-1) if b.is_contiguous() else b[2],
    "t": lambda b: b.t(),
    "transpose": lambda b: b.transpose(0, 1),
    "permute": lambda b: b.permute(1, 0),
    "unsqueeze": lambda b: b.unsqueeze(1),
    "squeeze": lambda b: b[None].squeeze(0),
    "diagonal": lambda b: b.diagonal(1),
    "unfold": lambda b: b.unfold(1, 2, 2),
    "as_strided": lambda b: b.as_strided((2, 3), (3, 1), 4),
    "expand": lambda b: b.expand(4, 6),
    "movedim": lambda b: b.movedim(0, 1),
    "swapaxes": lambda b: b.swapaxes(-1, 0),
    "tensor_split": lambda b: b.tensor_split(2)[1],
    "T": lambda b: b.T,
    "unflatten": lambda b: b.unflatten(1, (2, 3)),
    "empty": lambda b: b[2:2],
}
SECOND: dict[str, Callable] = {  # views of views, for any number of dimensions
    "first": lambda v: v[0],
    "last": lambda v: v[..., -1:],
    "line": lambda v: v.unsqueeze(0),
    "turned": lambda v: v.transpose(0, -1),
    "halves": lambda v: v[..., ::2],
}
WRITES: dict[str, Callable] = {
    "mul_": lambda m, v, w: v.mul_(3),
    "mul_ w": lambda m, v, w: v.mul_(w[0]),
    "exp_": lambda m, v, w: v.exp_(),
    "copy_": lambda m, v, w: v.copy_(w[1] * 2),
    "fill_": lambda m, v, w: v.fill_(2.0),
    "zero_": lambda m, v, w: v.zero_(),
    "all": lambda m, v, w: v.__setitem__(..., w[2]),
    "number": lambda m, v, w: v.__setitem__(..., 1.5),
    "masked_fill_": lambda m, v, w: v.masked_fill_(v.detach() > 1.2, 0.5),
    "masked": lambda m, v, w: v.__setitem__(v.detach() > 1.2, w[3]),
    "clamp_": lambda m, v, w: v.clamp_(0.5, 2.0),
}
BASES: dict[str, Callable] = {
    "rows": lambda m, x: x * 1,
    "columns": lambda m, x: (x * 1).t().contiguous().t(),
    "gaps": lambda m, x: m.cat((x, x), 1)[:, ::2],
}


def outcome(m: Any, base: str, views: list[Callable], write: Callable, *, to_base: bool) -> Any:
    """Everything that can be seen of one program; an exception as its type and first words."""
    x = m.tensor(VALUES.tolist(), dtype=m.float64, requires_grad=True)
    w = m.tensor([0.5, 1.5, 2.5, 3.5], dtype=m.float64, requires_grad=True)
    try:
        b = BASES[base](m, x)
        before = b[1:, ::3]
        v = b
        for view in views:
            v = view(v)
        write(m, b if to_base else v, w)
        seen = [t.detach().tolist() for t in (b, v, before)]
        versions = [t._version for t in (b, v, before)]
        flags = [(t.requires_grad, t.is_leaf, t._is_view()) for t in (b, v, before)]
        turn = m.arange(24.0, dtype=m.float64).reshape(6, 4).t()  # gradients in another layout
        loss = (b * turn).sum() + (v * v).sum() + (before * before * 3).sum()
        loss.backward()
        return seen, versions, flags, [g.tolist() for g in (x.grad, w.grad) if g is not None]
    except (RuntimeError, IndexError) as e:
        return "refused", type(e).__mro__[-4].__name__, str(e)[:40]


def same(a: Any, b: Any) -> bool:
    """Equality, numbers to rounding."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-12))
    return a == b


def check(torch: Any, *program: Any, to_base: bool) -> None:
    ours = outcome(sapwood, *program, to_base=to_base)
    theirs = outcome(torch, *program, to_base=to_base)
    assert same(ours, theirs), f"{ours}\n instead of\n{theirs}"


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_write_through_a_view(torch: Any, view: str, write: str, base: str) -> None:
    for to_base in (False, True):
        check(torch, base, [VIEWS[view]], WRITES[write], to_base=to_base)


@pytest.mark.parametrize("write", ["mul_ w", "copy_", "masked"])
@pytest.mark.parametrize("view", VIEWS)
def test_write_through_a_view_of_a_view(torch: Any, view: str, write: str) -> None:
    for second, base in itertools.product(SECOND.values(), ("rows", "columns")):
        for to_base in (False, True):
            check(torch, base, [VIEWS[view], second], WRITES[write], to_base=to_base)


REFUSED: dict[str, Callable] = {
    "unbind": lambda m, b: b.unbind()[0].mul_(2),
    "split": lambda m, b: b.split(2)[1].mul_(2),
    "sizes": lambda m, b: b.split([1, 3])[1].add_(1),
    "chunk": lambda m, b: b.chunk(1)[0].zero_(),
    "view of a split": lambda m, b: b.split(2)[1][0].mul_(2),
    "iteration": lambda m, b: [row.mul_(2) for row in b],
    "base of a split": lambda m, b: (b.split(2), b.mul_(2))[0][0].grad_fn,
    "expanded": lambda m, b: b[:1].expand(3, 6).mul_(2),
    "expanded by assignment": lambda m, b: b[:1].expand(3, 6).__setitem__(0, 2.0),
    "overlapping": lambda m, b: b[1:].copy_(b[:-1]),
    "overlapping assignment": lambda m, b: b.__setitem__(slice(1, None), b[:-1]),
    "overlapping index": lambda m, b: b[0].index_copy_(0, m.tensor([0, 1]), b[0, 1:3]),
    "view too narrow": lambda m, b: b.t().view(-1),
    "backwards": lambda m, b: b[::-1],
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(torch: Any, name: str) -> None:
    results = []
    for m in (sapwood, torch):
        x = m.tensor(VALUES.tolist(), dtype=m.float64, requires_grad=True)
        b = x * 1
        try:
            REFUSED[name](m, b)
            results.append(None)
        except (RuntimeError, ValueError) as e:
            results.append(str(e)[:30])
        expected = [[2 * v for v in VALUES[0]], *VALUES[1:].tolist()] if name == "" else VALUES
        if name not in ("base of a split", "expanded by assignment"):
            np.testing.assert_array_equal(b.detach().numpy(), expected)
    assert results[0] == results[1]


def test_windows_that_overlap_are_not_written() -> None:
    b = sapwood.arange(5.0)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        b.unfold(0, 2, 1).add_(1)
    assert b.tolist() == [0, 1, 2, 3, 4]
    b.unfold(0, 2, 2).add_(1)
    assert b.tolist() == [1, 2, 3, 4, 4]


def test_second_order_through_writes(torch: Any) -> None:
    """create_graph through a write, with gradients that lie otherwise than the base."""

    def program(m: Any) -> list:
        x = m.tensor(VALUES.tolist(), dtype=m.float64, requires_grad=True)
        w = m.tensor([0.5, 1.5, 2.5], dtype=m.float64, requires_grad=True)
        b = x * x
        b.view(3, 8)[1, ::3].mul_(w)
        b.t()[2, 1:].copy_(w * w)
        b.as_strided((3,), (7,), 1).add_(w)
        loss = (b.t() * b.t().contiguous()).sum()
        gx, gw = m.autograd.grad(loss, (x, w), create_graph=True)
        (gx.square().sum() + gw.exp().sum()).backward()
        return [x.grad.tolist(), w.grad.tolist()]

    assert same(program(sapwood), program(torch))


def test_many_writes_cost_their_regions_only() -> None:
    """One copy of the gradient, not one per write or per slice."""
    x = sapwood.ones(100_000).requires_grad_()
    out = x * 2  # 400 kB
    h = sapwood.ones(100).requires_grad_()
    total = sapwood.zeros(())
    for t in range(200):
        out[t * 100 : (t + 1) * 100] = h * t
        total = total + out[t * 50 : t * 50 + 10].sum()
    tracemalloc.start()
    (out.sum() + total).backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * out.nbytes
    assert x.grad.sum().item() == 2 * (100_000 - 20_000)


def test_an_index_that_was_overwritten_is_refused(m: Any) -> None:
    for index in (m.tensor([0, 2]), m.tensor([True, False, True])):
        x = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x[index]
        index[0] = 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_repeated_indices_accumulate(m: Any) -> None:
    x = m.zeros(5, 3, requires_grad=True)
    index = m.tensor([4, 0, 4, 4])
    x[index].sum().backward()
    assert x.grad.tolist() == [[1] * 3, [0] * 3, [0] * 3, [0] * 3, [3] * 3]
    big = m.zeros(1000, requires_grad=True)
    (big[m.arange(100_000) % 7] * 2).sum().backward()
    assert big.grad[:8].tolist() == [28572, 28572, 28572, 28572, 28572, 28570, 28570, 0]
