"""`sapwood demo`: train on handwritten digits, then show the gradient of every tensor.

`network` is the training script, `watch` finds the gradients, `report` writes them down.
"""

from __future__ import annotations

import time
from pathlib import Path

import sapwood
from sapwood.demo import network, report, watch
from sapwood.demo.progress import progress


def run(epochs: int, seed: int, *, out: Path | None = None, quiet: bool = False) -> float:
    """Train, print the report, and write it to `out`; the result is the held-out accuracy."""
    if out is not None:
        report.check_writable(out)
    start = time.perf_counter()
    sapwood.manual_seed(seed)
    learn, judge = network.split_digits()
    weights = network.parameters()
    rows: list[watch.Row] = []
    graphs: list[str] = []

    def look(step: network.Pass) -> None:
        graphs.append(str(sapwood.graph(step.loss)))  # before the hooks, which it would show
        rows.extend(watch.every_gradient(step.loss))

    with progress(epochs, quiet=quiet) as told:
        batch = network.train(learn, weights, epochs, after_epoch=told, before_last_backward=look)
    right = network.accuracy(judge, weights)
    result = (
        f"{right:.1%} of {len(judge.images)} held-out digits are read correctly, "
        f"after {epochs} epochs in {time.perf_counter() - start:.1f} s"
    )
    text = "\n\n".join(
        [
            f"{result}.",
            "The gradient of every tensor of the last step\n" + report.gradient_table(rows),
            two_ways(batch, weights),
            "The graph of the last step\n" + graphs[0],
        ]
    )
    print(result if quiet else text)
    if out is not None:
        report.save(out, text + "\n")
    return right


def two_ways(batch: network.Data, weights: list[sapwood.Tensor]) -> str:
    """A hook and retain_grad on every named non-leaf tensor, and what each leaves in memory."""

    def step(way: watch.Way) -> tuple[network.Pass, watch.Reading]:
        for weight in weights:
            weight.grad = None
        tensors = network.forward(batch, weights)
        reading = way(tensors)
        tensors.loss.backward()
        return tensors, reading

    _, least = watch.unique_bytes(lambda: step(watch.by_nothing))
    (_, hooked), with_hooks = watch.unique_bytes(lambda: step(watch.by_hook))
    (_, retained), with_grads = watch.unique_bytes(lambda: step(watch.by_retaining))
    same = "the same" if hooked() == retained() else "DIFFERENT"
    return (
        f"Two ways to see the gradients of {', '.join(network.Pass._fields)}\n"
        f"register_hook  leaves {with_hooks - least:>9,} bytes: it sees a gradient and lets it go\n"
        f"retain_grad    leaves {with_grads - least:>9,} bytes: every .grad stays in memory\n"
        f"Both report {same} numbers."
    )
