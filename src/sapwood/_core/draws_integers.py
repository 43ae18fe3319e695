"""Integer draws: ranges, permutations and coin flips. All of them equal PyTorch's bit for bit.

Owns how many words an integer takes (one below a range of 2^28, two from there) and which ranges a
dtype allows. Public through `draws`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .draws_generator import Array, Generator, default_generator, fill, is_reduced, resolve_dtype

_TWO_WORDS = 2**28  # from this range on, `%` of one word would be visibly biased
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_DIGITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
_LOOP = 2000  # permutations shorter than this are faster swap by swap


def randint(
    generator: Generator | None,
    low: int,
    high: int,
    shape: int | Sequence[int],
    dtype: Any = np.int64,
) -> Array:
    """Integers in [low, high)."""
    return random_(generator, np.empty(shape, resolve_dtype(dtype)), low, high)


def random_(
    generator: Generator | None, out: Array, low: int | None = None, high: int | None = None
) -> Array:
    """Integers in [low, high); no `high`: up to the dtype's largest exact one; neither: from 0."""
    source = generator or default_generator
    dtype = out.dtype
    if dtype.kind not in "biuf" and not is_reduced(dtype):
        raise NotImplementedError(f"random_ is not implemented for {dtype}")
    if low is None:
        return _whole_range(source, out)
    if high is None and low == _INT64_MIN:
        return _all_64_bits(source, out)
    if high is not None and low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    last = _top(dtype) if high is None else high - 1
    _check_bounds(low, last, dtype)
    first = _round_up(low, dtype)
    if high is not None:
        last = _round_down(high, dtype) - 1
    if first > last:
        raise RuntimeError(
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
            f"but got from={first} > to - 1={last} for {dtype}"
        )
    return _modulo(source, out, first, last - first + 1)


def _modulo(source: Generator, out: Array, low: int, count: int) -> Array:
    if count >= _TWO_WORDS:
        return fill(source, out, lambda n: _shifted(source.words64(n) % np.uint64(count), low))
    return fill(source, out, lambda n: _shifted(source.words(n) % np.uint32(count), low))


def _shifted(values: Array, low: int) -> Array:
    if low == 0 and values.itemsize == 4:
        return values
    signed = values.view(np.int64) if values.itemsize == 8 else values.astype(np.int64)
    signed += low  # wraps where the range spans more than 2^63, as it must
    return signed


def _whole_range(source: Generator, out: Array) -> Array:
    dtype = out.dtype
    if dtype.kind == "b":
        return fill(source, out, lambda n: source.words(n) & np.uint32(1))
    if dtype.kind == "u" and dtype.itemsize > 1:
        raise NotImplementedError(
            f"random_ without a range is not implemented for {dtype}: pass from and to"
        )
    count = _top(dtype) + 1
    # Not the limit of 2^28: here PyTorch goes by the dtype.
    if dtype in (np.int64, np.float64):
        return fill(source, out, lambda n: source.words64(n) % np.uint64(count))
    return fill(source, out, lambda n: source.words(n) % np.uint32(count))


def _all_64_bits(source: Generator, out: Array) -> Array:
    if out.dtype.name not in ("int64", "float64", "float32", "bfloat16"):
        raise RuntimeError(
            "random_ over the full 64-bit range handles only int64, float64, float32 and bfloat16, "
            f"but got {out.dtype}"
        )
    return fill(source, out, lambda n: source.words64(n).view(np.int64))


# -- which integers a dtype holds -----------------------------------------------------------------


def _top(dtype: np.dtype[Any]) -> int:
    """The largest integer up to which the dtype holds all (and at most int64's)."""
    if dtype.kind == "b":
        return 1
    if dtype.kind in "iu":
        return min(int(np.iinfo(dtype).max), _INT64_MAX)
    return int(2 ** _DIGITS[dtype.name])


def _check_bounds(low: int, last: int, dtype: np.dtype[Any]) -> None:
    exact = _top(dtype)
    if dtype.kind in "biu":
        least, most = (0 if dtype.kind in "bu" else -exact - 1), exact
    else:
        least, most = (-65504, 65504) if dtype == np.float16 else (_INT64_MIN, _INT64_MAX)
    for name, value in (("from", low), ("to - 1", last)):
        if not least <= value <= most:
            raise RuntimeError(
                f"{name} is out of bounds for {dtype}: {value} is not in [{least}, {most}]"
            )
        if dtype.kind not in "biu" and abs(value) > exact:
            warnings.warn(
                f"{name} is out of bounds [-{exact}, {exact}]. Due to precision limitations "
                f"{dtype} can support discrete uniform distribution only within this range.",
                stacklevel=4,
            )


def _as_float(value: int, dtype: np.dtype[Any]) -> int:
    return int(
        float(np.float32(value).astype(dtype)) if is_reduced(dtype) else float(dtype.type(value))
    )


def _spacing(value: int, dtype: np.dtype[Any]) -> int:
    """The distance between neighbours of the dtype near an integer beyond its exact range."""
    return int(2 ** max(abs(value).bit_length() - _DIGITS[dtype.name], 0))


def _round_up(low: int, dtype: np.dtype[Any]) -> int:
    """PyTorch's rule to keep a rounded draw from falling below `from`."""
    if dtype.kind in "biu":
        return low
    after = _as_float(low + 1, dtype)
    return low if after >= low else after + _spacing(low + 1, dtype)


def _round_down(high: int, dtype: np.dtype[Any]) -> int:
    if dtype.kind in "biu":
        return high
    before = _as_float(high - 1, dtype)
    return high if before < high else before - _spacing(high - 1, dtype)


# -- permutations ---------------------------------------------------------------------------------


def randperm(generator: Generator | None, n: int, dtype: Any = np.int64) -> Array:
    """A random order of 0 .. n - 1: at step i, place i is swapped with place i + word % (n - i)."""
    kind = resolve_dtype(dtype)
    if n < 0:
        raise RuntimeError(f"randperm: Trying to create tensor with negative dimension {n}: [{n}]")
    if kind.kind in "bc" or kind.name in ("uint16", "uint32", "uint64"):
        raise NotImplementedError(f"randperm is not implemented for {kind}")
    if n > _top(kind) + (kind.kind not in "iu"):
        raise RuntimeError(
            f"randperm: n cannot be greater than {_top(kind)} for {kind}, but got n={n}"
        )
    source = generator or default_generator
    with source.lock:
        # For very long ones PyTorch takes two words a step.
        draws = source.words(max(n - 1, 0)) if n < (2**32 - 1) // 20 else source.words64(n - 1)
    targets = draws % np.arange(n, 1, -1, dtype=draws.dtype) if n > 1 else draws
    order = _swap_one_by_one(targets.tolist(), n) if n < _LOOP else _swap_at_once(targets, n)
    return (
        np.asarray(order)
        .astype(np.float32 if is_reduced(kind) else kind, copy=False)
        .astype(kind, copy=False)
    )


def _swap_one_by_one(offsets: list[int], n: int) -> list[int]:
    order = list(range(n))
    for i, offset in enumerate(offsets):
        j = i + offset
        order[i], order[j] = order[j], order[i]
    return order


def _swap_at_once(offsets: Array, n: int) -> Array:
    """The same swaps without a loop over steps.

    Step i takes what stands at place j(i) >= i and puts there what stood at place i, which is never
    looked at again. So the value at a place is what the last earlier step that aimed there brought
    along. Sorting the steps by (place, step) finds that step; following such links to their ends,
    with a stride that doubles each round, finds the value.
    """
    steps = np.arange(n, dtype=np.int64)
    place = steps.copy()
    place[:-1] += offsets.astype(np.int64)
    keys = (place << 32) | steps
    keys.sort()
    place, step = keys >> 32, keys & 0xFFFFFFFF
    repeated = np.zeros(n, bool)  # did an earlier step aim at this place?
    np.equal(place[1:], place[:-1], out=repeated[1:])
    earlier = np.roll(step, 1)  # that step; meaningless where not repeated
    # brought[i]: what stands at place i when step i begins, as a link to the step that put it
    # there, or i itself. That step is the last one aiming at place i, apart from step i itself.
    final = np.append(~repeated[1:], True)
    link = step.copy()
    idle = np.flatnonzero(step == place)
    link[idle] = np.where(repeated[idle], earlier[idle], place[idle])
    brought = steps.copy()
    brought[place[final]] = link[final]
    while True:
        further = brought[brought]
        if np.array_equal(further, brought):
            break
        brought = further
    order = np.empty(n, np.int64)
    order[step] = np.where(repeated, brought[earlier], place)
    return order


# -- coin flips -----------------------------------------------------------------------------------


def bernoulli_(generator: Generator | None, out: Array, p: float = 0.5) -> Array:
    """1 with probability p, else 0; for probabilities in an array see `bernoulli`."""
    if out.dtype.kind not in "bif" and out.dtype != np.uint8 and not is_reduced(out.dtype):
        raise NotImplementedError(f"bernoulli_ is not implemented for {out.dtype}")
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:.6g}")
    source = generator or default_generator
    limit = np.uint64(
        math.ceil(p * 2.0**53)
    )  # u < p for u = bits / 2^53, without leaving the integers
    mask = np.uint64(2**53 - 1)
    return fill(source, out, lambda n: (source.words64(n) & mask) < limit)


def dropout_mask(
    generator: Generator | None, shape: int | Sequence[int] | Array, p: float
) -> Array:
    """True where dropout with probability p keeps a value; for an array, in its memory order."""
    out = (
        np.empty_like(shape, dtype=np.bool_)
        if isinstance(shape, np.ndarray)
        else np.empty(shape, np.bool_)
    )
    return bernoulli_(generator, out, 1.0 - p)
