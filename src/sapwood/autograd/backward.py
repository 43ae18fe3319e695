"""`backward` and `grad`: checks and seeds around the reverse pass."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from sys import _getframe
from typing import Any

import numpy as np

from sapwood import errors
from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.border import border
from sapwood._core.memory import heal
from sapwood._core.mode import MODE
from sapwood._core.node import Node
from sapwood._core.reverse import Pass
from sapwood._core.tensor import Tensor, plain
from sapwood.autograd.edge import GradientEdge


def as_list(value: Any) -> list:
    """One tensor or edge, or a sequence of them, as a list."""
    if isinstance(value, (Tensor, GradientEdge)):
        return [value]
    if isinstance(value, dict):
        return list(value.values())
    return list(value)


def edge_of(value: Any) -> tuple[Node | None, int]:
    """(node, output) of a tensor or a GradientEdge."""
    if isinstance(value, GradientEdge):
        return value.node, value.output_nr
    if not isinstance(value, Tensor):
        raise TypeError(f"expected a Tensor or GradientEdge, got {type(value).__name__}")
    if value.memory is not None:
        heal(value)
    return value.node, value.port


def why_text(t: Any) -> str:
    """What is known of why a tensor has no graph: the user's lines that cut it."""
    cuts = getattr(t, "cuts", None)
    if not cuts:
        return ""
    lines = [f"  {kind} at {where.at(code, lasti)}" for kind, code, lasti, _shape in cuts]
    return "It has no graph because of:\n" + "\n".join(lines) + "\n "


def make_seed(index: int, root: Any, node: Node, port: int, given: Any, *, graph: bool) -> Any:
    """The gradient that starts a root: given, or 1 for a scalar."""
    meta = node.output_meta(port)
    if given is None:
        if math.prod(meta.shape) != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs. This output has shape "
                f"{list(meta.shape)}: pass gradient=, or reduce it (sum, mean) first. At "
                f"{where.here()}"
            )
        if meta.dtype.kind not in "fV":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got "
                f"torch.{dt.of(meta.dtype).name}"
            )
        seed = plain(np.ones(meta.shape, meta.dtype))
    else:
        if not isinstance(given, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(given).__name__}"
            )
        if given.array.shape != tuple(meta.shape):
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{index}] has a shape of "
                f"torch.Size({list(given.array.shape)}) and output[{index}] has a shape of "
                f"torch.Size({list(meta.shape)})."
            )
        if meta.dtype.kind != "c" and given.array.dtype.kind == "c":
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype. Mismatch in dtype: grad_output[{index}] has a dtype of {given.dtype} and "
                f"output[{index}] has a dtype of torch.{dt.of(meta.dtype).name}."
            )
        seed = given
        if given.array.dtype != meta.dtype:
            seed = seed.to(dt.of(meta.dtype))
    return seed if graph else seed.array


def prepare(outputs: list, grads: Any, *, graph: bool) -> list[tuple[Node, int, Any]]:
    """The roots with their seeds; every check happens before anything runs."""
    if grads is None:
        given: list = [None] * len(outputs)
    else:
        if not isinstance(grads, Iterable):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(grads).__name__}"
            )
        given = [grads] if isinstance(grads, Tensor) else list(grads)
    if len(given) != len(outputs):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(given)} gradients: there must be as many"
        )
    roots = []
    for i, (output, g) in enumerate(zip(outputs, given, strict=True)):
        node, port = edge_of(output)
        if node is None:
            raise errors.no_grad_root(i, why_text(output))
        roots.append((node, port, make_seed(i, output, node, port, g, graph=graph)))
    return roots


@border
def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradients of `tensors` and add them to the `.grad` of the leaves.

    tensors       one tensor, or several; a scalar needs no grad_tensors
    grad_tensors  the gradients to start with, of the shapes of `tensors`
    retain_graph  keep what the graph saved, so that it can be used again; default: create_graph
    create_graph  make the gradients differentiable themselves
    inputs        accumulate into these only (leaves or not)
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        grad_tensors = grad_variables if grad_tensors is None else grad_tensors
    outputs = as_list(tensors)
    targets: list = []
    if inputs is not None:
        targets = as_list(inputs)
        if not targets:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        for i, t in enumerate(targets):
            if edge_of(t)[0] is None:
                raise RuntimeError(
                    f"One of the differentiated Tensors does not require grad: inputs[{i}]"
                )
    roots = prepare(outputs, grad_tensors, graph=create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    edges = {edge_of(t): True for t in targets}
    for t in targets:
        if isinstance(t, Tensor):
            t.retain_grad()  # as PyTorch: from now on, too
    run = Pass(graph=create_graph, retain=retain, accumulate=True, targets=edges)
    run_pass(run, roots, graph=create_graph)


def run_pass(run: Pass, roots: list, *, graph: bool) -> None:
    """Run the pass with grad mode as it must be inside."""
    old = MODE.get()
    if old.grad == graph and not old.inference:
        run.run(roots)
        return
    try:
        MODE.set(old.but(grad=graph, inference=False))
        run.run(roots)
    finally:
        MODE.set(old)


@border
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, returned and stored nowhere.

    Returns a tuple as long as `inputs` (a dict for a dict). An input that `outputs` do not depend
    on is an error, `None` with allow_unused=True, or zeros with materialize_grads=True.
    is_grads_batched=True: the first axis of each grad_outputs is a batch.
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True).",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, but "
                "got: allow_unused=False."
            )
        allow_unused = True
    targets = as_list(inputs)
    if is_grads_batched:
        return batched(
            outputs,
            inputs,
            grad_outputs,
            retain_graph,
            create_graph,
            allow_unused,
            materialize_grads,
        )
    outs = as_list(outputs)
    retain = create_graph if retain_graph is None else retain_graph
    roots = prepare(outs, grad_outputs, graph=create_graph)
    for t in targets:
        if edge_of(t)[0] is None:
            raise RuntimeError(
                "One of the differentiated Tensors does not require grad. "
                + why_text(t)
                + f"At {where.here()}"
            )
    edges = {edge_of(t): True for t in targets}
    run = Pass(graph=create_graph, retain=retain, accumulate=False, targets=edges)
    run_pass(run, roots, graph=create_graph)
    captured: dict[Any, Any] = run.captured
    made: dict = {}  # an input that is asked for twice gives one tensor
    for i, t in enumerate(targets):
        edge = edge_of(t)
        if edge not in made:
            made[edge] = finish_grad(
                i,
                t,
                captured.get(edge),
                graph=create_graph,
                allow_unused=bool(allow_unused),
                zeros=materialize_grads,
            )
    results = [made[edge_of(t)] for t in targets]
    if isinstance(inputs, dict):
        return dict(zip(inputs, results, strict=True))
    return tuple(results)


def finish_grad(i: int, t: Any, g: Any, *, graph: bool, allow_unused: bool, zeros: bool) -> Any:
    """One result of `grad`: a tensor of its own, or what stands for an unused input."""
    if g is None:
        if zeros:
            meta = edge_of(t)[0].output_meta(edge_of(t)[1])  # type: ignore[union-attr]
            return plain(np.zeros(meta.shape, meta.dtype))
        if not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior. (One of the "
                f"differentiated Tensors appears to not have been used in the graph.) At "
                f"{where.here()}"
            )
        return None
    return g if graph else plain(np.array(g, order="C"))


def batched(
    outputs: Any,
    inputs: Any,
    grads: Any,
    retain: bool | None,
    graph: bool,
    allow_unused: bool | None,
    zeros: bool,
) -> Any:
    """One pass per row of the batched grad_outputs; results stacked on a new first axis."""
    from sapwood import stack

    rows = [grads] if isinstance(grads, Tensor) else list(grads)
    count = next(r.array.shape[0] for r in rows if r is not None)
    results = []
    for i in range(count):
        last = i == count - 1
        results.append(
            grad(
                outputs,
                as_list(inputs),
                [None if r is None else r[i] for r in rows],
                retain_graph=(retain if last else True),
                create_graph=graph,
                allow_unused=allow_unused,
                materialize_grads=zeros,
            )
        )
    merged = [None if col[0] is None else stack(list(col)) for col in zip(*results, strict=True)]
    if isinstance(inputs, dict):
        return dict(zip(inputs, merged, strict=True))
    return tuple(merged)


def tensor_backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Iterable | None = None,
) -> None:
    """Compute the gradients of this tensor and add them to the `.grad` of the leaves."""
    mode = MODE.get()
    site = mode.site
    if site is None:
        frame = _getframe(1)
        site = (frame.f_code, frame.f_lasti)
    node, a = self.node, self.array
    if (
        gradient is None
        and inputs is None
        and not create_graph
        and self.memory is None
        and node is not None
        and a.size == 1
        and a.dtype.kind == "f"
    ):  # the frequent case
        run = Pass(graph=False, retain=bool(retain_graph), accumulate=True, targets={}, site=site)
        run.run(((node, self.port, np.ones(a.shape, a.dtype) if a.ndim else ONES[a.dtype]),))
        return
    try:
        MODE.set(mode.at(site))
        backward(self, gradient, retain_graph, create_graph, None, inputs)
    finally:
        MODE.set(mode)


ONES = {np.dtype(code): np.ones((), code) for code in ("f2", "f4", "f8")}
tensor_backward.__name__ = "backward"
Tensor.backward = tensor_backward  # type: ignore[method-assign, assignment]
