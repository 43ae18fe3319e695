"""Refusals of dtypes, in PyTorch's words: the `check` of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sapwood._core import dtype as dt

LETTERS = "bifc"  # bool, integers, floating, complex


def only(
    name: str,
    letters: str,
    *,
    error: type[Exception] = NotImplementedError,
    suffix: str = "_cpu",
    **texts: str,
) -> Callable[..., None]:
    """A check that lets dtypes of these categories (b i f c) through.

    `texts` holds messages for single categories: b="Boolean inputs not supported for relu";
    `suffix` ends the kernel's name in the usual message.
    """

    def check(common: dt.dtype, *values: Any) -> None:
        letter = LETTERS[common.category]
        if letter in letters:
            return
        if letter in texts:
            raise error(texts[letter])
        raise NotImplementedError(f"\"{name}{suffix}\" not implemented for '{common.title}'")

    return check


def no_derivative(name: str) -> Callable:
    """A rule for operands whose derivative PyTorch does not have either."""

    def rule(g: Any) -> Any:
        raise NotImplementedError(f"derivative for aten::{name} is not implemented")

    return rule
