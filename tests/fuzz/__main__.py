"""`python -m tests.fuzz --programs 5000 --seed 0`: fuzz sapwood (or another module) against PyTorch
by hand.

Program number i of a run with seed S has seed S + i and can be run alone: `--seed S+i --programs 1
--minimise`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter

import torch

from .compare import ALLOWED, Difference, Verdict, judge
from .execute import execute
from .generate import generate
from .minimise import minimise
from .program import Program


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--engine", default="sapwood", help="module under test (torch: test of the fuzz itself)"
    )
    parser.add_argument(
        "--minimise", action="store_true", help="shrink what differs and print it as a program"
    )
    parser.add_argument("--show", type=int, default=5, help="how many differences to print in full")
    parser.add_argument("--print", action="store_true", help="print every program")
    args = parser.parse_args()
    torch.set_num_threads(1)
    engine = importlib.import_module(args.engine)
    print(
        f"seed {args.seed}, {args.programs} programs, "
        f"{args.engine} against PyTorch {torch.__version__}"
    )

    def differ(program: Program) -> Verdict:
        return judge(program, torch, lambda p: execute(p, engine))

    start = time.perf_counter()
    tally, letters, allowed, places = Counter[str](), Counter[str](), Counter[int](), Counter[str]()
    for seed in range(args.seed, args.seed + args.programs):
        program = generate(seed)
        if args.print:
            print(f"# program {seed}\n{program.source()}")
        verdict = differ(program)
        letters.update({step.op for step in program.steps})
        tally["ran to the end"] += verdict.ran_to_end
        allowed.update(verdict.findings)
        if verdict.difference:
            tally[
                "silently different"
                if verdict.difference.silent
                else f"differ in {verdict.difference.kind}"
            ] += 1
            places[place(program, verdict.difference)] += 1
            if sum(places.values()) <= args.show:
                show(minimise(program, differ) if args.minimise else verdict)
    print(f"{time.perf_counter() - start:.1f} s; letters of the alphabet used: {len(letters)}")
    for what, count in tally.items():
        print(f"  {what}: {count} ({100 * count / args.programs:.1f} %)")
    for number, count in sorted(allowed.items()):
        print(f"  allowed and found right, finding {number} ({ALLOWED[number]}): {count}")
    for where, count in places.most_common(25):
        print(f"  {count:5} x {where}")
    return 1 if places else 0


def place(program: Program, difference: Difference) -> str:
    """A short name for where programs differ, to count by."""
    op = program.steps[min(difference.step, len(program.steps) - 1)].op
    detail = (
        difference.right
        if difference.kind in ("refusal", "message")
        else difference.what.partition(":")[2]
    )
    return f"{difference.kind} at {op!r} {detail[:90]}"


def show(verdict: Verdict) -> None:
    print(f"\n# program {verdict.program.seed}: {verdict.difference}")
    print(verdict.program.source(verdict.reference.refused()))


if __name__ == "__main__":
    sys.exit(main())
