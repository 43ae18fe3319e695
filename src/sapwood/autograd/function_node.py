"""The graph side of custom Functions: their nodes, what they saved, and how backward is called.

A `FunctionNode` refers to the `ctx` that the user's two functions share; the ctx knows its node
weakly, so no cycle forms. What a forward saved stands on the ctx as (value, version, count)
triples like on every node, with the edge that each value came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood import errors
from sapwood._core import where
from sapwood._core.firing import CURRENT
from sapwood._core.inside import Inside, computed_at
from sapwood._core.memory import heal, version_of
from sapwood._core.mode import MODE
from sapwood._core.node import Leaf, Node, Released, describe, next_seq
from sapwood._core.op import CALL, FIXED, INFERENCE, MAKE, Op
from sapwood._core.seal import Sealed, seal
from sapwood._core.tensor import Tensor, plain, with_node

OUTPUT, HIDDEN = "output", "hidden"  # where a saved value came from, when not from an edge


class FunctionPlan:
    """How the reverse pass runs a FunctionNode: through the user's backward."""

    plain, many, alias, low, custom, mask = False, True, True, False, True, 0
    saves: tuple = ()
    rules: tuple = ()

    @staticmethod
    def back(g: Any, node: Any) -> tuple:
        """Gradients as arrays."""
        return node.run(g, graph=False)

    @staticmethod
    def traced(g: Any, node: Any) -> tuple:
        """Gradients as tensors with history."""
        return node.run(g, graph=True)


PLAN = FunctionPlan()


class FunctionNode(Node):
    """The node of one call of a custom Function; the class of a Function F is FBackward."""

    __slots__ = ("ctx", "differentiable", "op")
    function: Any  # on the class: the user's Function
    ctx: Any
    differentiable: frozenset[int]  # the outputs that have a gradient

    @property
    def saved(self) -> Any:
        """What forward saved, flat; a Released after it was freed."""
        return self.ctx._saved

    @saved.setter
    def saved(self, value: Any) -> None:
        self.ctx._saved = value

    @property
    def next_functions(self) -> tuple:
        """One pair per tensor argument."""
        pairs = zip(self.inputs, self.ports, strict=True)
        return tuple(pair for pair in pairs if pair[1] >= 0)

    def __getattr__(self, name: str) -> Any:
        """What the user put on ctx, and saved_tensors, needs_input_grad, ... ."""
        if name == "ctx":  # not there yet
            raise AttributeError(name)
        return getattr(self.ctx, name)

    def saved_values(self) -> list[tuple[str, Any]]:
        """(name, value) of everything kept for backward; raises where it was released."""
        if type(self.saved) is Released:
            raise self.second_backward()
        return [(f"saved_tensors[{i}]", value) for i, value in enumerate(self.saved[::3])]

    def run(self, g: Any, *, graph: bool) -> tuple:
        """The user's backward: gradients of the outputs in, of the tensor arguments out."""
        ctx = self.ctx
        given = g or [None] * len(self.shape)
        grads = [self.shown(k, part, graph=graph) for k, part in enumerate(given)]
        fn = user_backward(self.function)
        if getattr(self.function, "boxed_grads_call", False):
            results = fn(ctx, grads)
        else:
            results = fn(ctx, *grads)
        if not isinstance(results, tuple):
            results = (results,)
        results = self.counted(results)
        return tuple(self.checked(i, r, graph=graph) for i, r in enumerate(results))

    def shown(self, k: int, g: Any, *, graph: bool) -> Tensor | None:
        """The gradient of output k as backward gets it: its own memory; zeros for an absent one."""
        if g is not None:
            return g if graph else plain(np.array(g))
        ctx, dtype = self.ctx, self.dtype[k]
        if dtype is None or not ctx.materialize_grads:
            return None
        if k not in self.differentiable and not ctx._materialize_non_diff_grads:
            return None
        return plain(np.zeros(self.shape[k], dtype))

    def counted(self, results: tuple) -> tuple:
        """As many results as forward had arguments; trailing Nones may be more."""
        expected = len(self.inputs)
        if len(results) > expected and all(r is None for r in results[expected:]):
            return results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {len(results)}): one per argument of forward. {self.made()}"
            )
        return results

    def checked(self, i: int, r: Any, *, graph: bool) -> Any:
        """The gradient of argument i, or what is wrong with it."""
        if r is None:
            return None
        if not isinstance(r, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(r).__name__}) as gradient {i} of "
                f"{self.name()}. {self.made()}"
            )
        if self.ports[i] < 0:
            raise RuntimeError(
                f"function {self.name()} returned a gradient different than None at position "
                f"{i + 1}, but the corresponding forward input was not a Variable. {self.made()}"
            )
        if self.inputs[i] is None:
            return None
        heal(r)
        meta = self.input_meta(i)
        have, want = r.array.shape, tuple(meta.shape)
        lead = len(have) - len(want)
        if lead < 0 or any(n not in (1, m) for n, m in zip(want, have[lead:], strict=True)):
            index = sum(p >= 0 for p in self.ports[:i])
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {index} - got "
                f"{list(have)} but expected shape compatible with {list(want)}. {self.made()}"
            )
        if r.array.dtype.kind == "c" and meta.dtype.kind != "c":
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient: complex for the real "
                f"argument {i}. {self.made()}"
            )
        return r if graph else r.array

    def made(self) -> str:
        """The user's line that applied the Function, for messages."""
        return f"{self.function.__name__}.apply at {self.at()}"


def user_backward(function: Any) -> Any:
    """The backward that a Function defines, under either of its names."""
    own = {name: getattr(function, name) for name in ("backward", "vjp")}
    given = [fn for fn in own.values() if not getattr(fn, "is_default", False)]
    if len(given) == 2:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            f"should only implement one of them. [{function.__name__}]"
        )
    if not given:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            f"autograd.Function to use it with backward mode AD. [{function.__name__}]"
        )
    return given[0]


def function_op(function: Any, count: int) -> Op:
    """The op of a Function that returns `count` values; kept on the Function's own class."""
    ops = function.__dict__.get("_ops")
    if ops is None:
        ops = function._ops = {}
    if count not in ops:
        names = tuple(f"output{k}" for k in range(count))
        ops[count] = Op(
            name=function.__name__,
            args=("inputs",),
            attrs=(),
            kind=CALL,
            grad={},
            out=names,
            variadic=True,
            doc=(function.__doc__ or "").split("\n")[0],
        )
    return ops[count]


# ---- what forward saved ------------------------------------------------------------------------


def keep(function: Any, tensors: Any, args: tuple, outputs: Any, inside: Inside) -> tuple:
    """(flat triples, where each came from) of tensors that a forward keeps."""
    flat: list[Any] = []
    sources: list[Any] = []
    for i, t in enumerate(tensors):
        if t is None:
            flat += [None, FIXED, 0]
            sources.append(None)
            continue
        if not isinstance(t, Tensor):
            raise TypeError(
                "save_for_backward can only save variables, but argument "
                f"{i} is of type {type(t).__name__}. [{function.__name__}]"
            )
        if t.inference:
            INFERENCE.n  # noqa: B018 (raises: nothing of inference mode may be saved)
        version = version_of(t)
        flat += [t.array, version, version.n]
        sources.append(source_of(t, args, outputs, inside))
    if MODE.get().checked:
        flat = seal(flat)
    return tuple(flat), tuple(sources)


def source_of(t: Tensor, args: tuple, outputs: Any, inside: Inside) -> Any:
    """(OUTPUT, k), the edge (node, port) that t came from, or HIDDEN: computed in forward."""
    for k, out in enumerate(outputs):
        if out is t:
            return (OUTPUT, k)
    open_end = t.node is None or isinstance(t.node, Leaf)  # a Leaf: views of inputs have their own
    mine = open_end and t.array.dtype.kind in "fcV" and not any(t is a for a in args)
    made = computed_at(t, inside) if mine else None
    if made is not None:
        return (HIDDEN, where.at(*made))
    return (t.node, t.port)


def taken(ctx: Any, flat: tuple, sources: tuple, i: int, label: str) -> Tensor | None:
    """A kept tensor again, with its history."""
    value, version, n = flat[3 * i : 3 * i + 3]
    source = sources[i]
    if source is None:
        return None
    if version.n != n:
        raise_stale(ctx, value, version, n, source)
    kind, where_from = source
    if type(version) is Sealed:
        version = version.cell
    if kind is HIDDEN:
        t = guarded(ctx, value, label, where_from) if differentiating() else plain(value)
    elif kind is OUTPUT:
        node = ctx._node()
        floating = node is not None and where_from in node.differentiable
        t = with_node(value, node, where_from) if floating else plain(value)
    else:
        if isinstance(kind, Leaf):
            leaf = kind.ref()
            if leaf is not None and leaf.array is value:
                return leaf
        t = with_node(value, kind, where_from)
    t.version = version
    return t


def attribute(ctx: Any, name: str, kind: str, where_from: Any, owner: Any, array: Any) -> Tensor:
    """An attribute of ctx that is an output, or a value that forward computed."""
    if kind is HIDDEN:
        return guarded(ctx, array, f"ctx.{name}", where_from) if differentiating() else owner
    t, node = owner(), ctx._node()
    if t is not None:
        return t
    return plain(array) if node is None else with_node(array, node, where_from)


def differentiating() -> bool:
    """Whether what runs may itself be differentiated: not in a backward of first order."""
    run = CURRENT.get()
    return MODE.get().grad and (run is None or run.way.graph)


def raise_stale(ctx: Any, value: Any, version: Any, n: int, source: tuple) -> None:
    """Raise for a kept tensor that was written since."""
    node, port = source
    if node is OUTPUT:
        node = ctx._node()
    elif node is HIDDEN:
        node = None
    maker = ctx._node()
    name, made = (maker.name(), maker.at()) if maker is not None else (type(ctx).__name__, "?")
    what = describe(value, node, port)
    if type(version) is Sealed and version.cell.n == n:
        raise errors.overwritten_outside(what=what, name=name, saved_at=made)
    raise errors.overwritten(
        what=what,
        name=name,
        expected=n,
        now=version.n,
        saved_at=made,
        written_at=where.at(version.code, version.lasti),
    )


# ---- values whose derivative is not known ------------------------------------------------------


class Error(Node):
    """Stands for a derivative that nobody gave: refuses when a gradient reaches it."""

    __slots__ = ("message",)
    message: str

    def name(self) -> str:
        """PyTorch's name of this node."""
        return "torch::autograd::Error"


class ErrorPlan:
    """How the reverse pass runs an Error: it raises."""

    plain, many, alias, low, custom, mask = False, False, True, False, False, 0
    saves: tuple = ()
    rules: tuple = ()

    @staticmethod
    def back(g: Any, node: Any) -> tuple:
        """A gradient arrived."""
        raise errors.GraphError(node.message)

    traced = back


ERROR_PLAN = ErrorPlan()
Error.op = Op(name="error", args=("inputs",), attrs=(), kind=MAKE, grad={}, variadic=True)


def refusing(value: np.ndarray, inputs: tuple, ports: tuple, message: str) -> Tensor:
    """A tensor that depends on the edges, but whose derivative is an error."""
    node = Error()
    node.inputs, node.ports, node.attrs, node.saved = inputs, ports, (), ()
    node.plan, node.message, node.hooks = ERROR_PLAN, message, None
    node.shape, node.dtype = value.shape, value.dtype
    node.code, node.lasti = where.user_site()
    node.scope, node.seq = MODE.get().scope, next_seq()
    return with_node(value, node, 0)


def guarded(ctx: Any, value: np.ndarray, label: str, made: str) -> Tensor:
    """A value that forward computed and kept, inside a backward that is itself differentiated."""
    maker = ctx._node()
    name = maker.name() if maker is not None else "a custom Function"
    inputs, ports = ctx._edges
    return refusing(
        value,
        inputs,
        ports,
        (
            f"The derivative of {label} of {name} is needed, but forward computed this value "
            "from its inputs without a graph, so the second derivative through it is not known.\n"
            f"  computed at: {made}\n"
            "  Save the inputs and compute it again in backward, or return it as one more output "
            "of forward and save that. If it is meant to be a constant, detach() it in backward."
        ),
    )
