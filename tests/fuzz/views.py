"""Letters that make views, and the writing of index expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .program import Step
from .scene import Scene, letter


def basic_index(s: Scene, shape: Sequence[int]) -> str:
    """Integers, slices, None and an ellipsis."""
    items = []
    for size in shape[: s.rng.randint(min(1, len(shape)), len(shape))]:
        kind = s.rng.choices(("int", "slice", "step", "all"), (4, 4, 2, 2))[0]
        if kind == "int" and size:
            items.append(str(s.rng.randrange(-size, size)))
        elif kind == "slice":
            i = s.rng.randint(0, max(size - 1, 0))
            items.append(
                s.choice(
                    (
                        f"{i}:",
                        f":{max(i, 1)}",
                        f"{i}:{s.rng.randint(i, size)}",
                        f":-{i}" if i else ":",
                    )
                )
            )
        elif kind == "step":
            items.append(s.choice(("::2", "1::2", f":{size}:2")))
        else:
            items.append(":")
    if s.chance(0.15) or not items:
        items.append("...")
    if s.chance(0.12):
        items.insert(s.rng.randint(0, len(items)), "None")
    if s.dirty and s.chance(0.03):
        items[0] = s.choice(("7", "::-1", "-9"))
    return ", ".join(items)


def advanced_index(s: Scene, t: Any, name: str) -> str:
    """Lists and tensors of positions, masks, mixed with slices and integers."""
    if not t.ndim or not t.numel():
        return "..."
    kinds = ["list", "tensor", "mask", "row mask"] + (
        ["pair", "mixed", "split"] if t.ndim > 1 else []
    )
    kind, n = s.choice(kinds), s.choice((1, 2, 3))
    size = t.shape[0]
    if kind == "list":
        return repr(s.ints(n, size))
    if kind == "tensor":
        return s.indices(s.choice(((n,), (2, 2), ())), size)
    if kind == "mask":
        compare = s.choice((">", "<"))
        known = s.all(lambda m: m.dtype == s.torch.bool and m.shape == t.shape)
        return (
            s.choice(known)
            if known and s.chance(0.5)
            else f"{name}.detach() {compare} {s.number()}001"
        )
    if kind == "row mask":
        return f"torch.tensor({[s.chance(0.6) for _ in range(size)]})"
    if kind == "pair":
        return f"{s.indices((n,), size)}, {s.indices((n,), t.shape[1])}"
    if kind == "mixed":
        return (
            f"{s.choice((':', str(s.rng.randrange(size)), '::2'))}, {s.indices((n,), t.shape[1])}"
        )
    return f"{s.ints(n, size)}, {s.choice((':', 'None', '...'))}"


@letter(7)
def basic(s: Scene) -> Step | None:
    a = s.pick(lambda t: t.ndim > 0 and (t.is_floating_point() or s.chance(0.2)))
    if a is None:
        return None
    return Step("basic index", f"{s.new()} = {a}[{basic_index(s, s[a].shape)}]")


@letter(3)
def advanced(s: Scene) -> Step | None:
    a = s.floating(lambda t: t.ndim > 0)
    if a is None:
        return None
    return Step("advanced index", f"{s.new()} = {a}[{advanced_index(s, s[a], a)}]")


def factors(s: Scene, n: int) -> list[int]:
    """A shape with n elements."""
    options = [[n], [1, n], [n, 1]] + [[k, n // k] for k in (2, 3, 4) if n and n % k == 0]
    return s.choice(options)


@letter(5)
def reshape(s: Scene) -> Step | None:
    kind = s.choice(("view", "reshape", "view", "flatten", "view_as", "unflatten"))
    a = s.floating(lambda t: kind != "view" or t.is_contiguous())
    if a is None:
        return None
    t, out = s[a], s.new()
    shape = ", ".join(str(k) for k in factors(s, t.numel()))
    if s.chance(0.2) and t.numel():
        shape = s.choice(("-1", "1, -1"))
    if kind == "flatten":
        return Step(kind, f"{out} = {a}.flatten()")
    if kind == "view_as":
        return Step(kind, f"{out} = {a}.view_as({s.pick(lambda o: o.numel() == t.numel()) or a})")
    if kind == "unflatten" and t.ndim and t.shape[0]:
        return Step(kind, f"{out} = {a}.unflatten(0, (1, {t.shape[0]}))")
    return Step(kind, f"{out} = {a}.{'view' if kind == 'view' else 'reshape'}({shape})")


@letter(6)
def turn(s: Scene) -> Step | None:
    """transpose, permute, t, movedim and the properties."""
    a = s.floating(lambda t: t.ndim > 1)
    if a is None:
        return None
    t = s[a]
    order = s.rng.sample(range(t.ndim), t.ndim)
    texts = [
        ("transpose", f"{a}.transpose({s.axis(t)}, {s.axis(t)})"),
        ("permute", f"{a}.permute({order})"),
        ("movedim", f"torch.movedim({a}, {s.axis(t)}, {s.axis(t)})"),
        ("swapaxes", f"{a}.swapaxes(0, 1)"),
    ]
    if t.ndim == 2:
        texts += [("t", f"{a}.t()"), ("T", f"{a}.T")]
    op, text = s.choice(texts)
    return Step(op, f"{s.new()} = {text}")


@letter(4)
def units(s: Scene) -> Step | None:
    """squeeze and unsqueeze."""
    a = s.floating(lambda t: t.ndim < 4)
    if a is None:
        return None
    d = s.rng.randint(-s[a].ndim - 1, s[a].ndim)
    op, text = s.choice(
        (
            ("unsqueeze", f"unsqueeze({d})"),
            ("squeeze", "squeeze()"),
            ("squeeze", f"squeeze({s.axis(s[a])})"),
        )
    )
    return Step(op, f"{s.new()} = {a}.{text}")


@letter(4)
def expand(s: Scene) -> Step | None:
    a = s.floating(lambda t: t.numel() <= 12 and t.ndim < 4)
    if a is None:
        return None
    t, out = s[a], s.new()
    like = s.pick(
        lambda o: (
            o.ndim >= t.ndim
            and o.numel() <= 36
            and s.torch.broadcast_shapes(o.shape, t.shape) == o.shape
            if _broadcasts(s, o, t)
            else False
        )
    )
    if like and s.chance(0.3):
        return Step("expand_as", f"{out} = {a}.expand_as({like})")
    sizes = [s.choice((-1, k)) if k != 1 else s.choice((2, 3, -1)) for k in t.shape]
    lead = [s.choice((1, 2, 3))] if s.chance(0.5) or not sizes else []
    return Step("expand", f"{out} = {a}.expand({', '.join(map(str, lead + sizes))})")


def _broadcasts(s: Scene, o: Any, t: Any) -> bool:
    return all(
        x == y or 1 in (x, y) for x, y in zip(reversed(o.shape), reversed(t.shape), strict=False)
    )


@letter(5)
def parts(s: Scene) -> Step | None:
    """Several views of one tensor: split, chunk, unbind, tensor_split."""
    a = s.floating(lambda t: t.ndim > 0 and t.numel() > 0)
    if a is None:
        return None
    t, d = s[a], s.axis(s[a])
    size = t.shape[d]
    kind = s.choice(("unbind", "split", "chunk", "split sizes"))
    if kind == "unbind":
        count, text = size, f"{a}.unbind({d})"
    elif kind == "split":
        step = s.rng.randint(1, size)
        count, text = -(-size // step), f"{a}.split({step}, {d})"
    elif kind == "chunk":
        count, text = len(t.chunk(2, d)), f"torch.chunk({a}, 2, {d})"
    else:
        first = s.rng.randint(0, size)
        count, text = 2, f"torch.split({a}, [{first}, {size - first}], {d})"
    return Step(kind, ", ".join(s.new() for _ in range(count)) + f", = {text}")


@letter(4)
def region(s: Scene) -> Step | None:
    """select, narrow, diagonal, unfold and, rarely, as_strided."""
    a = s.floating(lambda t: t.ndim > 0 and t.numel() > 0)
    if a is None:
        return None
    t, d = s[a], s.axis(s[a])
    size = t.shape[d]
    start = s.rng.randrange(size)
    texts = [
        ("select", f"{a}.select({d}, {s.rng.randrange(-size, size)})"),
        ("narrow", f"{a}.narrow({d}, {start}, {s.rng.randint(0, size - start)})"),
    ]
    if t.ndim > 1:
        texts.append(("diagonal", f"{a}.diagonal({s.choice((0, 0, 1, -1))})"))
    if size > 1 and s.chance(0.4):
        texts.append(("unfold", f"{a}.unfold({d}, 2, {s.choice((1, 2))})"))
    if t.is_contiguous() and t.numel() > 1 and s.chance(0.2):
        n = t.numel()
        texts.append(("as_strided", f"{a}.as_strided(({n // 2}, 2), (2, 1))"))
        texts.append(("as_strided", f"{a}.as_strided(({n - 1}, 2), (1, 1))"))
    op, text = s.choice(texts)
    return Step(op, f"{s.new()} = {text}")
