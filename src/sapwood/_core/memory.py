"""Views and in-place writes: what tensors that share elements share.

`Version` (in op.py) counts the writes; saved values refer to it. `Memory` is shared by a base
and all its views and knows the node of the *whole* content; tensors refer to it. Two objects, so
that no cycle can form, and only made when a view or a saved value needs them.

A write through any view makes a new node of the whole content (`copy_slices`) and counts
`gen` up; every other view *heals* when it is next looked at: it replays its path of view steps
from the new content's node.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from sapwood import errors
from sapwood._core import where
from sapwood._core.mode import MODE
from sapwood._core.node import Leaf, Node, next_seq
from sapwood._core.op import FIXED, Op, Version

KEPT = (None, FIXED, 0)  # nothing saved, yet released like a saved value
NO_GRAD, MULTI, CUSTOM = "no_grad", "multi", "custom"  # views that refuse writes


class Memory:
    """The content that a base and its views share."""

    __slots__ = ("__weakref__", "array", "base", "gen", "keepers", "node", "port", "untouched")

    def __init__(self, base: Any) -> None:
        self.array = base.array
        self.base = weakref.ref(base)
        self.node: Node | None = base.node
        self.port: int = base.port
        self.gen = 0
        self.untouched = -1  # the gen of views that were made before the base became a leaf
        self.keepers: list[weakref.ref] = []  # tensors that retain their gradient


def version_of(t: Any) -> Version:
    """The write counter of a tensor's memory, made on first use."""
    if t.version is None:
        t.version = Version()
    return t.version


def memory_of(t: Any) -> Memory:
    """The Memory of a tensor, made on first use with the tensor as its base."""
    if t.memory is None:
        t.memory = Memory(t)
        t.path, t.gen = (), 0
        version = version_of(t)
        alive = tuple(ref for ref in version.memories if ref() is not None)
        version.memories = (*alive, weakref.ref(t.memory))
        if isinstance(t.node, Node) and not isinstance(t.node, Leaf) and t.retains_grad:
            t.memory.keepers.append(weakref.ref(t))
    return t.memory


def shares(result: np.ndarray, source: np.ndarray) -> bool:
    """Whether NumPy's result is a view of `source` (a reshape may have had to copy)."""
    base = result.base
    if base is None:
        return False
    if base is source or base is source.base:
        return True
    return np.may_share_memory(result, source)


def attach_view(view: Any, base: Any, step: tuple[Op, tuple], kind: str | None) -> None:
    """Make `view` (array and node already set) a view of `base` by one more step."""
    memory = memory_of(base)
    heal(base)
    view.memory, view.version = memory, base.version
    view.path = (*base.path, step)
    view.gen = memory.gen
    kind = kind or base.view_kind
    if kind is not None:
        view.view_kind = kind


def heal(t: Any, *, strict: bool = False) -> None:
    """Bring the node of a tensor up to date after writes through other views.

    strict: refuse an invalid view also where grad mode is off (somebody asks for its node).
    """
    memory = t.memory
    if memory is None or t.gen == memory.gen:
        return
    node, port = memory.node, memory.port
    if node is None and t.path:  # the base has no history (any more): a view keeps its own
        t.gen = memory.gen
        return
    if node is not None and t.path:
        if t.gen == memory.untouched:  # made before the base became a leaf, not written since
            if t.node is None:
                t.node = t.void_leaf()
            t.gen = memory.gen
            return
        if t.view_kind is not None:
            if strict or MODE.get().grad:
                raise refused_view(t, "grad_fn", base=True)
            return  # without gradients nobody asks for its node
        node, port = replay(memory.array, node, port, t.path)
    old = t.node
    t.node, t.port, t.gen = node, port, memory.gen
    kept = old is not None and t.retained_by is not None and t.retained_by() is old
    if kept and t.path and node is not None:
        move_retain(t, node, port, ())


def replay(array: np.ndarray, node: Node, port: int, path: tuple) -> tuple[Node, int]:
    """The nodes of the view steps of `path`, on top of `node`."""
    code, lasti = where.user_site()
    for op, attrs in path:
        results = op.run(array, *attrs[:-1]) if op.out else op.run(array, *attrs)
        fresh = op.node_class()
        fresh.inputs, fresh.ports = (node,), (port,)
        fresh.plan, fresh.saved = op.plan(1), ()
        if op.out:  # one of several views: the last attribute says which
            fresh.attrs, port = attrs[:-1], attrs[-1]
            fresh.shape = tuple(r.shape for r in results)
            fresh.dtype = tuple(r.dtype for r in results)
            array = results[port]
        else:
            fresh.attrs, port, array = attrs, 0, results
            fresh.shape, fresh.dtype = array.shape, array.dtype
        fresh.code, fresh.lasti, fresh.scope = code, lasti, MODE.get().scope
        fresh.seq, fresh.hooks = next_seq(), None
        node = fresh
    return node, port


# ---- in-place ------------------------------------------------------------------------------


def check_write(t: Any, op: str, *, graph: bool) -> None:
    """Refuse what PyTorch refuses, before anything is changed. `graph`: the value needs grad."""
    mode = MODE.get()
    heal(t)
    if t.inference and not mode.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. "
            f"You can make a clone to get a normal tensor before doing inplace update. [{op}] "
            f"at {where.here()}"
        )
    if mode.grad:
        if t.view_kind is not None and (t.node is not None or graph):
            raise refused_view(t, op)
        if isinstance(t.node, Leaf):
            raise errors.leaf_in_place(view=False, op=op, at=where.here())
        if (
            t.memory is not None
            and t.path
            and not t.turned
            and (isinstance(t.memory.node, Leaf) or (t.memory.node is None and t.node is not None))
        ):
            raise errors.leaf_in_place(view=True, op=op, at=where.here())
    a = t.array
    if overlaps_itself(a):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation. "
            f"[{op}] at {where.here()}"
        )
    if not a.flags.writeable:
        raise RuntimeError(
            "this tensor shares the memory of a read-only NumPy array or buffer: clone() it before "
            f"writing in place. [{op}] at {where.here()}"
        )


def check_overlap(target: np.ndarray, source: np.ndarray, op: str, *, same: bool) -> None:
    """Refuse a source that is another part of the memory that is written; dense ones, as PyTorch.

    same: whether it may be exactly what is written (x.add_(x)).
    """
    if target.base is None and source.base is None and target is not source:
        return
    if not np.may_share_memory(target, source) or not (is_dense(target) and is_dense(source)):
        return
    if same and byte_bounds(target) == byte_bounds(source) and geometry(target) == geometry(source):
        return
    raise RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        "to a single memory location. Please clone() the tensor before performing the operation. "
        f"[{op}] at {where.here()}"
    )


def geometry(array: np.ndarray) -> list[tuple]:
    """Extents and strides; an extent of 1 has no stride."""
    return [(n, s if n != 1 else 0) for n, s in zip(array.shape, array.strides, strict=True)]


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether two positions may be one element: expanded, or windows that overlap."""
    if array.flags.forc or array.size < 2:
        return False
    reach = array.itemsize
    for stride, n in sorted(
        (abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1
    ):
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False


def is_dense(array: np.ndarray) -> bool:
    """Whether the elements fill their memory without gaps, in some order of dimensions."""
    if array.flags.forc or array.ndim < 3:
        return bool(array.flags.forc)
    expected = array.itemsize
    for stride, n in sorted(
        (s, n) for s, n in zip(array.strides, array.shape, strict=True) if n != 1
    ):
        if stride != expected:
            return False
        expected *= n
    return True


def refused_view(t: Any, op: str, *, base: bool = False) -> RuntimeError:
    """The error for a write through a view that cannot carry it, or to its base."""
    end = f" [{op}] at {where.here()}"
    done = "and its base or another view of its base has been" if base else "and is being"
    if t.view_kind == NO_GRAD:
        return RuntimeError(
            f"A view was created in no_grad mode {done} modified inplace with grad mode "
            "enabled. Given that this use case is ambiguous and error-prone, it is forbidden. "
            "You can clarify your code by moving both the view and the inplace either both inside "
            "the no_grad block (if you don't want the inplace to be tracked) or both outside (if "
            f"you want the inplace to be tracked).{end}"
        )
    name = t.node.short_name() if t.node is not None else t.path[-1][0].name
    start = f"Output {t.port} of {name} is a view {done} modified inplace. This view "
    if t.view_kind == CUSTOM:
        return RuntimeError(
            f"{start}was created inside a custom Function (or because an input was returned as-is) "
            "and the autograd logic to handle view+inplace would override the custom backward "
            "associated with the custom Function, leading to incorrect gradients. This behavior is "
            f"forbidden. You can fix this by cloning the output of the custom Function.{end}"
        )
    return RuntimeError(
        f"{start}is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation "
        f"by an out-of-place one.{end}"
    )


def bump(t: Any) -> None:
    """Count a write and remember the user's line of it."""
    if t.inference:
        return
    version = version_of(t)
    version.n += 1
    for ref in version.memories:  # views renew their nodes when they are next looked at
        memory = ref()
        if memory is not None:
            memory.gen += 1
            memory.untouched = -1
    site = MODE.get().site
    version.code, version.lasti = site or where.user_site()


def rebase(t: Any, node: Node | None, port: int) -> None:
    """After a write: `node` computed the content of `t`; make base and views know it."""
    memory = t.memory
    if memory is None:
        moved = t.retains_grad
        t.node, t.port = node, port
        if moved:
            move_retain(t, node, port, ())
        return
    if t.path:
        memory.node, memory.port = copy_slices(memory, node, port, t.path), 0
    else:
        memory.node, memory.port = node, port
    memory.gen += 1
    for ref in memory.keepers:
        keeper = ref()
        if keeper is not None and keeper.node is not None:
            move_retain(keeper, memory.node, memory.port, keeper.path)
    if not t.path:
        t.node, t.port, t.gen = node, port, memory.gen


def move_retain(t: Any, node: Node | None, port: int, path: tuple) -> None:
    """retain_grad follows the tensor to its new value (hooks stay with the old one)."""
    ref = drop_retain(t)
    if node is not None:
        node.own_hooks().retain.append((port, ref or weakref.ref(t), path))
        t.retained_by = weakref.ref(node)


def drop_retain(t: Any) -> weakref.ref | None:
    """Take the retention of `t` from the node that has it."""
    node = t.retained_by() if t.retained_by is not None else None
    if node is not None and node.hooks is not None:
        kept = node.hooks.retain
        for entry in kept:
            if entry[1]() is t:
                kept.remove(entry)
                return entry[1]
    return None


def copy_slices(memory: Memory, node: Node | None, port: int, path: tuple) -> Node:
    """The node of the whole content after the region of `path` was overwritten by `node`."""
    op = OVERLAY[0]
    fresh = op.node_class()
    fresh.inputs, fresh.ports = (memory.node, node), (memory.port, port)
    fresh.attrs = (path, layout(memory.array))
    fresh.plan = op.plan((memory.node is not None) | (node is not None) << 1)
    fresh.saved = KEPT  # a second backward through a write is refused, as PyTorch does
    fresh.shape, fresh.dtype = memory.array.shape, memory.array.dtype
    fresh.code, fresh.lasti = MODE.get().site or where.user_site()
    fresh.scope, fresh.seq, fresh.hooks = MODE.get().scope, next_seq(), None
    return fresh


def layout(array: np.ndarray) -> tuple | None:
    """Strides in elements; None for row-major order. Views that reinterpret memory depend on it."""
    if array.flags.c_contiguous:
        return None
    return tuple(s // array.itemsize for s in array.strides)


OVERLAY: list[Op] = []  # handed over by _ops: x with the region of a view path replaced by y
