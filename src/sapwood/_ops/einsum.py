"""einsum through diagonals, sums and one matrix product per pair of operands."""

from __future__ import annotations

from typing import Any

from sapwood._core.border import function_only
from sapwood._core.door import TABLE
from sapwood._core.tensor import Tensor
from sapwood._ops.linear import bmm
from sapwood._ops.views import diagonal, expand, permute, reshape, squeeze

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def parse(equation: str, ranks: list[int]) -> tuple[list[list[str]], list[str]]:
    """Labels of every operand and of the output; the ellipsis as labels of its own."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise RuntimeError(
            f"einsum(): {'more' if len(terms) < len(ranks) else 'fewer'} operands were provided "
            f"than specified in the equation ({len(ranks)} for {len(terms)} terms)")
    wide = max((r - len(t.replace("...", "")) for t, r in zip(terms, ranks, strict=True)
                if "..." in t), default=0)
    dots = [f".{k}" for k in range(wide)]
    inputs = []
    for term, rank in zip(terms, ranks, strict=True):
        inputs.append(labels(term, rank, dots))
    if arrow:
        output = labels(right, None, dots)
        for label in output:
            if output.count(label) > 1:
                raise RuntimeError(
                    f"einsum(): output subscript {label} appears more than once in the output")
            if not any(label in term for term in inputs):
                raise RuntimeError(
                    f"einsum(): output subscript {label} does not appear in the equation for any "
                    "input operand")
    else:
        seen = [c for term in inputs for c in term]
        single = sorted({c for c in seen if seen.count(c) == 1 and c[0] != "."})
        output = dots + single
    return inputs, output


def labels(term: str, rank: int | None, dots: list[str]) -> list[str]:
    """The labels of one term, one per dimension."""
    head, ellipsis, tail = term.partition("...")
    for c in head + tail:
        if c not in LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index 0 in the equation string: {c!r}, "
                "subscripts must be in [a-zA-Z]")
    if rank is None:
        return [*head, *(dots if ellipsis else []), *tail]
    n = rank - len(head) - len(tail)
    if n < 0 or (n and not ellipsis):
        raise RuntimeError(
            "einsum(): the number of subscripts in the equation "
            f"({len(head) + len(tail)}) does not match the number of dimensions ({rank}) for an "
            "operand and no ellipsis was given")
    return [*head, *(dots[len(dots) - n :] if ellipsis else []), *tail]


def without_repeats(x: Tensor, term: list[str]) -> tuple[Tensor, list[str]]:
    """Repeated labels as diagonals."""
    term = list(term)
    for label in dict.fromkeys(term):
        while term.count(label) > 1:
            i = term.index(label)
            j = term.index(label, i + 1)
            x = diagonal(x, 0, i, j)
            term = [c for k, c in enumerate(term) if k not in (i, j)] + [label]
    return x, term


def pair(x: Tensor, xs: list[str], y: Tensor, ys: list[str], keep: set[str]) -> tuple:
    """One contraction as a batched matrix product."""
    x, xs = summed(x, xs, keep | set(ys))
    y, ys = summed(y, ys, keep | set(xs))
    both = [c for c in xs if c in ys]
    batch = [c for c in both if c in keep]
    inner = [c for c in both if c not in keep]
    mine, theirs = [c for c in xs if c not in both], [c for c in ys if c not in both]
    extent = dict(zip(xs, x.array.shape, strict=True))
    for c, n in zip(ys, y.array.shape, strict=True):
        extent[c] = max(extent.get(c, 1), n) if 1 in (extent.get(c, 1), n) else n
    x, y = widened(x, xs, extent), widened(y, ys, extent)
    sizes = [prod(extent, group) for group in (batch, mine, inner, theirs)]
    left = reshape(permute(x, order(xs, batch + mine + inner)), (sizes[0], sizes[1], sizes[2]))
    right = reshape(permute(y, order(ys, batch + inner + theirs)), (sizes[0], sizes[2], sizes[3]))
    out = batch + mine + theirs
    return reshape(bmm(left, right), tuple(extent[c] for c in out)), out


def widened(x: Tensor, term: list[str], extent: dict[str, int]) -> Tensor:
    """Dimensions of extent 1 as wide as the other operand's."""
    shape = tuple(extent[c] for c in term)
    return x if x.array.shape == shape else expand(x, shape)


def prod(extent: dict[str, int], group: list[str]) -> int:
    """The number of positions of several labels."""
    n = 1
    for c in group:
        n *= extent[c]
    return n


def order(term: list[str], wanted: list[str]) -> tuple[int, ...]:
    """The permutation that brings labels into an order."""
    return tuple(term.index(c) for c in wanted)


def summed(x: Tensor, term: list[str], keep: set[str]) -> tuple[Tensor, list[str]]:
    """Labels that nobody else needs are summed at once."""
    gone = tuple(i for i, c in enumerate(term) if c not in keep)
    if gone:
        x = TABLE["sum"].door(x, gone)
    return x, [c for c in term if c in keep]


@function_only
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sums of products by the names of dimensions: einsum("bij,bjk->bik", x, y)."""
    if not isinstance(equation, str):
        equation, operands = from_lists(equation, operands)
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    if not operands:
        raise RuntimeError("einsum(): must provide at least one operand")
    inputs, output = parse(equation, [x.array.ndim for x in operands])
    terms = [without_repeats(x, t) for x, t in zip(operands, inputs, strict=True)]
    check_extents(terms)
    x, xs = terms[0]
    for k, (y, ys) in enumerate(terms[1:], 1):
        later = {c for _, t in terms[k + 1 :] for c in t}
        x, xs = pair(x, xs, y, ys, set(output) | later)
    x, xs = summed(x, xs, set(output))
    return permute(x, order(xs, output)) if xs else squeeze(x) if x.array.ndim else x


def check_extents(terms: list) -> None:
    """One label, one extent (1 broadcasts)."""
    extent: dict[str, int] = {}
    for k, (x, term) in enumerate(terms):
        for d, (c, n) in enumerate(zip(term, x.array.shape, strict=True)):
            if n != 1 and extent.get(c, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {k} which does not "
                    f"broadcast with previously seen size {extent[c]} (dimension {d})")
            if n != 1:
                extent[c] = n


def from_lists(first: Tensor, rest: tuple) -> tuple[str, tuple]:
    """The sublist form: einsum(x, [0, 1], y, [1, 2], [0, 2])."""
    parts = [first, *rest]
    tensors, terms = parts[0::2], parts[1::2]
    output = None
    if len(parts) % 2:
        output, tensors = tensors[-1], tensors[:-1]
    text = ",".join(word(t) for t in terms)
    return (text if output is None else f"{text}->{word(output)}"), tuple(tensors)


def word(sublist: Any) -> str:
    """A sublist as letters."""
    return "".join("..." if k is Ellipsis else LETTERS[k] for k in sublist)
