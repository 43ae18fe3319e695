"""Named results of operations with several outputs: `values, indices = x.max(0)`."""

from __future__ import annotations

from typing import Any


class Result(tuple):
    """A tuple whose parts have names; prints as PyTorch's return types do."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = ",\n".join(f"{n}={v!r}" for n, v in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{parts})"

    def __reduce__(self) -> tuple:
        return rebuild, (type(self).__name__, self.fields, tuple(self))


KNOWN: dict[str, type[Result]] = {}


def result_type(name: str, fields: tuple[str, ...]) -> type[Result]:
    """The result class of an operation, made once."""
    if name not in KNOWN:
        space: dict[str, Any] = {"__slots__": (), "fields": fields}
        for k, field in enumerate(fields):
            space[field] = property(lambda self, k=k: self[k])
        KNOWN[name] = type(name, (Result,), space)
    return KNOWN[name]


def rebuild(name: str, fields: tuple[str, ...], parts: tuple) -> Result:
    """Unpickle a result."""
    return result_type(name, fields)(parts)
