"""What `docs/` says is true: its programs run, and they need nothing but NumPy."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
INSIDE = DOCS / "inside.py"


def run(program, **options):
    return subprocess.run(
        [sys.executable, "-W", "error", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def test_the_inside_proves_itself(tmp_path):
    done = run(INSIDE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Every check held.")
    assert "y = add\n    mul\n        square = mul\n" in done.stdout


def test_the_inside_needs_numpy_only():
    imports = {
        name.name.split(".")[0]
        for node in ast.walk(ast.parse(INSIDE.read_text()))
        if isinstance(node, ast.Import)
        for name in node.names
    }
    assert imports - set(sys.stdlib_module_names) == {"numpy"}


def test_the_inside_is_short_and_every_part_is_checked():
    text = INSIDE.read_text(encoding="utf-8")
    code = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    assert len(code) <= 400
    parts = re.split(r"^# ==== \d+\. ", text, flags=re.M)[1:]
    assert len(parts) == 10
    unchecked = [part.split(" ===")[0] for part in parts if "assert " not in part]
    assert unchecked == ["A tensor is a handle; a node is an event"], "checked by the next part"


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        ("x=lambda g, y: g * y", "x=lambda g, y: g + y"),  # a wrong rule
        ("asks[operand] if needed else ()", "operands"),  # saving everything
        ("(-source.seq, source)", "(source.seq, source)"),  # oldest first
        ("if version.n != n:", "if version.n > n + 1:"),  # a write that is not noticed
        ("t.seen != t.memory.writes", "False"),  # views that do not catch up
        ("self.ref = weakref.ref(tensor)", "self.ref = lambda: tensor"),  # a circle
    ],
)
def test_its_checks_notice_mistakes(found, instead, tmp_path):
    text = INSIDE.read_text(encoding="utf-8")
    assert text.count(found) == 1, found
    wrong = tmp_path / "inside.py"
    wrong.write_text(text.replace(found, instead), encoding="utf-8")
    assert run(wrong).returncode != 0
