"""The shape of the code: imports go one way only, nothing grows too long, both READMEs agree."""

import ast
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))

# From left to right: a module imports from its own line and from the lines above it. A module
# belongs to its longest prefix here; the empty one stands for all public modules.
ORDER = [
    "errors _core.mode _core.dtype _core.where _core.quiet data",
    "_core.op _core.node _core.seal",
    "_core",  # door, memory, tensor, graph, and what helps them
    "_core.reverse",
    "_core.composite",
    "_ops",
    "_fn",
    "look _compile",
    "",
    "cli demo _script _as_torch __main__",
]
RANK = {prefix: rank for rank, line in enumerate(ORDER) for prefix in line.split() or [""]}


def module_name(path: Path) -> str:
    """`sapwood._core.op` for src/sapwood/_core/op.py."""
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCES}


def rank(module: str) -> int:
    """How far to the right a module stands."""
    name = module.removeprefix("sapwood").removeprefix(".")
    while name not in RANK:
        name = name.rpartition(".")[0]
    return RANK[name]


def imported(module: str, tree: ast.AST) -> set[str]:
    """The modules of sapwood that a module imports anywhere, but not for type checkers only."""
    found, todo = set(), [tree]
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            names = {f"{origin}.{alias.name}" for alias in node.names}
            found |= (names & set(MODULES)) | ({origin} if names - set(MODULES) else set())
        todo.extend(ast.iter_child_nodes(node))
    return {name for name in found if name.split(".")[0] == "sapwood"}


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_to_the_left(module):
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    wrong = {name for name in imported(module, tree) if rank(name) > rank(module)}
    assert wrong == set(), f"{module} must not know of {sorted(wrong)}"


def test_the_order_tells_right_from_wrong():
    assert rank("sapwood.errors") < rank("sapwood._core.op") < rank("sapwood._core.tensor")
    assert rank("sapwood._core.composite") < rank("sapwood._ops.linear") < rank("sapwood._fn.loss")
    assert rank("sapwood.look.graph") < rank("sapwood.nn.functional") == rank("sapwood")
    tree = ast.parse("def f():\n    from sapwood import cli\n    from ._core import op, Op")
    assert imported("sapwood", tree) == {"sapwood.cli", "sapwood._core.op", "sapwood._core"}


LONG = {  # files that are still to be split; only ever lower these
    "sapwood._ops.random": 500
}


@pytest.mark.parametrize("module", MODULES)
def test_files_and_functions_stay_short(module):
    text = MODULES[module].read_text(encoding="utf-8")
    assert text.count("\n") <= LONG.get(module, 450)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[ast.get_docstring(node) is not None :] or node.body
            length = (node.end_lineno or 0) - body[0].lineno + 1  # statements; not what is said
            assert length <= 60, f"{node.name} at line {node.lineno} has {length} lines"


def headings(name: str) -> list[int]:
    """The levels of a Markdown file's headings, without what stands in code blocks."""
    levels, code = [], False
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        code ^= line.startswith("```")
        if line.startswith("#") and not code:
            levels.append(len(line.split()[0]))
    return levels


def test_both_readmes_have_the_same_sections():
    assert headings("README.md") == headings("README.zh-CN.md")
