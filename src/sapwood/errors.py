"""Every message of the library: what happened, what was given, where, and what to write instead.

PyTorch's key phrase always comes first, so that code that looks for it goes on working.
This file knows nothing of tensors or nodes: callers pass plain facts (text, shapes, places).
"""

from __future__ import annotations


class ShapeError(RuntimeError):
    """Operands of an operation do not fit together."""


class GraphError(RuntimeError):
    """The reverse pass cannot run: no graph, a used-up graph, or a value that was overwritten."""


class DtypeError(RuntimeError):
    """An operation does not exist for, or would have to change, a dtype."""


def sentence(*parts: str) -> str:
    """Join the non-empty parts with single blanks."""
    return " ".join(part for part in parts if part)


def shape_text(shape) -> str:
    """A shape as PyTorch's messages write it: [2, 3]."""
    return str(list(shape))


def no_grad_root(index: int, why: str) -> GraphError:
    """A root of backward that has no graph; `why` names the cut where it is known."""
    return GraphError(
        sentence(
            f"element {index} of tensors does not require grad and does not have a grad_fn.",
            why,
            "Only tensors computed from a tensor with requires_grad=True, with grad mode on, "
            "can be differentiated.",
        )
    )


def second_backward(name: str, made: str, released: str) -> GraphError:
    """A node whose saved values an earlier backward released."""
    return GraphError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        f"calling backward.\n  saved by:    {name} at {made}\n  released by: {released}"
        "\n  If this is a training loop, a tensor of an earlier iteration is used again: "
        "detach() it at the end of its iteration, or compute it anew."
    )


def overwritten(
    *, what: str, name: str, expected: int, now: int, saved_at: str, written_at: str
) -> GraphError:
    """A saved value that was modified in place before backward needed it."""
    return GraphError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: {what}, is at version {now}; expected version {expected} instead. "
        f"Hint: the value was saved by {name} and then overwritten.\n"
        f"  saved by:   {name} at {saved_at}\n  written at: {written_at}\n"
        "  Write out of place there (y = y + 1, not y += 1), or clone() before the write."
    )


def overwritten_outside(*, what: str, name: str, saved_at: str) -> GraphError:
    """Inside checked(): a saved value that NumPy or .data changed before backward needed it."""
    return GraphError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: {what}, was changed without a trace, through NumPy or .data, after {name} "
        f"saved it.\n  saved by:   {name} at {saved_at}\n  checked:    at this backward, by its "
        "fingerprint (sapwood.checked)\n  Write into a copy there, or use operations of tensors."
    )


def leaf_in_place(*, view: bool, op: str, at: str) -> GraphError:
    """An in-place write to a leaf that requires grad, or to a view of one."""
    which = "a view of a leaf Variable" if view else "a leaf Variable"
    return GraphError(
        f"{which} that requires grad is being used in an in-place operation. "
        f"[{op}] at {at}. Write inside `with no_grad():` (an update), or out of place."
    )


def bad_broadcast(op: str, shapes: list, at: str) -> ShapeError:
    """Shapes that do not broadcast; the key phrase names the first dimension that differs."""
    text = ", ".join(shape_text(s) for s in shapes)
    if len(shapes) == 2:
        a, b = (tuple(s) for s in shapes)
        n = max(len(a), len(b))
        pa, pb = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
        for i in reversed(range(n)):
            if pa[i] != pb[i] and pa[i] != 1 and pb[i] != 1:
                return ShapeError(
                    f"The size of tensor a ({pa[i]}) must match the size of tensor b ({pb[i]}) at "
                    f"non-singleton dimension {i}. [{op}] got shapes {text} at {at}"
                )
    return ShapeError(f"[{op}] shapes {text} do not fit together at {at}")


def non_leaf_grad(name: str, made: str) -> str:
    """PyTorch's warning for `.grad` of a non-leaf, with the op and the line that made it."""
    return (
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
        "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
        "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
        "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
        f"instead. This one was made by {name} at {made}."
    )
