"""What needs a process of its own: import time, and the memory of a long chain.

`python -m bench.alone import sapwood`, `python -m bench.alone chain torch 100000`: one JSON line.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any


def ask(*args: str) -> dict[str, float]:
    """Run this module in a fresh process and return what it measured."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.alone", *args], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def import_time(name: str) -> dict[str, float]:
    """Seconds of `import name`, NumPy included."""
    start = perf_counter()
    importlib.import_module(name)
    return {"seconds": perf_counter() - start, "peak_mb": peak()}


def peak() -> float:
    """The largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident() -> float:
    """The resident memory of this process now, in MB; the largest so far where /proc is missing."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return peak()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def chain(name: str, n: int) -> dict[str, float]:
    """Seconds and memory of a chain of n operations."""
    from bench import work

    lib: Any = importlib.import_module(name)
    for _ in range(3):
        forward, backward = work.chain(lib, 1000)
        backward(forward())
    forward, backward = work.chain(lib, n)
    gc.collect()
    gc.disable()
    base, times = resident(), [perf_counter()]
    t = forward()
    times.append(perf_counter())
    memory = resident() - base
    times[0] += perf_counter() - times[1]  # reading it is not part of the work
    times[1] = perf_counter()
    backward(t)
    times.append(perf_counter())
    del t
    times.append(perf_counter())
    parts = dict(
        zip(
            ("forward", "backward", "freeing"),
            (b - a for a, b in itertools.pairwise(times)),
            strict=True,
        )
    )
    return {**parts, "seconds": times[-1] - times[0], "rss_mb": memory}


def main() -> None:
    what, name, *rest = sys.argv[1:]
    found = import_time(name) if what == "import" else chain(name, int(rest[0]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
