"""Random draws over arrays from the same MT19937 words, in the same order, as PyTorch's CPU.

Every function takes a `Generator` first (None: the default one). Names with a trailing underscore
fill `out` in place and return it; the others make an array. This file owns the real-valued
distributions; integers are in `draws_integers`, the generator and the walk over memory in
`draws_generator`; import all of them from here. It must not know tensors.

Equal to PyTorch bit for bit: the words taken, `rand`, `uniform_`, all integers, `bernoulli`,
`bernoulli_`, `poisson`, and normals of fewer than 16 values or into non-contiguous memory. The rest
goes through NumPy's log, exp, sin, cos and tan, which may differ from PyTorch's in the last places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .draws_generator import (
    BLOCK,
    Array,
    Generator,
    default_generator,
    fill,
    is_float,
    is_reduced,
    resolve_dtype,
    store,
)
from .draws_integers import bernoulli_, dropout_mask, randint, random_, randperm

__all__ = [
    "Generator",
    "bernoulli",
    "bernoulli_",
    "cauchy_",
    "default_generator",
    "dropout_mask",
    "exponential_",
    "geometric_",
    "log_normal_",
    "multinomial",
    "normal_",
    "poisson",
    "rand",
    "randint",
    "randn",
    "random_",
    "randperm",
    "uniform_",
]

Shape = int | Sequence[int]
DType = np.dtype[Any]

_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_in_silence = np.errstate(all="ignore")  # tails overflow the small dtypes, without a word as in C


def unit(generator: Generator, n: int, dtype: DType) -> Array:
    """Uniforms in [0, 1): float64 from the low 53 bits of two words, float32 from 24 of one."""
    if dtype == _FLOAT64:
        wide = generator.words64(n)
        wide &= np.uint64(2**53 - 1)
        return wide.view(np.int64) * 2.0**-53
    words = generator.words(n)
    words &= np.uint32(2**24 - 1)
    # Signed, because a SIMD conversion to float exists for it on every processor; the values fit.
    values = words.view(np.int32).astype(np.float32)
    values *= np.float32(2.0**-24)
    return values


def _doubles(generator: Generator, n: int) -> Array:
    return unit(generator, n, _FLOAT64)


def _wide(dtype: DType) -> DType:
    """The dtype that uniforms for this one are drawn in."""
    return _FLOAT64 if dtype == _FLOAT64 else _FLOAT32


def _real_view(out: Array) -> Array:
    """A complex array as its real and imaginary parts, along a new last axis."""
    return out[..., None].view(out.real.dtype) if out.dtype.kind == "c" else out


def _check_floating(out: Array, name: str) -> None:
    if not (is_float(out.dtype) or out.dtype.kind == "c"):
        raise NotImplementedError(f"{name} is not implemented for {out.dtype}: it draws fractions")


# -- one rounding ---------------------------------------------------------------------------------


def fused(x: Array, scale: float, shift: float) -> Array:
    """Scale and shift with one rounding, as the fused multiply-add in PyTorch's kernels.

    For float32, scale and shift are float32 values.
    """
    kind = x.dtype.type
    if shift == 0 or not math.isfinite(shift) or not abs(scale) < 1e290:  # splitting would overflow
        return x * kind(scale) + kind(shift)
    if kind is np.float32:
        product = x.astype(np.float64) * scale  # exact: 24 bits by 24 bits
        total = product + shift
        # Rounding to float64 first errs only where that lands on a midpoint between float32s.
        middle = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
        if middle.any():
            high, low = _exact_sum(product[middle], shift)
            aside = np.nextafter(high, np.where(low > 0, np.inf, -np.inf))
            total[middle] = np.where(low == 0, high, aside)
        return total.astype(np.float32)
    product, lost = _exact_product(x, scale)
    high, low = _exact_sum(product, shift)
    return high + (low + lost)


def _exact_sum(a: Array, b: float) -> tuple[Array, Array]:
    """The rounded sum and its rounding error (Knuth's two-sum)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _exact_product(a: Array, b: float) -> tuple[Array, Array]:
    """The rounded product and its rounding error (Dekker's product, Veltkamp's splitting)."""
    split = 2.0**27 + 1
    a_high = a * split - (a * split - a)
    b_high = b * split - (b * split - b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


# -- uniform --------------------------------------------------------------------------------------


def rand(generator: Generator | None, shape: Shape, dtype: Any = np.float32) -> Array:
    """Uniform in [0, 1); the parts of complex values too."""
    return uniform_(generator, np.empty(shape, resolve_dtype(dtype)))


def uniform_(generator: Generator | None, out: Array, low: float = 0.0, high: float = 1.0) -> Array:
    """Uniform in [low, high): a value that rounds to `high` becomes `low`."""
    _check_floating(out, "uniform_")
    source = generator or default_generator
    target = _real_view(out)
    dtype, wide = target.dtype, _wide(target.dtype)
    if low == 0 and high == 1 and not is_reduced(dtype):
        fill(source, target, lambda n: unit(source, n, wide))
        return out
    if low > high:
        raise RuntimeError(
            "uniform_ expects to return a [from, to) range, "
            f"but found from={low:.6g} > to={high:.6g}"
        )
    limit = 65504.0 if dtype == np.float16 else float(np.finfo(wide).max)
    for name, bound in (("from", low), ("to", high), ("to - from", high - low)):
        if not abs(bound) <= limit:  # NaN too
            raise RuntimeError(f"uniform_: {name} is out of bounds for {dtype}: {bound}")
    start, stop = wide.type(low), wide.type(high)
    first, last = start.astype(dtype), stop.astype(dtype)
    scale, shift = float(stop - start), float(start)

    def make(n: int) -> Array:
        values = fused(unit(source, n, wide), scale, shift).astype(dtype, copy=False)
        values[values == last] = first
        return values

    fill(source, target, make)
    return out


def bernoulli(generator: Generator | None, p: Array, out: Array | None = None) -> Array:
    """1 with the probability that `p` has at each place; broadcast to `out`, else in p's dtype."""
    if not is_float(p.dtype):
        raise NotImplementedError(f"bernoulli expects floating probabilities, but got {p.dtype}")
    if not ((p >= 0) & (p <= 1)).all():  # NaN fails too
        raise RuntimeError("bernoulli: Expected p_in >= 0 && p_in <= 1 to be true, but got false")
    source = generator or default_generator
    wide = _wide(p.dtype)
    result = np.empty(p.shape, p.dtype) if out is None else out
    draws = fill(source, np.empty_like(result, wide), lambda n: unit(source, n, wide))
    store(result, draws < p.astype(wide, copy=False))
    return result


# -- normal ---------------------------------------------------------------------------------------


def randn(generator: Generator | None, shape: Shape, dtype: Any = np.float32) -> Array:
    """Standard normal; for complex dtypes each part has variance 1/2."""
    return normal_(generator, np.empty(shape, resolve_dtype(dtype)))


@_in_silence
def normal_(generator: Generator | None, out: Array, mean: float = 0.0, std: float = 1.0) -> Array:
    """Normal, by one of two algorithms that take different words: blocks of 16, or one by one."""
    _check_floating(out, "normal_")
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:.6g}")
    source = generator or default_generator
    target = _real_view(out)
    if target is not out:
        std = std / math.sqrt(2.0)
    if target.size >= 16 and target.flags.c_contiguous:
        with source.lock:
            _normal_blocks(source, target.reshape(-1), mean, std)
    else:
        fill(source, target, lambda n: _normals(source, n, mean, std))
    return out


def _normal_blocks(generator: Generator, flat: Array, mean: float, std: float) -> None:
    """Box-Muller in blocks of 16; for a last partial block, the final 16 values are drawn again."""
    wide = _wide(flat.dtype)
    rest = flat.size % 16
    whole = flat.size - rest
    for start in range(0, whole, BLOCK):
        part = flat[start : min(start + BLOCK, whole)]
        store(part, _box_muller(unit(generator, part.size, wide), mean, std))
    if rest:
        if wide == flat.dtype:
            # PyTorch draws all uniforms before the first pair, save for the two-byte floats.
            unit(generator, rest, wide)
        store(flat[-16:], _box_muller(unit(generator, 16, wide), mean, std))


def _box_muller(u: Array, mean: float, std: float) -> Array:
    """Normals from whole blocks of 16 uniforms, in which pairs stand 8 apart."""
    kind = u.dtype.type
    pairs = u.reshape(-1, 2, 8).swapaxes(0, 1).copy()  # long inner loops
    radius, angle = 1 - pairs[0], pairs[1]
    np.log(radius, out=radius)
    radius *= kind(-2.0)
    np.sqrt(radius, out=radius)
    angle *= kind(2.0 * math.pi)
    np.multiply(radius, np.cos(angle), out=pairs[0])
    np.multiply(radius, np.sin(angle), out=pairs[1])
    if std != 1:
        pairs *= kind(std)
    if mean != 0:
        pairs += kind(mean)
    return pairs.swapaxes(0, 1).reshape(-1)


def _normals(generator: Generator, n: int, mean: float, std: float) -> Array:
    """Normals one by one in float64; the second of a pair waits for the next call of any dtype.

    `math`, not NumPy: PyTorch calls the C library's log1p, sin and cos too, so the bits agree.
    """
    values = [] if generator.spare is None else [generator.spare]
    missing = n - len(values)
    uniforms = _doubles(generator, missing + missing % 2).tolist()
    for u1, u2 in zip(uniforms[0::2], uniforms[1::2], strict=True):
        radius = math.sqrt(-2.0 * math.log1p(-u2))
        angle = 2.0 * math.pi * u1
        values.append(radius * math.cos(angle))
        values.append(radius * math.sin(angle))
    generator.spare = values.pop() if missing % 2 else None
    return fused(np.array(values), std, mean)


@_in_silence
def log_normal_(
    generator: Generator | None, out: Array, mean: float = 1.0, std: float = 2.0
) -> Array:
    """The exponential of a normal with this mean and std; always drawn one by one."""
    if not is_float(out.dtype):
        raise NotImplementedError(f"log_normal_ is not implemented for {out.dtype}")
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:.6g}")
    source = generator or default_generator
    return fill(source, out, lambda n: np.exp(_normals(source, n, mean, std)))


# -- by inversion: one float64 uniform a value ----------------------------------------------------


def _check_continuous(out: Array, name: str) -> None:
    if not is_float(out.dtype):
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {out.dtype}"
        )


@_in_silence
def exponential_(generator: Generator | None, out: Array, lambd: float = 1.0) -> Array:
    """Waiting times at the rate lambd: -log(1 - u) / lambd."""
    _check_continuous(out, "Exponential")
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:.6g}")
    source = generator or default_generator
    return fill(source, out, lambda n: np.log1p(-_doubles(source, n)) * (-1.0 / lambd))


@_in_silence
def cauchy_(
    generator: Generator | None, out: Array, median: float = 0.0, sigma: float = 1.0
) -> Array:
    """Cauchy: median + sigma * tan(pi * (u - 1/2))."""
    _check_continuous(out, "Cauchy")
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:.6g}")
    source = generator or default_generator
    return fill(
        source, out, lambda n: np.tan((_doubles(source, n) - 0.5) * math.pi) * sigma + median
    )


@_in_silence
def geometric_(generator: Generator | None, out: Array, p: float) -> Array:
    """The number of trials up to the first success: ceil(log(u) / log(1 - p))."""
    if out.dtype.kind in "bc":
        raise NotImplementedError(f"geometric_ is not implemented for {out.dtype}")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:.6g}")
    source = generator or default_generator
    scale = math.log1p(-p)
    return fill(source, out, lambda n: np.ceil(np.log(_doubles(source, n)) / scale))


# -- by rejection ---------------------------------------------------------------------------------


def poisson(generator: Generator | None, rates: Array) -> Array:
    """Counts with these mean rates, in their dtype.

    One by one in Python, about 3 us a value: how many words a value takes is itself random.
    """
    if not is_float(rates.dtype):
        raise NotImplementedError(f"poisson is not implemented for {rates.dtype}")
    if not ((rates >= 0) & np.isfinite(rates)).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative (and finite)")
    source = generator or default_generator
    flat = rates.astype(np.float64).reshape(-1).tolist()
    with source.lock:
        counts = [_poisson_large(source, r) if r >= 10 else _poisson(source, r) for r in flat]
    result = np.empty(rates.shape, rates.dtype)
    store(result, np.array(counts, np.float64).reshape(rates.shape))
    return result


def _poisson(generator: Generator, rate: float) -> float:
    """Knuth's method: multiply uniforms until the product falls to exp(-rate)."""
    if rate == 0:
        return 0.0
    limit, product, count = math.exp(-rate), generator.double(), 0.0
    while product > limit:
        product *= generator.double()
        count += 1.0
    return count


def _poisson_large(generator: Generator, rate: float) -> float:
    """Transformed rejection (W. Hörmann 1993, algorithm PTRS), with the paper's constants."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    squeeze = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = generator.double() - 0.5
        v = generator.double()
        room = 0.5 - abs(u)
        if room == 0 or v == 0:  # one in 2^53: an infinite count, or a certain acceptance
            continue
        count = math.floor((2.0 * a / room + b) * u + rate + 0.43)
        if room >= 0.07 and v <= squeeze:
            return float(count)
        if count < 0 or (room < 0.013 and v > room):
            continue
        threshold = math.log(v) + math.log(inverse_alpha) - math.log(a / (room * room) + b)
        if threshold <= -rate + count * log_rate - math.lgamma(count + 1.0):
            return float(count)


# -- categories -----------------------------------------------------------------------------------


@_in_silence
def multinomial(
    generator: Generator | None, probs: Array, num_samples: int, replacement: bool = False
) -> Array:
    """Categories as int64, drawn with the weights in the last axis of `probs` (1-D or 2-D)."""
    sums = _cumulative(probs, num_samples, replacement=replacement)
    source = generator or default_generator
    if replacement and num_samples > 1:
        sums /= sums[..., -1:]
        draws = np.empty((*probs.shape[:-1], num_samples))
        fill(source, draws, lambda n: _doubles(source, n))
        rows = zip(np.atleast_2d(sums), np.atleast_2d(draws), strict=True)
        found = [np.searchsorted(row.astype(np.float64), draw) for row, draw in rows]
        return np.array(found, np.int64).reshape(draws.shape)
    # The largest weights over exponentials are a sample without replacement. Ties, which float16
    # and bfloat16 have many of, go to the lower category here; PyTorch's sort leaves them open.
    race = exponential_(source, np.empty_like(probs))
    race = np.divide(probs, race)
    if num_samples == 1:
        return np.argmax(race, axis=-1, keepdims=True)
    return np.argsort(-race, axis=-1, kind="stable")[..., :num_samples].astype(np.int64)


def _cumulative(probs: Array, num_samples: int, *, replacement: bool) -> Array:
    """The checks of multinomial; the cumulative weights, added up in the order of PyTorch."""
    if probs.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not is_float(probs.dtype):
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {probs.dtype}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > probs.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if not (np.isfinite(probs) & (probs >= 0)).all():
        raise RuntimeError(
            "invalid multinomial distribution: "
            "probability tensor contains either `inf`, `nan` or element < 0"
        )
    sums: Array = np.cumsum(probs, axis=-1, dtype=_wide(probs.dtype))
    if probs.shape[-1] == 0 or bool((sums[..., -1] <= 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    return sums
