"""The report as text. Knows how numbers are written, and nothing of training."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from sapwood.demo.watch import Row

HEAD = ("tensor", "leaf", "shape", "made at", "RMS", "largest", "zeros", "NaN")
RIGHT = HEAD.index("RMS")  # from this column on, numbers: aligned to the right


def gradient_table(rows: Iterable[Row]) -> str:
    """One line per tensor, in the order of the forward pass."""
    cells = [HEAD]
    for row in rows:
        shape = "x".join(map(str, row.shape)) or "scalar"
        numbers = ("no gradient", "", "", "")
        if row.gradient:
            rms, largest, zeros, nans = row.gradient[-1]
            numbers = (f"{rms:.2e}", f"{largest:.2e}", f"{zeros:.1%}", str(nans))
        cells.append(
            (row.name, "leaf" if row.leaf else "", shape, os.path.basename(row.line), *numbers)
        )
    return aligned(cells)


def aligned(cells: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        parts = [
            cell.ljust(width) if i < RIGHT else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def check_writable(path: Path) -> None:
    """Say before the work, not after it, that the report has no place to go."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))
    folder = path.resolve().parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is no folder", str(path))
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def save(path: Path, text: str) -> None:
    """Write a file whole or not at all; an old one stays until the new one is complete."""
    target = path.resolve()  # write through a symbolic link, not over it
    device = target.exists() and not target.is_file()  # a terminal, a pipe: nothing to rename
    part = target if device else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        if not device:
            part.replace(target)
    except OSError as error:
        error.filename = str(path)  # what the user asked for, not our intermediate name
        raise
    finally:
        if not device:
            part.unlink(missing_ok=True)
