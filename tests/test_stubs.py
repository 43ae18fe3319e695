"""The committed `.pyi` files are what the table gives, and mypy believes a user's program."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "typing" / "user_program.py"
WRONG = """
import sapwood
t: sapwood.Tensor = sapwood.ones(2)
t.no_such_method()
sapwood.no_such_function(t)
sapwood.exp(t, no_such_argument=1)
"""


def test_stubs_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_stubs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_user_program_runs() -> None:
    runpy.run_path(str(PROGRAM), run_name="__main__")


def mypy(path: Path) -> list[str]:
    """What mypy says about a file."""
    pytest.importorskip("mypy")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--no-error-summary",
            "--config-file",
            str(ROOT / "pyproject.toml"),
            "--follow-imports=silent",
            "--strict",
            "--no-warn-unused-configs",
            "--cache-dir",
            str(ROOT / ".mypy_cache"),
            str(path),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT / "src",
    )
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_mypy_accepts_the_user_program() -> None:
    assert mypy(PROGRAM) == []


@pytest.mark.slow
def test_mypy_finds_mistakes(tmp_path: Path) -> None:
    """The stubs say something: what does not exist is an error."""
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    said = "\n".join(mypy(path))
    for name in ("no_such_method", "no_such_function", "no_such_argument"):
        assert name in said
