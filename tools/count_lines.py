"""Code lines per folder, without blank lines, comments and docstrings: `--against HEAD~1` compares.

A budget, not golf: the core (_core, _ops, _fn, _compile) is to stay near 10,000 lines.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
CORE = ("src/sapwood/_core", "src/sapwood/_ops", "src/sapwood/_fn", "src/sapwood/_compile")
FOLDERS = ("src", "tests", "bench", "docs", "examples", "tools")
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """How many lines hold a token that is neither comment nor docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines.difference_update(range(text.lineno, (text.end_lineno or 0) + 1))
    return len(lines)


def folder(path: str) -> str:
    """The folder that a file is counted in: two levels of the package, one elsewhere."""
    parts = PurePosixPath(path).parts[:-1]
    return "/".join(parts[:3] if parts[0] == "src" else parts[:1])


def count(sources: dict[str, str]) -> Counter[str]:
    """Code lines by folder."""
    lines: Counter[str] = Counter()
    for path, source in sources.items():
        lines[folder(path)] += code_lines(source)
    return lines


def working_tree() -> dict[str, str]:
    """The Python files as they are now."""
    paths = (p for name in FOLDERS for p in sorted((ROOT / name).rglob("*.py")))
    return {p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8") for p in paths}


def at_commit(commit: str) -> dict[str, str] | None:
    """The Python files of a commit; None where it does not exist (a first or a shallow one)."""
    listed = git("ls-tree", "-r", "--name-only", commit, "--", *FOLDERS)
    if listed is None:
        return None
    paths = [path for path in listed.splitlines() if path.endswith(".py")]
    return {path: git("show", f"{commit}:{path}") or "" for path in paths}


def git(*words: str) -> str | None:
    """What git prints; None where it fails or is not there."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode("utf-8")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="COMMIT", help="show the difference to a commit")
    commit = parser.parse_args().against
    now, sources = count(working_tree()), at_commit(commit) if commit else None
    before = count(sources) if sources is not None else None
    if commit and before is None:
        print(f"({commit} is not there: no difference shown)")

    folders = sorted(now | (before or Counter()))
    groups = {name: [name] for name in folders}
    groups["core"] = [name for name in folders if name.startswith(CORE)]
    groups["all"] = folders
    for title, names in groups.items():
        lines = sum(now[name] for name in names)
        change = "" if before is None else f"{lines - sum(before[name] for name in names):+8,}"
        print(f"{title:<28}{lines:>8,}{change}")


if __name__ == "__main__":
    main()
