"""Creation and random draws: expressions compared with PyTorch, and what no comparison shows."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood

TEXT = (Path(__file__).parent / "creation.txt").read_text(encoding="utf-8")
EXPRESSIONS = [line for line in TEXT.splitlines() if line and not line.startswith("#")]


def outcome(expression: str, library: Any) -> tuple[str, ...]:
    """What an expression gives: text and dtype, or the type of its error."""
    library.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(expression, {"torch": library, "np": np})
        except Exception as e:
            kinds = {k.__name__ for k in type(e).__mro__} & {"RuntimeError", "TypeError"}
            return ("error", *(kinds or {type(e).__name__}))
    return "value", repr(value), str(getattr(value, "dtype", ""))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_torch(expression: str, torch: Any) -> None:
    assert outcome(expression, sapwood) == outcome(expression, torch)


@pytest.mark.parametrize(
    ("make", "kind", "phrase"),
    [
        (
            lambda: sapwood.tensor([[1, 2], [3, 4, 5]]),
            ValueError,
            r"expected sequence of length 2 at dim 1 \(got 3\).*test_creation.py:",
        ),
        (lambda: sapwood.tensor("a"), TypeError, r"new\(\): invalid data type 'str'"),
        (
            lambda: sapwood.tensor([1, 2], requires_grad=True),
            RuntimeError,
            "Only Tensors of floating point and complex dtype can require gradients",
        ),
        (
            lambda: sapwood.tensor([300], dtype=sapwood.uint8),
            RuntimeError,
            "value cannot be converted to type uint8 without overflow: 300",
        ),
        (lambda: sapwood.zeros(2, -1), RuntimeError, r"negative dimension -1: \[2, -1\]"),
        (lambda: sapwood.zeros(2.5), TypeError, "must be tuple of ints, not float"),
        (lambda: sapwood.arange(3, 1), RuntimeError, "inconsistent with step sign"),
        (lambda: sapwood.from_numpy(np.arange(3)[::-1]), ValueError, r"stride .* is negative"),
        (lambda: sapwood.from_numpy([1]), TypeError, r"expected np.ndarray \(got list\)"),
        (lambda: sapwood.device("cuda"), RuntimeError, "the only one is 'cpu'"),
        (lambda: sapwood.ones(1, device="gpu"), RuntimeError, "Expected one of cpu, cuda"),
        (lambda: sapwood.cuda.current_device(), RuntimeError, "not compiled with CUDA"),
        (lambda: sapwood.cuda.FloatTensor(2), TypeError, "torch.cuda.FloatTensor not available"),
        (lambda: sapwood.rand(2, generator=3), TypeError, "must be torch.Generator, not int"),
        (lambda: sapwood.LongTensor(sapwood.ones(1)), TypeError, "dtype int64 .got float32."),
        (lambda: sapwood.zeross, AttributeError, "no torch.zeross yet; nearest: torch.zeros"),
        (lambda: sapwood.cuda.qq, AttributeError, "sapwood has no torch.cuda.qq yet"),
    ],
)
def test_errors_say_what_and_where(make: Any, kind: type, phrase: str) -> None:
    with pytest.raises(kind, match=phrase):
        make()


def test_memory_is_shared_where_it_should_be() -> None:
    a = np.zeros(3, "f4")
    t = sapwood.from_numpy(a)
    a[0] = 1
    assert t.array is a
    assert sapwood.as_tensor(a).array is a
    assert sapwood.asarray(a).array is a
    assert sapwood.as_tensor(t) is t
    assert not np.shares_memory(sapwood.tensor(a).array, a)
    assert not np.shares_memory(sapwood.asarray(a, copy=True).array, a)
    buffer = bytearray(8)
    sapwood.frombuffer(buffer, dtype=sapwood.float32).uniform_()
    assert any(buffer)
    assert np.shares_memory(np.from_dlpack(t), a)
    assert np.shares_memory(sapwood.from_dlpack(a).array, a)
    assert sapwood.utils.dlpack.from_dlpack(sapwood.utils.dlpack.to_dlpack(t)).array[0] == 1
    with pytest.raises(BufferError, match="require gradient"):
        sapwood.ones(1, requires_grad=True).__dlpack__()


def test_read_only_memory_stays_as_it_is() -> None:
    t = sapwood.frombuffer(bytes(4), dtype=sapwood.uint8)
    with pytest.raises(RuntimeError, match=r"read-only .*test_creation.py"):
        t.random_()
    assert t._version == 0


def test_dlpack_with_torch(torch: Any) -> None:
    theirs = torch.ones(3)
    sapwood.from_dlpack(theirs).uniform_()
    assert theirs[0] != 1
    ours = sapwood.ones(3)
    torch.from_dlpack(ours).zero_()
    assert ours.array[0] == 0


def test_a_tensor_of_a_tensor_warns_and_says_why_it_has_no_graph() -> None:
    x = sapwood.tensor([1.0], requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        y = sapwood.tensor(x)
    assert not y.requires_grad
    with pytest.raises(RuntimeError, match=r"tensor at .*test_creation.py"):
        y.backward()
    assert sapwood.tensor([x]).cuts[0][0] == "tensor"


def test_old_types() -> None:
    x = sapwood.FloatTensor([1, 2])
    assert isinstance(x, sapwood.FloatTensor)
    assert not isinstance(x, sapwood.DoubleTensor)
    assert not isinstance(x, sapwood.cuda.FloatTensor)
    assert x.type() == "torch.FloatTensor"
    assert x.type(sapwood.LongTensor).dtype is sapwood.int64
    assert isinstance(x, sapwood.autograd.Variable)
    sapwood.set_default_tensor_type("torch.DoubleTensor")
    try:
        assert sapwood.tensor(1.0).dtype is sapwood.float64
        assert repr(sapwood.tensor(1.0)) == "tensor(1.)"
    finally:
        sapwood.set_default_dtype(sapwood.float32)


def test_generators_are_independent_and_can_be_copied() -> None:
    g = sapwood.Generator().manual_seed(5)
    first = sapwood.rand(3, generator=g).tolist()
    sapwood.manual_seed(5)
    assert sapwood.rand(3).tolist() == first
    a, b = copy.deepcopy(g), pickle.loads(pickle.dumps(g))
    rest = sapwood.randn(3, generator=g).tolist()
    assert sapwood.randn(3, generator=a).tolist() == rest
    assert sapwood.randn(3, generator=b).tolist() == rest
    state = sapwood.get_rng_state()
    with sapwood.random.fork_rng():
        forked = sapwood.rand(3).tolist()
    assert sapwood.rand(3).tolist() == forked
    sapwood.set_rng_state(state)
    assert sapwood.rand(3).tolist() == forked


def test_states_travel_between_libraries(torch: Any) -> None:
    torch.manual_seed(3)
    torch.randn(5)
    sapwood.set_rng_state(sapwood.from_numpy(torch.get_rng_state().numpy()))
    assert sapwood.randn(5).tolist() == torch.randn(5).tolist()


@pytest.mark.parametrize("name", ["uniform_", "normal_", "exponential_", "random_", "bernoulli_"])
def test_a_draw_is_an_in_place_write(name: str) -> None:
    x = sapwood.ones(4)
    getattr(x, name)()
    assert x._version == 1
    leaf = sapwood.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        getattr(leaf, name)()
    with sapwood.no_grad():
        getattr(leaf, name)()
    y = leaf * 2
    saved = y * y
    getattr(y, name)()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.backward(sapwood.ones(4))
    y.backward(sapwood.ones(4))  # no gradient flows through a draw: it is zero
    assert leaf.grad.tolist() == [0.0] * 4


def test_inference_mode_makes_inference_tensors() -> None:
    with sapwood.inference_mode():
        assert sapwood.ones(1).is_inference()
        assert sapwood.tensor([1.0]).is_inference()
    assert not sapwood.ones(1).is_inference()


def test_what_scripts_open_with() -> None:
    device = sapwood.device("cuda" if sapwood.cuda.is_available() else "cpu")
    assert repr(device) == "device(type='cpu')"
    assert sapwood.ones(1, device=device).device == device
    sapwood.cuda.manual_seed_all(1)
    sapwood.backends.cudnn.benchmark = True
    assert sapwood.backends.cudnn.benchmark
    sapwood.backends.cudnn.benchmark = False
    assert not sapwood.backends.mps.is_available()
    sapwood.use_deterministic_algorithms(True)
    assert sapwood.are_deterministic_algorithms_enabled()
    sapwood.use_deterministic_algorithms(False)
    threads = sapwood.get_num_threads()
    sapwood.set_num_threads(1)
    assert sapwood.get_num_threads() == 1
    sapwood.set_num_threads(threads)


def test_the_first_call_of_an_operation_knows_its_line() -> None:
    from sapwood._core.door import TABLE, make_entry

    x = sapwood.ones(2, requires_grad=True)
    entry = make_entry(TABLE["mul"], "function")
    first, second = entry(x, 2), entry(x, 2)
    assert first.grad_fn.site == second.grad_fn.site
    assert first.grad_fn.place.file == __file__
