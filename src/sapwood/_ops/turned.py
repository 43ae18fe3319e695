"""Transposes under their short names: x.T, x.mT, x.H, x.mH and adjoint."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from sapwood._core.border import METHODS, border, function
from sapwood._core.tensor import Tensor
from sapwood._ops.views import permute, transpose


def matrices(x: Tensor, name: str) -> bool:
    """Whether there are two dimensions to swap; 0-d tensors pass, with PyTorch's warning."""
    n = x.array.ndim
    if n == 1 or (n > 2 and name == "tensor.H"):
        what = "matrices (2-D tensors)" if name == "tensor.H" else "matrices or batches of matrices"
        end = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
        raise RuntimeError(f"{name} is only supported on {what}. Got {n}-D tensor.{end}")
    if not n:
        warnings.warn(
            f"{name} is deprecated on 0-D tensors. This function is the identity in these cases.",
            UserWarning,
            stacklevel=4,
        )
    return bool(n)


def reversed_dims(self: Tensor) -> Tensor:
    """The dimensions in reverse order."""
    n = self.array.ndim
    if n != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
            if n
            else "Tensor.T is deprecated on 0-D "
            "tensors. This function is the identity in these cases.",
            UserWarning,
            stacklevel=3,
        )
    return permute(self, tuple(range(n))[::-1])


def turned(name: str, *, conjugate: bool) -> Callable:
    """The (conjugate) transpose of the last two dimensions, under one of its names."""

    def fn(input: Tensor) -> Tensor:
        x = transpose(input, -2, -1) if matrices(input, name) else input
        return x.conj() if conjugate else x  # type: ignore[attr-defined]

    fn.__name__ = name.removeprefix("tensor.").removesuffix("()")
    fn.__doc__ = f"The {'conjugate ' * conjugate}transpose of the last two dimensions."
    return fn


adjoint = function(turned("tensor.adjoint()", conjugate=True))
for _name, _conjugate in (("mT", False), ("H", True), ("mH", True)):
    _fn = turned(f"tensor.{_name}", conjugate=_conjugate)
    METHODS[_name] = property(border(_fn), doc=_fn.__doc__)  # type: ignore[assignment]
METHODS["T"] = property(  # type: ignore[assignment]
    border(reversed_dims), doc=reversed_dims.__doc__
)
