"""`sapwood run`: do to this process what `python SCRIPT` would have done.

The script becomes `__main__` for good (threads, pickle and exit handlers go on using it), so
nothing is put back afterwards. Knows nothing of tensors.
"""

from __future__ import annotations

import os
import sys
import types
import zipfile
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, TracebackType

PACKAGE = str(Path(__file__).parent) + os.sep
RUNNER = (f"{PACKAGE}_script.py", f"{PACKAGE}_as_torch.py", "<frozen importlib")


class NoScript(Exception):  # noqa: N818 (what happened, not a mistake of the program)
    """There is nothing to run under that name."""


def run(script: str, args: list[str], *, as_torch: bool) -> int:
    """Run `script` as `__main__`; the result is the exit code. SystemExit passes through."""
    path = os.path.join(os.getcwd(), script)  # as python does: .. and links stay in the name
    main = types.ModuleType("__main__")
    whole_package = os.path.isdir(path) or zipfile.is_zipfile(path)
    source = None if whole_package else read(script)  # before anything is changed
    first = path if whole_package else os.path.dirname(os.path.realpath(path))
    load = package_code if whole_package else file_code

    sys.argv = [script, *args]
    if not sys.flags.safe_path:  # python -P leaves sys.path[0] alone
        sys.path[:1] = [first]
    elif whole_package:
        sys.path.insert(0, first)
    if as_torch:
        from sapwood import _as_torch

        _as_torch.install()
    try:
        code = load(main, path, source)
        sys.modules["__main__"] = main
        exec(code, main.__dict__)  # noqa: S102 (this is what the command is for)
    except (SystemExit, NoScript):
        raise
    except BaseException as error:
        report(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def read(script: str) -> bytes:
    """The script's bytes, or an error in one line."""
    try:
        return Path(script).read_bytes()
    except OSError as error:
        raise NoScript(f"can't open {script!r}: {error.strerror}") from None


def file_code(main: types.ModuleType, path: str, source: bytes | None) -> CodeType:
    """Compile a file, and give `main` what python gives the `__main__` of a file."""
    main.__file__ = path
    main.__loader__ = SourceFileLoader("__main__", path)
    main.__dict__.update(__builtins__=__builtins__, __cached__=None, __package__=None)
    return compile(source or b"", path, "exec", dont_inherit=True)


def package_code(main: types.ModuleType, path: str, source: bytes | None) -> CodeType:
    """The code of `__main__.py` in a folder or zip file."""
    spec = PathFinder.find_spec("__main__", [path])
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise NoScript(f"can't find '__main__.py' in {path!r}")
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, ""
    main.__dict__.update(__builtins__=__builtins__, __file__=spec.origin, __cached__=spec.cached)
    code = spec.loader.get_code("__main__")  # type: ignore[union-attr]
    assert isinstance(code, CodeType)
    return code


def report(error: BaseException) -> None:
    """Print the traceback as python would: it begins and ends in the user's files."""
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = without_runner(link.__traceback__)
        link = link.__cause__ or link.__context__
    sys.stdout.flush()
    sys.excepthook(type(error), error, error.__traceback__)


def without_runner(tb: TracebackType | None) -> TracebackType | None:
    """Drop the runner's frames at both ends of a traceback."""
    while tb is not None and ours(tb):
        tb = tb.tb_next
    last, walk = tb, tb
    while walk is not None:
        if not ours(walk):
            last = walk
        walk = walk.tb_next
    if last is not None:
        last.tb_next = None
    return tb


def ours(tb: TracebackType) -> bool:
    """Whether a frame belongs to the runner or to the import system."""
    return tb.tb_frame.f_code.co_filename.startswith(RUNNER)
