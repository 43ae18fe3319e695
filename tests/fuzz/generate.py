"""Draws a random program for a seed.

A program starts with a few leaves, goes on with letters of the alphabet by weight, and ends with
one to three backwards. It runs on PyTorch while it is drawn. Most programs are clean: a step that
PyTorch refuses is taken back. The others keep about half of their refused steps. Both engines must
then refuse alike.
"""

from __future__ import annotations

import random
from dataclasses import replace

import torch

from . import graph, hooks, values, views, writes  # noqa: F401  they fill the alphabet
from .program import Program, Step
from .scene import ALPHABET, Letter, Scene

WEIGHTS = [drawn.weight for drawn in ALPHABET]
CLEAN = 0.6  # share of programs without refused steps
WILD = 0.03  # share of programs with infinities and NaN
PEEK = 0.2
# Refusals that are PyTorch's own failures; no other engine must copy them
INTERNAL = ("INTERNAL ASSERT", "_will_engine_execute_node", "Expected gradient function to be set")


def generate(seed: int) -> Program:
    """The program of this seed: 10 to 30 steps."""
    mood = random.Random(seed ^ 0x5EED)
    scene = Scene(seed, torch, dirty=mood.random() >= CLEAN, wild=mood.random() < WILD)
    rng = scene.rng
    length, endings = rng.randint(10, 30), rng.choice((1, 2, 2, 3))
    offer(scene, values.first_leaf)
    for _ in range(rng.randint(1, 2)):
        offer(scene, values.leaf)
    attempts = 0
    while len(scene.steps) < length - endings and attempts < 300:
        attempts += 1
        if attempts % 5 == 0:
            scene.focus = scene.target() or ""
        offer(scene, rng.choices(ALPHABET, WEIGHTS)[0].draw)
    if not torch.is_grad_enabled():
        offer(scene, graph.grad_mode)
    for _ in range(40):
        if len(scene.steps) >= length:
            break
        offer(scene, rng.choice((graph.backward, graph.backward, graph.grad)))
    while len(scene.steps) < 10:
        offer(scene, values.unary)
    scene.session.close()
    return Program(seed, tuple(scene.steps))


def offer(scene: Scene, draw: Letter) -> None:
    """Draw a step and keep it if it may stay."""
    try:
        step = draw(scene)
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        # A property of an operand may refuse (see `Scene.all`); an operand taken unfit on purpose
        # may not do at all
        if isinstance(error, RuntimeError) or scene.dirty:
            return
        raise
    if step is None:
        return
    step = dressed(scene, step)
    refusal = scene.session.run(step)
    if refusal:
        keep = (
            scene.dirty
            and scene.chance(0.6)
            and not any(part in refusal.message for part in INTERNAL)
        )
    else:
        keep = scene.tame()
    if keep:
        scene.steps.append(step)
    else:
        take_back(scene)


def dressed(scene: Scene, step: Step) -> Step:
    """The step, sometimes under no_grad or enable_grad, sometimes with a look after it."""
    if "def " not in step.text and not step.op.startswith(("backward", "grad", "set_grad")):
        if scene.chance(0.05):
            step = step.under("torch.no_grad()")
        elif scene.chance(0.01):
            step = step.under("torch.enable_grad()")
    return replace(step, peek=scene.chance(PEEK))


def take_back(scene: Scene) -> None:
    """As if the last step had not been: run the others again.

    A refused backward may have freed half a graph.
    """
    scene.session.close()
    scene.session = type(scene.session)(scene.torch)
    for step in scene.steps:
        scene.session.run(step)
