"""NumPy's functions and operators on tensors."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood

A = np.array([1.0, 2.0], "f4")


def leaf() -> sapwood.Tensor:
    """A float32 leaf [0.5, 1.5]."""
    return sapwood.tensor([0.5, 1.5], requires_grad=True)


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda t: np.exp(t), "ExpBackward0"),
        (lambda t: np.multiply(A, t), "MulBackward0"),
        (lambda t: A * t, "MulBackward0"),
        (lambda t: A - t, "SubBackward0"),
        (lambda t: np.float32(2) * t, "MulBackward0"),
        (lambda t: np.float64(2) / t, "DivBackward0"),
        (lambda t: np.int64(2) ** t, "PowBackward2"),
        (lambda t: np.arctan2(t, A), "Atan2Backward0"),
        (lambda t: np.absolute(t), "AbsBackward0"),
        (lambda t: np.rint(t), "RoundBackward0"),
    ],
)
def test_gradients_flow_and_float32_stays(call, name):
    out = call(leaf())
    assert isinstance(out, sapwood.Tensor)
    assert out.dtype is sapwood.float32
    assert out.grad_fn.name() == name
    assert "test_numpy_calls.py" in out.grad_fn.site


def test_comparisons_of_arrays_and_tensors():
    greater = leaf() < A
    assert isinstance(greater, sapwood.Tensor)
    assert greater.numpy().tolist() == [True, True]
    assert np.isfinite(leaf()).dtype is sapwood.bool


@pytest.mark.parametrize(
    "call, phrase",
    [
        (lambda t: np.add.reduce(t), r"use sum\(\)"),
        (lambda t: np.multiply.outer(t, t), "does not work on tensors"),
        (lambda t: np.add(t, t, out=A.copy()), "cannot be written into an array"),
        (lambda t: np.add(t, t, where=A > 1), "takes no where="),
        (lambda t: np.frexp(t), "no counterpart"),
    ],
)
def test_what_is_refused(call, phrase):
    with pytest.raises(TypeError, match=phrase):
        call(leaf())


def test_an_array_is_not_overwritten_by_a_tensor():
    a = A.copy()
    with pytest.raises(TypeError, match="array = array"):
        a += leaf()
    assert np.array_equal(a, A)
