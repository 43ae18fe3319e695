"""Running users' hooks inside the reverse pass, in PyTorch's observed order.

Tensor hooks (registration order), the stores of retain_grad, node pre-hooks, the node, node hooks;
for a leaf: tensor hooks, pre-hooks, accumulation, post-accumulate hooks, node hooks. A hook may
write into what it is given: it then changes its own gradient and never a sibling's.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.mode import MODE
from sapwood._core.node import Node
from sapwood._core.quiet import IGNORE, silence
from sapwood._core.tensor import Tensor, plain

CURRENT: ContextVar[Any] = ContextVar("sapwood_pass", default=None)  # the pass that runs hooks
FOLLOW: list[Any] = []  # view paths on arrays and tensors; handed over by _ops


class Firing:
    """The part of a pass that calls hooks."""

    way: Any
    pending: list
    flush: Any
    user_state: Any
    needed: Any

    def before(self, node: Node, g: Any, *, owned: bool) -> tuple[Any, bool]:
        """Tensor hooks in order of registration, then the stores of retain_grad."""
        hooks = node.own_hooks()
        if node.op.out:
            g = g or [None] * len(node.shape)
            ordered = sorted(
                ((key, port, fn) for port, fns in hooks.tensor.items() for key, fn in fns.items()),
                key=lambda entry: entry[0],
            )
            for key, port, fn in ordered:  # as they were registered, whatever the output
                g[port], _ = self.tensor_hooks(node, port, {key: fn}, g[port], owned=False)
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
        if self.pending:
            self.flush()  # a hook sees the leaves that are done
        old = MODE.get()
        try:  # all of it: a signal may come after any call
            silence(self.user_state)
            MODE.set(old.but(grad=self.way.graph, site=None))  # the user's own lines again
            return fn(*args)
        finally:
            MODE.set(old)
            silence(IGNORE)

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
            tensor._grad = self.way.copy(g) if old is None else self.way.add(old, g, owned=False)
        elif old is not None:
            tensor._grad = plain(np.asarray(old.array + g))
        else:
            whole = owned and g.flags.c_contiguous
            tensor._grad = plain(g if whole else np.array(g, order="C"))

    def pre_hooks(self, node: Node, g: Any) -> Any:
        """Node pre-hooks: each may replace the tuple of output gradients."""
        parts = g if node.op.out else (g,)
        shown = tuple(self.show(p) for p in parts)
        for fn in tuple(node.own_hooks().pre.values()):
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
        ins: list[Any] = []
        for k, r in enumerate(results):
            inp = node.inputs[k]
            if r is None or inp is None or (self.needed is not None and inp not in self.needed):
                ins.append(None)  # absent, or beside the way to the targets
            else:
                meta = inp.output_meta(node.ports[k])
                ins.append(self.show(self.way.fit(r, meta.shape, meta.dtype)))
        shown = tuple(ins)
        for fn in tuple(node.own_hooks().post.values()):
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
