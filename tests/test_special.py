"""The special functions against exact values, and their constants against the tool's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from sapwood._ops import special

ROOT = Path(__file__).resolve().parent.parent
mp.mp.dps = 40
RNG = np.random.default_rng(0)


def between(low: float, high: float) -> np.ndarray:
    """Random points."""
    return RNG.uniform(low, high, 100)


def tiny() -> np.ndarray:
    """Points of all magnitudes below 1."""
    return 10.0 ** between(-300, 0)


POSITIVE = np.concatenate(
    [tiny(), between(0, 1), between(0.99, 1.01), between(1, 3), between(3, 40)]
)


def polygamma(n: int) -> tuple:
    """The n-th derivative of digamma, ours and exact."""
    return lambda x: special.polygamma(x, n), lambda x: mp.polygamma(n, x)


CASES = {
    "erf": (special.erf, mp.erf, np.concatenate([tiny(), between(-1, 1), between(-6, 6)]), 2),
    "erfc": (special.erfc, mp.erfc, np.concatenate([between(-6, 1), between(1, 26)]), 4),
    "erfinv": (
        special.erfinv,
        mp.erfinv,
        np.concatenate([tiny(), between(-0.75, 0.75), 1 - 10 ** between(-15, -1)]),
        4,
    ),
    "lgamma": (special.lgamma, mp.loggamma, np.concatenate([POSITIVE, 10 ** between(2, 300)]), 4),
    "digamma": (special.digamma, mp.digamma, np.concatenate([POSITIVE, between(1.46, 1.463)]), 4),
    "trigamma": (*polygamma(1), between(0.1, 90), 6),
    "polygamma4": (*polygamma(4), between(0.1, 90), 10),
}


@pytest.mark.parametrize("name", CASES)
def test_within_ulps(name: str) -> None:
    fn, exact, points, allowed = CASES[name]
    for x, value in zip(points, fn(points), strict=True):
        true = exact(mp.mpf(float(x)))
        error = abs(mp.mpf(float(value)) - true) / mp.mpf(float(np.spacing(abs(float(true)))))
        assert error <= allowed, f"{name}({x!r}) = {value!r}: {mp.nstr(error, 3)} ulp"


NEGATIVE: dict[str, tuple[Callable, Callable]] = {
    "lgamma": (special.lgamma, lambda x: mp.log(abs(mp.gamma(x)))),
    "digamma": (special.digamma, mp.digamma),
    "trigamma": polygamma(1),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_negative_arguments(name: str) -> None:
    """Between the poles, to the precision that reflection leaves."""
    fn, exact = NEGATIVE[name]
    points = between(-20, 0)
    true = np.array([float(exact(mp.mpf(float(x)))) for x in points])
    assert np.allclose(fn(points), true, rtol=1e-13, atol=1e-13)


def test_edges() -> None:
    inf, nan = np.inf, np.nan
    for fn, pairs in (
        (special.erf, [(0.0, 0.0), (inf, 1.0), (-inf, -1.0), (nan, nan)]),
        (special.erfc, [(inf, 0.0), (-inf, 2.0), (30.0, 0.0), (nan, nan)]),
        (special.erfinv, [(1.0, inf), (-1.0, -inf), (1.5, nan), (nan, nan)]),
        (
            special.lgamma,
            [(0.0, inf), (-2.0, inf), (1.0, 0.0), (2.0, 0.0), (inf, inf), (-inf, inf), (nan, nan)],
        ),
        (special.digamma, [(0.0, -inf), (-0.0, inf), (-1.0, nan), (inf, inf), (-inf, nan)]),
    ):
        x, want = np.array(pairs).T
        assert np.array_equal(fn(x), want, equal_nan=True), fn.__name__
    assert np.signbit(special.erf(np.array(-0.0)))


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (3, 50_000)])
def test_shapes_and_dtypes(shape: tuple) -> None:
    """Blocks are put together again; float32 goes through float64."""
    x = np.asarray(RNG.uniform(-2, 2, shape))
    wide, small = special.erf(x), special.erf(x.astype("f4"))
    assert wide.shape == small.shape == shape
    assert (wide.dtype, small.dtype) == (np.dtype("f8"), np.dtype("f4"))
    assert np.allclose(wide, small, atol=1e-6)
    assert np.array_equal(special.erf(x[..., None][..., ::-1])[..., 0], wide)


def test_constants_are_those_of_the_tool() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "special_constants.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert made == (ROOT / "src/sapwood/_ops/special_constants.py").read_text(encoding="utf-8")
