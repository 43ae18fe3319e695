"""Letters that register and remove hooks: on tensors, leaves, nodes and several tensors."""

from __future__ import annotations

from .program import Step
from .scene import Scene, letter

# Bodies of tensor hooks. {h} the hook's name, {n} a number, {r} its own handle, {o} another handle,
# {v} a leaf
BODIES = (
    ("log", '    log("{h}", g)'),
    ("log", '    log("{h}", g)'),
    ("return", '    log("{h}", g)\n    return g * {n}'),
    ("return", '    log("{h}", g)\n    return g + {n}'),
    ("return", "    return g.clone().mul_({n})"),
    ("return zeros", "    return torch.zeros_like(g)"),
    ("return itself", '    log("{h}", g)\n    return g'),
    ("return detached", "    return g.detach()"),
    ("remove itself", '    log("{h}", g)\n    {r}.remove()'),
    ("remove itself", "    {r}.remove()\n    return g * {n}"),
    ("remove other", '    log("{h}", g)\n    {o}.remove()'),
    ("see grad", '    log("{h}", g, {v}.grad, torch.is_grad_enabled())'),
    ("keep", '    kept["{h}"] = g'),
    ("register", '    log("{h}", g)\n    {v}.register_hook(lambda g: log("{h} inner", g))'),
    (
        "reentrant",
        "    with torch.enable_grad():\n"
        "        w = torch.ones(2, dtype=g.dtype, requires_grad=True)\n"
        '        (w * {n}).sum().backward()\n    log("{h}", g, w.grad)',
    ),
)
WRITES = (
    "g.mul_({n})",
    "g.add_({n})",
    "g.zero_()",
    "g.neg_()",
    "g.unsqueeze(0).mul_({n})",
    "g.flatten()",
    "g[...] = {n}",
    "g.detach().mul_({n})",
    "g.copy_(g * {n})",
    "g *= {n}",
)
BAD = (
    "    return 1",
    "    return g.sum()[None, None]",
    "    return g.float()",
    '    raise ValueError("raised on purpose")',
    '    raise ValueError("raised on purpose")',
)


def hook_text(name: str, arg: str, body: str, target: str) -> str:
    handle = name.replace("h", "r")
    return f"def {name}({arg}):\n{body}\n{handle} = {target}({name})"


@letter(13)
def tensor_hook(s: Scene) -> Step | None:
    a = s.tracked()
    if a is None:
        return None
    h = s.new("h")
    r, n = h.replace("h", "r"), s.number()
    others = s.handles()
    s.names["handles"].append(r)
    if s.dirty and s.chance(0.15):
        return Step("hook refused", hook_text(h, "g", s.choice(BAD), f"{a}.register_hook"))
    if s.chance(0.15):
        return writing_hook(s, h, a)
    op, body = s.choice(BODIES)
    leaf = s.tracked(lambda t: t.is_leaf)
    if ("{o}" in body and not others) or ("{v}" in body and not leaf):
        op, body = BODIES[0]
    body = body.format(h=h, n=n, r=r, o=s.choice(others or [r]), v=leaf)
    return Step(f"hook {op}", hook_text(h, "g", body, f"{a}.register_hook"))


def writing_hook(s: Scene, h: str, a: str) -> Step:
    """Finding 3: a hook that writes into its argument: only its own gradient may change."""
    write = s.choice(WRITES).format(n=s.number())
    body = f'    log("{h}", g)\n    {write}\n    log("{h} after", g)'
    fixed = (
        f'    log("{h}", g)\n    g = g.clone()\n    {write}\n    log("{h} after", g)\n    return g'
    )
    return Step(
        "hook write", hook_text(h, "g", body, f"{a}.register_hook"), swaps=((3, body, fixed),)
    )


@letter(1.5)
def remove_hook(s: Scene) -> Step | None:
    handles = s.handles()
    return Step("hook removed", f"{s.choice(handles)}.remove()") if handles else None


@letter(1.5)
def post_accumulate(s: Scene) -> Step | None:
    a = s.tracked(lambda t: t.is_leaf)
    if a is None:
        return None
    h = s.new("h")
    s.names["handles"].append(h.replace("h", "r"))
    body = f'    log("{h}", p.grad)'
    body += s.choice(
        (
            "",
            "",
            f"\n    p.grad.mul_({s.number()})" if s.chance(0.5) else "\n    p.grad = None",
            f"\n    with torch.no_grad():\n        p.sub_({abs(s.number())} * p.grad)",
            f"\n    {h.replace('h', 'r')}.remove()",
        )
    )
    return Step(
        "post-accumulate hook", hook_text(h, "p", body, f"{a}.register_post_accumulate_grad_hook")
    )


@letter(5)
def node_hook(s: Scene) -> Step | None:
    """Only on nodes that every engine must have: one plain operation, not written since."""
    names = [
        n
        for n in s.names["simple"]
        if n in s.session.tensors()
        and s[n].requires_grad
        and not s[n].is_leaf
        and s[n]._version == 0
        and not s[n]._is_view()
    ]
    if not names:
        return None
    a, h = s.choice(names), s.new("h")
    s.names["handles"].append(h.replace("h", "r"))
    if s.chance(0.4):
        body = f'    log("{h}", *outputs)\n'
        body += f'    log("{h} inputs", *[g for g in inputs if g is not None])'
        body += (
            "\n    return tuple(g if g is None else g * 2 for g in inputs)" if s.chance(0.3) else ""
        )
        return Step(
            "node hook", hook_text(h, "inputs, outputs", body, f"{a}.grad_fn.register_hook")
        )
    body = f'    log("{h}", *gs)'
    if s.chance(0.4) and a not in s.names["retained"]:
        body += f"\n    return (gs[0] * {s.number()},)"
        s.names["scaled"].append(a)
    return Step("node pre-hook", hook_text(h, "gs", body, f"{a}.grad_fn.register_prehook"))


@letter(1.5)
def several(s: Scene) -> Step | None:
    """A hook on several tensors; finding 4 is about their being roots."""
    a, b = s.tracked(), s.tracked()
    if a is None or b is None or a == b:
        return None
    h = s.new("h")
    s.names["handles"].append(h.replace("h", "r"))
    mode = s.choice(("all", "all", "any"))
    body = f'    log("{h}", *gs)' if mode == "all" else f'    log("{h}", gs)'
    extra = "" if mode == "all" else ', mode="any"'
    register = f"torch.autograd.graph.register_multi_grad_hook(({a}, {b}), {h}{extra})"
    text = f"def {h}(gs):\n{body}\n{h.replace('h', 'r')} = {register}"
    return Step("hook on several", text)


@letter(5)
def retain_grad(s: Scene) -> Step | None:
    a = s.tracked(lambda t: not t.is_leaf or s.chance(0.1))
    if a is None or a in s.names["scaled"]:
        return None
    s.names["retained"].append(a)
    return Step(
        "retain_grad", f"{a}.retain_grad()", swaps=((6, f"{a}.retain_grad()", f"retain({a})"),)
    )
