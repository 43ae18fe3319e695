"""Values and gradients recorded from PyTorch, so that the suite judges without it too.

One `.npz` per file of samples: an index (JSON) and all numbers in a few flat arrays, floats as
float32 where that keeps seven digits. Of large results 64 elements are kept.
`tools/record_golden.py` writes them.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.testing import collect
from sapwood.testing.case import Case, Run, described, gradients, leaves, run
from sapwood.testing.oracle import available, difference, same_value

FOLDER = Path(__file__).parent / "golden"
KEEP = 64
CLOSE = 2e-6


def digest(case: Case) -> int:
    """Changes when the sample changes."""
    given = (case.sample.args, case.sample.kwargs)
    text = f"{described(case.sample.args)}{sorted(case.sample.kwargs)}{case.sample.method}"
    for a in leaves(given):
        wide = a.astype(np.complex128) if a.dtype.kind in "cfV" else a.astype(np.int64)
        text += described(a) + str(np.round(wide, 6).tolist())
    return zlib.crc32(text.encode())


def thinned(a: np.ndarray) -> np.ndarray:
    """At most KEEP elements, spread over the whole array."""
    flat = a.ravel()
    if flat.size <= KEEP:
        return flat
    return flat[np.linspace(0, flat.size - 1, KEEP).astype(int)]


class Book:
    """The recorded results of one file of samples."""

    def __init__(self) -> None:
        self.index: dict[str, Any] = {}
        self.numbers: dict[str, list[Any]] = {"f4": [], "f8": [], "i8": []}
        self.sizes = dict.fromkeys(self.numbers, 0)

    def put(self, a: np.ndarray) -> list:
        """Store an array; returns where: [dtype, shape, slot, start, count]."""
        flat = thinned(a)
        name = a.dtype.name
        if flat.dtype.kind == "c":
            flat = np.stack([flat.real, flat.imag], axis=-1).ravel()
        if flat.dtype.kind in "fV":
            flat = flat.astype(np.float64)
            with np.errstate(all="ignore"):
                small = flat.astype(np.float32)
                fits = np.abs(small - flat) <= 1e-7 * np.abs(flat)
            slot = "f4" if (fits | ~np.isfinite(flat)).all() else "f8"
        else:
            slot = "i8"
        start = self.sizes[slot]
        self.numbers[slot].append(flat.astype(slot))
        self.sizes[slot] += flat.size
        return [name, list(a.shape), slot, start, flat.size]

    def record(self, case: Case, got: Run) -> None:
        """Store what a run of the case gives."""
        entry: dict[str, Any] = {"digest": digest(case), "others": got.others}
        entry["outputs"] = [self.put(got.library.array(t)) for t in got.outputs]
        if got.differentiable and got.inputs:
            with contextlib.suppress(RuntimeError):  # PyTorch has no derivative there
                first = gradients(case, got).first
                found = [None if g is None else self.put(got.library.array(g)) for g in first]
                entry["grads"] = found
        self.index[f"{case.name}:{case.number}"] = entry

    def save(self, path: Path) -> None:
        """Write the file; the same content gives the same bytes."""
        text = json.dumps(self.index, separators=(",", ":"), sort_keys=True, default=repr)
        flat = {k: np.concatenate(v) if v else np.zeros(0, k) for k, v in self.numbers.items()}
        np.savez_compressed(path, index=np.frombuffer(text.encode(), np.uint8), **flat)

    @staticmethod
    def load(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Index and numbers of a file."""
        with np.load(path) as file:
            numbers = {k: file[k] for k in ("f4", "f8", "i8")}
            return json.loads(file["index"].tobytes()), numbers


@cache
def books() -> dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """Every case's entry and the numbers that it points into."""
    found = {}
    for path in sorted(FOLDER.glob("*.npz")):
        index, numbers = Book.load(path)
        found.update({key: (entry, numbers) for key, entry in index.items()})
    return found


class Golden:
    """Compares a case with what was recorded."""

    @staticmethod
    def check(case: Case) -> str | None:
        """What is different, in words."""
        entry, numbers = books().get(f"{case.name}:{case.number}", (None, {}))
        if entry is None or entry["digest"] != digest(case):
            if available():
                return "not recorded (or the sample changed): run tools/record_golden.py"
            return None
        mine = run(case)
        text = compare("output", [t.array for t in mine.outputs], entry["outputs"], numbers)
        if text is None and not same_value(
            json.loads(json.dumps(mine.others, default=repr)), entry["others"]
        ):
            text = f"{mine.others}, expected {entry['others']}"
        if text is None and "grads" in entry and mine.differentiable:
            first = gradients(case, mine).first
            pairs = [
                (g.array, e)
                for g, e in zip(first, entry["grads"], strict=True)
                if g is not None and e is not None
            ]
            text = compare("gradient", [a for a, _ in pairs], [e for _, e in pairs], numbers)
        return text


def compare(what: str, mine: list, recorded: list, numbers: dict) -> str | None:
    """Arrays against their records."""
    if len(mine) != len(recorded):
        return f"{len(mine)} {what}s, expected {len(recorded)}"
    for i, (a, (kind, shape, slot, start, count)) in enumerate(zip(mine, recorded, strict=True)):
        if a.dtype.name != kind or list(a.shape) != shape:
            return f"{what} {i}: {a.dtype}{list(a.shape)}, expected {kind}{shape}"
        want = numbers[slot][start : start + count]
        if np.dtype(a.dtype).kind == "c":
            want = (want[::2] + 1j * want[1::2]) if count else want.astype(a.dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            text = difference(thinned(a), want.astype(a.dtype), close=close(a.dtype))
        if text:
            return f"{what} {i}: {text}"
    return None


def close(kind: np.dtype) -> float:
    """How far a value may be from its record."""
    return {2: 1.6e-2, 4: 1e-5}.get(kind.itemsize, CLOSE)


def record() -> dict[str, int]:
    """Run every case in PyTorch and write the files; the size of each."""
    from sapwood.testing.oracle import Torch

    oracle, cases, sizes = Torch(), collect.cases(), {}
    FOLDER.mkdir(exist_ok=True)
    taken: dict[str, int] = {}
    for file, table in collect.files().items():
        book = Book()
        for name, several in table.items():
            start = taken.get(name, 0)
            taken[name] = start + len(several)
            for case in cases[name][start : taken[name]]:
                if case.sample.torch != "":
                    book.record(case, run(case, oracle))
        path = FOLDER / f"{file}.npz"
        if book.index:
            book.save(path)
            sizes[path.name] = path.stat().st_size
    return sizes
