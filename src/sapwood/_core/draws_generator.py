"""The source of random words: MT19937 with the seeding, word order and state of PyTorch's CPU.

Owns the `Generator`, its lock, its serialised state and the walk over a target's memory (`fill`).
It knows words and memory only; what a distribution makes of them is in the other `draws` files.
It must not know tensors: states are uint8 arrays, devices are strings.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

DEFAULT_SEED = 67280421310721  # what a new torch.Generator starts from
BLOCK = (
    1 << 15
)  # values per round: temporaries fit the cache; a multiple of 16 (see _normal_blocks)
_SMALL = 256  # below this, random_raw's low call cost beats the bulk integer fill
_WORDS = 624

# torch.get_rng_state(): two C structs, one inside the other. The words are kept as 64-bit integers,
# and normal_y holds the second value of the last Box-Muller pair. The float cache at the end exists
# in the struct, but no CPU kernel of torch fills it.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (_WORDS,)),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_valid", "<i4"),
        ("padding", "<i4"),
        ("float_normal", "<f4"),
        ("float_valid", "<i4"),
    ]
)


class Generator:
    """A stream of random words: torch.Generator, with arrays for tensors, a string for device."""

    device = "cpu"

    def __init__(self, device: Any = "cpu") -> None:
        if str(device).partition(":")[0] != "cpu":
            raise RuntimeError(
                f"Generator: sapwood computes on the CPU only, but got device {str(device)!r}"
            )
        self.lock = threading.RLock()  # held over a whole draw: two threads never split one
        self.spare: float | None = None  # the unused second value of a Box-Muller pair
        self._bits = np.random.MT19937(0)
        self._bulk = np.random.Generator(self._bits)
        self._seeder = np.random.RandomState(self._bits)  # seed() is Knuth's, as torch's
        self.manual_seed(DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Restart from `seed`, -2^63 to 2^64 - 1; a negative one counts from 2^64.

        Only the low 32 bits choose the stream, as in PyTorch.
        """
        seed = operator.index(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError(
                f"Overflow when unpacking long long: the seed {seed} is outside -2^63 .. 2^64 - 1"
            )
        with self.lock:
            self._seed = seed % 2**64
            self._seeder.seed(self._seed & 0xFFFFFFFF)
            self._fresh = True
            self.spare = None
        return self

    def seed(self) -> int:
        """Restart from 64 bits of the system's entropy, and return them."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed of the last manual_seed() or seed(), as an unsigned number."""
        return self._seed

    # -- words; the caller holds the lock ---------------------------------------------------------

    def words(self, n: int) -> Array:
        """The next n words, as a fresh uint32 array."""
        self._fresh = self._fresh and n == 0
        if n <= _SMALL:
            return self._bits.random_raw(n).astype(np.uint32)
        return self._bulk.integers(0, 0xFFFFFFFF, n, np.uint32, endpoint=True)

    def words64(self, n: int) -> Array:
        """The next 2n words as n 64-bit ones, high word first, as a fresh uint64 array."""
        self._fresh = self._fresh and n == 0
        if n <= _SMALL:
            pairs = self._bits.random_raw(2 * n)
            return (pairs[0::2] << np.uint64(32)) | pairs[1::2]
        return self._bulk.integers(0, 0xFFFFFFFFFFFFFFFF, n, np.uint64, endpoint=True)

    def double(self) -> float:
        """One float64 uniform in [0, 1), for loops whose length depends on what they draw."""
        self._fresh = False
        high = self._bits.random_raw()
        return ((high << 32 | self._bits.random_raw()) & (2**53 - 1)) * 2.0**-53

    # -- state ------------------------------------------------------------------------------------

    def get_state(self) -> Array:
        """The 5056 bytes that torch.get_rng_state would give here."""
        state = np.zeros(1, _STATE)
        row = state[0]
        with self.lock:
            inner: Any = self._bits.state["state"]
            position = int(inner["pos"])
            row["seed"], row["seeded"], row["words"] = self._seed, 1, inner["key"]
            row["left"] = min(_WORDS + 1 - position, _WORDS)
            # After seeding torch writes 0 here, after a whole block 624; NumPy says 624 for both.
            row["next"] = 0 if self._fresh else position
            if self.spare is not None:
                row["normal_y"], row["normal_valid"] = self.spare, 1
        return state.view(np.uint8)

    def set_state(self, new_state: Array) -> Generator:
        """Go to a state that get_state, or torch.get_rng_state, returned."""
        data = np.ascontiguousarray(new_state)
        if data.dtype != np.uint8:
            raise TypeError(f"RNG state must be an array of uint8, but got {data.dtype}")
        if data.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} "
                f"but found the input RNG state size to be {data.size}"
            )
        row = data.reshape(-1).view(_STATE)[0]
        left, following = int(row["left"]), int(row["next"])
        # With one left, the next word comes from a new block and `next` only says whether any was
        # drawn; otherwise the two must agree, since NumPy keeps one number for both.
        known = left + following == _WORDS + 1 if left > 1 else left == 1 and following <= _WORDS
        if row["seeded"] != 1 or not known:
            raise RuntimeError("set_state: Invalid mt19937 state")
        key = row["words"].astype(np.uint32)
        position = _WORDS if left == 1 else following
        with self.lock:
            self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": position}}
            self._seed, self._fresh = int(row["seed"]), left == 1 and following == 0
            self.spare = float(row["normal_y"]) if row["normal_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """A new generator that will draw what this one would."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        # copy, deepcopy and pickle: an independent stream with a lock of its own
        return _restore, (self.get_state().tobytes(),)

    def __repr__(self) -> str:
        return f"<Generator device={self.device!r} initial_seed={self._seed}>"


def _restore(state: bytes) -> Generator:
    return Generator().set_state(np.frombuffer(state, np.uint8))


default_generator = Generator()
default_generator.seed()


# -- targets --------------------------------------------------------------------------------------


def resolve_dtype(dtype: Any) -> np.dtype[Any]:
    """A NumPy dtype; "bfloat16" comes from the optional ml_dtypes, imported when asked for."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        from ml_dtypes import bfloat16

        return np.dtype(bfloat16)
    return np.dtype(dtype)


def is_reduced(dtype: np.dtype[Any]) -> bool:
    """Tell float16 and bfloat16, which torch draws in a wider type and rounds."""
    # By name: ml_dtypes is optional, and its dtypes are of kind "V".
    return dtype.itemsize == 2 and dtype.name in ("float16", "bfloat16")


def is_float(dtype: np.dtype[Any]) -> bool:
    """Tell the real floating-point dtypes, bfloat16 included."""
    return dtype.kind == "f" or is_reduced(dtype)


def memory_order(out: Array) -> Array:
    """The view of `out` whose C order is that of torch's kernels: largest stride first."""
    if out.flags.c_contiguous:
        return out
    stride = [abs(s) if extent > 1 else 0 for s, extent in zip(out.strides, out.shape, strict=True)]
    return out.transpose(sorted(range(out.ndim), key=lambda axis: -stride[axis]))


def store(target: Array, values: Array) -> None:
    """Write values with a C cast; 64-bit ones reach the two-byte floats through float32.

    torch rounds twice in the same way.
    """
    if values.dtype.itemsize == 8 and is_reduced(target.dtype):
        values = values.astype(np.float32)
    target[...] = values


def fill(generator: Generator, out: Array, make: Callable[[int], Array]) -> Array:
    """Fill `out` in memory order with make(n)'s values, n at most BLOCK, under the lock."""
    view = memory_order(out)
    direct = view.flags.c_contiguous
    flat = view.reshape(-1) if direct else np.empty(view.size, view.dtype)
    with generator.lock:
        for start in range(0, flat.size, BLOCK):
            part = flat[start : start + BLOCK]
            store(part, make(part.size))
    if not direct:
        view[...] = flat.reshape(view.shape)
    return out
