"""The complete way an operation happens: promotion, numbers, lists, several outputs, views.

The doors (door.py) handle the frequent cases in one frame and come here for the rest; both do
the same thing. Raw arrays in, raw arrays out: that is how rules run at first order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood import errors
from sapwood._core import dtype as dt
from sapwood._core import where
from sapwood._core.inside import apart, merge_cuts
from sapwood._core.memory import KEPT, MULTI, NO_GRAD, attach_view, heal, shares, version_of
from sapwood._core.mode import MODE, Mode
from sapwood._core.node import Node, next_seq
from sapwood._core.op import DOT, FIXED, FOLD, INFERENCE, MAP, MOVE, PICK, Op
from sapwood._core.quiet import quiet
from sapwood._core.seal import seal
from sapwood._core.tensor import KINDS, Tensor, plain

COMPUTES = frozenset({MAP, FOLD, DOT})  # kinds that calculate: half precision goes up first
MOVES = frozenset({MOVE, PICK})


def general(op: Op, xs: Any, attrs: tuple, site: tuple) -> Any:
    """Run `op` on operands of any kind and return tensors (arrays where no tensor came in)."""
    if not any(type(x) in KINDS for x in xs):
        return run_raw(op, xs, attrs)
    mode = MODE.get()
    site = mode.site or site
    xs = [operand(op, x, site) for x in xs]
    values = [x.array if type(x) in KINDS else x for x in xs]
    try:
        ready, common = promote(op, xs, values)
        if op.check is not None:
            op.check(common, *values)
        results = quiet(op, ready, attrs)
    except Exception as e:
        raise explain(op, e, xs, attrs, site) from None
    results = results if op.out else (results,)
    low = common in dt.LOW and op.kind in COMPUTES
    arrays_dtype = dt.numpy_of(common) if common is not None else None
    arrays = []
    for r in results:
        a = r if type(r) is np.ndarray else np.asarray(r)
        if low and a.dtype == dt.F32:
            a = a.astype(arrays_dtype)
        arrays.append(a)
    saved_from = values if low else ready
    tensors = finish(op, xs, saved_from, arrays, attrs, mode, site, low=low)
    return op.pack(tensors) if op.out else tensors[0]


def viewed(op: Op, x: Tensor, r: Any, attrs: tuple, mode: Mode, site: tuple) -> Tensor:
    """The tensor of a view (or of the copy that a reshape had to make), plain mode, one operand."""
    if x.memory is not None and x.gen != x.memory.gen:
        heal(x)
    if x.inference:
        return general(op, (x,), attrs, site)
    if type(r) is not np.ndarray:
        r = np.asarray(r)
    t = plain(r)
    if x.node is not None and mode.grad:
        node = op.node_class()
        node.inputs, node.ports, node.attrs = (x.node,), (x.port,), attrs
        node.shape, node.dtype = r.shape, r.dtype
        node.code, node.lasti = mode.site or site
        node.scope, node.seq, node.hooks = mode.scope, next_seq(), None
        node.plan = op.plan(1)
        kept = KEPT if op.keeps else ()
        node.saved = save(op, node.plan, [x], [x.array], [r], [t]) if node.plan.saves else kept
        t.node = node
    else:
        t.cuts = why_cut(op, [x], x.node is not None, mode, mode.site or site, [t])
    if op.view is True or shares(r, x.array):
        attach_view(t, x, (op, attrs), None if mode.grad else NO_GRAD)
        if x.node is not None and not mode.grad:
            t.node = t.void_leaf()  # as PyTorch has it
    return t


def run_raw(op: Op, xs: Any, attrs: tuple) -> Any:
    """The operation on arrays and numbers only; always arrays out (NumPy gives scalars for 0-d)."""
    if xs and NUMBERS.issuperset(map(type, xs)):
        raise TypeError(
            f"{op.name}(): argument 'input' (position 1) must be Tensor, not "
            f"{type(next(iter(xs))).__name__}"
        )
    xs = [x.item() if isinstance(x, np.generic) and x.dtype.kind != "V" else x for x in xs]
    results = quiet(op, xs, attrs)
    if op.out:
        return op.pack(np.asarray(r) for r in results)
    return results if type(results) is np.ndarray else np.asarray(results)


def operand(op: Op, x: Any, site: tuple) -> Any:
    """A tensor, or a Python number; arrays become constants; anything else is an error."""
    t = type(x)
    if t in KINDS:
        if x.memory is not None:
            heal(x)
        return x
    if t in NUMBERS:
        return x
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return plain(dt.canonical(x))
    if isinstance(x, Tensor):
        return x
    name = op.name.strip("_")
    raise TypeError(
        f"{name}(): argument must be Tensor, not {t.__name__}. [{name}] takes tensors and "
        f"numbers, got {x!r:.60} at {where.at(*site)}"
    )


NUMBERS = frozenset({int, float, bool, complex})


def promote(op: Op, xs: list, values: list) -> tuple[list, dt.dtype | None]:
    """Operands brought to one dtype by PyTorch's rules, half precision computed in float32."""
    first = next(x for x in xs if type(x) in KINDS)
    d: Any = first.array.dtype
    if (d is dt.F32 or d is dt.F64) and all(type(x) in KINDS and x.array.dtype is d for x in xs):
        return values, dt.of(first.array.dtype)
    word, *names = (op.dtype or "promote").split()
    if word == "keep" and op.kind not in COMPUTES:
        return values, dt.of(d)
    if word == "keep":
        common = dt.of(first.array.dtype)
        chosen = list(range(len(xs)))
    else:
        args = op.args if not op.variadic else None
        chosen = [i for i in range(len(xs)) if args is None or not names or args[i] in names]
        common = common_dtype([xs[i] for i in chosen])
        if word == "float" and common.category < dt.FLOAT:
            common = dt.default()
    if op.kind in COMPUTES and common in dt.LOW and word != "exact":
        target = dt.F32
    elif word == "keep":
        return values, common
    else:
        target = dt.numpy_of(common)
    ready = list(values)
    for i in chosen:
        v = values[i]
        if isinstance(v, np.ndarray):
            if v.dtype is not target and (word != "keep" or v.dtype.kind in "fV"):
                ready[i] = v.astype(target, copy=False)
        elif v is not None:
            ready[i] = weak_number(v, target)
    return ready, common


def weak_number(v: Any, target: Any) -> Any:
    """A Python number as NumPy should see it next to arrays of `target`."""
    if target.kind == "b" or (target.kind in "iu" and not isinstance(v, bool)):
        return np.asarray(v).astype(target)  # wraps as PyTorch does, where NumPy would refuse
    if isinstance(v, bool):
        return target.type(v)
    return v


def common_dtype(xs: list) -> dt.dtype:
    """PyTorch's result_type of tensors and numbers."""
    dims: list[dt.dtype] = []
    zeros: list[dt.dtype] = []
    numbers: list[dt.dtype] = []
    for x in xs:
        if type(x) in KINDS:
            (dims if x.array.ndim else zeros).append(dt.of(x.array.dtype))
        elif x is not None:
            numbers.append(dt.of_number(x))
    return dt.result(dims, zeros, numbers)


def finish(
    op: Op,
    xs: list,
    values: list,
    arrays: list,
    attrs: tuple,
    mode: Mode,
    site: tuple,
    *,
    low: bool,
) -> list[Tensor]:
    """Wrap results as tensors and, where a gradient is needed, make the node."""
    tensors = [plain(a) for a in arrays]
    needs = [x.node if type(x) in KINDS else None for x in xs]
    wanted = any(n is not None for n in needs)
    node = None
    if mode.inference:
        for t in tensors:
            t.inference, t.version = True, INFERENCE
    elif wanted and mode.grad and op.grad and any(a.dtype.kind in "fcV" for a in arrays):
        node = attach_node(op, xs, needs, values, arrays, tensors, attrs, mode, site, low=low)
    if node is None:
        cuts = why_cut(op, xs, wanted, mode, site, tensors)
        if cuts:
            for t in tensors:
                t.cuts = cuts if t.array.dtype.kind in "fcV" else apart(cuts)
    if op.kind in MOVES and op.view:
        source = xs[0]
        for i, t in enumerate(tensors):
            if op.view is not True and not shares(t.array, source.array):
                continue
            if source.inference:
                t.inference, t.version = True, INFERENCE
            elif not mode.inference:
                kind = None if mode.grad else NO_GRAD
                if op.out and kind is None:
                    kind = MULTI
                step = (op, attrs) if not op.out else (op, (*attrs, i))
                attach_view(t, source, step, kind)
                if source.node is not None and not mode.grad:
                    t.node = t.void_leaf()
    return tensors


def attach_node(
    op: Op,
    xs: list,
    needs: list,
    values: list,
    arrays: list,
    tensors: list,
    attrs: tuple,
    mode: Mode,
    site: tuple,
    *,
    low: bool,
) -> Node | None:
    """Make the node of an operation and give it to the results that are differentiable."""
    mask = 0
    if op.variadic:
        mask = 1
    else:
        for i, n in enumerate(needs):
            if n is not None and op.args[i] in op.grad:
                mask |= 1 << i
            elif n is not None:
                needs[i] = None
        if not mask:
            return None
    node = op.node_class()
    node.inputs = tuple(needs)
    number = -1 if callable(op.title) else 0
    node.ports = tuple(x.port if type(x) in KINDS else number for x in xs)
    node.attrs = attrs
    node.code, node.lasti = site
    node.scope, node.seq, node.hooks = mode.scope, next_seq(), None
    if op.out:
        node.shape = tuple(a.shape for a in arrays)
        node.dtype = tuple(a.dtype for a in arrays)
    else:
        node.shape, node.dtype = arrays[0].shape, arrays[0].dtype
    node.plan = op.plan(mask, low=low)
    node.saved = save(op, node.plan, xs, values, arrays, tensors) or (KEPT if op.keeps else ())
    for k, t in enumerate(tensors):
        if t.array.dtype.kind in "fcV":
            t.node, t.port = node, k
    return node


def save(op: Op, plan: Any, xs: list, values: list, arrays: list, tensors: list) -> tuple:
    """(value, version, count) of every name that the plan keeps, flat."""
    flat: list[Any] = []
    for name in plan.saves:
        if name in op.args:
            i = op.args.index(name)
            x = xs[i]
            if type(x) in KINDS:
                version = version_of(x)
                flat += [values[i], version, version.n]
            else:
                flat += [values[i], FIXED, 0]
        elif name in op.outputs:
            k = op.outputs.index(name)
            version = version_of(tensors[k])
            flat += [arrays[k], version, version.n]
        else:
            base, _, what = name.rpartition("_")
            value = values[op.args.index(base)]
            flat += [getattr(np.asarray(value), what), FIXED, 0]
    return tuple(seal(flat)) if MODE.get().checked else tuple(flat)


def why_cut(op: Op, xs: list, wanted: bool, mode: Mode, site: tuple, tensors: list) -> tuple | None:
    """Why results have no graph: inherited reasons, or this operation itself."""
    cuts = None
    for x in xs:
        if type(x) in KINDS and x.cuts is not None:
            cuts = merge_cuts(cuts, x.cuts)
    if wanted:
        kind = mode.why if not mode.grad and op.grad else op.name
        if mode.inference:
            kind = "inference_mode"
        cuts = merge_cuts(((kind, *site, tensors[0].array.shape),), cuts)
    return cuts if op.grad else apart(cuts)


def explain(op: Op, e: Exception, xs: Any, attrs: tuple, site: tuple) -> Exception:
    """PyTorch's words, the operands and the user's line for an error that NumPy raised."""
    at, name = where.at(*site), op.name.strip("_")
    if isinstance(e, (errors.ShapeError, errors.GraphError, errors.DtypeError)):
        return e
    shapes = [x.array.shape for x in xs if type(x) in KINDS]
    text = str(e)
    if isinstance(e, ValueError) and "broadcast" in text and op.kind == MAP:
        return errors.bad_broadcast(name, shapes, at)
    if isinstance(e, TypeError) and (
        "not supported for the input types" in text or "not contain a loop" in text
    ):
        title = common_dtype([x for x in xs if type(x) in KINDS]).title
        e = NotImplementedError(f"\"{name}_cpu\" not implemented for '{title}'")
        text = str(e)
    if text.startswith("argument '"):
        text = f"{name}(): {text}"
    given = ", ".join(
        f"{dt.of(x.array.dtype).name}{errors.shape_text(x.array.shape)}"
        if type(x) in KINDS
        else f"{x!r:.40}"
        for x in xs
    )
    what = f"{text} [{name}] got ({given}){f' with {attrs}' if attrs else ''} at {at}"
    kind = type(e)
    if kind in (ValueError, np.exceptions.AxisError):
        kind = RuntimeError if not isinstance(e, IndexError) else IndexError
    try:
        return kind(what)
    except Exception:  # an exception class with its own signature
        return RuntimeError(what)
