"""Writing leaf gradients: all or nothing, in the leaf's own memory layout."""

from __future__ import annotations

import threading
from collections import deque
from itertools import chain
from typing import Any

import numpy as np

from sapwood._core.memory import version_of
from sapwood._core.tensor import Tensor, plain

COMMIT = threading.RLock()  # two threads may share a leaf


def commit(pending: list[tuple[Tensor, Any, bool]], way: Any, site: tuple) -> None:
    """Set or add to the `.grad` of leaves, in one step that no signal can interrupt.

    Python runs signal handlers only between bytecodes: the writes are one C call.
    """
    with COMMIT:
        if len(pending) == 1 and not way.graph:  # one write is whole by itself
            tensor, g, owned = pending[0]
            old = tensor._grad
            if old is None:
                tensor._grad = as_grad(g, tensor, owned=owned)
            else:
                a = old.array
                np.add(a, checked(g, a), a)
                version = version_of(old)
                version.n += 1
                version.code, version.lasti = site
            return
        places, fresh, olds, news, bumped = [], [], [], [], []
        for tensor, g, owned in pending:
            old = tensor._grad
            if old is None:
                places.append(vars(tensor))
                fresh.append(way.copy(g) if way.graph else as_grad(g, tensor, owned=owned))
            elif way.graph:
                places.append(vars(tensor))
                fresh.append(way.add(old, g, owned=False))
            else:
                olds.append(old.array)
                news.append(checked(g, old.array))
                bumped.append(version_of(old))
        deque(
            chain(
                map(np.add, olds, news, olds),
                map(dict.__setitem__, places, ["_grad"] * len(places), fresh),
            ),
            maxlen=0,
        )
        for version in bumped:
            version.n += 1
            version.code, version.lasti = site


def before(pending: list[tuple[Tensor, Any, bool]]) -> list[tuple]:
    """What `restore` needs to take a commit back."""
    kept = []
    for tensor, _, _ in pending:
        old = tensor._grad
        kept.append((tensor, old, None if old is None else old.array.copy()))
    return kept


def restore(undo: list[tuple]) -> None:
    """The leaves' gradients as they were, after an exception in a hook."""
    undo = undo[::-1]
    places = [vars(tensor) for tensor, _, _ in undo]
    olds = [old for _, old, _ in undo]
    arrays = [(old.array, values) for _, old, values in undo if values is not None]
    deque(  # one C call, as in commit
        chain(
            map(dict.__setitem__, places, ["_grad"] * len(places), olds),
            map(np.copyto, [a for a, _ in arrays], [v for _, v in arrays]),
        ),
        maxlen=0,
    )


def checked(g: np.ndarray, old: np.ndarray) -> np.ndarray:
    """A gradient that can be added into `old`, or an error before anything is written."""
    if g.shape != old.shape:
        raise RuntimeError(
            f"The size of .grad {list(old.shape)} does not match the gradient {list(g.shape)}"
        )
    return g if g.dtype == old.dtype else g.astype(old.dtype)


def as_grad(g: Any, tensor: Tensor, *, owned: bool) -> Tensor:
    """A leaf's first gradient: stolen where possible, in the leaf's own memory layout."""
    a = tensor.array
    fits = g.flags.c_contiguous if a.flags.c_contiguous else g.strides == a.strides
    if owned and fits and g.flags.writeable:
        return plain(g)
    dense = a.flags.c_contiguous or a.flags.f_contiguous or a.ndim > 2
    copy = np.empty_like(a, dtype=g.dtype, order="K" if dense else "C")
    np.copyto(copy, g)
    return plain(copy)
