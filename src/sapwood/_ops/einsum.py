"""einsum: sums of products by the names of dimensions.

Repeated names become diagonals, names that nobody else needs are summed at once, and each pair of
operands becomes one matrix product on views: no copy where the layout allows it.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

from sapwood._core.border import function_only
from sapwood._core.tensor import Tensor
from sapwood._ops.elementwise import mul
from sapwood._ops.linear import matmul
from sapwood._ops.reduce import sum as sum_

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DOTS = "..."
Term = tuple[Any, tuple[str, ...]]  # an operand and the names of its dimensions


# ---- equations -------------------------------------------------------------------------------


def split_terms(equation: str) -> tuple[list[list[str]], list[str] | None]:
    """The names of each operand and of the output (None: implicit); "..." counts as one."""
    left, arrow, right = equation.partition("->")
    terms, start = [], 0
    for k, text in enumerate(left.split(",")):
        terms.append(names_in(text, start, f"operand {k}"))
        start += len(text) + 1
    return terms, names_in(right, start + 1, "the output") if arrow else None


def names_in(text: str, start: int, whose: str) -> list[str]:
    """The names in a part of an equation that begins at index `start`."""
    found: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if text.startswith(DOTS, i):
            if DOTS in found:
                raise RuntimeError(
                    f"einsum(): found '.' for {whose} for which an ellipsis was already found"
                )
            found.append(DOTS)
            i += 2
        elif c == ".":
            raise RuntimeError(f"einsum(): found '.' for {whose} that is not part of any ellipsis")
        elif c in LETTERS:
            found.append(c)
        elif c != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        i += 1
    return found


def from_lists(parts: tuple) -> tuple[list[list[str]], list[str] | None, list]:
    """The form with lists of numbers: einsum(x, [0, 1], y, [1, 2], [0, 2])."""
    pairs = len(parts) // 2
    terms = [names_of(parts[2 * k + 1]) for k in range(pairs)]
    output = names_of(parts[-1]) if len(parts) % 2 else None
    return terms, output, [parts[2 * k] for k in range(pairs)]


def names_of(sublist: Any) -> list[str]:
    """Numbers and Ellipsis as names."""
    found = []
    for k in sublist:
        if k is not Ellipsis and not 0 <= k < len(LETTERS):
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range "
                f"[0, {len(LETTERS)})"
            )
        found.append(DOTS if k is Ellipsis else LETTERS[k])
    return found


def spelled_out(terms: list, output: list | None, ranks: list[int]) -> tuple[list, list]:
    """The ellipsis as names of their own (".0", ".1"), an implicit output made explicit."""
    if len(terms) != len(ranks):
        which = "fewer" if len(ranks) < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {which} operands were provided than specified in the equation"
        )
    hidden = []
    for k, (term, rank) in enumerate(zip(terms, ranks, strict=True)):
        free = rank - len(term) + (DOTS in term)
        if free < 0 or (free and DOTS not in term):
            end = f"and {'no ' if DOTS not in term else 'an '}ellipsis was given"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) "
                f"{'does not match' if DOTS not in term else 'is more than'} the number of "
                f"dimensions ({rank}) for operand {k} {end}"
            )
        hidden.append(free if DOTS in term else 0)
    wide = max(hidden, default=0)
    dots = [f".{i}" for i in range(wide)]
    full = [
        [n for c in term for n in (dots[wide - free :] if c == DOTS else [c])]
        for term, free in zip(terms, hidden, strict=True)
    ]
    seen = [c for term in full for c in term]
    if output is None:
        once = sorted(c for c in set(seen) if seen.count(c) == 1 and c[0] != ".")
        return full, dots + once
    out = [n for c in output for n in (dots if c == DOTS else [c])]
    for c in out:
        if out.count(c) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {c} appears more than once in the output"
            )
        if c not in seen:
            raise RuntimeError(
                f"einsum(): output subscript {c} does not appear in the equation for "
                "any input operand"
            )
    return full, out


# ---- contractions ----------------------------------------------------------------------------


def without_repeats(x: Any, names: list[str], k: int) -> Term:
    """A name that occurs twice in one operand stands for a diagonal."""
    term = list(names)
    for c in dict.fromkeys(names):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            shape = x.array.shape
            if shape[i] != shape[j]:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {k} but the "
                    f"sizes don't match, {shape[j]} != {shape[i]}"
                )
            x = x.diagonal(0, i, j)
            term = [n for p, n in enumerate(term) if p not in (i, j)] + [c]
    return x, tuple(term)


def extents(terms: list[Term]) -> dict[str, int]:
    """The extent of each name; 1 broadcasts."""
    found: dict[str, int] = {}
    for k, (x, term) in enumerate(terms):
        for c, n in zip(term, x.array.shape, strict=True):
            if found.get(c, 1) not in (1, n) and n != 1:
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {k} which does not "
                    f"broadcast with previously seen size {found[c]}"
                )
            found[c] = n if n != 1 else found.get(c, 1)
    return found


def narrowed(x: Any, term: tuple, sizes: dict[str, int], keep: set[str]) -> Term:
    """Dimensions of extent 1 that broadcast are dropped, names that nobody needs are summed."""
    flat = tuple(c for c, n in zip(term, x.array.shape, strict=True) if n == sizes[c])
    if flat != term:
        x = x.reshape([sizes[c] for c in flat])
    gone = tuple(i for i, c in enumerate(flat) if c not in keep)
    return (sum_(x, gone) if gone else x), tuple(c for c in flat if c in keep)


def arranged(x: Any, term: tuple, wanted: list[str], shape: list[int]) -> Any:
    """The dimensions in another order, then grouped into a shape."""
    order = [term.index(c) for c in wanted]
    if order != sorted(order):
        x = x.permute(order)
    return x if list(x.array.shape) == shape else x.reshape(shape)


def pair(first: Term, second: Term, keep: set[str], sizes: dict[str, int]) -> Term:
    """Two operands as one matrix product (or a product of elements, where nothing is summed)."""
    x, xs = narrowed(*first, sizes, keep | set(second[1]))
    y, ys = narrowed(*second, sizes, keep | set(xs))
    x, xs = narrowed(x, xs, sizes, keep | set(ys))  # what only a dropped dimension asked for
    both = [c for c in xs if c in ys]
    batch, inner = [c for c in both if c in keep], [c for c in both if c not in keep]
    mine, theirs = [c for c in xs if c not in both], [c for c in ys if c not in both]
    b, m, k, n = ([sizes[c] for c in names] for names in (batch, mine, inner, theirs))
    out = (*batch, *mine, *theirs)
    if not inner:
        left = arranged(x, xs, batch + mine, b + m + [1] * len(n))
        right = arranged(y, ys, batch + theirs, b + [1] * len(m) + n)
        return mul(left, right), out
    depth = math.prod(k)
    left = arranged(x, xs, batch + mine + inner, [*b, math.prod(m), depth])
    right = arranged(y, ys, batch + inner + theirs, [*b, depth, math.prod(n)])
    found = matmul(left, right)
    shape = b + m + n
    return (found if list(found.array.shape) == shape else found.reshape(shape)), out


def cheapest(terms: list[Term], output: set[str], sizes: dict[str, int]) -> tuple[int, int]:
    """The pair whose product is smallest compared with what it replaces."""

    def gain(i: int, j: int) -> int:
        rest = output.union(*(t for p, (_, t) in enumerate(terms) if p not in (i, j)))
        made = {c for p in (i, j) for c in terms[p][1] if c in rest}
        return math.prod(sizes[c] for c in made) - sum(terms[p][0].array.size for p in (i, j))

    return min(combinations(range(len(terms)), 2), key=lambda p: gain(*p))


@function_only
def einsum(*args: Any) -> Tensor:
    """Sums of products by the names of dimensions, such as "bij,bjk->bik"."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or "
            "at least one operand and its subscripts list"
        )
    if isinstance(args[0], str):
        terms, output = split_terms(args[0])
        operands = list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
            operands = list(operands[0])
    else:
        terms, output, operands = from_lists(args)
    for x in operands:
        if x.array.dtype != operands[0].array.dtype:
            raise RuntimeError(
                f"expected scalar type {operands[0].dtype.title} but found {x.dtype.title}"
            )
    names, out = spelled_out(terms, output, [x.ndim for x in operands])
    left = [
        without_repeats(x, term, k) for k, (x, term) in enumerate(zip(operands, names, strict=True))
    ]
    sizes = extents(left)
    keep = set(out)
    while len(left) > 1:
        i, j = (0, 1) if len(left) == 2 else cheapest(left, keep, sizes)
        others = keep.union(*(t for p, (_, t) in enumerate(left) if p not in (i, j)))
        made = pair(left[i], left[j], others, sizes)
        left = [t for p, t in enumerate(left) if p not in (i, j)]
        left.insert(i, made)
    x, term = narrowed(*left[0], sizes, keep)
    return arranged(x, term, out, [sizes[c] for c in out])
