"""The two ways to run rules: on arrays (first order) and on tensors (create_graph).

They differ only in how gradients are added, fitted to an operand and read from a node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.node import Leaf, Node
from sapwood._core.seal import Sealed
from sapwood._core.tensor import Tensor, plain, with_node


class Raw:
    """First order: gradients are arrays."""

    graph = False

    @staticmethod
    def back(node: Node, g: Any) -> Any:
        """Run the node's rules."""
        return node.plan.back(g, node)

    @staticmethod
    def fit(g: Any, shape: tuple, dtype: Any) -> Any:
        """Sum out broadcast axes; restore the dtype."""
        if type(g) is not np.ndarray:
            g = np.asarray(g)
        if g.shape != shape:
            g = unbroadcast(g, shape)
        if g.dtype != dtype:
            g = restore_dtype(g, dtype)
        return g

    @staticmethod
    def add(a: Any, b: Any, *, owned: bool) -> Any:
        """a + b; into a's memory where this pass owns it."""
        if owned:
            return np.add(a, b, out=a)
        return np.asarray(np.add(a, b))

    @staticmethod
    def zeros(shape: tuple, dtype: Any) -> Any:
        """A gradient that is absent."""
        return np.zeros(shape, dtype)

    @staticmethod
    def array(g: Any) -> np.ndarray:
        """The array of a gradient."""
        return g


def unbroadcast(g: np.ndarray, shape: tuple) -> np.ndarray:
    """Sum `g` over the axes that broadcasting added to reach its shape from `shape`."""
    lead = g.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and g.shape[i + lead] != 1
    )
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, g.shape[lead:], strict=True)):
        raise AssertionError(f"a rule gave a gradient of shape {g.shape} for {shape}")
    out = g.sum(axis=axes, keepdims=True) if axes else g
    return np.asarray(out).reshape(shape)


def restore_dtype(g: np.ndarray, dtype: Any) -> np.ndarray:
    """The gradient in its operand's dtype: real part for real operands of complex operations."""
    if g.dtype.kind == "c" and dtype.kind != "c":
        g = g.real
    return g.astype(dtype)


class Traced:
    """create_graph: gradients are tensors, and rules run through the doors again.

    `add`, `copy` and `fit` are handed over by `_ops`, which this folder must not import.
    """

    graph = True
    add_tensors: Any
    clone_tensor: Any
    fit_tensor: Any

    @staticmethod
    def back(node: Node, g: Any) -> Any:
        """Run the node's rules on tensors with history."""
        plan = node.plan
        if hasattr(plan, "traced"):
            return plan.traced(g, node)
        results: dict[str, Any] = {}
        for arg, rule, names in plan.rules:
            values = [g if n == "g" else Traced.read(node, n) for n in names]
            results[arg] = rule(*values)
        if node.op.variadic:
            return results[node.op.args[0]]
        return tuple(results.get(arg) for arg in node.op.args)

    @staticmethod
    def read(node: Node, name: str) -> Any:
        """A value that a rule asks for."""
        if name == "attrs":
            return node.attrs
        if name in node.plan.saves:
            return node.unpack(name)
        if name == "attrs":
            return node.attrs
        if name in node.op.attrs:
            return node.attrs[node.op.attrs.index(name)]
        base, _, what = name.rpartition("_")
        return getattr(node.input_meta(node.op.args.index(base)), what)

    @staticmethod
    def fit(g: Any, shape: tuple, dtype: Any) -> Any:
        """Sum out broadcast axes; restore the dtype."""
        if not isinstance(g, Tensor):
            g = plain(np.asarray(g))
        if g.array.shape != shape or g.array.dtype != dtype:
            g = Traced.fit_tensor(g, shape, dtype)
        return g

    @staticmethod
    def add(a: Any, b: Any, *, owned: bool) -> Any:
        """a + b, out of place."""
        return Traced.add_tensors(a, b)

    @staticmethod
    def copy(g: Any) -> Any:
        """The same gradient in memory of its own, with its history: `.grad` may be written to."""
        return Traced.clone_tensor(g)

    @staticmethod
    def zeros(shape: tuple, dtype: Any) -> Any:
        """A gradient that is absent."""
        return plain(np.zeros(shape, dtype))

    @staticmethod
    def array(g: Any) -> np.ndarray:
        """The array of a gradient."""
        return g.array


def unpack(self: Node, name: str) -> Any:
    """A saved value as a tensor with its history: for double backward and `_saved_*`."""
    i = self.plan.saves.index(name)
    value, version, n = self.saved[3 * i : 3 * i + 3]
    if not isinstance(value, np.ndarray):
        return value
    if version.n != n:
        self.raise_stale()
    node: Node | None
    port = 0
    if name in self.op.args:
        k = self.op.args.index(name)
        node, port = self.inputs[k], self.ports[k]
    else:
        node = self if value.dtype.kind in "fcV" else None
        port = self.op.outputs.index(name)
    if isinstance(node, Leaf):
        tensor = node.ref()
        if tensor is not None and tensor.array is value:
            return tensor
    t = with_node(value, node, port)
    t.version = version.cell if type(version) is Sealed else version
    return t


Node.unpack = unpack  # type: ignore[method-assign]
