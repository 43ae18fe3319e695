"""The reverse pass: one loop for every kind of backward.

A node runs when all edges that deliver to it have delivered; the newest ready node first; leaves
as soon as they are ready. So summation order is fixed. Un-broadcasting, dtype restoration and
hooks happen here and nowhere else. `Raw` (arrays, first order) and `Traced` (tensors,
create_graph) differ only in how values are added, summed and unpacked.

A gradient is *owned* when this pass made its memory and nobody else can see it: only then is it
added to in place, stored without a copy, or handed to a hook without a copy.

Nothing is written half: leaf gradients are committed at the end in one uninterruptible step
(at once where a hook on that leaf must see them), and where a hook may raise, saved values are
released only after the pass succeeded.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from itertools import chain
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.memory import version_of
from sapwood._core.mode import MODE
from sapwood._core.node import Leaf, Node, Released
from sapwood._core.quiet import IGNORE, restore, silence
from sapwood._core.tensor import Tensor, plain

COMMIT = threading.RLock()  # two threads may share a leaf


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

    `add`, `fit` and `zeros` are handed over by `_ops`, which this folder must not import.
    """

    graph = True
    add_tensors: Any
    fit_tensor: Any

    @staticmethod
    def back(node: Node, g: Any) -> Any:
        """Run the node's rules on tensors with history."""
        plan = node.plan
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
        if name in node.plan.saves:
            return node.unpack(name)
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
    def zeros(shape: tuple, dtype: Any) -> Any:
        """A gradient that is absent."""
        return plain(np.zeros(shape, dtype))

    @staticmethod
    def array(g: Any) -> np.ndarray:
        """The array of a gradient."""
        return g.array


class Pass:
    """One run of the reverse pass."""

    def __init__(self, *, graph: bool, retain: bool, accumulate: bool, targets: dict) -> None:
        self.way: Any = Traced if graph else Raw
        self.retain = retain
        self.accumulate = accumulate  # deliver to the leaves' .grad
        self.targets = targets  # (node, port) -> True: capture these
        self.captured: dict[tuple[Node, int], Any] = {}
        self.live: dict[Node, Any] = {}
        self.owned: set[Node] = set()
        self.waiting: dict[Node, int] = {}
        self.pending: list[tuple[Tensor, Any, bool]] = []
        self.hooked = False  # a hook may raise: keep saved values until the end
        self.done: list[Node] = []
        self.site = MODE.get().site or where.user_site()
        self.callbacks: list[Any] = []

    # ---- before ----

    def discover(self, roots: list[Node]) -> None:
        """Count, for each reachable node, the edges that will deliver to it."""
        waiting = self.waiting
        stack = list(dict.fromkeys(roots))
        for node in stack:
            waiting[node] = 0
        order = []
        while stack:
            node = stack.pop()
            order.append(node)
            if node.hooks is not None or node.op.kind == "CALL":
                self.hooked = True
            for inp in node.inputs:
                if inp is not None:
                    if inp in waiting:
                        waiting[inp] += 1
                    else:
                        waiting[inp] = 1
                        stack.append(inp)
        self.needed: set[Node] | None = None
        if self.targets:
            self.needed = self.prune(order)

    def prune(self, nodes: list[Node]) -> set[Node]:
        """The nodes on a path from a root to a target."""
        users: dict[Node, list[Node]] = {}
        for node in nodes:
            for inp in node.inputs:
                if inp is not None:
                    users.setdefault(inp, []).append(node)
        needed: set[Node] = set()
        stack = [node for node, _ in self.targets if node in self.waiting]
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack.extend(users.get(node, ()))
        return needed

    # ---- the loop ----

    def run(self, roots: list[tuple[Node, int, Any]]) -> None:
        """Deliver the seeds and run every node that is needed, newest first."""
        self.discover([node for node, _, _ in roots])
        self.token = silence(IGNORE)
        try:
            for node, port, g in roots:
                self.deliver(node, port, g, owned=False)
            ready: list[tuple[int, int, Node]] = []
            for node in dict.fromkeys(node for node, _, _ in roots):
                if self.waiting[node] == 0:
                    self.ready(node, ready)
            while ready:
                _, _, node = heapq.heappop(ready)
                self.step(node, ready)
        finally:
            restore(self.token)
        for callback in self.callbacks:
            callback()
        self.commit()
        if not self.retain:
            self.release(self.done)

    def ready(self, node: Node, heap: list) -> None:
        """A node all of whose gradients arrived: leaves at once, others newest first."""
        if isinstance(node, Leaf):
            self.leaf(node)
        else:
            heapq.heappush(heap, (-node.seq, id(node), node))

    def step(self, node: Node, heap: list) -> None:
        """Run one node and deliver to its inputs."""
        g = self.live.pop(node, None)
        owned = node in self.owned
        self.owned.discard(node)
        needed = self.needed is None or node in self.needed
        results: Any = None
        if needed:
            if node.hooks is not None:
                g, owned = self.before(node, g, owned=owned)
            if self.targets and g is not None:
                self.capture(node, g)
            if g is not None and self.must_run(node):
                results = self.compute(node, g)
        self.hand_on(node, g, results, heap)

    def must_run(self, node: Node) -> bool:
        """With targets: whether an input of the node is on the way to one."""
        if self.needed is None:
            return True
        return any(inp in self.needed for inp in node.inputs if inp is not None)

    def compute(self, node: Node, g: Any) -> Any:
        """The gradients of the node's inputs, hooks included; releases what it saved."""
        if type(node.saved) is Released:
            raise node.second_backward()
        if node.op.out:
            g = self.fill(node, g)
        if node.op.add_into is not None and not self.way.graph and node.hooks is None:
            return None if self.region(node, g) else self.way.back(node, g)
        hooks = node.hooks
        if hooks is not None and hooks.pre:
            g = self.pre_hooks(node, g)
        results = self.way.back(node, g)
        if hooks is not None and hooks.post:
            results = self.post_hooks(node, g, results)
        if not self.retain:
            if self.hooked:
                self.done.append(node)
            else:
                self.release((node,))
        return results

    def region(self, node: Node, g: Any) -> bool:
        """A slice's gradient is added into its region of the input's gradient: no big zeros."""
        inp = node.inputs[0]
        assert inp is not None
        if inp.op.out or (self.needed is not None and inp not in self.needed):
            return False
        buffer = self.live.get(inp)
        if buffer is None:
            buffer = np.zeros(inp.shape, inp.dtype)
        elif inp not in self.owned:
            buffer = buffer.copy()
        node.op.add_into(buffer, g, *node.attrs)
        self.live[inp] = buffer
        self.owned.add(inp)
        return True

    def fill(self, node: Node, g: list) -> tuple:
        """Gradients of several outputs: zeros for those that nothing used."""
        return tuple(
            self.way.zeros(node.shape[k], node.dtype[k])
            if part is None and np.dtype(node.dtype[k]).kind in "fcV" else part
            for k, part in enumerate(g)
        )

    def hand_on(self, node: Node, g: Any, results: Any, heap: list) -> None:
        """Deliver results (None: absent, not zero) and count the inputs down."""
        waiting, needed, way = self.waiting, self.needed, self.way
        inputs = node.inputs
        if results is not None and len(results) != len(inputs):
            raise AssertionError(f"{node.name()}: {len(results)} gradients, {len(inputs)} inputs")
        ports = node.ports
        for i, inp in enumerate(inputs):
            if inp is None:
                continue
            if results is not None and (needed is None or inp in needed):
                gi = results[i]
                if gi is not None:
                    port = ports[i]
                    if inp.op.out:
                        shape, dtype = inp.shape[port], inp.dtype[port]
                    else:
                        shape, dtype = inp.shape, inp.dtype
                    fitted = way.fit(gi, shape, dtype)
                    owned = not way.graph and self.is_fresh(node, g, gi, fitted)
                    self.deliver(inp, port, fitted, owned=owned)
            waiting[inp] -= 1
            if not waiting[inp]:
                self.ready(inp, heap)

    @staticmethod
    def is_fresh(node: Node, g: Any, gi: Any, fitted: Any) -> bool:
        """Whether a rule's result is memory of its own."""
        if fitted is not gi:
            return fitted.base is None
        return gi is not g and gi.base is None and not node.op.alias

    def deliver(self, node: Node, port: int, g: Any, *, owned: bool) -> None:
        """Add a contribution to the gradient of a node's output."""
        live = self.live
        if node.op.out:
            parts = live.setdefault(node, [None] * len(node.op.out))
            if parts[port] is not None:
                g = self.way.add(parts[port], g, owned=False)
            parts[port] = g
        elif node in live:
            live[node] = self.way.add(live[node], g, owned=node in self.owned)
            self.owned.add(node)
        else:
            live[node] = g
            if owned:
                self.owned.add(node)

    # ---- hooks ----

    def before(self, node: Node, g: Any, *, owned: bool) -> tuple[Any, bool]:
        """Tensor hooks in order of registration, then the stores of retain_grad."""
        hooks = node.hooks
        if node.op.out:
            g = g or [None] * len(node.op.out)
            for port, fns in sorted(hooks.tensor.items()):
                g[port], _ = self.tensor_hooks(node, port, fns, g[port], owned=False)
            for entry in tuple(hooks.retain):
                if g[entry[0]] is not None:
                    self.store(entry, g[entry[0]], owned=False)
            return g, False
        for fns in hooks.tensor.values():
            g, owned = self.tensor_hooks(node, 0, fns, g, owned=owned)
        for entry in tuple(hooks.retain):
            if g is not None:
                self.store(entry, g, owned=owned)
                owned = False
        return g, owned

    def tensor_hooks(
        self, node: Node, port: int, fns: dict, g: Any, *, owned: bool
    ) -> tuple[Any, bool]:
        """Run the hooks of one output; a hook that writes changes its own gradient only."""
        for fn in tuple(fns.values()):
            if g is not None and not owned and not self.way.graph:
                g, owned = g.copy(), True
            shown = self.show(g)
            out = self.call(fn, shown)
            if out is not None:
                self.check_hook(fn, out, node.output_meta(port), g)
                g, owned = (out if self.way.graph else out.array), False
            elif g is not None:
                g, owned = (g if self.way.graph else shown.array), False
        return g, owned

    @staticmethod
    def check_hook(fn: Any, out: Any, meta: Any, old: Any) -> None:
        """A hook's result must be a tensor of the gradient's shape and dtype."""
        name = getattr(fn, "__name__", type(fn).__name__)
        if not isinstance(out, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(out).__name__}'")
        if old is not None and out.array.shape != meta.shape:
            raise RuntimeError(
                f"hook '{name}' has changed the size of value: got {list(out.array.shape)}, "
                f"expected {list(meta.shape)}"
            )
        if out.array.dtype != meta.dtype:
            was, got = dt.of(meta.dtype).title, out.dtype.title
            raise RuntimeError(
                f"hook '{name}' has changed the type of value (was torch.{was}Tensor got "
                f"torch.{got}Tensor)"
            )

    def call(self, fn: Any, *args: Any) -> Any:
        """Call a user's hook: grad mode off unless the pass itself is traced."""
        old = MODE.get()
        restore(self.token)  # the user's own NumPy error state
        MODE.set(old.but(grad=self.way.graph, site=None))  # the user's own lines again
        try:
            return fn(*args)
        finally:
            MODE.set(old)
            self.token = silence(IGNORE)

    def show(self, g: Any) -> Any:
        """A gradient as hooks see it."""
        return g if g is None or self.way.graph else plain(g)

    def store(self, entry: tuple, g: Any, *, owned: bool) -> None:
        """retain_grad: keep (or add to) the gradient of a non-leaf that still exists."""
        _, ref, path = entry
        tensor = ref()
        if tensor is None:
            return
        if path:
            g, owned = FOLLOW[0](g, path), False
        old = tensor._grad
        if self.way.graph:
            tensor._grad = g if old is None else self.way.add(old, g, owned=False)
        elif old is not None:
            tensor._grad = plain(np.asarray(old.array + g))
        else:
            whole = owned and g.flags.c_contiguous
            tensor._grad = plain(g if whole else np.array(g, order="C"))

    def pre_hooks(self, node: Node, g: Any) -> Any:
        """Node pre-hooks: each may replace the tuple of output gradients."""
        parts = g if node.op.out else (g,)
        shown = tuple(self.show(p) for p in parts)
        for fn in tuple(node.hooks.pre.values()):
            out = self.call(fn, shown)
            if out is None:
                continue
            if not isinstance(out, tuple):
                raise TypeError(f"expected tuple, but hook returned '{type(out).__name__}'")
            self.check_count(fn, out, len(shown))
            shown = out
        back = tuple(p if p is None or self.way.graph else p.array for p in shown)
        return back if node.op.out else back[0]

    def post_hooks(self, node: Node, g: Any, results: Any) -> Any:
        """Node hooks: each may replace the tuple of input gradients."""
        parts = g if node.op.out else (g,)
        outs = tuple(self.show(p) for p in parts)
        ins = []
        for k, r in enumerate(results):
            inp = node.inputs[k]
            if r is None or inp is None:
                ins.append(None)
            else:
                meta = inp.output_meta(node.ports[k])
                ins.append(self.show(self.way.fit(r, meta.shape, meta.dtype)))
        shown = tuple(ins)
        for fn in tuple(node.hooks.post.values()):
            out = self.call(fn, shown, outs)
            if out is not None:
                if not isinstance(out, tuple):
                    raise TypeError(f"expected tuple, but hook returned '{type(out).__name__}'")
                self.check_count(fn, out, len(shown))
                shown = out
        return tuple(p if p is None or self.way.graph else p.array for p in shown)

    @staticmethod
    def check_count(fn: Any, out: tuple, expected: int) -> None:
        """A node hook must return as many gradients as it was given."""
        if len(out) != expected:
            name = getattr(fn, "__name__", type(fn).__name__)
            raise RuntimeError(
                f"hook '{name}' has returned an incorrect number of values (got {len(out)}, but "
                f"expected {expected})"
            )

    # ---- targets and leaves ----

    def capture(self, node: Node, g: Any) -> None:
        """Keep the gradient of a requested (node, output)."""
        parts = g if node.op.out else (g,)
        for port, part in enumerate(parts):
            if (node, port) in self.targets and part is not None:
                self.captured[node, port] = part
                self.owned.discard(node)

    def leaf(self, node: Leaf) -> None:
        """Deliver to a leaf: tensor hooks, pre-hooks, accumulate, post-accumulate, hooks."""
        g = self.live.pop(node, None)
        owned = node in self.owned
        self.owned.discard(node)
        if self.needed is not None and node not in self.needed:
            return
        hooks = node.hooks
        if hooks is not None:
            for fns in hooks.tensor.values():
                g, owned = self.tensor_hooks(node, 0, fns, g, owned=owned)
        if not self.accumulate:
            if g is not None and (node, 0) in self.targets:
                self.captured[node, 0] = g
            return
        if g is None:
            return
        if hooks is not None and hooks.pre:
            g, owned = self.pre_hooks(node, g), False
        tensor = node.ref()
        if tensor is not None and tensor.node is node:
            self.pending.append((tensor, g, owned))
        if hooks is None or not (hooks.post_accumulate or hooks.post):
            return
        if hooks.post_accumulate and tensor is not None:
            self.commit()
            for fn in tuple(hooks.post_accumulate.values()):
                if self.call(fn, tensor) is not None:
                    raise TypeError("expected hooks to return None")
        for fn in tuple(hooks.post.values()):
            self.commit()
            self.call(fn, (), (self.show(g),))

    def commit(self) -> None:
        """Write the collected leaf gradients, in one step that no signal can interrupt."""
        if not self.pending:
            return
        with COMMIT:
            fresh, sums = [], []
            for tensor, g, owned in self.pending:
                old = tensor._grad
                if old is None:
                    fresh.append((vars(tensor), as_grad(g, tensor, owned=owned, graph=self.way.graph)))
                elif self.way.graph:
                    fresh.append((vars(tensor), self.way.add(old, g, owned=False)))
                else:
                    sums.append((old, g))
            bumped = [version_of(old) for old, _ in sums]
            olds = [old.array for old, _ in sums]
            news = [g for _, g in sums]
            # one C call: Python runs signal handlers only between bytecodes
            deque(
                chain(
                    map(np.add, olds, news, olds),
                    map(dict.__setitem__, [d for d, _ in fresh], ["_grad"] * len(fresh),
                        [g for _, g in fresh]),
                ),
                maxlen=0,
            )
            for version in bumped:
                version.n += 1
                version.code, version.lasti = self.site
            self.pending = []

    def release(self, nodes: Any) -> None:
        """Free what nodes saved; remember which backward did."""
        mark = Released(*self.site)
        for node in nodes:
            if node.saved:
                node.saved = mark


def as_grad(g: Any, tensor: Tensor, *, owned: bool, graph: bool) -> Tensor:
    """A leaf's first gradient: stolen where possible, in the leaf's own memory layout."""
    if graph:
        return g
    a = tensor.array
    fits = g.flags.c_contiguous if a.flags.c_contiguous else g.strides == a.strides
    if owned and fits and g.flags.writeable:
        return plain(g)
    dense = a.flags.c_contiguous or a.flags.f_contiguous or a.ndim > 2
    copy = np.empty_like(a, dtype=g.dtype, order="K" if dense else "C")
    np.copyto(copy, g)
    return plain(copy)


FOLLOW: list[Any] = []  # view paths on arrays and tensors; handed over by _ops
