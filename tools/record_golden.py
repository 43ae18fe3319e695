"""Record values and gradients of every sample from PyTorch into tests/golden.

Needs torch==2.13.0; the suite then compares with these files also where PyTorch is missing.
"""

from __future__ import annotations

import runpy
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"


def main() -> None:
    """Write the files and say how large they are."""
    sizes = runpy.run_path(str(TESTS / "golden_table.py"))["record"]()
    for name, size in sizes.items():
        print(f"{size / 1000:8.1f} kB  {name}")
    print(f"{sum(sizes.values()) / 1000:8.1f} kB  together")


if __name__ == "__main__":
    main()
