"""Thousands of training steps: resident memory stays flat, with the collector off.

Reference counting alone frees every graph. Only hooks that close over their own tensor make
cycles, and a collection frees those.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "memory_program.py"
FLAT = 1024  # KB

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="reads resident memory from /proc"
)


def growth(name: str, steps: int) -> int:
    """KB that resident memory grew by after the warm-up: the least of the later readings."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), name, str(steps)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)["resident"]
    print(f"{name}, {steps} steps: {found} KB")
    return min(found[-3:]) - found[0]


@pytest.mark.parametrize("name", ["plain", "everything", "closures"])
def test_memory_is_flat(name: str) -> None:
    assert growth(name, 2000) < FLAT


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "everything", "closures"])
def test_memory_is_flat_for_long(name: str) -> None:
    assert growth(name, 10_000) < FLAT
