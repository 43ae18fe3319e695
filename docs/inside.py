"""The inside of sapwood in one small file: read it from top to bottom, then run it.

    python docs/inside.py

This is a twin for teaching. It has the ideas of the real machine (`src/sapwood/_core`), the same
names, and none of its speed or completeness. It needs NumPy only. After each idea stands a check;
that the file runs to its end is the proof that the text tells the truth.
"""

from __future__ import annotations

import dis
import gc
import heapq
import inspect
import itertools
import linecache
import sys
import weakref

import numpy as np

# ==== 1. The table: one record says everything about an operation ===============================
#
# A record holds what the operation computes (`run`, plain NumPy) and one *rule* per operand: how
# the gradient of the result becomes the gradient of that operand. The names of a rule's parameters
# are its contract. `g` is the gradient that arrives; an operand's name asks for its value, `out`
# for the result, `x_shape` for a shape, an attribute's name for that attribute. Nothing about an
# operation is written anywhere else: execution, derivatives and drawing all read the record.

TABLE = {}


class Op:
    def __init__(self, name, spec, run, rules, view):
        operands, _, attrs = spec.partition(";")
        self.name, self.run, self.rules, self.view = name, run, rules, view
        self.operands, self.attrs = operands.split(), attrs.split()
        self.asks = {x: list(inspect.signature(rule).parameters) for x, rule in rules.items()}


def primitive(name, spec, run, *, view=False, **rules):
    """Put an operation into the table; the result is its public function, the door (part 3)."""
    op = TABLE[name] = Op(name, spec, run, rules, view)
    return lambda *given: enter(op, given, sys._getframe(1))


add = primitive("add", "x y", np.add, x=lambda g: g, y=lambda g: g)
mul = primitive("mul", "x y", np.multiply, x=lambda g, y: g * y, y=lambda g, x: g * x)
exp = primitive("exp", "x", np.exp, x=lambda g, out: g * out)

assert TABLE["mul"].asks == {"x": ["g", "y"], "y": ["g", "x"]}
assert TABLE["exp"].asks["x"] == ["g", "out"], "exp needs its own result, not its operand"

# ==== 2. A tensor is a handle; a node is an event ===============================================
#
# A Tensor is what the user holds: an array, and the node that made it. A Node is one operation
# that happened. It refers to the nodes of its operands, so the nodes form the computation graph.
# The arrows go one way only: tensor -> node -> older nodes -> arrays. A node never refers to a
# tensor, so no circle can arise, and whatever nobody needs is freed at once (part 9 checks it).
# A leaf, where a graph begins, must deliver a gradient to its tensor: it knows it *weakly*.

tick = itertools.count().__next__


class Version:
    """How often some memory was written. Views of one memory share it (part 7)."""

    def __init__(self):
        self.n, self.line = 0, ""


class Memory:
    """What a tensor and all its views share: the array, and the node of its whole content."""

    def __init__(self, array, node):
        self.array, self.node, self.writes = array, node, 0


class Node:
    op, saved = None, {}

    def __init__(self, inputs, shape, frame):
        self.inputs, self.shape, self.seq = inputs, shape, tick()
        self.code, self.lasti = frame.f_code, frame.f_lasti  # where: two references, no text yet
        self.hooks, self.retain = [], None


class Leaf(Node):
    def __init__(self, tensor, frame):
        super().__init__((), tensor.array.shape, frame)
        self.ref = weakref.ref(tensor)


class Tensor:
    __array_ufunc__ = None  # ndarray * tensor is left to the tensor

    def __init__(self, data, *, requires_grad=False):
        self.array = np.asarray(data, float)
        self.node, self.version, self.memory, self.path = None, Version(), None, ()
        self.grad, self.seen = None, 0
        if requires_grad:
            self.node = Leaf(self, sys._getframe(1))

    def __add__(self, other):
        return enter(TABLE["add"], (self, other), sys._getframe(1))

    def __mul__(self, other):
        return enter(TABLE["mul"], (self, other), sys._getframe(1))

    __radd__, __rmul__ = __add__, __mul__


# ==== 3. The door: how an operation happens =====================================================
#
# All operations enter through the same door. Arrays in, array out: nothing is recorded. With a
# tensor among the operands the result is a tensor, and where one of them needs a gradient a node is
# made. It keeps exactly what the rules of *those* operands ask for, and nothing else: in `x * 3`
# only the 3 is kept. (sapwood writes one specialised function per operation and arity, because a
# general body such as this one takes longer than a small multiplication itself.)


def enter(op, given, frame):
    count = len(op.operands)
    xs, attrs = given[:count], dict(zip(op.attrs, given[count:], strict=True))
    values = [x.array if isinstance(x, Tensor) else x for x in xs]
    out = np.asarray(op.run(*values, *attrs.values()))
    if not any(isinstance(x, Tensor) for x in xs):
        return out
    result = Tensor(out)
    nodes = tuple(current(x) if isinstance(x, Tensor) else None for x in xs)
    if any(nodes):
        node = result.node = Node(nodes, out.shape, frame)
        node.op, node.attrs, node.saved = op, attrs, {}
        for operand, needed in zip(op.operands, nodes, strict=True):
            for name in op.asks[operand] if needed else ():
                keep(node, name, xs, result)
    if op.view:
        become_view(result, xs[0], (op, attrs))
    return result


def keep(node, name, xs, result):
    """Save one value, with the version of its memory (part 7)."""
    op = node.op
    if name == "out":
        node.saved[name] = (result.array, result.version, result.version.n)
    elif name in op.operands:
        x = xs[op.operands.index(name)]
        version = x.version if isinstance(x, Tensor) else Version()
        node.saved[name] = (x.array if isinstance(x, Tensor) else x, version, version.n)
    elif name.endswith("_shape"):
        x = xs[op.operands.index(name.removesuffix("_shape"))]
        node.saved[name] = (np.shape(getattr(x, "array", x)), Version(), 0)


def current(t):
    """The node of a tensor, brought up to date after writes through its views (part 8)."""
    if t.memory is not None and t.seen != t.memory.writes:
        t.node, t.seen = t.memory.node, t.memory.writes
        for op, attrs in t.path if t.node else ():
            node = Node((t.node,), (), sys._getframe())
            node.op, node.attrs, node.saved = op, attrs, {"x_shape": (t.node.shape, Version(), 0)}
            node.shape = op.run(np.empty(t.node.shape), *attrs.values()).shape
            t.node = node
    return t.node


x = Tensor([1.0, 2.0], requires_grad=True)
y = x * 3
assert y.node.op is TABLE["mul"] and y.node.inputs == (x.node, None)
assert list(y.node.saved) == ["y"], "the value of x is not kept: the 3 needs no gradient"
assert type(mul(np.ones(2), 3)) is np.ndarray, "arrays in, array out"

# ==== 4. The reverse pass =======================================================================
#
# Gradients flow from the result to the leaves. Operands are older than the nodes that use them. So
# whoever always takes the *newest* node that has a gradient has collected all parts of it: each use
# of a node is newer than the node. A heap does that; there is no recursion, so a chain of a million
# operations is no problem. What all rules have in common is done here, once: adding the parts of a
# gradient that is used several times, and summing over the axes that broadcasting added.
#
# `graph=True` runs the same rules on tensors instead of arrays. They then go through the door again
# and leave nodes behind: the gradient has a graph of its own and can be differentiated (part 5).


def backward(root, seed=None, *, graph=False):
    node = current(root)
    if node is None:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    seed = np.ones(root.array.shape) if seed is None else seed
    live = {node: Tensor(seed) if graph else np.asarray(seed)}
    heap = [(-node.seq, node)]
    while heap:
        node = heapq.heappop(heap)[1]
        g = fire(node, live.pop(node))
        if type(node) is Leaf:
            accumulate(node.ref(), g)
            continue
        for operand, source in zip(node.op.operands, node.inputs, strict=True):
            if source is None:
                continue
            values = [
                g if name == "g" else unpack(node, name, graph) for name in node.op.asks[operand]
            ]
            part = fit(node.op.rules[operand](*values), source.shape)
            if source in live:
                live[source] = add(live[source], part)
            else:
                live[source] = part
                heapq.heappush(heap, (-source.seq, source))


def unpack(node, name, graph):
    """A value that a rule asks for; with `graph`, as a tensor that knows where it came from."""
    if name in node.attrs:
        return node.attrs[name]
    value, version, n = node.saved[name]
    if version.n != n:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: {name} of {node.op.name}, saved at version {n}, now at {version.n}, "
            f"written at {version.line}"
        )
    if not graph or not isinstance(value, np.ndarray):
        return value
    t = Tensor(value)
    t.node = node if name == "out" else node.inputs[node.op.operands.index(name)]
    return t


def fit(g, shape):
    """Sum out what broadcasting added: the shape that the operand had."""
    return g if np.shape(getattr(g, "array", g)) == shape else sum_to(g, shape)


def unbroadcast(x, shape):
    lead = np.ndim(x) - len(shape)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1
    )
    return x.sum(axis=axes, keepdims=True).reshape(shape)


def accumulate(tensor, g):
    """A leaf adds up: that is why a training loop sets its gradients to zero."""
    if tensor is not None:
        g = g if isinstance(g, Tensor) else Tensor(g)
        tensor.grad = g if tensor.grad is None else tensor.grad + g


def fire(node, g):
    """Hooks and retain_grad (part 6)."""
    for hook in node.hooks:
        shown = g if isinstance(g, Tensor) else Tensor(g)
        answer = hook(shown)
        if answer is not None:
            g = answer if isinstance(g, Tensor) else answer.array
    tensor = node.retain() if node.retain else None
    if tensor is not None:
        tensor.grad = g if isinstance(g, Tensor) else Tensor(g)
    return g


sum_to = primitive("sum_to", "x; shape", unbroadcast, x=lambda g, x_shape: spread(g, x_shape))
spread = primitive("spread", "x; shape", np.broadcast_to, x=lambda g, x_shape: sum_to(g, x_shape))


def total(x):
    """The sum of all elements: an operation made of operations needs no rule of its own."""
    return sum_to(x, ())


x = Tensor(3.0, requires_grad=True)
y = 3 * x * x + 4 * x + 2
backward(y)
assert y.array == 41 and x.grad.array == 6 * 3 + 4 == 22
backward(y)
assert x.grad.array == 44, "gradients add up until somebody sets them to zero"

column, row = Tensor([[1.0], [2.0]], requires_grad=True), Tensor([1.0, 10.0, 100.0])
backward(total(column * row))
assert column.grad.array.tolist() == [[111.0], [111.0]], "one gradient per element of the operand"

x = Tensor(1.0, requires_grad=True)
y = x
for _ in range(100_000):
    y = y * 1.0
backward(y)
assert x.grad.array == 1, "a hundred thousand operations deep, and no recursion"

# ==== 5. Every order, from the same rules =======================================================
#
# Rules are written with operators and doors only. On arrays these compute; on tensors they compute
# and record. So no operation has a second formula for second derivatives.

x = Tensor(2.0, requires_grad=True)
backward(x * x * x, graph=True)
first, x.grad = x.grad, None
assert first.array == 3 * 2**2
backward(first, graph=True)
second, x.grad = x.grad, None
assert second.array == 6 * 2
backward(second)
assert x.grad.array == 6

# ==== 6. Seeing the gradient of something that is no leaf =======================================
#
# A gradient in the middle lives for a moment: the pass takes it out of `live` and lets it go. There
# are two ways to see it. A *hook* is called with it, and may return another one in its place.
# `retain_grad` keeps it, at the price of its memory. Both stand on the node, not on the tensor: the
# node is what is still there when the tensor's variable is gone.


def register_hook(t, hook):
    current(t).hooks.append(hook)


def retain_grad(t):
    current(t).retain = weakref.ref(t)


x = Tensor(np.ones((2, 2)), requires_grad=True)
y = x + 2
z = y * y * 3
seen = []
register_hook(y, lambda g: seen.append(g.array.copy()))
retain_grad(y)
backward(total(z) * 0.25)
assert (seen[0] == 4.5).all() and (y.grad.array == 4.5).all()

x.grad, seen[:] = None, []
y = x + 2
register_hook(y, lambda g: seen.append(g.array.copy()))
backward(total(exp(y) * 0 + y))
assert len(seen) == 1, "called once, when all parts of the gradient are there"

x.grad = None
y = x + 2
register_hook(y, lambda g: g * 10)
backward(total(y))
assert (x.grad.array == 10).all(), "what a hook returns flows on"

# ==== 7. Writes: versions =======================================================================
#
# A rule must see the value that the operation saw. If somebody writes into that memory meanwhile,
# the gradient would be wrong without a word. So every memory counts its writes; a node remembers
# the count together with the value, and compares when the value is used. Views share the counter.
# The gradient of a write itself is no mystery: `x.mul_(2)` is `x = x * 2` into the same memory.


def write(t, value):
    """t[...] = value, as part of the graph."""
    node = current(t)
    frame = sys._getframe(1)
    if isinstance(node, Leaf):
        raise RuntimeError("a leaf that requires grad has been used in an in-place operation")
    new = value if isinstance(value, Tensor) else Tensor(value)
    made = current(spread(new, t.array.shape)) if current(new) else None
    t.array[...] = new.array
    t.version.n += 1
    t.version.line = f"line {frame.f_lineno}"
    if t.memory is None:
        t.node = made
    else:
        rebase(t, made, frame)


x = Tensor([1.0, 2.0], requires_grad=True)
y = exp(x)  # keeps its result for backward ...
loss = total(y)
write(y, 0.0)  # ... and here it is lost
try:
    backward(loss)
except RuntimeError as error:
    assert "modified by an inplace operation: out of exp" in str(error)
else:
    raise AssertionError("a lost value must not pass in silence")

# ==== 8. Views: several tensors, one memory =====================================================
#
# `v = base[0]` shares elements with `base`. If v is written, base has changed, and so has its
# history: the new content of base is "the old content with a region replaced". That is one more
# operation, `overlay`, whose node becomes the node of the shared memory. No other view is touched.
# Each finds out when it is next asked for its node (`current`, part 3): the counter of writes has
# moved, so it walks its own path of view steps again, from the node of the new content.

pick = primitive(
    "pick",
    "x; key",
    lambda x, key: x[key, ...],
    view=True,
    x=lambda g, x_shape, key: put(g, x_shape, key),
)
put = primitive(
    "put",
    "x; shape key",
    lambda x, shape, key: placed(np.zeros(shape), x, key),
    x=lambda g, key: pick(g, key),
)
overlay = primitive(
    "overlay",
    "x y; path",
    lambda x, y, path: placed(x.copy(), y, path),
    x=lambda g, y_shape, path: overlay(g, np.zeros(y_shape), path),
    y=lambda g, path: pick_path(g, path),
)


def placed(array, value, where):
    """An array with a region replaced; `where` is one key, or a path of view steps."""
    region = pick_path(array, where) if isinstance(where, list) else array[where, ...]
    region[...] = value
    return array


def pick_path(x, path):
    for op, attrs in path:
        x = enter(op, (x, *attrs.values()), sys._getframe(1))
    return x


def become_view(view, base, step):
    """Share the memory of `base`, if NumPy's result really lies in it."""
    if not np.may_share_memory(view.array, base.array):
        return
    if base.memory is None:
        base.memory = Memory(base.array, base.node)
    view.memory, view.version, view.path = base.memory, base.version, (*base.path, step)
    view.seen = base.seen = base.memory.writes


def rebase(t, made, frame):
    """After a write through `t`: the memory has a new content with a history of its own."""
    memory = t.memory
    if t.path:
        node = Node((memory.node, made), memory.array.shape, frame)
        node.op, node.attrs = TABLE["overlay"], {"path": list(t.path)}
        node.saved = {"y_shape": (t.array.shape, Version(), 0)}
        memory.node = node
    else:
        memory.node = made
    memory.writes += 1


x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
base = x * 2
first, rest = pick(base, 0), pick(base, slice(1, 3))
write(first, first * 10)
assert base.array.tolist() == [20.0, 4.0, 6.0], "the write is seen through the base"
assert current(base).op is TABLE["overlay"], "and so is its history"
backward(total(base) + total(rest * rest))
assert x.grad.array.tolist() == [20.0, 2 + 2 * 4 * 2, 2 + 2 * 6 * 2]

# ==== 9. Everything is freed, at once ===========================================================
#
# No circle, so no garbage collector: when the last tensor goes, its graph goes with it. Memory in a
# training loop is flat by construction. (A deep chain is freed node by node. CPython limits the
# depth of that by itself.)

gc.collect()
gc.disable()
w = Tensor(np.ones(1000), requires_grad=True)
loss = total(exp(w) * exp(w * 2))
backward(loss)
ghosts = [weakref.ref(loss.node), weakref.ref(loss.node.inputs[0]), weakref.ref(w)]
del loss, w
assert [ghost() for ghost in ghosts] == [None, None, None]
gc.enable()

# ==== 10. The user's own lines, and the graph as a tree =========================================
#
# A node remembers where it was made as (code, instruction): two references, about 100 ns. Only who
# asks pays for more. The code knows the line of each instruction; and if the next instruction
# stores the result, its argument is the user's variable. That is all a readable graph needs.


def place(node):
    """(line, variable) of the call that made a node."""
    positions = list(node.code.co_positions())
    name = None
    for instruction in dis.get_instructions(node.code):
        if instruction.offset > node.lasti and instruction.opname != "CACHE":
            name = instruction.argval if instruction.opname.startswith("STORE_") else None
            break
    return positions[node.lasti // 2][0], name


def tree(node):
    """The graph behind a node as text. What was shown already is only named."""
    lines, done, todo = [], set(), [(node, 0)]
    while todo:
        node, depth = todo.pop()
        _, name = place(node) if node else (0, None)
        what = "constant" if node is None else node.op.name if node.op else "leaf"
        again = node in done and node is not None
        lines.append("    " * depth + (f"{name} = {what}" if name else what) + " (above)" * again)
        if node is not None and not again:
            done.add(node)
            todo += [(source, depth + 1) for source in reversed(node.inputs)]
    return "\n".join(lines)


x = Tensor(3.0, requires_grad=True)
square = x * x
y = 3 * square + square
assert (
    tree(y.node)
    == """\
y = add
    mul
        square = mul
            x = leaf
            x = leaf (above)
        constant
    square = mul (above)"""
)
line, name = place(y.node)
assert name == "y"
assert linecache.getline(__file__, line) == "y = 3 * square + square\n"

# What the real machine adds: the full table with PyTorch's names, dtypes and errors; doors that
# cost a microsecond; several outputs per node; hook order to the letter; saved values that are
# released after backward; and, in `sapwood.look`, a graph that shows your own expressions:
# `print(sapwood.graph(y))`.

if __name__ == "__main__":
    print("Every check held. The graph of y = 3 * square + square:\n")
    print(tree(y.node))
