"""The command line: `sapwood demo`, `sapwood run SCRIPT`, `sapwood info`.

Owns arguments, messages and exit codes: 0, 1 (the work failed), 2 (asked for wrongly), 130
(interrupted). The work itself is done elsewhere and imported only when asked for.
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import sapwood

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
OPTIONAL = {
    "ml_dtypes": "bfloat16: pip install 'sapwood[bf16]'",
    "rich": "progress bar: pip install 'sapwood[progress]'",
}


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the result is the exit code."""
    options, script_args = parse(sys.argv[1:] if argv is None else argv)
    if options.command == "run":
        from sapwood import _script

        try:
            return _script.run(options.script, script_args, as_torch=options.as_torch)
        except _script.NoScript as error:
            return complain(f"run: {error}", WRONG_USE)
    try:
        # The report holds a few signs that an ASCII terminal cannot show: better a ? than an end.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        demo(options) if options.command == "demo" else info()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    except OSError as error:
        return give_up(options.command, error)
    return 0


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what belongs to the script: everything after the first name after `run`."""
    script_args: list[str] = []
    if argv[:1] == ["run"]:
        names = [i for i, word in enumerate(argv) if i and (word == "-" or word[:1] != "-")]
        if names:
            argv, script_args = argv[: names[0] + 1], argv[names[0] + 1 :]
    return build_parser().parse_args(argv), script_args


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="sapwood",
        description="An autograd engine on NumPy with PyTorch's names.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sapwood {sapwood.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    command: dict[str, Any] = {"allow_abbrev": False}

    demo = commands.add_parser(
        "demo",
        **command,
        help="train on handwritten digits and show every gradient",
        description="Train a small network on handwritten digits, then show the gradient of "
        "every tensor of the last step, leaf or not, and the graph.",
    )
    demo.add_argument("--epochs", type=whole(1), default=20, metavar="N", help="default: 20")
    demo.add_argument("--seed", type=whole(0), default=0, metavar="S", help="default: 0")
    demo.add_argument("--out", type=Path, metavar="FILE", help="write the report to FILE too")
    demo.add_argument("--quiet", action="store_true", help="print the result only")

    run = commands.add_parser(
        "run",
        **command,
        usage="sapwood run [-h] [--as-torch] SCRIPT [ARGS...]",
        help="run a script as python would",
        description="Run a script, or a folder or zip file with a __main__.py, as python would.",
    )
    run.add_argument("--as-torch", action="store_true", help="`import torch` gives sapwood")
    run.add_argument("script", metavar="SCRIPT", help="what follows SCRIPT belongs to it")

    commands.add_parser("info", **command, help="show versions, BLAS and threads")
    return parser


def whole(least: int) -> Any:
    """An argument type: a whole number of at least `least`."""

    def convert(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) < 2**31:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return int(text)

    return convert


def complain(message: str, code: int) -> int:
    """One line on standard error."""
    print(f"sapwood {message}", file=sys.stderr)
    return code


def give_up(command: str, error: OSError) -> int:
    """Say what cannot be read or written. `sapwood demo | head` is no error, and says nothing."""
    if error.filename is None:  # standard output: keep Python from trying again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return FAILED
    what = error.filename or "standard output"
    return complain(f"{command}: {what}: {error.strerror or error}", FAILED)


def demo(options: argparse.Namespace) -> None:
    """`sapwood demo`."""
    from sapwood import demo

    demo.run(options.epochs, options.seed, out=options.out, quiet=options.quiet)


def info() -> None:
    """`sapwood info`: what a bug report should begin with."""
    import numpy as np

    build: dict[str, Any] = np.show_config(mode="dicts")  # type: ignore[assignment]
    blas = build.get("Build Dependencies", {}).get("blas", {})
    limits = [f"{name}={os.environ[name]}" for name in THREAD_LIMITS if name in os.environ]
    rows = {
        "sapwood": f"{sapwood.__version__}  ({Path(sapwood.__file__).parent})",
        "Python": f"{platform.python_version()} {platform.python_implementation()}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "NumPy": np.__version__,
        "BLAS": f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip(),
        "threads": ", ".join([str(sapwood.get_num_threads()), *limits]),
    } | {package: installed(package, use) for package, use in OPTIONAL.items()}
    for name, value in rows.items():
        print(f"{name:<10} {value}")


def installed(package: str, use: str) -> str:
    """The version of an optional package, or how to get it."""
    try:
        return f"{version(package)}  ({use})"
    except PackageNotFoundError:
        return f"not installed  ({use})"
