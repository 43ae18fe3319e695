"""The command line as a person uses it: separate processes, exit codes, what is printed where."""

import os
import signal
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import sapwood

ROOT = Path(__file__).resolve().parent.parent


def call(*words, cwd=None, **environment):
    """Run `python -m sapwood WORDS...`."""
    return subprocess.run(
        [sys.executable, "-m", "sapwood", *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def python(*words, cwd=None):
    """Run `python WORDS...`: what `sapwood run` is compared with."""
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def script(tmp_path):
    """Write a script and return its path."""

    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# ---- the command itself ----


def test_the_version_is_the_one_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    done = call("--version")
    assert done.stdout == f"sapwood {project['version']}\n"
    assert sapwood.__version__ == project["version"]


def test_the_console_script_is_installed():
    done = subprocess.run(
        [Path(sys.executable).with_name("sapwood"), "--version"], capture_output=True, text=True
    )
    assert done.stdout == f"sapwood {sapwood.__version__}\n"


def test_help_names_every_command():
    done = call("--help")
    assert done.returncode == 0
    for word in ("demo", "run", "info"):
        assert word in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["--nonsense"],
        ["demo", "--nonsense"],
        ["demo", "extra"],
        ["demo", "--epochs"],
        ["demo", "--epochs", "0"],
        ["demo", "--epochs", "-3"],
        ["demo", "--epochs", "1.5"],
        ["demo", "--epochs", "many"],
        ["demo", "--epoch", "2"],
        ["demo", "--seed", "-1"],
        ["demo", "--seed", "9" * 30],
        ["demo", "--out"],
        ["info", "extra"],
        ["run"],
        ["run", "--as-torch"],
        ["run", "--nonsense", "script.py"],
        ["run", "--as", "script.py"],
    ],
)
def test_wrong_use_ends_with_a_usage_line_and_2(words):
    done = call(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: sapwood")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_info_tells_versions_blas_and_threads():
    done = call("info", OPENBLAS_NUM_THREADS="1")
    assert done.returncode == 0
    rows = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert rows["sapwood"].startswith(sapwood.__version__)
    assert rows.keys() >= {"Python", "NumPy", "BLAS", "threads", "ml_dtypes", "rich"}
    assert "OPENBLAS_NUM_THREADS=1" in rows["threads"]


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m sapwood info | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""


# ---- run: as python would ----

SELF_PORTRAIT = """
import sys, helper
print(__name__, __file__, sys.argv, sys.path[0], helper.here, __package__, __spec__)
print(sys.modules["__main__"].__dict__ is globals(), sorted({*globals()} - {"__annotations__"}))
"""


def test_a_script_sees_what_python_shows_it(script, tmp_path):
    script("here = __name__", "helper.py")
    path = script(SELF_PORTRAIT)
    for name, cwd in (
        (path, ROOT),
        ("script.py", tmp_path),
        (f"../{tmp_path.name}/script.py", tmp_path),
    ):
        words = [name, "-v", "--as-torch", "--", "a b", ""]
        done = call("run", *words, cwd=cwd)
        assert done.returncode == 0, done.stderr
        assert done.stdout == python(*words, cwd=cwd).stdout


def test_a_script_behind_a_link_imports_from_its_own_folder(script, tmp_path):
    script("here = 1", "helper.py")
    path = script(SELF_PORTRAIT)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.py"
    link.symlink_to(path)
    assert call("run", link).stdout == python(link).stdout != ""


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        ("", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit(True)", 1, ""),
        ("sys.exit('no luck')", 1, "no luck\n"),
        ("raise SystemExit(3)", 3, ""),
        ("import os; os._exit(9)", 9, ""),
        ("import atexit; atexit.register(lambda: print('bye', file=sys.stderr))", 0, "bye\n"),
    ],
)
def test_the_exit_code_is_the_scripts(script, end, code, message):
    path = script(f"import sys\n{end}\n")
    done = call("run", path)
    assert (done.returncode, done.stderr) == (code, message)
    assert (done.returncode, done.stderr) == (python(path).returncode, python(path).stderr)


@pytest.mark.parametrize(
    "body",
    [
        "def f():\n    return 1 / 0\nf()\n",
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e\n",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}['x']\n",
        "import no_such_module\n",
        "x = = 3\n",
        "def f(:\n",
        "raise KeyboardInterrupt\n",
        "import sys\nsys.excepthook = lambda *e: print('mine', e[0])\n1 / 0\n",
    ],
)
def test_a_traceback_is_pythons_own(script, body):
    path = script(body)
    done, expected = call("run", path), python(path)
    assert done.stderr == expected.stderr
    assert done.stdout == expected.stdout
    assert done.returncode == (130 if "Keyboard" in body else 1)


def test_ctrl_c_ends_with_130(script):
    path = script("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "sapwood", "run", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    assert errors.rstrip().endswith(b"KeyboardInterrupt")
    assert b"_script.py" not in errors


def test_threads_and_pickle_find_their_main(script):
    path = script(
        "import pickle, threading, time\n"
        "class Thing: pass\n"
        "def later():\n"
        "    time.sleep(0.2)\n"
        "    print(type(pickle.loads(pickle.dumps(Thing()))) is Thing)\n"
        "threading.Thread(target=later).start()\n"
    )
    assert call("run", path).stdout == "True\n"


def test_folders_and_zip_files_run_their_main(script, tmp_path):
    script("here = 2", "helper.py")
    script(SELF_PORTRAIT.replace(", __spec__", ", __spec__.name"), "__main__.py")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        for name in ("helper.py", "__main__.py"):
            archive.write(tmp_path / name, name)
    for name in (tmp_path, tmp_path / "app.zip"):
        done = call("run", name, "x")
        assert done.returncode == 0, done.stderr
        assert done.stdout == python(name, "x").stdout


def test_a_source_encoding_is_honoured(tmp_path):
    path = tmp_path / "old.py"
    path.write_bytes(b"# coding: latin-1\nprint(len('\xe9'))\n")
    assert call("run", path).stdout == "1\n"


@pytest.mark.parametrize("name", ["missing.py", "missing/script.py", "empty", "-"])
def test_what_cannot_be_run_is_said_in_one_line(tmp_path, name):
    (tmp_path / "empty").mkdir()
    done = call("run", name, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sapwood run: can't ")
    assert done.stderr.count("\n") == 1


# ---- run --as-torch ----


def run_as_torch(path):
    done = call("run", "--as-torch", path)
    return done.returncode, done.stdout, done.stderr


def test_torch_is_sapwood_and_the_real_one_stays_away(script):
    path = script(
        "import sys, sapwood, torch, torch.autograd as autograd\n"
        "from torch.autograd import Variable\n"
        "from torch import tensor\n"
        "print(torch is sapwood, autograd is sapwood.autograd, tensor is sapwood.tensor)\n"
        "print([m for m in sys.modules.values() if m.__name__.startswith('torch')])\n"
        "print(sapwood.autograd.__name__, sapwood.autograd.__spec__.name)\n"
        "x = torch.tensor(3., requires_grad=True)\n"
        "(3*x**2 + 4*x + 2).backward()\n"
        "print(x.grad)\n"
    )
    assert run_as_torch(path) == (
        0,
        "True True True\n[]\nsapwood.autograd sapwood.autograd\ntensor(22.)\n",
        "",
    )


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("torch.relux(1)", "AttributeError", "sapwood has no torch.relux yet; nearest: torch.relu"),
        ("torch.qqqq", "AttributeError", "sapwood has no torch.qqqq yet"),
        (
            "torch.autograd.Variabl",
            "AttributeError",
            "sapwood has no torch.autograd.Variabl yet; nearest: torch.autograd.Variable",
        ),
        ("import torch.qqqq", "ModuleNotFoundError", "sapwood has no torch.qqqq yet"),
        ("import torch._C", "ModuleNotFoundError", "sapwood has no torch._C yet"),
        ("from torch import qqqq", "ModuleNotFoundError", "sapwood has no torch.qqqq yet"),
        (
            "from torch.autograd import Variabl",
            "ModuleNotFoundError",
            "sapwood has no torch.autograd.Variabl yet; nearest: torch.autograd.Variable",
        ),
    ],
)
def test_what_is_missing_is_named_at_the_users_line(script, line, kind, message):
    path = script(f"import torch\ndef f():\n    {line}\nf()\n")
    code, out, errors = run_as_torch(path)
    lines = errors.splitlines()
    assert (code, out) == (1, "")
    assert lines[:2] == [
        "Traceback (most recent call last):",
        f'  File "{path}", line 4, in <module>',
    ]
    assert f'  File "{path}", line 3, in f' == [row for row in lines if "File" in row][-1]
    assert lines[-1].startswith(f"{kind}: {message}")


def test_scripts_can_ask_what_there_is(script):
    path = script(
        "import torch\n"
        "print(hasattr(torch, 'qqqq'), getattr(torch, 'qqqq', 5))\n"
        "try:\n    from torch import qqqq\nexcept ImportError:\n    print('fallback')\n"
        "torch.mine = 4\n"
        "from torch import mine\nprint(mine)\n"
    )
    assert run_as_torch(path) == (0, "False 5\nfallback\n4\n", "")


def test_without_the_option_torch_is_not_touched(script):
    path = script("import sys\nprint('torch' in sys.modules)\n")
    assert call("run", path).stdout == "False\n"
