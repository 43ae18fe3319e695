"""The one piece of ambient state: an immutable `Mode` in a context variable.

It is restored by `set(previous)`, never by `reset(token)`, which fails when a generator is
closed in another context. A new thread starts with the default: grad mode on, nothing special.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any


class Mode:
    """What is true for operations now. Never changed once set: make another with `but`."""

    __slots__ = ("checked", "grad", "inference", "pack", "plain", "record", "scope", "site", "why")

    grad: bool  # results may require grad
    plain: bool  # nothing special below: the doors may take their fast path
    site: tuple | None  # (code, lasti) of the user's line, set at a library border
    scope: str  # module path, "layer3.7.conv2"
    inference: bool  # results are inference tensors
    pack: tuple | None  # saved-tensor hooks (pack, unpack)
    record: Any  # a recorder of all operations
    checked: bool  # saved values carry fingerprints
    why: str  # where grad is off: "no_grad", or the custom forward that runs

    def __init__(self) -> None:
        self.grad = self.plain = True
        self.site = self.pack = self.record = None
        self.scope, self.why = "", "no_grad"
        self.inference = self.checked = False

    def but(self, **changes: Any) -> Mode:
        """The same mode with some fields changed."""
        fresh = self.at(self.site)
        for name, value in changes.items():
            setattr(fresh, name, value)
        special = fresh.inference or fresh.pack or fresh.record or fresh.checked
        fresh.plain = not special
        return fresh

    def at(self, site: tuple | None) -> Mode:
        """The same mode with the user's line set, for operations made of operations."""
        fresh = Mode.__new__(Mode)
        fresh.grad, fresh.plain, fresh.scope = self.grad, self.plain, self.scope
        fresh.inference, fresh.pack, fresh.record = self.inference, self.pack, self.record
        fresh.checked, fresh.why, fresh.site = self.checked, self.why, site
        return fresh


MODE: ContextVar[Mode] = ContextVar("sapwood_mode", default=Mode())  # noqa: B039 (immutable)
