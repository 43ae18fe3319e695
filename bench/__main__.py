"""`python -m bench`: measure, print Markdown, write JSON; `--budget` fails where it is too slow."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from pathlib import Path
from statistics import median
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # one thread for both, before either is imported

from bench import alone, work  # noqa: E402
from bench.measure import excess, interleaved, ratio  # noqa: E402

MARGIN = 2.5  # CI machines are busy: the budget check asks for no more than this times the target

# What each measurement may be at most: (key, limit, unit).
TARGETS = {
    "polynomial": ("ratio", 0.45, "of PyTorch's time"),
    "multiply with grad": ("over_numpy", 1.2e-6, "s over NumPy"),
    "multiply without grad": ("over_numpy", 0.6e-6, "s over NumPy"),
    "import": ("seconds", 0.2, "s"),
}
ABSOLUTE = {"polynomial": ("seconds", 25e-6, "s")}  # where PyTorch is not there to compare with


def libraries() -> dict[str, Any]:
    """sapwood, and PyTorch where it is installed."""
    found = {"sapwood": importlib.import_module("sapwood")}
    try:
        found["torch"] = importlib.import_module("torch")
        found["torch"].set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    except ImportError:
        print("PyTorch is not installed: only sapwood is measured", file=sys.stderr)
    return found


def side_by_side(make: Any, libs: dict[str, Any], rounds: int) -> dict[str, Any]:
    """The same work in each library, in turns."""
    times = interleaved({name: make(lib) for name, lib in libs.items()}, rounds=rounds)
    row: dict[str, Any] = {"seconds": median(times["sapwood"])}
    if "torch" in times:
        found = ratio(times["sapwood"], times["torch"])
        row |= {
            "torch_seconds": median(times["torch"]),
            "ratio": found.value,
            "interval": [found.low, found.high],
        }
    return row


def multiply(libs: dict[str, Any], rounds: int, *, grad: bool) -> dict[str, Any]:
    """A multiplication, and what it costs beyond NumPy's own."""
    fns = {name: work.product(lib, grad=grad) for name, lib in libs.items()}
    times = interleaved({"numpy": work.numpy_product(), **fns}, rounds=rounds)
    row: dict[str, Any] = {
        "seconds": median(times["sapwood"]),
        "numpy_seconds": median(times["numpy"]),
        "over_numpy": excess(times["sapwood"], times["numpy"]),
    }
    if "torch" in times:
        found = ratio(times["sapwood"], times["torch"])
        row |= {
            "torch_seconds": median(times["torch"]),
            "ratio": found.value,
            "interval": [found.low, found.high],
        }
    return row


def imports(libs: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Import time in fresh processes."""
    found = {name: [alone.ask("import", name) for _ in range(rounds)] for name in libs}
    row = {
        "seconds": median(m["seconds"] for m in found["sapwood"]),
        "peak_mb": median(m["peak_mb"] for m in found["sapwood"]),
    }
    if "torch" in found:
        row["torch_seconds"] = median(m["seconds"] for m in found["torch"])
        row["ratio"] = row["seconds"] / row["torch_seconds"]
    return row


def chains(libs: dict[str, Any], n: int) -> dict[str, Any]:
    """A chain of n operations, forward, backward and freeing; time and memory."""
    row: dict[str, Any] = alone.ask("chain", "sapwood", str(n))
    if "torch" in libs:
        theirs = alone.ask("chain", "torch", str(n))
        row |= {
            "torch_seconds": theirs["seconds"],
            "torch_rss_mb": theirs["rss_mb"],
            "ratio": row["seconds"] / theirs["seconds"],
        }
    return row


def measure(libs: dict[str, Any], *, rounds: int, quick: bool) -> dict[str, dict[str, Any]]:
    """All measurements; `quick` leaves out what the budget does not ask for."""
    results = {
        "polynomial": side_by_side(work.polynomial, libs, rounds),
        "multiply with grad": multiply(libs, rounds, grad=True),
        "multiply without grad": multiply(libs, rounds, grad=False),
        "import": imports({"sapwood": libs["sapwood"]} if quick else libs, 5),
    }
    if not quick:
        results["training step"] = side_by_side(work.training, libs, rounds)
        for n in (10**4, 10**5, 10**6):
            results[f"chain of {n:,}"] = chains(libs, n)
    return results


def shown(seconds: float | None) -> str:
    """A time in the unit that fits."""
    if seconds is None:
        return ""
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
    unit, scale = next((u for u in units if abs(seconds) >= u[1]), units[-1])
    return f"{seconds / scale:.2f} {unit}"


def markdown(results: dict[str, dict[str, Any]], machine: dict[str, str]) -> str:
    """The results as a table."""
    lines = [
        f"{machine['cpu']}, Python {machine['python']}, NumPy {machine['numpy']}, PyTorch "
        f"{machine['torch']}, {machine['threads']} thread(s); medians",
        "",
        "| work | sapwood | PyTorch | ratio | 90 % interval | |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in results.items():
        interval = "{:.2f} - {:.2f}".format(*row["interval"]) if "interval" in row else ""
        extra = []
        if "over_numpy" in row:
            extra.append(f"{row['over_numpy'] * 1e6:.2f} us over NumPy")
        if "rss_mb" in row:
            extra.append(
                f"{row['rss_mb']:.0f} MB"
                + (f" against {row['torch_rss_mb']:.0f} MB" if "torch_rss_mb" in row else "")
            )
        rate = f"{row['ratio']:.2f}" if "ratio" in row else ""
        lines.append(
            f"| {name} | {shown(row['seconds'])} | {shown(row.get('torch_seconds'))} | "
            f"{rate} | {interval} | {', '.join(extra)} |"
        )
    return "\n".join(lines)


def over_budget(results: dict[str, dict[str, Any]]) -> list[str]:
    """The measurements that are above MARGIN times their target."""
    wrong = []
    for name, target in TARGETS.items():
        key, limit, unit = target
        if key not in results[name]:
            key, limit, unit = ABSOLUTE[name]
        value = results[name][key]
        if value > limit * MARGIN:
            wrong.append(
                f"{name}: {value:.3g} {unit}; the target is {limit:.3g}, the limit "
                f"{limit * MARGIN:.3g}"
            )
    return wrong


def describe(libs: dict[str, Any]) -> dict[str, str]:
    """Where this was measured."""
    import numpy

    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [s for s in info.read_text().splitlines() if s.startswith("model name")]
        cpu = names[0].split(":")[1].strip() if names else cpu
    torch = libs["torch"].__version__ if "torch" in libs else "not installed"
    return {
        "cpu": cpu,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "torch": torch,
        "threads": os.environ["OMP_NUM_THREADS"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--budget", action="store_true", help="only check the overhead budget")
    parser.add_argument("--rounds", type=int, default=21, help="interleaved rounds, 15 or more")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here")
    options = parser.parse_args()
    libs = libraries()
    results = measure(libs, rounds=max(15, options.rounds), quick=options.budget)
    machine = describe(libs)
    print(markdown(results, machine))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "results": results}, indent=1))
    wrong = over_budget(results) if options.budget else []
    for line in wrong:
        print(f"over budget: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
