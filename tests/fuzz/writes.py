"""Letters that write: in-place operations of every kind and assignment through indices."""

from __future__ import annotations

from .program import Step
from .scene import Scene, letter
from .views import advanced_index, basic_index

# (name, text, guard)
ALONE = (
    ("exp_", "{a}.exp_()", "small"),
    ("tanh_", "{a}.tanh_()", "tame"),
    ("sigmoid_", "{a}.sigmoid_()", "tame"),
    ("relu_", "{a}.relu_()", "exact"),
    ("sqrt_", "{a}.sqrt_()", "positive"),
    ("zero_", "{a}.zero_()", ""),
    ("fill_", "{a}.fill_({n})", ""),
    ("clamp_", "{a}.clamp_(-1.0, 1.0)", "exact"),
    ("pow_", "{a}.pow_(2)", ""),
    ("clamp_", "{a}.clamp_(min=0.5)", "exact"),
    ("neg_", "{a}.neg_()", ""),
    ("mul_", "{a}.mul_({n})", ""),
    ("add_", "{a}.add_({n})", ""),
    ("sub_", "{a}.sub_({n})", ""),
    ("div_", "{a}.div_({n})", ""),
    ("abs_", "{a}.abs_()", "exact"),
    ("sin_", "{a}.sin_()", "tame"),
    ("mul_", "{a} *= {n}", ""),
    ("add_", "{a} += {n}", ""),
    ("div_", "{a} /= {n}", ""),
    ("sub_", "{a} -= {n}", ""),
    ("log_", "{a}.log_()", "positive"),
    ("masked_fill_", "{a}.masked_fill_({a}.detach() > {p}001, {n})", ""),
    ("reciprocal_", "{a}.reciprocal_()", "away"),
)
WITH = (
    ("mul_", "{a}.mul_({b})", ""),
    ("add_", "{a}.add_({b})", ""),
    ("sub_", "{a}.sub_({b})", ""),
    ("div_", "{a}.div_({b})", "away"),
    ("add_", "{a}.add_({b}, alpha=2)", ""),
    ("copy_", "{a}.copy_({b})", ""),
    ("mul_", "{a} *= {b}", ""),
    ("add_", "{a} += {b}", ""),
    ("sub_", "{a} -= {b}", ""),
    ("fill_", "{a}.fill_({b}.sum())", ""),
    ("masked_fill_", "{a}.masked_fill_({a}.detach() > {p}001, {b}.sum())", ""),
    ("where_", "{a}.copy_(torch.where({a} > {p}001, {a}, {b}))", ""),
)


@letter(11)
def in_place(s: Scene) -> Step | None:
    op, text, guard = s.choice(ALONE)
    a = s.target()
    if a is None or not s.safe(guard, a):
        return None
    call = text.format(a=a, n=s.number(), p=abs(s.number()))
    if text.startswith("{a}.") and s.chance(0.08):
        return Step(op, f"{s.new()} = {call}")  # the result is the same object
    return Step(op, call)


@letter(11)
def in_place_with(s: Scene) -> Step | None:
    op, text, guard = s.choice(WITH)
    a = s.target()
    b = s.fitting(s[a], into=True) if a else None
    if a is None or b is None or not s.safe(guard, b):
        return None
    return Step(op, text.format(a=a, b=b, p=abs(s.number())))


@letter(3.5)
def by_index(s: Scene) -> Step | None:
    """index_fill_, index_add_, index_copy_, scatter_, scatter_add_."""
    a = s.target(lambda t: t.ndim > 0 and t.numel() > 0)
    if a is None:
        return None
    t, d = s[a], s.axis(s[a])
    size = t.shape[d]
    kind = s.choice(
        ("index_fill_", "index_add_", "index_copy_", "scatter_", "scatter_add_", "scatter_ value")
    )
    n = s.rng.randint(1, size)
    index = f"torch.tensor({s.ints(n, size, distinct=kind != 'index_add_')})"
    part = list(t.shape)
    part[d] = n
    source = s.floating(lambda o: list(o.shape) == part and o.dtype == t.dtype)
    source = source or s.literal(part, str(t.dtype).rpartition(".")[2])
    if kind == "index_fill_":
        return Step(kind, f"{a}.index_fill_({d}, {index}, {s.number()})")
    if kind in ("index_add_", "index_copy_"):
        return Step(kind, f"{a}.{kind}({d}, {index}, {source})")
    # Distinct positions along d, so that which value wins is defined
    view = [1] * t.ndim
    view[d] = n
    where = f"{index}.view({view}).expand({part})"
    if kind == "scatter_ value":
        return Step(kind, f"{a}.scatter_({d}, {where}, {s.number()})")
    return Step(kind, f"{a}.{kind}({d}, {where}, {source})")


@letter(3)
def turn_in_place(s: Scene) -> Step | None:
    """In-place operations that change no value: t_, transpose_, squeeze_, unsqueeze_."""
    a = s.target(lambda t: t.ndim < 4)
    if a is None:
        return None
    t = s[a]
    texts = [("squeeze_", "squeeze_()"), ("unsqueeze_", f"unsqueeze_({s.rng.randint(0, t.ndim)})")]
    if t.ndim > 1:
        texts += [("transpose_", f"transpose_({s.axis(t)}, {s.axis(t)})")] * 2
    if t.ndim == 2:
        texts += [("t_", "t_()")] * 2
    op, text = s.choice(texts)
    return Step(op, f"{a}.{text}")


def value_for(s: Scene, target: str, index: str) -> str:
    """Something to assign: a number, a variable that fits, or a literal."""
    if s.chance(0.25):
        return str(s.number())
    part = eval(f"{target}[{index}]", {**s.session.env, target: s[target].detach()})
    fits = s.fitting(part, into=True)
    if fits and s.chance(0.8):
        return fits
    return s.literal(
        part.shape if s.chance(0.7) else part.shape[-1:], str(part.dtype).rpartition(".")[2]
    )


@letter(7)
def assign(s: Scene) -> Step | None:
    a = s.target()
    if a is None:
        return None
    t = s[a]
    advanced = s.chance(0.45)
    index = advanced_index(s, t, a) if advanced else basic_index(s, t.shape)
    repeated = advanced and ("[" in index and "True" not in index and "False" not in index)
    try:
        value = value_for(s, a, index)
    except (IndexError, RuntimeError, ValueError, TypeError):
        value = str(s.number())
    if repeated and not _one_value(s, value):
        # Positions may repeat: which value wins is then undefined in PyTorch
        value = str(s.number())
    if s.chance(0.1) and not repeated:
        return Step("update at index", f"{a}[{index}] {s.choice(('*', '+', '-'))}= {s.number()}")
    return Step("assign advanced" if advanced else "assign basic", f"{a}[{index}] = {value}")


def _one_value(s: Scene, value: str) -> bool:
    return value in s.session.tensors() and s[value].numel() == 1


@letter(1)
def data_write(s: Scene) -> Step | None:
    """Writes behind the engine's back, through .data or detach()."""
    a = s.floating(lambda t: t.ndim > 0 and t.is_contiguous())
    if a is None:
        return None
    alias = s.choice(("data", "detach()"))
    change = s.choice(
        (f".mul_({s.number()})", ".zero_()", f".add_({s.number()})", f"[0] = {s.number()}")
    )
    return Step(f"write {alias}", f"{a}.{alias}{change}")
