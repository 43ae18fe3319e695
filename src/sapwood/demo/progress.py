"""How far training has come: a bar where `rich` is installed and somebody watches, else lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Told = Callable[[int, float], None]


@contextmanager
def progress(epochs: int, *, quiet: bool) -> Iterator[Told]:
    """A function to be told (epoch, loss)."""
    if quiet:
        yield lambda epoch, loss: None
        return
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    except ImportError:
        yield line_printer(epochs)
        return
    if not sys.stdout.isatty():
        yield line_printer(epochs)
        return
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("loss {task.fields[loss]:.4f}")) as bar:
        task = bar.add_task("training", total=epochs, loss=float("nan"))
        yield lambda epoch, loss: bar.update(task, completed=epoch, loss=loss)


def line_printer(epochs: int) -> Told:
    """About ten plain lines."""

    def told(epoch: int, loss: float) -> None:
        if epoch == epochs or epoch % max(1, epochs // 10) == 0:
            print(f"epoch {epoch:>{len(str(epochs))}} of {epochs}  loss {loss:.4f}", flush=True)

    return told
