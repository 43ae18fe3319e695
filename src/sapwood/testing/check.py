"""Derivatives against finite differences, first and second order, in random directions.

Nothing here reads a graph, a rule or a node: the function is called on moved arrays, and what
`autograd.grad` says is compared with the central difference of the values. Everything in float64
(complex128), where a central difference with a step of 1e-6 is right to about nine digits.

With complex numbers the inner product is Re(conj(a) b): the gradient is the direction of steepest
ascent, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sapwood._core.tensor import Tensor, plain
from sapwood.autograd import grad

STEP = 1e-6


class GradientError(AssertionError):
    """A derivative that does not agree with finite differences."""


def check_gradients(
    fn: Callable[..., Any],
    inputs: Sequence[np.ndarray],
    *,
    order: int = 2,
    tries: int = 2,
    seed: int = 0,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> None:
    """Compare the derivatives of `fn` at `inputs` with central differences.

    fn      takes as many tensors as there are inputs; returns a tensor, or several
    inputs  float64 or complex128 arrays, at a point where fn is smooth
    order   1, or 2 for the derivative of the gradient too (create_graph=True)
    tries   how many random directions
    """
    for a in inputs:
        if a.dtype not in (np.float64, np.complex128):
            raise TypeError(f"derivatives are checked in float64 or complex128, not in {a.dtype}")
    check = Check(fn, inputs, np.random.default_rng(seed), rtol, atol)
    for _ in range(tries):
        check.first_order()
        if order > 1:
            check.second_order()


def copied(a: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The same values in memory of their own, laid out alike: with its gaps and directions."""
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    root = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root is a or not a.size or not root.flags.forc or root.dtype != a.dtype:
        return a.astype(dtype, order="K")
    memory = root.ravel(order="K").astype(dtype).view(np.uint8)
    offset = a.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    scaled = [n // a.itemsize * dtype.itemsize for n in (offset, *a.strides)]
    return np.ndarray(a.shape, dtype, memory.data, scaled[0], scaled[1:])


class Check:
    """One function at one point, moved in random directions."""

    def __init__(
        self,
        fn: Callable,
        inputs: Sequence[np.ndarray],
        rng: np.random.Generator,
        rtol: float,
        atol: float,
    ) -> None:
        self.fn, self.inputs, self.rng = fn, list(inputs), rng
        self.rtol, self.atol, self.step = rtol, atol, STEP
        results = several(fn(*leaves(self.inputs)))
        self.kept = [i for i, t in enumerate(results) if t.requires_grad]
        if not self.kept:
            raise GradientError("no output requires grad, though every input does")
        self.values = [results[i].array for i in self.kept]
        if any(v.dtype.itemsize < 8 for v in self.values):  # the function rounds to float32
            self.rtol, self.step = max(rtol, 1e-2), 1e-2

    def outputs(self, tensors: list[Tensor]) -> list[Tensor]:
        """The results that have a derivative."""
        results = several(self.fn(*tensors))
        return [results[i] for i in self.kept]

    def evaluate(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The values at some arrays."""
        return [np.array(t.array) for t in self.outputs([plain(a) for a in arrays])]

    def gradient(self, arrays: list[np.ndarray], seeds: list[np.ndarray]) -> list[np.ndarray]:
        """The first-order gradient as arrays; zeros where it is absent."""
        xs = leaves(arrays)
        return dense(grad(self.outputs(xs), xs, [plain(s) for s in seeds], allow_unused=True), xs)

    def slopes(self, at: Callable[[float], list[np.ndarray]]) -> list[np.ndarray]:
        """The central difference of a function of one number, at 0."""
        up, down = at(self.step), at(-self.step)
        return [change(u, d) / (2 * self.step) for u, d in zip(up, down, strict=True)]

    def first_order(self) -> None:
        """<seed, change of the outputs> = <gradient, change of the inputs>."""
        seeds = [self.like(v) for v in self.values]
        move = [self.like(a) for a in self.inputs]
        found = self.gradient(self.inputs, seeds)
        for i, (g, a) in enumerate(zip(found, self.inputs, strict=True)):
            if g.shape != a.shape or g.dtype != a.dtype:
                raise GradientError(
                    f"the gradient of input {i} is {g.dtype}{list(g.shape)}, the input "
                    f"{a.dtype}{list(a.shape)}"
                )
        slopes = self.slopes(lambda h: self.evaluate(moved(self.inputs, move, h)))
        self.agree("first derivative", seeds, slopes, found, move)

    def second_order(self) -> None:
        """The gradient, as a function of inputs and seeds, differentiated once more."""
        seeds = [self.like(v) for v in self.values]
        weights = [self.like(a) for a in self.inputs]
        move, sway = [self.like(a) for a in self.inputs], [self.like(s) for s in seeds]
        xs, cs = leaves(self.inputs), leaves(seeds)
        first = grad(self.outputs(xs), xs, cs, create_graph=True, allow_unused=True)
        kept = [
            (g, plain(w))
            for g, w in zip(first, weights, strict=True)
            if g is not None and g.requires_grad
        ]
        found: Sequence[Any] = [None] * len(xs + cs)
        if kept:
            found = grad([g for g, _ in kept], xs + cs, [w for _, w in kept], allow_unused=True)
        slopes = self.slopes(
            lambda h: self.gradient(moved(self.inputs, move, h), moved(seeds, sway, h))
        )
        self.agree("second derivative", weights, slopes, dense(found, xs + cs), move + sway)

    def agree(self, what: str, seeds: list, slopes: list, found: list, move: list) -> None:
        """Both ways to the same number, or an error that says what each gives."""
        numeric = [inner(s, d) for s, d in zip(seeds, slopes, strict=True)]
        analytic = [inner(g, v) for g, v in zip(found, move, strict=True)]
        scale = sum(map(abs, numeric)) + sum(map(abs, analytic))
        scale += sum(float(np.abs(g * v).sum()) for g, v in zip(found, move, strict=True))
        if not abs(sum(numeric) - sum(analytic)) <= self.atol + self.rtol * scale:  # NaN fails too
            raise GradientError(
                f"{what}: finite differences give {sum(numeric):.10g}, backward "
                f"{sum(analytic):.10g}; by input {[f'{a:.6g}' for a in analytic]}"
            )

    def like(self, a: np.ndarray) -> np.ndarray:
        """A random array of the same shape and dtype."""
        v = np.asarray(self.rng.normal(size=a.shape))
        if a.dtype.kind == "c":
            v = v + 1j * self.rng.normal(size=a.shape)
        return np.asarray(v).astype(a.dtype)


def change(up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """up - down; values that stay infinite or NaN do not change."""
    with np.errstate(invalid="ignore"):
        return np.where((up == down) | ((up != up) & (down != down)), 0, up - down)


def inner(a: np.ndarray, b: np.ndarray) -> float:
    """Re(sum(conj(a) b))."""
    return float((np.conj(a) * b).sum().real)


def moved(arrays: list[np.ndarray], move: list[np.ndarray], step: float) -> list[np.ndarray]:
    """The arrays, a step along `move`, in the same layout (some operations read the layout)."""
    found = []
    for a, v in zip(arrays, move, strict=True):
        overlaps = any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True))
        there = np.array(a) if overlaps else copied(a)
        there += step * v
        found.append(there)
    return found


def leaves(arrays: list[np.ndarray]) -> list[Tensor]:
    """Fresh tensors that require grad."""
    return [plain(copied(a)).requires_grad_() for a in arrays]


def dense(found: Sequence[Any], like: list[Tensor]) -> list[np.ndarray]:
    """Gradients as arrays, zeros where there is none."""
    return [
        np.zeros_like(t.array) if g is None else g.array for g, t in zip(found, like, strict=True)
    ]


def several(result: Any) -> list[Tensor]:
    """The tensors of a result."""
    return [result] if isinstance(result, Tensor) else [t for t in result if isinstance(t, Tensor)]
