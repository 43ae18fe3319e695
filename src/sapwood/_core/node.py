"""A node of the computation graph: the event of one operation, or the leaf where a graph begins.

Ownership: a Tensor refers to its Node, a Node to older Nodes, arrays and version counters, never
to a Tensor (a leaf node knows its tensor weakly). So no cycle can form and reference counting
frees every graph, however deep.
"""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from sapwood import errors
from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.op import FIXED, Op
from sapwood._core.seal import Sealed

next_seq = itertools.count().__next__
LEAF_SEQ = 2**64 - 1  # a leaf accumulates as soon as it is ready


class Released:
    """Stands where saved values were; says which backward released them."""

    __slots__ = ("code", "lasti")

    def __init__(self, code: Any, lasti: int) -> None:
        self.code, self.lasti = code, lasti


class Meta:
    """Shape and dtype of one output of a node."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple, dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype

    def __repr__(self) -> str:
        return f"Meta(shape={list(self.shape)}, dtype={self.dtype})"


class HookDict(dict):
    """Handle id -> function, in the order of registration; can be referred to weakly."""

    __slots__ = ("__weakref__",)


class Hooks:
    """Everything that users attached to one node. Made on first use: most nodes have none."""

    __slots__ = ("post", "post_accumulate", "pre", "retain", "tensor")
    used = False  # in this process: until then the reverse pass need not look for hooks

    def __init__(self) -> None:
        Hooks.used = True
        self.tensor: dict[int, HookDict] = {}  # by output
        self.retain: list[tuple[int, weakref.ref, tuple]] = []  # output, tensor, view path
        self.pre = HookDict()
        self.post = HookDict()
        self.post_accumulate = HookDict()


class RemovableHandle:
    """Removes a hook: `remove()`, or at the end of a `with` block. Keeps no graph alive."""

    __slots__ = ("__weakref__", "_hooks", "id")
    _next = itertools.count().__next__

    def __init__(self, hooks: HookDict) -> None:
        self.id = RemovableHandle._next()
        self._hooks = weakref.ref(hooks)

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def add_hook(hooks: HookDict, fn: Callable) -> RemovableHandle:
    """Register `fn` after the ones that are there, and return its handle."""
    if not callable(fn):
        raise TypeError(f"a hook must be callable, got {type(fn).__name__}")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = fn
    return handle


class Node:
    """One differentiable operation of the graph: `tensor.grad_fn`."""

    __slots__ = (
        "__weakref__",
        "_meta",
        "attrs",
        "code",
        "dtype",
        "hooks",
        "inputs",
        "lasti",
        "plan",
        "ports",
        "saved",
        "scope",
        "seq",
        "shape",
    )

    op: Op  # on the class: one class per op
    inputs: tuple[Node | None, ...]
    ports: tuple[int, ...]  # which output of each input
    attrs: tuple
    plan: Any
    saved: Any  # flat (value, version, count) of each saved name, or Released
    shape: Any  # of the output; a tuple of shapes where the op has several
    dtype: Any  # NumPy's
    code: Any  # with lasti: the place of the call, resolved on request
    lasti: int
    scope: str
    seq: int
    hooks: Hooks | None
    _meta: dict

    def name(self) -> str:
        """The name that PyTorch gives this node, such as MulBackward0."""
        title = self.op.title
        if callable(title):
            return title(self)
        return type(self).__name__

    def short_name(self) -> str:
        """The name as PyTorch's messages have it: Mul for MulBackward0."""
        return re.sub(r"Backward\d*$", "", self.name())

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that this node delivers gradients to, one pair per differentiable input.

        A port of -1 marks a number in an op that has an overload of its own for numbers (x ** 2).
        """
        pairs = zip(self.inputs, self.ports, strict=True)
        if self.op.variadic or not self.op.args:
            return tuple(pairs)
        rules = self.op.grad
        return tuple(
            pair
            for arg, pair in zip(self.op.args, pairs, strict=True)
            if arg in rules and pair[1] >= 0
        )

    @property
    def metadata(self) -> dict:
        """A dict for the user's own notes; it lives as long as the node."""
        try:
            return self._meta
        except AttributeError:
            self._meta = {}
            return self._meta

    @property
    def requires_grad(self) -> bool:
        """True: a node exists only where a gradient is needed."""
        return True

    def output_meta(self, port: int) -> Meta:
        """Shape and (NumPy) dtype of an output."""
        if self.op.out:
            return Meta(self.shape[port], self.dtype[port])
        return Meta(self.shape, self.dtype)

    def input_meta(self, i: int) -> Meta:
        """Shape and (NumPy) dtype of the value that came in as operand i."""
        node = self.inputs[i]
        assert node is not None
        return node.output_meta(self.ports[i])

    @property
    def _input_metadata(self) -> list[Meta]:
        count = len(self.shape) if self.op.out else 1
        return [self.output_meta(k) for k in range(count)]

    @property
    def site(self) -> str:
        """`file:line` of the user's call that made this node."""
        found = self.place
        return where.UNKNOWN if found is None else f"{found.file}:{found.line}"

    @property
    def place(self) -> where.Place | None:
        """The user's line, resolved on request."""
        return where.place(self.code, self.lasti)

    def at(self) -> str:
        """The place with its source text, for messages."""
        return where.at(self.code, self.lasti)

    def _sequence_nr(self) -> int:
        return self.seq

    def _set_sequence_nr(self, seq: int) -> None:
        Hooks.used = True  # from now on the reverse pass counts edges
        self.seq = seq

    def own_hooks(self) -> Hooks:
        """The hooks of this node, made on first use."""
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """After this node ran: fn(grad_inputs, grad_outputs) -> None or new grad_inputs."""
        return add_hook(self.own_hooks().post, fn)

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Before this node runs: fn(grad_outputs) -> None or a tuple of new grad_outputs."""
        return add_hook(self.own_hooks().pre, fn)

    def saved_values(self) -> list[tuple[str, Any]]:
        """(name, value) of everything kept for backward; raises where it was released."""
        if type(self.saved) is Released:
            raise self.second_backward()
        flat = self.saved
        return list(zip(self.plan.saves, flat[::3], strict=bool(self.plan.saves)))

    def saved_attribute(self, key: str) -> Any:
        """What `_saved_<name>` gives: an attribute, or a saved value; None where not needed."""
        if not isinstance(key, str):  # a constant of the record
            return key
        op = self.op
        if key in op.attrs:
            return self.attrs[op.attrs.index(key)]
        if type(self.saved) is Released:
            raise self.second_backward()
        return self.unpack(key) if key in self.plan.saves else None

    def unpack(self, name: str) -> Any:
        """A saved value as a tensor with its history (set by `tensor`, which may make tensors)."""
        raise NotImplementedError

    def second_backward(self) -> errors.GraphError:
        """The error for values that are no longer there."""
        by = self.saved
        return errors.second_backward(self.name(), self.at(), where.at(by.code, by.lasti))

    def raise_stale(self) -> None:
        """Raise for the first saved value whose memory was written since."""
        flat = self.saved
        for name, value, cell, n in zip(
            self.plan.saves, flat[::3], flat[1::3], flat[2::3], strict=True
        ):
            if cell.n != n and cell is not FIXED:
                if type(cell) is Sealed and cell.cell.n == n:
                    raise errors.overwritten_outside(
                        what=self.describe(name, value), name=self.name(), saved_at=self.at()
                    )
                raise errors.overwritten(
                    what=self.describe(name, value),
                    name=self.name(),
                    expected=n,
                    now=cell.n,
                    saved_at=self.at(),
                    written_at=where.at(cell.code, cell.lasti),
                )

    def describe(self, name: str, value: Any) -> str:
        """`[torch.FloatTensor [2]], which is output 0 of ExpBackward0`, with the user's name."""
        if name in self.op.args:
            i = self.op.args.index(name)
            return describe(value, self.inputs[i], self.ports[i])
        return describe(value, self, self.op.outputs.index(name) if self.op.out else 0)

    def __repr__(self) -> str:
        return f"<{self.name().rpartition(':')[2]} object at {id(self):#x}>"


def describe(value: Any, source: Node | None, port: int) -> str:
    """A value for messages: its type and shape, and which output of which node it is."""
    text = f"[torch.{dt.of(value.dtype).title}Tensor {errors.shape_text(value.shape)}]"
    if isinstance(source, Leaf):
        tensor = source.ref()
        label = getattr(tensor, "name", None) or source.place_name()
        return text + (f", which is the leaf {label!r}" if label else ", which is a leaf")
    if source is None:
        return text
    found = source.place
    text += f", which is output {port} of {source.short_name()}"
    return text + (f" ({found.name})" if found and found.name else "")


def read_saved(node: Node, key: str) -> Any:
    """The getter behind `_saved_*`."""
    return node.saved_attribute(key)


def saved_properties(op: Op) -> dict[str, property]:
    """`_saved_self`, `_saved_other`, `_saved_result`, ... of an op's node class.

    On the class, not by __getattr__, which would slow down every attribute access of a node.
    """
    names = {key: key for key in (*op.args, *op.attrs, *op.outputs)}
    names["result"] = "out"
    if op.args:
        names["self"] = op.args[0]
    if len(op.args) > 1:
        names["other"] = op.args[1]
    names |= op.saved_names or {}
    known = (*op.args, *op.attrs, *op.outputs)
    return {
        f"_saved_{theirs}": property(partial(read_saved, key=ours))
        for theirs, ours in names.items()
        if ours in known or not isinstance(ours, str)
    }


class Leaf(Node):
    """Where a graph begins: delivers gradients to its tensor, which it refers to weakly."""

    __slots__ = ("ref", "void")
    ref: weakref.ref
    void: bool  # a view made under no_grad: requires grad as its base does, but receives none

    def name(self) -> str:
        """PyTorch's name of a leaf's node."""
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self) -> Any:
        """The leaf tensor; None when it no longer exists."""
        return self.ref()

    def place_name(self) -> str | None:
        """The variable that the leaf was assigned to where it was made, if that can be told."""
        found = self.place
        return found.name if found else None


Leaf.__name__ = Leaf.__qualname__ = "AccumulateGrad"
Leaf.op = Op(name="leaf", args=(), attrs=(), kind="MAKE", grad={}, out=None)


def make_leaf(tensor: Any, array: Any, code: Any, lasti: int) -> Leaf:
    """The node of a leaf tensor that requires grad."""
    leaf = Leaf()
    leaf.ref, leaf.void = weakref.ref(tensor), False
    leaf.inputs, leaf.ports, leaf.attrs, leaf.saved = (), (), (), ()
    leaf.plan = Leaf.op.plan(0)
    leaf.shape, leaf.dtype = array.shape, array.dtype
    leaf.code, leaf.lasti, leaf.scope = code, lasti, ""
    leaf.seq, leaf.hooks = LEAF_SEQ, None
    return leaf
