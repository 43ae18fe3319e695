"""Letters about the graph itself: flags, grad mode, detach, backward, autograd.grad, .grad."""

from __future__ import annotations

from .program import Step, Swap
from .scene import Scene, letter


@letter(2)
def detach(s: Scene) -> Step | None:
    a = s.floating()
    return (
        Step("detach", f"{s.new()} = {a}.{s.choice(('detach()', 'detach()', 'data'))}")
        if a
        else None
    )


@letter(1)
def detach_in_place(s: Scene) -> Step | None:
    a = s.floating(lambda t: not t._is_view() and not (t.is_leaf and t.requires_grad))
    return Step("detach_", f"{a}.detach_()") if a else None


@letter(2)
def flag(s: Scene) -> Step | None:
    a = s.floating(lambda t: t.is_leaf)
    if a is None:
        return None
    on = s.chance(0.75)
    text = s.choice((f"{a}.requires_grad_({'' if on else False})", f"{a}.requires_grad = {on}"))
    return Step("requires_grad_", text)


@letter(0.7)
def grad_mode(s: Scene) -> Step | None:
    """Switched off for some steps, soon back on."""
    return Step("set_grad_enabled", f"torch.set_grad_enabled({not s.torch.is_grad_enabled()})")


@letter(0.8)
def forget(s: Scene) -> Step | None:
    """A variable goes out of scope; what it took part in lives on."""
    names = s.all()
    return Step("del", f"del {s.choice(names)}") if len(names) > 4 else None


def root_for(s: Scene) -> tuple[str, str] | None:
    """A variable that requires grad, rather a late one, and an expression to start from."""
    names = s.all(
        lambda t: t.is_floating_point() and t.requires_grad and (not t.is_leaf or s.chance(0.05))
    )
    if s.dirty and s.chance(0.08):
        names = s.all(lambda t: t.is_floating_point())
    if not names:
        return None
    name = s.choice(names[-4:]) if s.chance(0.7) else s.choice(names)
    other = s.choice(names)
    both = f"({name}.sum() + {other}.sum())"
    forms = [name] * 3 + [f"{name}.sum()", f"({name} * {name}).sum()", both, both, both]
    return name, s.choice(forms)


def options(s: Scene) -> list[str]:
    """retain_graph and create_graph."""
    if s.chance(0.15):
        return ["create_graph=True"]
    return [s.choice(("retain_graph=True", "retain_graph=False"))] if s.chance(0.5) else []


def targets(s: Scene, text: str) -> list[str]:
    """Variables that the root depends on, found by walking PyTorch's graph."""
    names = s.all(lambda t: t.requires_grad)
    if s.dirty or not s.torch.is_grad_enabled():
        return s.rng.sample(names, min(len(names), 2))
    with s.torch.enable_grad():
        out = eval(text, s.session.env)
        used = [n for n in names if _reaches(out, s[n])]
    s.rng.shuffle(used)
    return used[: s.choice((1, 1, 2, 3))]


def _reaches(out: object, wanted: object) -> bool:
    """Whether the graph of one tensor holds the node (or leaf) of the other. Runs no hooks."""
    todo, seen = [out.grad_fn], set()  # type: ignore[attr-defined]
    if out is wanted:
        return True
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if getattr(node, "variable", None) is wanted or node is wanted.grad_fn:  # type: ignore[attr-defined]
            return True
        todo += [n for n, _ in node.next_functions]
    return False


def kept(line: str) -> Swap:
    """Finding 10: how this call must read so that nothing is freed if it raises half-way."""
    if "retain_graph=True" in line or "create_graph=True" in line:
        return 10, line, line
    line_kept = line.replace(", retain_graph=False", "").replace("retain_graph=False", "")
    comma = "" if line_kept.endswith("()") else ", "
    return 10, line, f"{line_kept[:-1]}{comma}retain_graph=True)"


@letter(8)
def backward(s: Scene) -> Step | None:
    found = root_for(s)
    if found is None:
        return None
    name, text = found
    extra = options(s)
    if text == name and (s[name].numel() != 1 or s.chance(0.1)) and not (s.dirty and s.chance(0.1)):
        shape = s[name].shape if not (s.dirty and s.chance(0.05)) else (5,)
        same = s.floating(
            lambda t: t.shape == shape and t.dtype == s[name].dtype and not t.requires_grad
        )
        literal = s.literal(shape, str(s[name].dtype).rpartition(".")[2])
        extra.insert(0, f"gradient={same if same and s.chance(0.3) else literal}")
    if s.chance(0.25):
        extra.append(f"inputs=[{', '.join(targets(s, text))}]")
    op = "backward" + "".join(" " + e.split("=")[0] for e in extra)
    line = f"{text}.backward({', '.join(extra)})"
    # Finding 10's swap names the whole line, so it comes first
    return Step(
        op, line, swaps=(kept(line), (4, f"{text}.backward(", f"through({text}).backward("))
    )


@letter(4)
def grad(s: Scene) -> Step | None:
    found = root_for(s)
    if found is None:
        return None
    name, text = found
    inputs = targets(s, text)
    if not inputs:
        return None
    extra = options(s)
    if text == name and s[name].numel() != 1:
        extra.insert(
            0, f"grad_outputs={s.literal(s[name].shape, str(s[name].dtype).rpartition('.')[2])}"
        )
    if s.chance(0.4):
        extra.append("allow_unused=True")
        leaf = s.tracked(lambda t: t.is_leaf)
        inputs += [leaf] if leaf and leaf not in inputs else []
    outs = "".join(f"{s.new()}, " for _ in inputs).rstrip(" ")
    args = ", ".join([text, f"[{', '.join(inputs)}]", *extra])
    # copies: whether two results are one object, or views of one seed, is nobody's promise
    line = f"{outs} = (g if g is None else g.clone() for g in torch.autograd.grad({args}))"
    op = "grad" + "".join(" " + e.split("=")[0] for e in extra)
    return Step(op, line, swaps=(kept(line), (4, f"grad({text},", f"grad(through({text}),")))


@letter(1)
def several_roots(s: Scene) -> Step | None:
    a, b = s.tracked(lambda t: not t.is_leaf), s.tracked(lambda t: not t.is_leaf)
    if a is None or b is None:
        return None
    line = f"torch.autograd.backward([{a}.sum(), {b}.sum()]{s.choice(('', ', retain_graph=True'))})"
    return Step("backward of several", line, swaps=(kept(line),))


@letter(8)
def use_grad(s: Scene) -> Step | None:
    """Gradients that are there: zeroed both ways, assigned, read, written, used for a step."""
    names = [
        n for n in s.all(lambda t: t.is_floating_point() and t.is_leaf) if s[n].grad is not None
    ]
    if not names:
        return None
    a = s.choice(names)
    op, text = s.choice(
        (
            ("grad = None", f"{a}.grad = None"),
            ("grad.zero_", f"{a}.grad.zero_()"),
            ("grad.zero_", f"{a}.grad.detach_()\n{a}.grad.zero_()"),
            ("use grad", f"{s.new()} = {a}.grad"),
            ("use grad", f"{s.new()} = {a}.grad * {s.number()}"),
            ("use grad", f"{s.new()} = {a}.grad.clone()"),
            ("write grad", f"{a}.grad.mul_({s.number()})"),
            ("use grad", f"{s.new()} = {a} * {a}.grad"),
            (
                "assign grad",
                f"{a}.grad = {s.literal(s[a].shape, str(s[a].dtype).rpartition('.')[2])}",
            ),
            ("step", f"with torch.no_grad():\n    {a} -= 0.5 * {a}.grad"),
            ("step", f"{a}.data.sub_({a}.grad)"),
        )
    )
    return Step(op, text)


@letter(5)
def refused_on_purpose(s: Scene) -> Step | None:
    """What both engines must refuse, in programs where refusals may stay."""
    a, b = s.tracked(), s.pick(lambda t: not t.requires_grad)
    if not s.dirty or a is None or b is None:
        return None
    t = s[a]
    leaf = s.tracked(lambda t: t.is_leaf) or a
    texts = [
        f"{leaf}.mul_(2.0)",
        f"{leaf}[...] = 1.0",
        f"{leaf}.view(-1).add_(1.0)",
        f"{b}.retain_grad()",
        f"{b}.register_hook(lambda g: None)",
        f"{b}.sum().backward()",
        f"{a}.requires_grad_(False)",
        f"{a}.expand(2, *{a}.shape).add_(1.0)",
        f"{a}.view(-1, 7)",
        f"{a} + torch.ones(7, dtype={a}.dtype)",
        f"{leaf}.grad = torch.ones(9, dtype={a}.dtype)",
        f"{a}.register_post_accumulate_grad_hook(lambda p: None)",
        "torch.ones(2, dtype=torch.int64).requires_grad_()",
        f"{a}.numpy()",
        f"{leaf}.grad = {leaf}",
    ]
    if t.ndim:
        texts += [f"{a}.unbind(0)[0].mul_(2.0)", f"{a}[9]", f"{a}.sum(9)", f"{a}[:1].detach_()"]
    return Step("refused on purpose", s.choice(texts))
