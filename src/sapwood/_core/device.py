"""Devices and layouts: there is one of each, and everything else is refused with what exists.

Scripts name devices, layouts and memory formats all the time; here these are only names.
"""

from __future__ import annotations

import re
from typing import Any

# Device types that PyTorch knows and sapwood does not compute on.
ELSEWHERE = (
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
)


class device:  # noqa: N801 (PyTorch's name)
    """Where a tensor lives: `device("cpu")`. Also a context manager, which changes nothing."""

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, type: Any = ..., index: int | None = None, *, device: Any = ...) -> Any:
        """Parse "cpu" or "cpu:0"; a device is returned as it is."""
        given = device if type is ... else type
        if isinstance(given, cls):
            return given
        if isinstance(given, int) and not isinstance(given, bool):
            raise RuntimeError(
                "Cannot access accelerator device when none is available. "
                f"device({given}) is a GPU; the only device here is 'cpu'."
            )
        if not isinstance(given, str):
            shown = "nothing" if given is ... else _kind(given)
            raise TypeError(f"device() takes a string such as 'cpu', got {shown}")
        self = object.__new__(cls)
        name, index = _parse(given, index)
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", index)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def _kind(value: Any) -> str:
    return value.__class__.__name__


def _parse(text: str, index: int | None) -> tuple[str, int | None]:
    """Type and index of "cpu:0"; refuses what does not exist."""
    match = re.fullmatch(r"([a-z]+)(?::(0|[1-9][0-9]*))?", text)
    name = text.partition(":")[0]
    if name != "cpu" and name not in ELSEWHERE:
        raise RuntimeError(
            f"Expected one of cpu, {', '.join(ELSEWHERE)} device type at start of device string: "
            f"{text}. Here only 'cpu' exists."
        )
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    if name != "cpu":
        raise no_such_device(text)
    if match[2] is not None:
        if index is not None:
            raise RuntimeError(
                "type (string) must not include an index because index was passed explicitly: "
                f"{text}"
            )
        index = int(match[2])
    return name, index


def no_such_device(text: str) -> RuntimeError:
    """The error for a device that PyTorch has and sapwood has not."""
    kind = text.partition(":")[0].upper()
    return RuntimeError(
        f"Torch not compiled with {kind} enabled: sapwood computes on the CPU only, so device "
        f"'{text}' does not exist; the only one is 'cpu'. Portable code asks first: "
        "device('cuda' if cuda.is_available() else 'cpu')."
    )


CPU = device("cpu")


def check_device(d: Any) -> device:
    """The device that `device=` names (None: the CPU), or an error that says why not."""
    if d is None or d is CPU:
        return CPU
    return device(d)


class layout:  # noqa: N801 (PyTorch's name)
    """How the elements of a tensor are stored; sapwood has `strided` only."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple:
        return _named, (self.name,)


class memory_format(layout):  # noqa: N801 (PyTorch's name)
    """The order of a new tensor's dimensions in memory."""

    __slots__ = ()


strided = layout("strided")
ELSEWHERE_LAYOUTS = {
    name: layout(name)
    for name in ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
}
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
_NAMES: dict[str, layout] = {
    f.name: f
    for f in (strided, contiguous_format, preserve_format, channels_last, channels_last_3d)
} | ELSEWHERE_LAYOUTS


def _named(name: str) -> layout:
    """The layout or memory format of that name; used by pickle."""
    return _NAMES[name]


def check_layout(given: Any) -> None:
    """Refuse layouts other than `strided`."""
    if given is None or given is strided:
        return
    if not isinstance(given, layout):
        raise TypeError(f"argument 'layout' must be torch.layout, not {type(given).__name__}")
    raise NotImplementedError(
        f"sapwood stores dense tensors only: the layout is torch.strided, and {given} does not "
        "exist here"
    )
