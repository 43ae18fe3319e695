"""The harness is tested too: it must see wrong derivatives, dtypes and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood.autograd import Function
from sapwood.testing import GradientError, check_gradients
from sapwood.testing.case import OURS, Case, copied, run
from sapwood.testing.oracle import difference
from sapwood.testing.sample import f, sample

X = np.array([0.3, -1.2, 2.0])


class Square(Function):
    """x * x, whose derivative is scaled, or forgets where it came from."""

    scale, cut = 1.0, False

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @classmethod
    def run(cls, x: Any) -> Any:
        return cls.apply(x)


class Right(Square):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2 * ctx.saved_tensors[0]


class WrongFirst(Square):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2.001 * ctx.saved_tensors[0]


class WrongSecond(Square):
    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2 * ctx.saved_tensors[0].detach()


def test_right_derivatives_pass() -> None:
    check_gradients(Right.run, [X])
    check_gradients(lambda x, y: [x * y, x + y], [X, X[:1]])
    check_gradients(lambda z: z * z, [X + 1j])


def test_a_wrong_first_derivative_is_seen() -> None:
    with pytest.raises(GradientError, match="first derivative"):
        check_gradients(WrongFirst.run, [X])


def test_a_wrong_second_derivative_is_seen() -> None:
    check_gradients(WrongSecond.run, [X], order=1)
    with pytest.raises(GradientError, match="second derivative"):
        check_gradients(WrongSecond.run, [X])


def test_a_constant_is_seen() -> None:
    with pytest.raises(GradientError, match="no output requires grad"):
        check_gradients(lambda x: x.detach(), [X])


def test_only_double_precision_is_checked() -> None:
    with pytest.raises(TypeError, match="float64"):
        check_gradients(Right.run, [X.astype("f4")])


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ([1.0], [[1.0]]),
        (np.ones(2, "f4"), np.ones(2)),
        ([1.0, np.nan], [1.0, 2.0]),
        ([np.inf], [-np.inf]),
        ([np.inf], [1e308]),
        ([1.0], [1.0 + 1e-9]),
        ([0.0], [1e-9]),
        ([1, 2], [1, 3]),
        ([1j], [-1j]),
    ],
)
def test_differences_are_seen(mine: Any, theirs: Any) -> None:
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    assert difference(mine, theirs) is not None
    assert difference(mine, mine) is None


@pytest.mark.parametrize("a", [f(3, 4)[::-1], f(4, 3).T, f(3, 4)[:, ::2], f(), f(0, 3), f(3)[:1]])
def test_copies_keep_the_layout(a: np.ndarray) -> None:
    b = copied(a)
    assert b.strides == a.strides and not np.may_share_memory(a, b)
    np.testing.assert_array_equal(a, b)


def test_samples_come_fresh_each_time() -> None:
    case = Case("add_", 0, sample(f(3), 1.0))
    assert case.writes
    first, second = run(case), run(case)
    np.testing.assert_array_equal(first.outputs[0].array, second.outputs[0].array)
    assert first.outputs[0].array is not case.sample.args[0]
    assert OURS.is_tensor(first.outputs[0]) and isinstance(first.given[0], sapwood.Tensor)
