"""Writes the Python source of one entry of an operation (see door.py for what it is for)."""

from __future__ import annotations

import keyword
import re

from sapwood._core.op import MAP, Op


def public_names(sig: str) -> list[str]:
    """Parameter names of a signature, in order: "input, dim=None, *, dtype=None"."""
    names = []
    for part in re.split(r",(?![^(]*\))", sig):  # not at commas inside a default: dims=(0, 1)
        name = part.split("=")[0].split(":")[0].strip().lstrip("*")
        if name.isidentifier() and not keyword.iskeyword(name):  # no part of a default: (0, 1)
            names.append(name)
    return names


class Writer:
    """Writes the source text of one entry."""

    def __init__(self, op: Op, style: str, name: str) -> None:
        self.op, self.style, self.name = op, style, name
        sig = op.method_sig if style == "method" else op.sig
        names = public_names(sig)
        if style == "reflected":
            sig, self.operands = "self, other", ["other", "self"]
        elif style == "dunder":
            sig = "self, other" if len(op.args) == 2 else "self"
            self.operands = ["self", "other"][: len(op.args)]
        else:
            self.operands = names[: len(op.args)]
        self.extra: list[str] = []
        self.prologue: list[str] = []
        if style in ("function", "method"):
            rest = names[len(self.operands) :]
            self.extra = rest if op.bind is not None else [e for e in rest if e in op.attrs]
            self.prologue = ["    " + line for line in op.prologue.strip().splitlines()]
            self.rest = rest
        parts = op.out and op.pack is tuple
        takes_more = op.variadic or parts or op.view or "**" in sig
        self.takes_out = style == "function" and not takes_more
        if self.takes_out:
            before, stars, after = sig.partition(", **")
            sig = f"{before}{', out=None' if '*' in before else ', *, out=None'}{stars}{after}"
        self.sig = sig

    def attrs(self, values: list[str]) -> str:
        """The expression that computes the attribute tuple."""
        if self.op.bind is not None:
            return f"bind({', '.join([*values, *self.extra])})"
        return "(" + "".join(f"{e}, " for e in self.extra) + ")"

    def text(self) -> str:
        """The whole function."""
        lines = [f"def {self.name}({self.sig}):"]
        if self.takes_out:
            lines.append("    if out is not None:")
            stars = {
                e: "**" if f"**{e}" in self.op.sig else "*"
                for e in self.rest
                if f"*{e}" in self.op.sig
            }
            call = ", ".join(
                [
                    *self.operands,
                    *(stars[e] + e for e in stars),
                    *(f"{e}={e}" for e in self.rest if e not in stars),
                ]
            )
            lines.append(f"        return into(out, {self.name}({call}), OP, getframe(1))")
        lines += self.prologue
        if self.style == "function" and not self.op.variadic and not self.op.out:
            lines += self.raw_body()
        if not self.op.variadic and not self.op.out and not self.op.view and self.fast():
            lines += self.fast_body()
        if self.op.view and not self.op.out and len(self.op.args) == 1:
            lines += self.view_body()
        lines += self.slow_body()
        return "\n".join(lines)

    def raw_body(self) -> list[str]:
        """Arrays in, array out: how rules call this at first order. The pass silences NumPy."""
        ops = self.operands
        tests = [f"type({o}) in RAW" for o in ops[1:]]
        args = list(ops)
        if self.op.attrs or self.op.bind is not None:
            args.append("*" + self.attrs(list(ops)))
        return [
            f"    if {' and '.join([f'type({ops[0]}) is ndarray', *tests])}:",
            f"        r = run({', '.join(args)})",
            "        return r if type(r) is ndarray else asarray(r)",
        ]

    def fast(self) -> bool:
        """Whether the frequent case gets its own body."""
        return len(self.op.args) <= 3

    def fast_body(self) -> list[str]:
        """try: one block per combination of tensors and numbers; errors get explained."""
        lines = ["    token = None", "    try:"]
        for numbers in self.combinations():
            lines += ["        " + line for line in self.block(numbers)]
        shown = ", ".join(self.operands)
        lines += [
            "    except BaseException as e:",
            "        if token is not None: restore(token)",
            f"        if not isinstance(e, Exception) or KINDS.isdisjoint(map(type, ({shown},))): "
            "raise",  # no `any`: an entry of that name would be called here
            "        f = getframe(1)",
            f"        raise explain(OP, e, ({shown},), (), MODE().site or (f.f_code, f.f_lasti)) "
            "from None",
        ]
        return lines

    def view_body(self) -> list[str]:
        """The frequent case of a view: one tensor, nothing special."""
        x = self.operands[0]
        attrs = self.attrs([f"{x}.array"]) if self.op.attrs or self.op.bind else "()"
        return [
            "    m = MODE()",
            f"    if type({x}) in KINDS and m.plain:",
            "        f = getframe(1)",
            "        try:",
            f"            attrs = {attrs}",
            f"            r = run({x}.array, *attrs)",
            "        except Exception as e:",
            f"            raise explain(OP, e, ({x},), (), m.site or (f.f_code, f.f_lasti)) "
            "from None",
            f"        return viewed(OP, {x}, r, attrs, m, (f.f_code, f.f_lasti))",
        ]

    def combinations(self) -> list[set[int]]:
        """Which operands are numbers, per block."""
        if self.op.kind != MAP or len(self.op.args) not in (2, 3) or self.op.dtype == "keep":
            return [set()]
        if len(self.op.args) == 3:  # where(c, x, 0), lerp(x, y, 0.5)
            return [set(), {2}, {1}]
        if self.style == "reflected":
            return [{0}]
        return [set(), {1}]

    def block(self, numbers: set[int]) -> list[str]:
        """The fast path for one combination."""
        n = len(self.operands)
        tensors = [i for i in range(n) if i not in numbers]
        names = (self.op.dtype or "").split()[1:]  # operands of one dtype: all, or those named
        alike = [i for i in tensors if not names or self.op.args[i] in names]
        first = alike[0]
        tests = [f"type({self.operands[i]}) in KINDS" for i in tensors]
        for i in numbers:
            kind = f"type({self.operands[i]})"
            tests.append(f"({kind} is float or {kind} is int)")
        lines = [f"if {' and '.join(tests)}:"]
        lines += [f"    a{i} = {self.operands[i]}.array" for i in tensors]
        lines += ["    m = MODE()", f"    d = a{first}.dtype"]
        same = "".join(f" and a{i}.dtype is d" for i in alike[1:])
        lines.append(f"    if (d is F32 or d is F64){same} and m.plain:")
        body = []
        for i in numbers:
            value = self.operands[i]
            if self.op.weak:
                body.append(f"a{i} = {value}")
            else:
                body += [
                    f"a{i} = C32({value}) if d is F32 else C64({value})",
                    f"if a{i} is None: a{i} = constant({value}, d)",
                ]
        body += self.compute(n) + self.wrap(tensors, numbers)
        return lines + ["        " + line for line in body]

    def compute(self, n: int) -> list[str]:
        """Attributes, the NumPy call without warnings, and the result as a tensor."""
        values = [f"a{i}" for i in range(n)]
        lines = []
        if self.op.attrs:
            lines.append(f"attrs = {self.attrs(values)}")
        stars = ["*attrs"] if self.op.attrs else []
        lines += [
            "token = silence(IGNORE)",
            f"r = run({', '.join(values + stars)})",
            "t = token; token = None; restore(t)",  # a signal may come after any call
            "if type(r) is not ndarray: r = asarray(r)",
            "t = new(Tensor)",
            "t.array = r; t.version = None; t.memory = None; t.port = 0",
        ]
        return lines

    def wrap(self, tensors: list[int], numbers: set[int]) -> list[str]:
        """Node, saved values and place where a gradient is needed; else the reasons why not."""
        names = [self.operands[i] for i in tensors]
        lines = []
        for name in names:
            lines.append(
                f"if {name}.memory is not None and {name}.gen != {name}.memory.gen: heal({name})"
            )
        lines += [f"n{i} = {self.operands[i]}.node" for i in tensors]
        some = " or ".join(f"n{i} is not None" for i in tensors)
        if self.op.grad:
            lines.append(f"if ({some}) and m.grad:")
            lines += ["    " + line for line in self.node(tensors, numbers)]
            lines.append("    return t")
        lines.append("t.node = None")
        lines.append(f"t.cuts = {names[0]}.cuts")
        for name in names[1:]:
            lines += [f"c = {name}.cuts", "if c is not None: t.cuts = merge(t.cuts, c)"]
        if not self.op.grad:
            lines.append("if t.cuts is not None: t.cuts = apart(t.cuts)")
        lines.append(f"if {some}:")
        kind = "m.why" if self.op.grad else f"{self.op.name!r}"
        lines += [
            "    f = getframe(1)",
            f"    t.cuts = merge((({kind}, *(m.site or (f.f_code, f.f_lasti)), r.shape),), t.cuts)",
            "return t",
        ]
        return lines

    def node(self, tensors: list[int], numbers: set[int]) -> list[str]:
        """Make the node: one branch per need-mask, because each saves something else."""
        n = len(self.operands)
        nodes = "".join(f"n{i}, " if i in tensors else "None, " for i in range(n))
        number = "-1, " if callable(self.op.title) else "0, "
        ports = "".join(f"{self.operands[i]}.port, " if i in tensors else number for i in range(n))
        lines = [
            "node = new(Node)",
            f"node.inputs = ({nodes})",
            f"node.ports = ({ports})",
            f"node.attrs = {'attrs' if self.op.attrs else '()'}",
            "node.shape = r.shape; node.dtype = d if r.dtype is d else r.dtype",
            "s = m.site",
            "if s is None:",
            "    f = getframe(1); node.code = f.f_code; node.lasti = f.f_lasti",
            "else: node.code, node.lasti = s",
            "node.scope = m.scope; node.seq = next_seq(); node.hooks = None",
        ]
        lines += self.masks(tensors, numbers)
        lines.append("t.node = node; t.cuts = None")
        return lines

    def masks(self, tensors: list[int], numbers: set[int]) -> list[str]:
        """if/elif over the need-masks that this combination can have."""
        able = [i for i in tensors if self.op.args[i] in self.op.grad]
        lines = []
        choices = []
        for bits in range(2 ** len(able) - 1, 0, -1):
            chosen = [i for k, i in enumerate(able) if bits >> k & 1]
            choices.append((sum(1 << i for i in chosen), chosen))
        choices.sort(key=lambda c: -len(c[1]))
        for k, (mask, chosen) in enumerate(choices):
            test = " and ".join(f"n{i} is not None" for i in chosen)
            head = "if" if k == 0 else "elif"
            only = len(tensors) == 1
            lines.append("if True:" if only else f"{head} {test}:")
            lines += ["    " + line for line in self.save(mask, numbers)]
            if only:
                return [line.removeprefix("    ") for line in lines[1:]]
        if len(able) < len(tensors):  # only an operand without derivative requires grad
            lines += ["else:", "    t.node = None; t.cuts = None; return t"]
        return lines

    def save(self, mask: int, numbers: set[int]) -> list[str]:
        """Keep what the plan of this mask asks for, with versions."""
        lines, parts = [], []
        for name in self.op.plan(mask).saves:
            if name in self.op.args:
                i = self.op.args.index(name)
                if i in numbers:
                    parts.append(f"a{i}, FIXED, 0")
                    continue
                owner, array, v = self.operands[i], f"a{i}", f"v{i}"
            elif name == "out":
                owner, array, v = "t", "r", "vr"
            else:
                base, _, what = name.rpartition("_")
                i = self.op.args.index(base)
                value = f"a{i}.{what}" if i not in numbers else f"asarray(a{i}).{what}"
                parts.append(f"{value}, FIXED, 0")
                continue
            lines += [
                f"{v} = {owner}.version",
                f"if {v} is None: {v} = {owner}.version = new(Version); {v}.n = 0; "
                f"{v}.memories = (); "
                f"{v}.code = None",
            ]
            parts.append(f"{array}, {v}, {v}.n")
        lines.append(f"node.plan = PLANS[{mask}]")
        lines.append(f"node.saved = ({', '.join(parts)}{',' if parts else ''})")
        return lines

    def slow_body(self) -> list[str]:
        """Everything that is not the frequent case."""
        ops = self.operands
        lines = []
        if self.style in ("dunder", "reflected") and len(ops) == 2:
            other = "other"
            lines.append(f"    if foreign({other}): return NotImplemented")
        if self.op.variadic:
            xs = ops[0]
            lines.append(f"    {xs} = list({xs})")
            attrs = self.attrs([f"[q.array if type(q) in KINDS else q for q in {xs}]"])
        else:
            xs = f"({', '.join(ops)},)"
            attrs = self.attrs([f"({o}.array if type({o}) in KINDS else {o})" for o in ops])
        lines += ["    f = getframe(1)"]
        if self.op.attrs or self.op.bind is not None:
            lines += [
                "    try:",
                f"        attrs = {attrs}",
                "    except Exception as e:",
                f"        raise explain(OP, e, {xs}, (), MODE().site or (f.f_code, f.f_lasti)) "
                "from None",
            ]
        else:
            lines.append("    attrs = ()")
        lines.append(f"    return general(OP, {xs}, attrs, (f.f_code, f.f_lasti))")
        return lines
