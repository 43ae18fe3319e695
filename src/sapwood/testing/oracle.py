"""PyTorch as the oracle: the same case run there, and results compared.

PyTorch is imported when the oracle is first used; nothing else of sapwood needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import dtype as dt
from sapwood.testing.case import Case, Library


class Torch(Library):
    """PyTorch, as the harness uses it."""

    def __init__(self) -> None:
        import torch

        self.torch = torch

    def tensor(self, a: np.ndarray, *, grad: bool) -> Any:
        """A tensor around the array, with its strides where PyTorch can have them."""
        torch = self.torch
        if any(s < 0 for s in a.strides):
            a = np.array(a, order="C")
        if a.dtype == dt.BF16:
            t = torch.from_numpy(a.view(np.int16)).view(torch.bfloat16)
        else:
            t = torch.from_numpy(a)
        if not a.size:  # from_numpy gives empty tensors strides of 0
            t = torch.empty(a.shape, dtype=t.dtype)
        return t.requires_grad_() if grad else t

    def array(self, t: Any) -> np.ndarray:
        """The elements of a tensor."""
        t = t.detach().resolve_conj().resolve_neg()
        t = t.clone() if t._is_zerotensor() else t  # some of its derivatives are only promised
        if t.dtype == self.torch.bfloat16:
            return t.view(self.torch.int16).numpy().view(dt.BF16)
        return t.numpy()

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a torch.Tensor."""
        return isinstance(value, self.torch.Tensor)

    def constant(self, value: Any) -> Any:
        """dtypes, devices and formats under the same names; everything else as it is."""
        if type(value).__module__.startswith("sapwood"):
            name = str(value).removeprefix("torch.")
            return getattr(self.torch, name, None) or self.torch.device(name)
        return value

    def function(self, case: Case, first: Any) -> Callable:
        """PyTorch's function of that name, wherever it lives."""
        name = case.sample.torch or case.name
        if name.startswith("Tensor."):
            return getattr(first, name.removeprefix("Tensor."))
        if case.sample.method and case.sample.torch is None:
            return getattr(first, name)
        if "." in name:
            found: Any = self.torch
            for part in name.split("."):
                found = getattr(found, part)
            return found
        owners = [self.torch, self.torch.special, self.torch.nn.functional]
        if case.writes and hasattr(first, name):
            return getattr(first, name)
        for owner in owners:
            if hasattr(owner, name):
                return either(getattr(owner, name), name)
        raise LookupError(
            f"PyTorch has no {name}: say sample(..., torch='special.{name}'), or torch='' where "
            "there is none"
        )

    def clone(self, t: Any) -> Any:
        """A non-leaf of the same elements."""
        return t.clone()

    def differentiable(self, t: Any) -> bool:
        """Whether a gradient flows to the tensor."""
        return t.requires_grad

    def grad(self, outputs: list, inputs: list, seeds: list, *, graph: bool) -> list:
        """Gradients, None where absent."""
        return list(
            self.torch.autograd.grad(
                outputs, inputs, seeds, create_graph=graph, retain_graph=True, allow_unused=True
            )
        )

    def seed(self) -> None:
        """Put random numbers at their beginning."""
        self.torch.manual_seed(7)

    def named(self, kind: Any) -> str:
        """`float32` for torch.float32."""
        return str(kind).removeprefix("torch.")


def either(fn: Callable, name: str) -> Callable:
    """The function, or the method where only that takes these arguments: x.flip(0)."""

    def call(first: Any = None, *rest: Any, **named: Any) -> Any:
        try:
            return fn(first, *rest, **named) if first is not None else fn(**named)
        except TypeError:
            if not hasattr(first, name):
                raise
            return getattr(first, name)(*rest, **named)

    return call


def available() -> bool:
    """Whether PyTorch is installed."""
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


# How far results may differ, relative to the largest: sums may add in another order.
CLOSE = {
    "float64": 1e-11,
    "complex128": 1e-11,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
}


def difference(
    mine: np.ndarray, theirs: np.ndarray, *, close: float | None = None, slack: float = 1e-4
) -> str | None:
    """What is different between two results, in words; None where they agree.

    Shapes and dtypes are equal, NaN stands where NaN stands, infinities have the same sign.
    close   how far values may differ, relative to the largest; default: by dtype
    slack   the smallest size that counts as the largest: below it, differences are absolute
    """
    if mine.shape != theirs.shape:
        return f"shape {list(mine.shape)}, expected {list(theirs.shape)}"
    if mine.dtype != theirs.dtype:
        return f"dtype {mine.dtype}, expected {theirs.dtype}"
    kind = theirs.dtype.name
    if kind not in CLOSE:
        return None if np.array_equal(mine, theirs) else shown(mine, theirs, mine != theirs)
    if theirs.dtype.kind == "c":
        a, b = (np.stack([v.real, v.imag]) for v in (mine, theirs))
        odd = ~np.isfinite(mine) & ~np.isfinite(theirs)  # libraries differ in complex infinities
        wrong = (unlike(a, b, close or CLOSE[kind], slack).any(axis=0)) & ~odd
    else:
        wide = np.float64 if theirs.dtype.kind == "f" or theirs.dtype.itemsize == 2 else None
        wrong = unlike(mine.astype(wide), theirs.astype(wide), close or CLOSE[kind], slack)
    return shown(mine, theirs, wrong) if wrong.any() else None


def unlike(a: np.ndarray, b: np.ndarray, close: float, slack: float) -> np.ndarray:
    """Where two real arrays differ."""
    finite = np.isfinite(b)
    scale = float(np.abs(b[finite]).max(initial=0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(a - b) <= close * (np.abs(b) + min(scale, 1.0) + slack)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return ~np.where(finite & np.isfinite(a), near, same)


def shown(mine: np.ndarray, theirs: np.ndarray, wrong: np.ndarray) -> str:
    """The first elements that differ."""
    places = np.argwhere(wrong)[:3]
    parts = [
        f"at {[int(k) for k in p]}: {mine[tuple(p)]!s} instead of {theirs[tuple(p)]!s}"
        for p in places
    ]
    return f"{int(np.sum(wrong))} of {wrong.size} values differ; " + "; ".join(parts)


def same_value(mine: Any, theirs: Any) -> bool:
    """Equality of results that are no tensors: numbers, names, lists."""
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-6) or (math.isnan(mine) and math.isnan(theirs))
    return mine == theirs
