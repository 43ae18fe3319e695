"""The main job: digits are learned in seconds, and every tensor's gradient is shown."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sapwood
from sapwood.data import load_digits
from sapwood.demo import network, report, run, watch

NON_LEAVES = ["z1", "h1", "z2", "h2", "logits", "log_p", "loss"]
LEAVES = ["w1", "b1", "w2", "b2", "w3", "b3"]


def call(*words, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "sapwood", "demo", *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """One run of the demo as it is: what it printed, and the report that it wrote."""
    out = tmp_path_factory.mktemp("demo") / "report.txt"
    done = call("--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, out.read_text(encoding="utf-8")


def table(text):
    """The rows of the gradient table by tensor name."""
    part = text.split("The gradient of every tensor of the last step\n")[1].split("\n\n")[0]
    return {re.split(r"\s{2,}", row)[0]: row for row in part.splitlines()[1:]}


# ---- the data ----


def test_the_digits_are_whole():
    images, labels = load_digits()
    assert (images.shape, images.dtype) == ((1797, 64), np.float32)
    assert (labels.shape, labels.dtype) == ((1797,), np.int64)
    assert (images.min(), images.max()) == (0.0, 1.0)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    zero = images[0].reshape(8, 8)
    assert labels[0] == 0
    assert zero[0].tolist() == [0, 0, 5 / 16, 13 / 16, 9 / 16, 1 / 16, 0, 0]


# ---- the command ----


def test_it_learns_in_under_ten_seconds(shown):
    found = re.search(
        r"([\d.]+)% of 360 held-out digits .* after 20 epochs in ([\d.]+) s", shown[0]
    )
    assert float(found[1]) > 95
    assert float(found[2]) < 10


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_learns_from_every_seed(seed, capsys):
    assert run(20, seed, quiet=True) > 0.95
    assert capsys.readouterr().out.count("\n") == 1


def test_it_shows_every_tensor_of_the_last_step(shown):
    rows = table(shown[0])
    assert rows.keys() >= {"images", *LEAVES, *NON_LEAVES}
    assert len(rows) > len(LEAVES + NON_LEAVES) + 3, "and those that have no name"
    source = Path(network.__file__).read_text(encoding="utf-8").splitlines()
    for name, row in rows.items():
        if row.endswith("no gradient"):
            assert name in ("images", "labels") or "labels" in name
            continue
        assert row.split()[-1] == "0", "no NaN"
        assert row.split()[-2].endswith("%")
        line = source[int(re.search(r" network\.py:(\d+) ", row)[1]) - 1]
        if name in LEAVES + NON_LEAVES:
            assert line.strip().startswith(f"{name} = ")
            assert (" leaf " in row) == (name in LEAVES)


def test_it_shows_the_graph_with_the_users_names(shown):
    graph = shown[0].split("The graph of the last step\n")[1]
    for name in LEAVES + NON_LEAVES:
        assert re.search(rf"\b{name}\b", graph), name


def test_it_says_what_each_way_costs(shown):
    hook = int(re.search(r"register_hook +leaves +([\d,]+) bytes", shown[0])[1].replace(",", ""))
    kept = int(re.search(r"retain_grad +leaves +([\d,]+) bytes", shown[0])[1].replace(",", ""))
    rows = 1437 % network.BATCH  # the last batch is what is left
    most = 4 * (rows * (2 * network.WIDE + 2 * network.NARROW + 2 * network.CLASSES) + 1)
    assert hook == 0
    assert most / 2 <= kept <= most
    assert "Both report the same numbers." in shown[0]


def test_the_report_is_what_was_printed(shown):
    printed, written = shown
    assert printed.endswith(written)
    assert printed.startswith("epoch  2 of 20  loss ")


def test_the_same_seed_gives_the_same_report():
    texts = [re.sub(r"in [\d.]+ s", "", call("--epochs", 2, "--seed", 7).stdout) for _ in "ab"]
    assert texts[0] == texts[1]
    assert texts[0] != re.sub(r"in [\d.]+ s", "", call("--epochs", 2, "--seed", 8).stdout)


def test_a_terminal_gets_a_bar():
    pytest.importorskip("rich")
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "sapwood", "demo", "--epochs", "2", "--quiet"]
    with subprocess.Popen(
        command[:-1], stdout=child, stderr=child, env={**os.environ, "TERM": "xterm"}
    ):
        os.close(child)
        shown = b""
        while True:
            try:
                shown += os.read(parent, 4096)
            except OSError:  # Linux says so when the other end is closed
                break
    os.close(parent)
    assert "training" in shown.decode()
    assert "2/2" in shown.decode()
    assert "epoch 1" not in shown.decode()


def test_an_ascii_terminal_gets_all_of_it():
    done = call("--epochs", 1, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m sapwood demo --epochs 1 | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize("out", [".", "missing/report.txt", "file/report.txt", "/dev/full"])
def test_a_report_that_cannot_be_written_is_said_in_one_line(tmp_path, out):
    (tmp_path / "file").write_text("")
    done = call("--epochs", 1, "--quiet", "--out", out, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("sapwood demo: ")
    assert out in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# ---- the parts ----


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.txt"
    report.save(path, "old")
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    report.save(link, "new")
    assert (path.read_text(), link.is_symlink()) == ("new", True)

    def full(self, *args, **kwargs):
        self.touch()
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(report.Path, "write_text", full)
    with pytest.raises(OSError, match="No space left") as error:
        report.save(path, "newer")
    assert error.value.filename == str(path)
    assert path.read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.txt", "report.txt"]


def test_watching_sees_what_hooks_see_and_changes_nothing():
    sapwood.manual_seed(0)
    learn, _ = network.split_digits()
    weights = network.parameters()
    batch = network.Data(learn.images[:32], learn.labels[:32])
    network.forward(batch, weights).loss.backward()
    plain = [weight.grad.clone() for weight in weights]
    for weight in weights:
        weight.grad = None

    step = network.forward(batch, weights)
    rows = watch.every_gradient(step.loss)
    reading = watch.by_hook(step)
    step.loss.backward()
    numbers = {row.name: row.gradient for row in rows}
    for weight, before, name in zip(weights, plain, LEAVES, strict=True):
        assert np.array_equal(weight.grad.numpy(), before.numpy())
        assert numbers[name] == [watch.measure(before)]
    assert [numbers[name] for name in NON_LEAVES] == [[seen] for seen in reading()]


def test_numbers_of_a_gradient():
    gradient = sapwood.tensor([[3.0, -4.0], [0.0, 0.0]])
    assert watch.measure(gradient) == (2.5, 4.0, 0.5, 0)
    assert watch.measure(sapwood.tensor([1.0, float("nan")])).nans == 1


def test_unique_bytes_counts_a_shared_buffer_once():
    def work():
        array = np.ones(5000, np.float32)
        return array, array[::2], array.copy()

    assert watch.unique_bytes(work)[1] == 2 * 5000 * 4
