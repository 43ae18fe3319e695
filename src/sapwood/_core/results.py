"""Named results of operations with several outputs: `values, indices = x.max(0)`."""

from __future__ import annotations

from operator import itemgetter
from types import SimpleNamespace
from typing import Any

from sapwood._core.border import NAMES


class Result(tuple):
    """A tuple whose parts have names; prints as PyTorch's return types do."""

    __slots__ = ()
    fields: tuple[str, ...] = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0

    def __repr__(self) -> str:
        parts = ",\n".join(f"{n}={v!r}" for n, v in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{parts})"

    def __reduce__(self) -> tuple:
        return rebuild, (type(self).__name__, self.fields, tuple(self))


KNOWN: dict[str, type[Result]] = {}
return_types = NAMES["return_types"] = SimpleNamespace()


def result_type(name: str, fields: tuple[str, ...]) -> type[Result]:
    """The result class of an operation, made once; public as `return_types.<name>`."""
    if name not in KNOWN:
        space: dict[str, Any] = {
            "__slots__": (),
            "__module__": "torch.return_types",
            "__match_args__": fields,
            "fields": fields,
            "n_fields": len(fields),
            "n_sequence_fields": len(fields),
            "__doc__": f"The results of {name}: {', '.join(fields)}.",
        }
        for k, field in enumerate(fields):
            space[field] = property(itemgetter(k), doc=f"Part {k}.")
        KNOWN[name] = type(name, (Result,), space)
        setattr(return_types, name, KNOWN[name])
    return KNOWN[name]


def rebuild(name: str, fields: tuple[str, ...], parts: tuple) -> Result:
    """Unpickle a result."""
    return result_type(name, fields)(parts)
