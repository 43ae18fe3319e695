"""The reverse pass: one loop for every kind of backward.

A node runs when all edges that deliver to it have delivered; the newest ready node first; leaves
as soon as they are ready. So summation order is fixed. Un-broadcasting, dtype restoration and
hooks happen here and nowhere else; `ways.py` says what differs with create_graph.

A gradient is *owned* when this pass made its memory and nobody else can see it: only then is it
added to in place, stored without a copy, or handed to a hook without a copy.

Nothing is written half: leaf gradients are committed at the end in one step (at once where a hook
on that leaf must see them), and where a hook may raise, saved values are released only after the
pass succeeded.
"""

from __future__ import annotations

from heapq import heappop, heappush
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy import asarray, ndarray

from sapwood._core import commit as committing
from sapwood._core.firing import CURRENT, Firing
from sapwood._core.mode import MODE
from sapwood._core.node import Hooks, Leaf, Node, Released
from sapwood._core.quiet import IGNORE, current, silence
from sapwood._core.tensor import Tensor
from sapwood._core.ways import Raw, Traced


class Pass(Firing):
    """One run of the reverse pass."""

    def __init__(
        self,
        *,
        graph: bool,
        retain: bool,
        accumulate: bool,
        targets: dict,
        site: tuple | None = None,
    ) -> None:
        self.way: Any = Traced if graph else Raw
        self.retain = retain
        self.accumulate = accumulate  # deliver to the leaves' .grad
        self.targets = targets  # (node, port) -> True: capture these
        self.live: dict[Node, Any] = {}  # gradients that arrived and are not used yet
        self.owned: set[Node] = set()
        self.late: list[Leaf] = []  # leaves that nothing watches: delivered at the end
        self.pending: list[tuple[Tensor, Any, bool]] = []  # gradients to be written into leaves
        self.site: tuple = site or MODE.get().site or (None, 0)

    # What only a pass with targets or hooks needs is made in `run`: the frequent case is short.
    captured: dict[tuple[Node, int], Any] = MappingProxyType({})  # type: ignore[assignment]
    notes: dict[Any, Any] = MappingProxyType({})  # type: ignore[assignment] # of multi-grad hooks
    done: Any = ()  # nodes to be released when the pass has succeeded
    callbacks: Any = ()
    undo: Any = ()  # the leaves' gradients as they were before this pass
    waiting: dict[Node, int] | None = None  # edges that have not delivered yet, where counted
    needed: set[Node] | None = None  # with targets: the nodes on a path to one
    hooked = False  # user code runs inside and may raise: keep saved values until the end
    user_state: Any = None  # the user's NumPy error state, in which hooks run

    def discover(self, roots: list[Node]) -> None:
        """Count, for each reachable node, the edges that will deliver to it."""
        waiting = self.waiting = {}
        stack = list(dict.fromkeys(roots))
        for node in stack:
            waiting[node] = 0
        order = []
        while stack:
            node = stack.pop()
            order.append(node)
            if node.hooks is not None or (node.op.kind == "CALL" and not node.op.planner):
                self.hooked = True
            for inp in node.inputs:
                if inp is not None:
                    if inp in waiting:
                        waiting[inp] += 1
                    else:
                        waiting[inp] = 1
                        stack.append(inp)
        if self.targets:
            self.needed = self.prune(order)

    def visits(self, node: Node) -> bool:
        """Whether this pass computes the gradient of a node's outputs."""
        return node in (self.waiting or ()) and (self.needed is None or node in self.needed)

    def prune(self, nodes: list[Node]) -> set[Node]:
        """The nodes on a path from a root to a target."""
        users: dict[Node, list[Node]] = {}
        for node in nodes:
            for inp in node.inputs:
                if inp is not None:
                    users.setdefault(inp, []).append(node)
        needed: set[Node] = set()
        stack = [node for node, _ in self.targets if node in (self.waiting or ())]
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack.extend(users.get(node, ()))
        return needed

    def run(self, roots: Any) -> None:
        """Deliver the seeds and run every node that is needed, newest first."""
        if not (self.targets or Hooks.used):  # no user code inside
            self.sweep(roots)
            return
        self.captured, self.notes = {}, {}
        self.done, self.callbacks, self.undo = [], [], []
        self.discover([node for node, _, _ in roots])
        outer = CURRENT.get()
        try:
            CURRENT.set(self)
            self.sweep(roots)
        finally:
            CURRENT.set(outer)

    def sweep(self, roots: Any) -> None:
        """The pass itself, with NumPy's warnings off."""
        heap: list[tuple[int, int, Node]] = []
        self.user_state = current()
        try:
            silence(IGNORE)
            for node, port, g in roots:
                fresh = self.waiting is None and node not in self.live
                self.deliver(node, port, g, owned=False)
                if fresh:
                    self.ready(node, heap)
            if self.waiting is not None:
                for node in tuple(self.live):
                    if not self.waiting[node]:
                        self.ready(node, heap)
            self.loop(heap)
            for leaf in self.late:
                self.leaf(leaf)
            self.finish()
        except BaseException:
            committing.restore(self.undo)
            raise
        finally:
            silence(self.user_state)

    def finish(self) -> None:
        """What waits for the end: leaf gradients, freeing, callbacks (which may queue more)."""
        self.hooked = bool(self.undo or self.callbacks)
        if self.pending:
            self.flush()
        if self.done:
            self.release(self.done)
        for callback in self.callbacks:
            self.call(callback)

    def ready(self, node: Node, heap: list) -> None:
        """A node all of whose gradients arrived: leaves at once, others newest first."""
        if type(node) is not Leaf:
            heappush(heap, (-node.seq, id(node), node))
        elif self.waiting is not None:
            self.leaf(node)
        else:
            self.late.append(node)

    def loop(self, heap: list) -> None:
        """Run ready nodes and deliver to their inputs. The frequent case is written out.

        Inputs are older than the nodes that use them, so taking the newest first needs no
        counting: a node joins the heap with its first contribution. Only where hooks can see when
        a leaf is ready, or targets cut the graph, `waiting` counts the edges.
        """
        live, owned, needed, late = self.live, self.owned, self.needed, self.late
        waiting = self.waiting
        graph, fit, back = self.way.graph, self.way.fit, self.way.back
        mark = Released(*self.site)
        free = not (self.retain or self.hooked)
        while heap:
            node = heappop(heap)[2]
            g = live.pop(node, None)
            plan = node.plan
            if plan.plain and node.hooks is None and needed is None and not graph and g is not None:
                saved = node.saved
                if type(saved) is Released:
                    results = self.careful(node, g, back, None)[1]
                else:
                    results = plan.back(g, node)
                if free:
                    if saved:
                        node.saved = mark
                elif not self.retain:
                    self.done.append(node)
            else:
                g, results = self.careful(node, g, back, heap if waiting is None else None)
            i = -1
            for inp in node.inputs:
                i += 1
                gi = None if results is None or inp is None else results[i]
                if gi is not None and (needed is None or inp in needed):
                    raw = gi
                    if graph or inp.plan.many:
                        self.join(inp, node.ports[i], gi, heap)
                    else:
                        if type(gi) is not ndarray:  # NumPy gives scalars for 0-d
                            raw = gi = asarray(gi)
                        if gi.dtype is not inp.dtype or gi.shape != inp.shape:
                            gi = fit(gi, inp.shape, inp.dtype)
                        if inp in owned:
                            np.add(live[inp], gi, live[inp])
                        elif inp in live:
                            live[inp] = asarray(live[inp] + gi)
                            owned.add(inp)
                        else:
                            live[inp] = gi
                            is_leaf = type(inp) is Leaf
                            if waiting is None:
                                late.append(inp) if is_leaf else heappush(
                                    heap, (-inp.seq, id(inp), inp)
                                )
                            if (
                                (is_leaf or inp.hooks is not None)
                                and gi.base is None
                                and (gi is not raw or (gi is not g and not plan.alias))
                            ):
                                owned.add(inp)
                if waiting is not None and inp is not None:
                    waiting[inp] -= 1
                    if not waiting[inp]:
                        self.ready(inp, heap)

    def join(self, inp: Node, port: int, gi: Any, heap: list) -> None:
        """Deliver to an input the general way: tensors, and nodes with several outputs."""
        meta = inp.output_meta(port)
        if self.waiting is None and inp not in self.live:
            self.ready(inp, heap)
        self.deliver(inp, port, self.way.fit(gi, meta.shape, meta.dtype), owned=False)

    def careful(self, node: Node, g: Any, back: Any, heap: list | None) -> tuple[Any, Any]:
        """A node with hooks, several outputs, targets or tensors: (gradient, results)."""
        owned = node in self.owned
        self.owned.discard(node)
        if self.needed is not None and node not in self.needed:
            if node.hooks is not None and g is not None:  # a root beside the way to the targets
                self.before(node, g, owned=owned)
            return None, None
        early = self.targets and node.hooks is not None and self.must_run(node)
        if early and g is not None:  # PyTorch: a target on the way to another one is not hooked
            self.capture(node, list(g) if node.op.out else g)
            owned = False
        if node.hooks is not None:
            g, owned = self.before(node, g, owned=owned)
        if self.targets and g is not None and not early:
            self.capture(node, g)
        custom = node.plan.custom
        if (g is None and not custom) or not self.must_run(node):
            return g, None
        hooks = node.hooks
        if hooks is not None and hooks.pre:
            g = self.pre_hooks(node, self.fill(node, g) if node.op.out and not custom else g)
        if type(node.saved) is Released:
            if all(type(i) is Leaf and i.void for i in node.inputs if i is not None):
                return g, None  # nothing below receives a gradient
            raise node.second_backward()
        if node.op.out and not custom:
            g = self.fill(node, g)
        if (
            node.op.add_into is not None
            and not self.way.graph
            and hooks is None
            and self.region(node, g, heap)
        ):
            results = None
        elif (
            node.op.erase is not None
            and not self.way.graph
            and hooks is None
            and self.takes(node.inputs[0])
        ):
            if not owned or (node, 0) in self.captured:
                g = np.array(g)
            results = self.erase(node, g, heap)
        else:
            results = self.call(back, node, g) if custom else back(node, g)
            if hooks is not None and hooks.post:
                results = self.post_hooks(node, g, results)
        if not self.retain:
            if self.hooked:
                self.done.append(node)
            else:
                self.release((node,))
        if results is not None and len(results) != len(node.inputs):
            raise AssertionError(
                f"{node.name()}: {len(results)} gradients for {len(node.inputs)} inputs"
            )
        return g, results

    def must_run(self, node: Node) -> bool:
        """With targets: whether an input of the node is on the way to one."""
        if self.needed is None:
            return True
        if self.accumulate and any(node is target for target, _ in self.targets):
            return True  # backward(inputs=...) runs the nodes of its inputs, too, as PyTorch does
        return any(inp in self.needed for inp in node.inputs if inp is not None)

    def takes(self, inp: Node | None) -> bool:
        """Whether an input is there, is needed, and has one output only."""
        return inp is not None and not inp.op.out and (self.needed is None or inp in self.needed)

    def erase(self, node: Node, g: Any, heap: list | None) -> tuple:
        """An overwritten region: g, owned, with zeros there is the gradient of what was before.

        So T writes into one tensor cost T regions, and one copy of its gradient at most.
        """
        inp: Any = node.inputs[0]
        first, *others = node.plan.erase(g, node)
        known = self.live.get(inp)
        if known is not None:
            first = self.way.add(known, first, owned=inp in self.owned)
        self.live[inp] = first
        if heap is not None and known is None:
            self.ready(inp, heap)
        self.owned.add(inp)
        return (None, *others)

    def region(self, node: Node, g: Any, heap: list | None) -> bool:
        """A slice's gradient is added into its region of the input's gradient: no big zeros."""
        inp: Any = node.inputs[0]
        if not self.takes(inp):
            return False
        buffer = self.live.get(inp)
        if buffer is None:
            buffer = np.zeros(inp.shape, inp.dtype)
            if heap is not None:
                self.ready(inp, heap)
        elif inp not in self.owned:
            buffer = np.array(buffer)
        node.plan.add_into(buffer, g, node)
        self.live[inp] = buffer
        self.owned.add(inp)
        return True

    def fill(self, node: Node, g: Any) -> tuple:
        """Gradients of several outputs: zeros for those that nothing used."""
        return tuple(
            self.way.zeros(node.shape[k], node.dtype[k])
            if part is None and np.dtype(node.dtype[k]).kind in "fcV"
            else part
            for k, part in enumerate(g)
        )

    def deliver(self, node: Node, port: int, g: Any, *, owned: bool) -> None:
        """Add a contribution to the gradient of a node's output."""
        live = self.live
        if node.op.out:
            parts = live.setdefault(node, [None] * len(node.shape))
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

    def capture(self, node: Node, g: Any) -> None:
        """Keep the gradient of a requested (node, output)."""
        parts = g if node.op.out else (g,)
        for port, part in enumerate(parts):
            if (node, port) in self.targets and part is not None:
                self.captured[node, port] = part

    def leaf(self, node: Leaf) -> None:
        """Deliver to a leaf: tensor hooks, pre-hooks, accumulate, post-accumulate, hooks."""
        g = self.live.pop(node, None)
        owned = node in self.owned
        beside = self.needed is not None and node not in self.needed
        if node.void or (beside and g is None):
            return
        hooks = node.hooks
        if hooks is not None:
            for fns in hooks.tensor.values():
                g, owned = self.tensor_hooks(node, 0, fns, g, owned=owned)
        if beside:  # a root that no target depends on: only its own hooks have seen it
            return
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
        self.flush()  # these hooks must see the new .grad
        if tensor is not None:
            for fn in tuple(hooks.post_accumulate.values()):
                if self.call(fn, tensor) is not None:
                    raise TypeError("expected hooks to return None")
        for fn in tuple(hooks.post.values()):
            self.call(fn, (), (self.show(g),))

    def flush(self) -> None:
        """Write the collected leaf gradients; while hooks may raise, so that it can be undone."""
        if self.pending:
            if self.hooked:
                self.undo += committing.before(self.pending)
            committing.commit(self.pending, self.way, self.site)
            self.pending = []

    def release(self, nodes: Any) -> None:
        """Free what nodes saved; remember which backward did."""
        mark = Released(*self.site)
        for node in nodes:
            if node.saved:
                node.saved = mark
