"""Letters that compute: leaves, element-wise operations, reductions, products, joins, casts."""

from __future__ import annotations

from .program import Step
from .scene import Scene, letter

# (name, text, guard)
UNARY = (
    ("exp", "{a}.exp()", "small"),
    ("tanh", "torch.tanh({a})", "tame"),
    ("sigmoid", "{a}.sigmoid()", "tame"),
    ("relu", "torch.relu({a})", "exact"),
    ("sin", "{a}.sin()", "tame"),
    ("cos", "torch.cos({a})", "tame"),
    ("neg", "-{a}", ""),
    ("abs", "{a}.abs()", "exact"),
    ("sqrt", "{a}.sqrt()", "positive"),
    ("log", "torch.log({a})", "positive"),
    ("square", "{a}.square()", ""),
    ("pow", "{a} ** 2", ""),
    ("pow", "{a} ** 3", "tame"),
    ("pow", "{a}.pow(0.5)", "positive"),
    ("rpow", "2.0 ** {a}", "small"),
    ("reciprocal", "1.0 / {a}", "away"),
    ("clamp", "{a}.clamp(-1.0, 1.0)", "exact"),
    ("clamp", "{a}.clamp(min=0.0)", "exact"),
    ("clone", "{a}.clone()", ""),
    ("contiguous", "{a}.contiguous()", ""),
    ("scale", "{a} * {n}", ""),
    ("shift", "{a} + {n}", ""),
    ("rsub", "{n} - {a}", ""),
    ("scale", "{n} * {a}", ""),
    ("divide", "{a} / {n}", ""),
    ("same", "{a} * 1", ""),
    ("sign", "torch.sign({a})", "exact"),
)
BINARY = (
    ("add", "{a} + {b}", ""),
    ("sub", "{a} - {b}", ""),
    ("mul", "{a} * {b}", ""),
    ("mul", "torch.mul({a}, {b})", ""),
    ("div", "{a} / {b}", "away"),
    ("add", "torch.add({a}, {b}, alpha=2)", ""),
    ("sub", "{a}.sub({b}, alpha=0.5)", ""),
    ("maximum", "torch.maximum({a}, {b})", "exact"),
    ("minimum", "torch.minimum({a}, {b})", "exact"),
    ("where", "torch.where({b} > 0.1, {a}, {b})", ""),
    ("where", "torch.where({a} > {n}001, {a}, {b})", ""),
)
REDUCE = (
    ("sum", "{a}.sum()", ""),
    ("sum", "{a}.sum({d})", ""),
    ("sum", "{a}.sum({d}, keepdim=True)", ""),
    ("mean", "{a}.mean()", "some"),
    ("mean", "torch.mean({a}, {d})", "some"),
    ("amax", "{a}.amax({d})", "exact"),
    ("amin", "{a}.amin({d}, keepdim=True)", "exact"),
    ("max", "{a}.max()", "exact"),
    ("prod", "{a}.prod()", ""),
    ("cumsum", "{a}.cumsum({d})", ""),
    ("var", "{a}.var({d})", "some"),
    ("logsumexp", "{a}.logsumexp({d})", "small"),
    ("norm", "{a}.norm()", "away"),
    ("prod", "{a}.prod({d})", ""),
    ("min", "{a}.min()", "exact"),
)
SIMPLE = {
    "exp",
    "tanh",
    "sin",
    "neg",
    "scale",
    "shift",
    "add",
    "mul",
    "sub",
    "same",
    "sqrt",
}  # one node everywhere


@letter(3)
def leaf(s: Scene) -> Step | None:
    grad = ", requires_grad=True" if s.chance(0.7) else ""
    return Step("leaf", f"{s.new()} = {s.literal(s.shape(), extra=grad)}")


def first_leaf(s: Scene) -> Step | None:
    """What every program starts from: it requires grad and has a few elements."""
    shape = s.choice(((3,), (4,), (2, 3), (3, 2), (2, 2), (4, 2), (2, 3, 2)))
    return Step("leaf", f"{s.new()} = {s.literal(shape, extra=', requires_grad=True')}")


@letter(0.8)
def other_dtype(s: Scene) -> Step | None:
    dtype = s.choice(("int64", "float32", "bool", "int64"))
    if dtype == "float32":
        return Step(
            "leaf float32", f"{s.new()} = {s.literal(s.shape(), dtype, ', requires_grad=True')}"
        )
    values = s.indices(s.shape(), 2 if dtype == "bool" else 3)
    return Step(f"leaf {dtype}", f"{s.new()} = {values}" + (".bool()" if dtype == "bool" else ""))


@letter(9)
def unary(s: Scene) -> Step | None:
    name, text, guard = s.choice(UNARY)
    a = s.floating()
    if a is None or not s.safe(guard, a):
        return None
    out = s.new()
    if name in SIMPLE:
        s.names["simple"].append(out)
    return Step(name, f"{out} = " + text.format(a=a, n=s.number()))


@letter(9)
def binary(s: Scene) -> Step | None:
    name, text, guard = s.choice(BINARY)
    a = s.floating()
    b = s.fitting(s[a]) if a else None
    if (
        a is None
        or b is None
        or not s.safe(guard, b)
        or (guard == "exact" and not s.safe(guard, a))
    ):
        return None
    out = s.new()
    if name in SIMPLE:
        s.names["simple"].append(out)
    return Step(name, f"{out} = " + text.format(a=a, b=b, n=abs(s.number())))


@letter(5)
def reduce(s: Scene) -> Step | None:
    name, text, guard = s.choice(REDUCE)
    a = s.floating(lambda t: t.numel() <= 24)
    if a is None or not s.safe(guard, a) or (("max" in text or "min" in text) and not s[a].numel()):
        return None
    return Step(name, f"{s.new()} = " + text.format(a=a, d=s.axis(s[a])))


@letter(1)
def max_along(s: Scene) -> Step | None:
    a = s.floating(lambda t: t.ndim > 0 and t.numel() > 0)
    if a is None or not s.safe("exact", a):
        return None
    return Step(
        "max along", f"{s.new()}, {s.new()} = {a}.{s.choice(('max', 'min'))}({s.axis(s[a])})"
    )


@letter(2.5)
def matmul(s: Scene) -> Step | None:
    a = s.floating(lambda t: t.ndim > 0)
    if a is None:
        return None
    b = s.floating(
        lambda t: (
            t.ndim > 0 and t.shape[max(t.ndim - 2, 0)] == s[a].shape[-1] and t.dtype == s[a].dtype
        )
    )
    return Step("matmul", f"{s.new()} = {a} @ {b}") if b else None


@letter(2)
def join(s: Scene) -> Step | None:
    a = s.floating(lambda t: t.numel() <= 16)
    if a is None:
        return None
    kind = s.choice(("cat", "stack"))
    alike = s.all(lambda t: t.shape == s[a].shape and t.is_floating_point())
    parts = [a] + [s.choice(alike) for _ in range(s.choice((1, 1, 2)) if alike else 0)]
    low, high = (0, max(s[a].ndim, 1)) if kind == "cat" else (0, s[a].ndim + 1)
    d = s.rng.randrange(low, high)
    return Step(kind, f"{s.new()} = torch.{kind}([{', '.join(parts)}], {d})")


@letter(2)
def take(s: Scene) -> Step | None:
    """Reading by index tensors, as functions."""
    a = s.floating(lambda t: t.ndim > 0 and t.numel() > 0)
    if a is None:
        return None
    t, d = s[a], s.axis(s[a])
    size = t.shape[d]
    if s.chance(0.5):
        return Step(
            "index_select",
            f"{s.new()} = {a}.index_select({d}, {s.indices((s.choice((1, 2, 3)),), size)})",
        )
    return Step("gather", f"{s.new()} = {a}.gather({d}, {s.indices(t.shape, size)})")


@letter(1.2)
def rearrange(s: Scene) -> Step | None:
    """Copies that only move values, and masks made from values."""
    a = s.floating(lambda t: t.ndim > 0)
    if a is None:
        return None
    d = s.axis(s[a])
    text = s.choice(
        (
            f"{a}.flip({d})",
            f"{a}.repeat({', '.join(['1'] * (s[a].ndim - 1) + ['2'])})",
            f"{a} > {s.number()}001",
            f"{a}.masked_fill({a} > {s.number()}001, {s.number()})",
            f"torch.zeros_like({a})",
            f"torch.ones_like({a})",
            f"{a} == {a}",
            f"torch.roll({a}, 1, {d})",
        )
    )
    return Step("rearrange", f"{s.new()} = {text}")


@letter(1)
def cast(s: Scene) -> Step | None:
    a = s.pick()
    how = s.choice(
        (
            "to(torch.float32)",
            "double()",
            "float()",
            "to(torch.float64)",
            "long()",
            "bool()",
            "double()",
        )
    )
    return Step("cast", f"{s.new()} = {a}.{how}") if a else None
