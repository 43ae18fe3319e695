"""The user's handle: an ndarray, the node that made it, and little else.

Slots are what every operation touches. Rare state (a gradient, a name) lives in the instance's
dict, with defaults on the class. Operators and most methods are attached by the op table; this
file owns state: gradients, flags, hooks, versions, copies.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood import errors
from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.inside import Inside, left
from sapwood._core.memory import heal, version_of
from sapwood._core.methods import Methods
from sapwood._core.mode import MODE
from sapwood._core.node import HookDict, Leaf, Node, RemovableHandle, add_hook, make_leaf

new = object.__new__


class Tensor(Methods):
    """A multi-dimensional array that remembers how it was computed.

    Make one with `sapwood.tensor(data)`. `x.array` is the NumPy array, `x.grad_fn` the node.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "array",
        "cuts",
        "gen",
        "memory",
        "node",
        "path",
        "port",
        "version",
    )
    array: np.ndarray
    node: Node | None
    port: int  # which output of the node
    version: Any
    memory: Any  # where it is a view or has views
    path: tuple  # view steps from the base, where memory is set
    gen: int  # the memory's count of writes that `node` knows of
    cuts: tuple | None  # why there is no node
    make_legacy: Callable  # Tensor(...) of old scripts; handed over by the creation functions

    name: str | None = None
    inference = False
    view_kind: str | None = None
    turned = False  # a base whose shape was changed in place (t_): its path is no view's
    retained_by: Any = None  # weak reference to the node that stores .grad of this non-leaf
    _grad: Any = None
    _leaf: Any = None  # a leaf keeps its node (and hooks) while requires_grad is switched off

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """The old constructor: Tensor([1, 2]) is float, Tensor(2, 3) an uninitialised 2x3."""
        return Tensor.make_legacy(cls, *args, **kwargs)

    # ---- what it is ----

    @property
    def dtype(self) -> dt.dtype:
        """The type of the elements."""
        return dt.of(self.array.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    @property
    def is_leaf(self) -> bool:
        """True where no operation made it (grad_fn is None)."""
        if self.memory is not None:
            heal(self, strict=True)
        return self.node is None or isinstance(self.node, Leaf)

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that made this tensor; None for leaves."""
        if self.memory is not None:
            heal(self, strict=True)
        return None if isinstance(self.node, Leaf) else self.node

    @property
    def output_nr(self) -> int:
        """Which output of its node this tensor is."""
        return self.port

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        memory = self.memory
        if memory is not None and self.gen != memory.gen:
            if self.view_kind is not None:  # a view that may not be used any more
                return memory.node is not None or self.node is not None
            heal(self)
        return self.node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Switch gradients for this leaf on or off, in place. Floating and complex dtypes only."""
        if self.memory is not None:
            heal(self)
        if not isinstance(requires_grad, (bool, np.bool_)):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if self.node is not None and not isinstance(self.node, Leaf):
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use "
                    "a computed variable in a subgraph that doesn't require differentiation use "
                    f"var_no_grad = var.detach(). [requires_grad_] at {where.here()}"
                )
            return self
        if requires_grad and self.array.dtype.kind not in "fcV":
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients (complex ones, too); "
                f"this one is {self.dtype.name}, at {where.here()}"
            )
        if requires_grad and self.inference and not MODE.get().inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed. Make a clone first."
            )
        site = MODE.get().site or where.user_site()
        if requires_grad:
            if self._leaf is None:
                version_of(self)  # now, not at first use: threads share leaves
                self._leaf = make_leaf(self, self.array, *site)
            self.node, self.cuts = self._leaf, None
        elif self.node is not None and not self.node.void:
            self.node = None
            self.cuts = (("requires_grad_(False)", *site, self.array.shape),)
        memory = self.memory
        if memory is not None and not self.path:
            memory.node, memory.port = self.node, 0
            if requires_grad:
                memory.untouched = memory.gen
                memory.gen += 1
            self.gen = memory.gen
        return self

    def own_leaf(self) -> Leaf:
        """The node of this tensor as a leaf, made once: it keeps the hooks."""
        if self._leaf is None:
            site = MODE.get().site or where.user_site()
            self._leaf = make_leaf(self, self.array, *site)
            version_of(self)  # now, not at first use: threads share leaves
        return self._leaf

    def void_leaf(self) -> Leaf:
        """The node of a view made under no_grad: it requires grad and receives none."""
        leaf = make_leaf(self, self.array, *(MODE.get().site or where.user_site()))
        leaf.void = True
        return leaf

    # ---- gradients ----

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient; None before the first. Warns where it will stay None."""
        if self._grad is None and self.memory is not None:
            heal(self)
        if (
            self._grad is None
            and self.node is not None
            and not isinstance(self.node, Leaf)
            and not self.retains_grad
        ):
            warnings.warn(
                errors.non_leaf_grad(self.node.name(), self.node.at()), UserWarning, stacklevel=2
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is None:
            self._grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got {type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.array.shape != self.array.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.array.shape)}' to a tensor "
                f"of size '{list(self.array.shape)}'. Please ensure that the gradient and the "
                "tensor are the same size"
            )
        if value.array.dtype != self.array.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value.dtype.name}' to a tensor with "
                f"grad_dtype '{self.dtype.name}'. The gradient must match the tensor's grad_dtype "
                "(defaults to the tensor's dtype)."
            )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def grad_or_none(self) -> Tensor | None:
        """`.grad` without a warning: for tools that only look."""
        return self._grad

    @property
    def retains_grad(self) -> bool:
        """True for a non-leaf on which retain_grad() was called."""
        return self.retained_by is not None and not isinstance(self.node, Leaf)

    def retain_grad(self) -> None:
        """Make backward fill `.grad` of this non-leaf. Does nothing on leaves."""
        if self.memory is not None:
            heal(self, strict=True)
        if self.node is None:
            raise RuntimeError(
                f"can't retain_grad on Tensor that has requires_grad=False, at {where.here()}"
            )
        if isinstance(self.node, Leaf) or self.retains_grad:
            return
        self.node.own_hooks().retain.append((self.port, weakref.ref(self), ()))
        self.retained_by = weakref.ref(self.node)
        if self.memory is not None:
            self.memory.keepers.append(weakref.ref(self))

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(grad) whenever the gradient of this tensor is computed; it may return another.

        The hook stays with the value that the tensor has now, also after in-place writes.
        """
        if self.memory is not None:
            heal(self, strict=True)
        if self.node is None:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient, at "
                f"{where.here()}"
            )
        hooks = self.node.own_hooks().tensor
        return add_hook(hooks.setdefault(self.port, HookDict()), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(self) after backward has updated `.grad` of this leaf."""
        if self.node is not None and not isinstance(self.node, Leaf):
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        if self.node is None:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient, at "
                f"{where.here()}"
            )
        return add_hook(self.node.own_hooks().post_accumulate, hook)

    # ---- the same elements without history ----

    def detach(self) -> Tensor:
        """A leaf without gradient that shares elements and version counter."""
        if self.memory is not None and self.view_kind is None:
            heal(self)
        t = plain(self.array)
        t.version = version_of(self)
        t.inference = self.inference
        t.cuts = self.cut_by("detach")
        return t

    def cut_by(self, kind: str) -> tuple | None:
        """The cuts of a tensor that has these elements and no history."""
        if self.node is None:
            return self.cuts
        mode = MODE.get()
        kind = mode.why if type(mode.why) is Inside else kind
        return ((kind, *(mode.site or where.user_site()), self.array.shape),)

    def detach_(self) -> Tensor:
        """Forget the history of this tensor, in place; earlier results keep the old graph."""
        if self._is_view():
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set "
                f"as True, gradients are views of DDP buckets. At {where.here()}"
            )
        if self.node is not None:
            self.cuts = (("detach_", *where.user_site(), self.array.shape),)
        self.node, self.port, self.retained_by = None, 0, None
        if self.memory is not None:
            self.memory.node, self.memory.port = None, 0
            self.gen = self.memory.gen  # views that exist keep their history
        return self

    @property
    def data(self) -> Tensor:
        """The elements without history and without version checks. Prefer detach()."""
        t = plain(self.array)
        t.cuts = self.cut_by("data")
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if isinstance(self.node, Leaf):
            self.node.shape, self.node.dtype = value.array.shape, value.array.dtype
        if self.node is None:
            self.cuts = value.cut_by("data")
        self.array = value.array
        self.memory = None  # old views keep the old memory; the version counter stays, as the hooks

    def conjugate(self) -> Tensor:
        """The complex conjugate; real tensors themselves (so that rules may ask at no cost)."""
        return self.conj() if self.array.dtype.kind == "c" else self

    # ---- views and versions ----

    def path_of(self) -> tuple:
        """The view steps from the base to this tensor; empty for a base."""
        return self.path if self.memory is not None else ()

    @property
    def _version(self) -> int:
        if self.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.version is None else self.version.n

    def _is_view(self) -> bool:
        return bool(self.path_of()) and not self.turned

    @property
    def _base(self) -> Tensor | None:
        if not self._is_view():
            return None
        memory = self.memory
        base = memory.base()
        if base is None:  # only the view is left: make a handle for the whole content again
            base = plain(memory.array)
            base.memory, base.version, base.path = memory, self.version, ()
            base.node, base.port, base.gen = memory.node, memory.port, memory.gen
            memory.base = weakref.ref(base)
        return base

    # ---- NumPy and copies ----

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The elements as an ndarray that shares memory. Refused where gradients would be lost."""
        if self.requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                f"instead. At {where.here()}"
            )
        left(self)
        return self.array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """For np.asarray(t)."""
        array = self.numpy()
        if copy:
            return np.array(array, dtype=dtype, copy=True)
        return array if dtype is None else array.astype(dtype, copy=False)

    __array_priority__ = 1000

    def __copy__(self) -> Tensor:
        t = plain(self.array)
        if self.requires_grad and self.is_leaf:
            t.requires_grad_()
        return t

    def __deepcopy__(self, memo: dict) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment. If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001. Use detach().clone(). At "
                f"{where.here()}"
            )
        if id(self) in memo:
            return memo[id(self)]
        t = new(type(self))
        init(t, self.array.copy(order="K"))
        memo[id(self)] = t
        if self.requires_grad:
            t.requires_grad_()
        if self._grad is not None:
            t._grad = self._grad.__deepcopy__(memo)
        if self.name is not None:
            t.name = self.name
        return t

    def __reduce_ex__(self, protocol: Any) -> tuple:
        if self.node is not None and not isinstance(self.node, Leaf):
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) can be pickled; "
                f"use detach(). At {where.here()}"
            )
        return rebuild, (type(self), self.array, self.requires_grad)

    __hash__ = object.__hash__


def rebuild(cls: type, array: np.ndarray, requires_grad: bool) -> Tensor:
    """Unpickle a leaf."""
    t: Tensor = new(cls)
    init(t, dt.canonical(array))
    return t.requires_grad_() if requires_grad else t


KINDS: set[type] = {Tensor}  # the exact types that doors accept; nn adds Parameter


def init(t: Tensor, array: np.ndarray) -> None:
    """Fill the slots of a new tensor without history."""
    t.array = array
    t.node = t.version = t.memory = t.cuts = None
    t.port = 0


def plain(array: np.ndarray) -> Tensor:
    """A tensor without history around an array."""
    t = new(Tensor)
    t.array = array
    t.node = t.version = t.memory = t.cuts = None
    t.port = 0
    return t


def with_node(array: np.ndarray, node: Node | None, port: int) -> Tensor:
    """A tensor around an array, with the node that computed it."""
    t = plain(array)
    t.node, t.port = node, port
    return t
