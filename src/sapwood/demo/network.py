"""A network with two hidden layers, written with tensors only: no modules, no optimiser.

This file is an ordinary training script. It holds nothing that is there for the report, which
finds names, lines and gradients by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import sapwood
from sapwood import Tensor
from sapwood.data import load_digits

PIXELS, WIDE, NARROW, CLASSES = 64, 128, 64, 10
HELD_OUT, BATCH = 360, 64
RATE, MOMENTUM = 0.1, 0.9


class Data(NamedTuple):
    """Images (n, 64) and labels (n,)."""

    images: Tensor
    labels: Tensor


class Pass(NamedTuple):
    """The non-leaf tensors of a forward pass that have a name."""

    z1: Tensor
    h1: Tensor
    z2: Tensor
    h2: Tensor
    logits: Tensor
    log_p: Tensor
    loss: Tensor


def split_digits() -> tuple[Data, Data]:
    """The digits in random order: what to learn from, and what to be judged by."""
    images, labels = (sapwood.from_numpy(array) for array in load_digits())
    order = sapwood.randperm(len(images))
    images, labels = images[order], labels[order]
    return (Data(images[HELD_OUT:], labels[HELD_OUT:]), Data(images[:HELD_OUT], labels[:HELD_OUT]))


def parameters() -> list[Tensor]:
    """Three layers: weights that keep the variance through a ReLU, and biases of zero."""
    w1 = (sapwood.randn(PIXELS, WIDE) * math.sqrt(2 / PIXELS)).requires_grad_()
    b1 = sapwood.zeros(WIDE, requires_grad=True)
    w2 = (sapwood.randn(WIDE, NARROW) * math.sqrt(2 / WIDE)).requires_grad_()
    b2 = sapwood.zeros(NARROW, requires_grad=True)
    w3 = (sapwood.randn(NARROW, CLASSES) * math.sqrt(2 / NARROW)).requires_grad_()
    b3 = sapwood.zeros(CLASSES, requires_grad=True)
    return [w1, b1, w2, b2, w3, b3]


def forward(batch: Data, weights: list[Tensor]) -> Pass:
    """From pixels to the mean cross-entropy."""
    images, labels = batch
    w1, b1, w2, b2, w3, b3 = weights
    z1 = images @ w1 + b1
    h1 = z1.relu()
    z2 = h1 @ w2 + b2
    h2 = z2.relu()
    logits = h2 @ w3 + b3
    log_p = logits - logits.logsumexp(1, keepdim=True)
    loss = -log_p.gather(1, labels.unsqueeze(1)).mean()
    return Pass(z1, h1, z2, h2, logits, log_p, loss)


def update(weights: list[Tensor], velocities: list[Tensor]) -> None:
    """One step of gradient descent with momentum."""
    with sapwood.no_grad():
        for weight, velocity in zip(weights, velocities, strict=True):
            velocity.mul_(MOMENTUM).add_(weight.grad)
            weight.sub_(velocity, alpha=RATE)
            weight.grad = None


def train(
    data: Data,
    weights: list[Tensor],
    epochs: int,
    *,
    after_epoch: Callable[[int, float], None],
    before_last_backward: Callable[[Pass], None],
) -> Data:
    """Train in place; the result is the last batch. `after_epoch` is told epoch and mean loss."""
    velocities = [sapwood.zeros_like(weight) for weight in weights]
    for epoch in range(1, epochs + 1):
        batches = sapwood.randperm(len(data.images)).split(BATCH)
        total = 0.0
        for i, chosen in enumerate(batches, start=1):
            batch = Data(data.images[chosen], data.labels[chosen])
            step = forward(batch, weights)
            if epoch == epochs and i == len(batches):
                before_last_backward(step)
            step.loss.backward()
            update(weights, velocities)
            total += step.loss.item() * len(chosen)
        after_epoch(epoch, total / len(data.images))
    return batch


def accuracy(data: Data, weights: list[Tensor]) -> float:
    """The share of images whose likeliest class is the right one."""
    with sapwood.no_grad():
        guesses = forward(data, weights).logits.argmax(1)
        return (guesses == data.labels).float().mean().item()
