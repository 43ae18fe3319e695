"""What is made of products and norms: covariance, distances, rescaling, powers as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood._core.border import function, function_only, method
from sapwood._core.door import TABLE
from sapwood._core.tensor import Tensor, plain
from sapwood._ops.axes import axes, axis
from sapwood._ops.linear import mm
from sapwood._ops.rules import cj
from sapwood._ops.views import diagonal, expand, reshape, squeeze, transpose, unsqueeze


@function
def cov(
    input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None
) -> Tensor:
    """The covariance of rows, with optional frequency and importance weights of columns."""
    if input.array.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input "
            f"with {input.array.ndim} dimensions"
        )
    if input.array.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    sum_, rows = (
        TABLE["sum"].door,
        reshape(input, (-1, input.array.shape[-1] if input.array.ndim else 1)),
    )
    n = rows.array.shape[1]
    weights = (
        fweights if aweights is None else aweights if fweights is None else fweights * aweights
    )
    total: Any = n if weights is None else sum_(weights)
    if weights is None:
        middle = sum_(rows, 1, True) / n
        free: Any = n - correction
    else:
        middle = sum_(rows * weights, 1, True) / total
        lost = (
            correction
            if aweights is None or not correction
            else correction * sum_(weights * aweights) / total
        )
        free = total - lost
    away = rows - middle
    scaled = away if weights is None else away * weights
    free = max(free, 0) if weights is None else TABLE["clamp"].door(free, 0)
    out = mm(away, cj(transpose(scaled, 0, 1))) / free
    return squeeze(out) if out.array.size == 1 else out


@function
def corrcoef(input: Tensor) -> Tensor:
    """The correlation of rows: the covariance over the standard deviations."""
    c = cov(input)
    if not c.array.ndim:
        return c / c
    d = diagonal(c)
    spread = (d.real if d.array.dtype.kind == "c" else d).sqrt()  # type: ignore[attr-defined]
    c = c / unsqueeze(spread, 1) / unsqueeze(spread, 0)
    clamp = TABLE["clamp"].door
    if c.array.dtype.kind == "c":
        return TABLE["complex"].door(clamp(c.real, -1, 1), clamp(c.imag, -1, 1))  # type: ignore[attr-defined]
    return clamp(c, -1, 1)


@function_only
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The p-norm distance of every row of x1 from every row of x2."""
    if x1.array.ndim < 2 or x2.array.ndim < 2:
        raise RuntimeError(
            f"cdist only supports at least 2D tensors, X1 got: {x1.array.ndim}D"
            if x1.array.ndim < 2
            else f"cdist only supports at least 2D tensors, X2 got: {x2.array.ndim}D"
        )
    if x1.array.shape[-1] != x2.array.shape[-1]:
        raise RuntimeError(
            "X1 and X2 must have the same number of columns. X1: "
            f"{x1.array.shape[-1]} X2: {x2.array.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    away = unsqueeze(x1, -2) - unsqueeze(x2, -3)
    return TABLE["_vector_norm"].door(away, float(p), (away.array.ndim - 1,), False)


@function
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Each part along dim scaled down to a p-norm of at most maxnorm."""
    d = axis(dim, input.array.ndim)
    if input.array.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.array.ndim} dimensions"
        )
    rest = tuple(k for k in range(input.array.ndim) if k != d)
    size = TABLE["_vector_norm"].door(input, float(p), rest, True)
    return input * TABLE["where"].door(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


@function_only
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """Powers of x as columns."""
    if x.array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = len(x.array) if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    kind = np.dtype(np.int64) if x.array.dtype.kind in "biu" else x.array.dtype
    parts = [np.ones((len(x.array), min(n, 1)), kind)]
    if n > 1:
        parts.append(TABLE["cumprod"].door(expand(unsqueeze(x, 1), (len(x.array), n - 1)), 1))
    out = TABLE["cat"].door([p if isinstance(p, Tensor) else plain(p) for p in parts], 1)
    return out if increasing else TABLE["flip"].door(out, (1,))


@method
def renorm_(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """`renorm` in place."""
    return self.copy_(renorm(self.clone(), p, dim, maxnorm))  # type: ignore[attr-defined]


@function_only
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norm distance of every pair of rows, each pair once."""
    if input.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.array.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = (plain(v) for v in np.triu_indices(input.array.shape[0], 1))
    away = input.index_select(0, first) - input.index_select(0, second)  # type: ignore[attr-defined]
    return TABLE["_vector_norm"].door(away, float(p), (1,), False)


def slope(x: Tensor, d: int, steps: np.ndarray, order: int) -> Tensor:
    """The derivative along d from steps between neighbours: inside of second order."""
    n = x.array.shape[d]
    wide = (-1, *(1,) * (x.array.ndim - 1 - d))

    def part(start: int, stop: int | None) -> Tensor:
        return TABLE["_index_basic"].door(x, ((slice(None),) * d + (slice(start, stop),)))

    def times(v: Tensor, factor: np.ndarray) -> Tensor:
        return v * plain(factor.astype(steps.dtype).reshape(wide))

    a, b = steps[:-1], steps[1:]
    inside = (
        times(part(0, -2), -b / (a * (a + b)))
        + times(part(1, -1), (b - a) / (a * b))
        + times(part(2, None), a / (b * (a + b)))
    )
    if order == 1:
        first = times(part(1, 2) - part(0, 1), 1 / steps[:1])
        last = times(part(n - 1, n) - part(n - 2, n - 1), 1 / steps[-1:])
    else:
        a, b = steps[:1], steps[1:2]
        first = (
            times(part(0, 1), -(2 * a + b) / (a * (a + b)))
            + times(part(1, 2), (a + b) / (a * b))
            + times(part(2, 3), -a / (b * (a + b)))
        )
        a, b = steps[-2:-1], steps[-1:]
        last = (
            times(part(n - 3, n - 2), b / (a * (a + b)))
            + times(part(n - 2, n - 1), -(a + b) / (a * b))
            + times(part(n - 1, n), (2 * b + a) / (b * (a + b)))
        )
    return TABLE["cat"].door([first, inside, last], d)


@function_only
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple:
    """The derivative along dimensions by differences of neighbours; spacing: numbers or places."""
    a = input.array
    dims = axes(dim, a.ndim)
    many = isinstance(spacing, (tuple, list))
    if many and len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list "
            f"of length {len(dims)}, but got a list of length {len(spacing)}"
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    kind = a.dtype if a.dtype.kind in "fcV" else np.dtype(np.float32)
    found = []
    for k, d in enumerate(dims):
        if a.shape[d] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
        given = spacing[k] if many else spacing
        steps = (
            np.diff(given.array).astype(kind)
            if isinstance(given, Tensor) and given.array.ndim
            else np.full(a.shape[d] - 1, float(given), kind)
        )
        found.append(slope(input, d, steps, edge_order))
    return tuple(found)
