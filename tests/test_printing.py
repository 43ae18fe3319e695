"""The text of tensors: recorded from PyTorch, and compared with the installed one where there is.

A larger comparison: `python tests/test_printing.py 20000 1` (cases and seed).
"""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any

import numpy as np
import pytest

from sapwood._core import printing
from sapwood._core.printing import format_array, format_spec

try:
    import ml_dtypes

    BF16: Any = ml_dtypes.bfloat16
except ImportError:
    BF16 = None

NAN, INF = np.nan, np.inf


def text(values: Any, dtype: str = "float32", **facts: Any) -> str:
    np_dtype = BF16 if dtype == "bfloat16" else dtype
    return format_array(np.asarray(values, np_dtype), dtype_name=dtype, **facts)


# Recorded from torch 2.13.0: values, dtype, print options, facts, text.
# fmt: off
GOLDEN: list[tuple[Any, str, dict, dict, str]] = [
    ([1, 2, 3], "int64", {}, {}, "tensor([1, 2, 3])"),
    ([1, 20, -300], "int32", {}, {}, "tensor([   1,   20, -300], dtype=torch.int32)"),
    ([True, False], "bool", {}, {}, "tensor([ True, False])"),
    ([0, 255], "uint8", {}, {}, "tensor([  0, 255], dtype=torch.uint8)"),
    (7, "int64", {}, {}, "tensor(7)"),
    (2.5, "float32", {}, {}, "tensor(2.5000)"),
    (NAN, "float64", {}, {}, "tensor(nan, dtype=torch.float64)"),
    ([1.5, -20.25, 0.0], "float32", {}, {}, "tensor([  1.5000, -20.2500,   0.0000])"),
    ([-0.0, 0.0, 0.5], "float32", {}, {}, "tensor([-0.0000, 0.0000, 0.5000])"),
    ([0.0, -0.0], "float32", {}, {}, "tensor([0., -0.])"),
    ([1.0, NAN, INF, -INF], "float32", {}, {}, "tensor([1., nan, inf, -inf])"),
    ([1.5, NAN, INF, -INF], "float32", {}, {}, "tensor([1.5000,    nan,    inf,   -inf])"),
    ([1.0, 1000.0], "float32", {}, {}, "tensor([   1., 1000.])"),
    ([1.0, 1001.0], "float32", {}, {}, "tensor([1.0000e+00, 1.0010e+03])"),
    ([0.1, 100.0, 100.2], "float32", {}, {}, "tensor([1.0000e-01, 1.0000e+02, 1.0020e+02])"),
    ([1e8], "float32", {}, {}, "tensor([100000000.])"),
    ([1.1e8], "float32", {}, {}, "tensor([1.1000e+08])"),
    ([9e-5, 2e-4], "float32", {}, {}, "tensor([9.0000e-05, 2.0000e-04])"),
    ([1e-45, 1.0], "float32", {}, {}, "tensor([1.4013e-45, 1.0000e+00])"),
    ([5e-324, 1.7e308], "float64", {}, {},
     "tensor([4.9407e-324, 1.7000e+308], dtype=torch.float64)"),
    ([1e-3, NAN, 12.5, -INF, 0.0], "float32", {}, {},
     "tensor([1.0000e-03,        nan, 1.2500e+01,       -inf, 0.0000e+00])"),
    ([6e-8, 65504.0], "float16", {}, {}, "tensor([5.9605e-08, 6.5504e+04], dtype=torch.float16)"),
    ([1.1, 2.2], "bfloat16", {}, {}, "tensor([1.1016, 2.2031], dtype=torch.bfloat16)"),
    ([3e38, 1.0], "bfloat16", {}, {}, "tensor([3.0041e+38, 1.0000e+00], dtype=torch.bfloat16)"),
    ([2**63 - 1, -2**63], "int64", {}, {}, "tensor([ 9223372036854775807, -9223372036854775808])"),
    ([2**64 - 1, 0], "uint64", {}, {},
     "tensor([18446744073709551615,                    0], dtype=torch.uint64)"),
    ([65535, 1], "uint16", {}, {}, "tensor([65535,     1], dtype=torch.uint16)"),
    ([1 + 2j, -3.5 - 1j], "complex64", {}, {}, "tensor([ 1.0000+2.j, -3.5000-1.j])"),
    ([complex(0.0, -0.0), complex(NAN, INF)], "complex128", {}, {},
     "tensor([0.-0.j, nan+infj], dtype=torch.complex128)"),
    ([1e9 + 1e-9j, 2 - 1j], "complex64", {}, {},
     "tensor([1.0000e+09+1.0000e-09j, 2.0000e+00-1.0000e+00j])"),
    (1 - 2j, "complex64", {}, {}, "tensor(1.-2.j)"),
    ([], "float32", {}, {}, "tensor([])"),
    ([], "int64", {}, {}, "tensor([], dtype=torch.int64)"),
    ([], "bool", {}, {}, "tensor([], dtype=torch.bool)"),
    (np.zeros((0, 3)), "float32", {}, {}, "tensor([], size=(0, 3))"),
    (np.zeros((2, 0, 3)), "float64", {}, {}, "tensor([], size=(2, 0, 3), dtype=torch.float64)"),
    ([[1, 2], [3, 4]], "int64", {}, {},
     "tensor([[1, 2],\n"
     "        [3, 4]])"),
    (np.arange(8).reshape(2, 2, 2), "float32", {}, {},
     "tensor([[[0., 1.],\n"
     "         [2., 3.]],\n"
     "\n"
     "        [[4., 5.],\n"
     "         [6., 7.]]])"),
    (np.arange(2).reshape(1, 1, 1, 2, 1, 1), "float32", {}, {},
     "tensor([[[[[[0.]],\n"
     "\n"
     "           [[1.]]]]]])"),
    (np.arange(30), "int64", {}, {},
     "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
     "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"),
    (np.arange(1001), "int64", {}, {}, "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (np.arange(1000), "int16", dict(threshold=999), {},
     "tensor([  0,   1,   2,  ..., 997, 998, 999], dtype=torch.int16)"),
    (np.arange(9 * 8 * 7).reshape(9, 8, 7), "int64", dict(threshold=100, edgeitems=1), {},
     "tensor([[[  0,  ...,   6],\n"
     "         ...,\n"
     "         [ 49,  ...,  55]],\n"
     "\n"
     "        ...,\n"
     "\n"
     "        [[448,  ..., 454],\n"
     "         ...,\n"
     "         [497,  ..., 503]]])"),
    (np.arange(100).reshape(50, 2) / 8, "float32", dict(threshold=10), {},
     "tensor([[ 0.0000,  0.1250],\n"
     "        [ 0.2500,  0.3750],\n"
     "        [ 0.5000,  0.6250],\n"
     "        ...,\n"
     "        [11.7500, 11.8750],\n"
     "        [12.0000, 12.1250],\n"
     "        [12.2500, 12.3750]])"),
    ([1e-4], "float64", {}, {}, "tensor([0.0001], dtype=torch.float64)"),
    (np.arange(6), "int64", dict(threshold=6, edgeitems=1), {}, "tensor([0, 1, 2, 3, 4, 5])"),
    (np.arange(6), "int64", dict(threshold=5, edgeitems=3), {}, "tensor([0, 1, 2, 3, 4, 5])"),
    (np.zeros(7), "float32", dict(linewidth=20), {},
     "tensor([0., 0., 0., 0.,\n"
     "        0., 0., 0.])"),
    ([1j, 2j, 3j, 4j], "complex64", dict(linewidth=30), {},
     "tensor([0.+1.j, 0.+2.j, 0.+3.j,\n"
     "        0.+4.j])"),
    ([1.0], "float32", dict(linewidth=33), dict(requires_grad=True),
     "tensor([1.], requires_grad=True)"),
    ([1.0], "float32", dict(linewidth=32), dict(requires_grad=True),
     "tensor([1.],\n"
     "       requires_grad=True)"),
    (np.arange(4), "float64", dict(linewidth=45), dict(requires_grad=True),
     "tensor([0., 1., 2., 3.],\n"
     "       dtype=torch.float64,\n"
     "       requires_grad=True)"),
    (np.arange(20), "int64", dict(threshold=5, edgeitems=0), {}, "tensor([...], size=(20,))"),
    (np.arange(4), "int64", dict(edgeitems=0), {}, "tensor([0, 1, 2, 3], size=(4,))"),
    ([1.0, 2.5], "float32", dict(sci_mode=True), {}, "tensor([1.0000e+00, 2.5000e+00])"),
    ([0.0, NAN], "float32", dict(sci_mode=True), {}, "tensor([0., nan])"),
    ([1.0, 2e9], "float32", dict(sci_mode=False), {}, "tensor([         1., 2000000000.])"),
    ([1.0, 2.0], "float32", dict(sci_mode=True, precision=1), {}, "tensor([1.0e+00, 2.0e+00])"),
    ([0.25, 1.75], "float32", dict(precision=0), {}, "tensor([0, 2])"),
    (np.arange(4) / 3, "float64", dict(linewidth=1), {},
     "tensor([0.0000,\n"
     "        0.3333,\n"
     "        0.6667,\n"
     "        1.0000],\n"
     "       dtype=torch.float64)"),
    (np.arange(12) / 3, "float32", dict(profile="short"), {},
     "tensor([0.00, 0.33, 0.67, 1.00, 1.33, 1.67, 2.00, 2.33, 2.67, 3.00, 3.33, 3.67])"),
    ([1.0], "float32", {}, dict(default_dtype_name="float64"), "tensor([1.], dtype=torch.float32)"),
    ([1j], "complex128", {}, dict(default_dtype_name="float64"), "tensor([0.+1.j])"),
    ([1j], "complex64", {}, dict(default_dtype_name="float64"),
     "tensor([0.+1.j], dtype=torch.complex64)"),
    ([1j], "complex64", {}, dict(default_dtype_name="float16"), "tensor([0.+1.j])"),
    ([], "int64", {}, dict(default_dtype_name="float16"), "tensor([], dtype=torch.int64)"),
    ([1.0, 2.0], "float64", {}, dict(requires_grad=True),
     "tensor([1., 2.], dtype=torch.float64, requires_grad=True)"),
    ([1.0, 2.0], "float32", {}, dict(requires_grad=True, grad_fn="MulBackward0"),
     "tensor([1., 2.], grad_fn=<MulBackward0>)"),
    (np.zeros((2, 0)), "float16", {}, dict(requires_grad=True),
     "tensor([], size=(2, 0), dtype=torch.float16, requires_grad=True)"),
    (np.arange(12), "float32", {}, dict(requires_grad=True, grad_fn="MulBackward0"),
     "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11.],\n"
     "       grad_fn=<MulBackward0>)"),
    (np.arange(6).reshape(2, 3), "float32", {}, dict(requires_grad=True, parameter=True),
     "Parameter containing:\n"
     "tensor([[0., 1., 2.],\n"
     "        [3., 4., 5.]], requires_grad=True)"),
    (np.arange(30), "int64", {}, dict(prefix="Wrapped("),
     "Wrapped([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
     "         18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"),
]
# fmt: on


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case[-1][:40].replace("\n", " "))
def test_the_text_is_the_one_recorded_from_pytorch(case) -> None:
    values, dtype, options, facts, expected = case
    if dtype == "bfloat16" and BF16 is None:
        pytest.skip("bfloat16 needs ml_dtypes")
    with printing.printoptions(**options):
        assert text(values, dtype, **facts) == expected


def test_profiles_set_the_numbers_and_the_block_restores_them() -> None:
    names = ["precision", "threshold", "edgeitems", "linewidth", "sci_mode"]
    before = printing.get_printoptions()
    assert before == dict(zip(names, (4, 1000, 3, 80, None), strict=True))
    with printing.printoptions(profile="short", edgeitems=4, sci_mode=True):
        assert list(printing.get_printoptions().values()) == [2, 1000, 4, 80, True]
        printing.set_printoptions(linewidth=100)  # sci_mode left out is automatic again
        now = printing.get_printoptions()
        assert list(now.values()) == [2, 1000, 4, 100, None]
        with pytest.raises(KeyError), printing.printoptions(profile="full"):
            assert printing.get_printoptions()["threshold"] == INF
            raise KeyError
        assert printing.get_printoptions() == now
        printing.set_printoptions(profile="default")
        assert printing.get_printoptions() == before
        printing.set_printoptions(**now)
        assert printing.get_printoptions() == now
    assert printing.get_printoptions() == before


def test_an_unknown_profile_is_named_and_changes_nothing() -> None:
    before = printing.get_printoptions()
    with pytest.raises(ValueError, match="default, short, full, not 'ful'"):
        printing.set_printoptions(profile="ful", precision=9)
    assert printing.get_printoptions() == before


def test_only_shown_elements_are_touched() -> None:
    huge = np.broadcast_to(np.float32(1.5), (10**6, 10**6))  # one element of memory
    assert text(huge).count("1.5000") == 36
    with printing.printoptions(edgeitems=0):
        assert text(huge) == "tensor([...], size=(1000000, 1000000))"


def test_a_signalling_nan_prints_without_a_warning() -> None:
    array = np.array([0x7FA00000, 0x3F800000], "u4").view("f4")
    with np.errstate(all="raise"):
        assert text(array) == "tensor([nan, 1.])"


def test_a_text_is_never_torn_between_options_of_two_threads() -> None:
    values = np.linspace(0, 1, 60)
    with printing.printoptions(precision=2, linewidth=40):
        short = text(values)
    with printing.printoptions(precision=7, linewidth=120):
        long = text(values)
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            printing.set_printoptions(precision=2, linewidth=40)
            printing.set_printoptions(precision=7, linewidth=120)

    with printing.printoptions(precision=2, linewidth=40):
        thread = threading.Thread(target=flip)
        thread.start()
        try:
            seen = {text(values) for _ in range(300)}
        finally:
            stop.set()
            thread.join()
    assert seen <= {short, long}


def test_a_spec_formats_the_number_of_a_0d_tensor() -> None:
    assert format_spec(np.array(3.14159, "f4"), ".2f") == "3.14"
    assert format_spec(np.array(0.1, "f4"), "") == "0.10000000149011612"
    assert format_spec(np.array(0.1, "f2"), "") == "0.0999755859375"
    assert format_spec(np.array(7), "05d") == "00007"
    assert format_spec(np.array(True), "") == "True"
    assert format_spec(np.array(1 + 2j, "c8"), ".1f") == "1.0+2.0j"
    if BF16 is not None:
        assert format_spec(np.array(1.1, BF16), ">12") == "   1.1015625"
    with pytest.raises(ValueError, match="format code 'd'"):
        format_spec(np.array(1.5, "f4"), "d")
    with pytest.raises(TypeError, match="unsupported format string passed to Tensor"):
        format_spec(np.zeros(3), ".2f")


def test_a_node_and_extra_facts_wrap_like_the_others() -> None:
    row = np.arange(14.0)
    assert text(row, requires_grad=True, grad_fn="F", extra=("tangent=1",), parameter=True) == (
        "Parameter containing:\n"
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.],\n"
        "       grad_fn=<F>, tangent=1)"
    )


# The comparison with the installed PyTorch.

INTS = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64") + (("bfloat16",) if BF16 is not None else ())
DTYPES = (*INTS, *FLOATS, *FLOATS, *FLOATS, "bool", "complex64", "complex64", "complex128")
# fmt: off
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-4, 9.9999e-5, 1e8, 1.0000001e8, 1000.0, 1000.1, 999.96,
         0.99999, 99999.5, 5e-324, 1e-45, 6e-8, 65504.0, 3.4e38, 1.7e308, 2.0**53, 12345678.0]
# fmt: on


def random_reals(rng: np.random.Generator, size: int) -> np.ndarray:
    kind = rng.integers(10)
    if kind == 0:
        return rng.standard_normal(size)
    if kind == 1:
        return rng.integers(-20, 20, size).astype("f8")
    if kind == 2:
        return rng.standard_normal(size) * 10.0 ** rng.integers(-12, 12)
    if kind == 3:
        return rng.standard_normal(size) * 10.0 ** rng.uniform(-5, 5, size)
    if kind == 4:
        return np.round(rng.standard_normal(size) * 10.0 ** rng.integers(0, 12))
    if kind == 5:
        return np.full(size, rng.choice([0.0, -0.0, NAN, INF, -INF, 1.5, -1e-40]))
    if kind == 6:
        return np.frombuffer(rng.bytes(8 * size), "f8").copy()
    if kind == 7:
        return rng.choice(EDGES, size)
    some = rng.choice([0.0, -0.0, NAN, INF, -INF], size)
    usual = rng.standard_normal(size) * 10 if kind == 8 else rng.integers(-9, 99, size)
    return np.where(rng.random(size) < rng.random(), some, usual)


def random_values(rng: np.random.Generator, dtype: str, size: int) -> np.ndarray:
    np_dtype = np.dtype(BF16 if dtype == "bfloat16" else dtype)
    if dtype == "bool":
        return rng.random(size) < rng.random()
    if dtype in INTS:
        if rng.random() < 0.3:
            return np.frombuffer(rng.bytes(np_dtype.itemsize * size), np_dtype).copy()
        low = -5 if dtype.startswith("i") else 0
        return rng.integers(low, 10 ** int(rng.integers(1, 3)), size).astype(np_dtype)
    if dtype.startswith("c"):
        out = np.empty(size, np_dtype)
        out.real, out.imag = random_reals(rng, size), random_reals(rng, size)
        return out
    if rng.random() < 0.1:  # any bits, so also the denormals of the low types
        return np.frombuffer(rng.bytes(np_dtype.itemsize * size), np_dtype).copy()
    return random_reals(rng, size).astype(np_dtype)


def random_array(rng: np.random.Generator, dtype: str) -> np.ndarray:
    """Of 0 to 6 dimensions, sometimes empty, sometimes over the threshold, sometimes a view."""
    kind = rng.random()
    ndim = int(rng.integers(0, 7))
    if kind < 0.1:
        shape = tuple(int(n) for n in rng.integers(0, 4, ndim))
    elif kind < 0.25:
        ndim = int(rng.integers(1, 4))
        shape = tuple(int(n) for n in rng.integers(1, (3000, 60, 14)[ndim - 1], ndim))
    else:
        shape = tuple(int(n) for n in rng.integers(1, (2, 30, 9, 6, 4, 3, 3)[ndim], ndim))
    array = random_values(rng, dtype, int(np.prod(shape, dtype=int))).reshape(shape)
    if shape and rng.random() < 0.2:
        array = array.T
    if shape and rng.random() < 0.1:
        array = array[..., ::2]
    return array


def random_options(rng: np.random.Generator) -> dict[str, Any]:
    if rng.random() < 0.4:
        return {}
    choices: dict[str, list] = {
        "precision": [0, 1, 2, 6, 10],
        "threshold": [0, 5, 30, 200, INF],
        "edgeitems": [0, 1, 2, 5],
        "linewidth": [1, 20, 40, 79, 120],
        "profile": ["default", "short", "full"],
        "sci_mode": [True, False],
    }
    return {
        name: given[rng.integers(len(given))]
        for name, given in choices.items()
        if rng.random() < 0.35
    }


def torch_tensor(torch: Any, array: np.ndarray, dtype: str) -> Any:
    """The same values with the same strides in PyTorch."""
    if dtype == "bfloat16":
        return torch.from_numpy(array.view("i2")).view(torch.bfloat16)
    return torch.from_numpy(array)


def with_gradient(torch: Any, rng: np.random.Generator, tensor: Any) -> tuple[Any, dict[str, Any]]:
    """That tensor in one of the states of autograd, and the facts that say so to sapwood."""
    state = rng.integers(8)
    if state == 0:
        return tensor.requires_grad_(), {"requires_grad": True}
    if state == 1:
        return tensor.requires_grad_()[...], {"grad_fn": "AliasBackward0", "requires_grad": True}
    if state == 2:
        return tensor.requires_grad_().clone(), {"grad_fn": "CloneBackward0"}
    if state == 3:
        return torch.nn.Parameter(tensor), {"requires_grad": True, "parameter": True}
    if state == 4:
        return torch.nn.Parameter(tensor, requires_grad=False), {"parameter": True}
    return tensor, {}


@contextlib.contextmanager
def torch_settings(torch: Any, default: str, options: dict[str, Any]):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(getattr(torch, default))
        with torch._tensor_str.printoptions(**options):
            yield
    finally:
        torch.set_default_dtype(before)


def compare(torch: Any, rng: np.random.Generator) -> None:
    """One random array, printed by both."""
    dtype = str(rng.choice(DTYPES))
    default = str(rng.choice(FLOATS)) if rng.random() < 0.3 else "float32"
    options = random_options(rng)
    with np.errstate(all="ignore"):
        array = random_array(rng, dtype)
    tensor, facts = torch_tensor(torch, array, dtype), {}
    if rng.random() < 0.1:
        named = type(str(rng.choice(["A", "LongerNameOfATensor"])), (torch.Tensor,), {})
        tensor, facts = tensor.as_subclass(named), {"prefix": f"{named.__name__}("}
    elif tensor.is_floating_point() or tensor.is_complex():
        tensor, facts = with_gradient(torch, rng, tensor)
    with torch_settings(torch, default, options):
        expected = repr(tensor)
    with printing.printoptions(**options), np.errstate(all="raise"):
        got = format_array(array, dtype_name=dtype, default_dtype_name=default, **facts)
    assert got == expected, f"{dtype} {array.shape} {options} {default} {facts}"


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(8))
def test_random_arrays_print_as_in_the_installed_pytorch(seed: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    for _ in range(50):
        compare(torch, rng)


@pytest.mark.torch
def test_specs_format_as_in_the_installed_pytorch() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        for spec in ("", ".2f", "g", "+.3e", "d", ">20", "08.1f", "x"):
            with np.errstate(all="ignore"):
                array = random_values(rng, dtype, 1).reshape(())
            try:
                expected = format(torch_tensor(torch, array, dtype), spec)
            except (ValueError, TypeError, OverflowError) as error:
                with pytest.raises(type(error)):
                    format_spec(array, spec)
            else:
                assert format_spec(array, spec) == expected, (dtype, spec, array)


if __name__ == "__main__":
    cases, seed = (int(given) for given in sys.argv[1:])
    torch, rng = pytest.importorskip("torch"), np.random.default_rng(seed)
    for _ in range(cases):
        compare(torch, rng)
    print(f"{cases} texts equal")
