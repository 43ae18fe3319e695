"""The text of a tensor, character for character what PyTorch prints.

Knows only ndarrays: the tensor hands over its values and the facts that follow them. An array is
first cut to the elements that are shown, so a huge one costs no more than its corners; those are
turned into cells of text, and the cells are laid out in brackets.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """How tensors are printed. Never changed in place: a text uses one record from start to end."""

    precision: int = 4  # digits after the point
    threshold: float = 1000  # a tensor of more elements is summarised
    edgeitems: int = 3  # elements shown at each end of a summarised dimension
    linewidth: int = 80
    sci_mode: bool | None = None  # None: decided by the values


_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options = PrintOptions()
_change = threading.Lock()  # two threads that each set one option must not lose the other's


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed, for the whole process.

    `profile` ("default", "short" or "full") sets the four numbers at once; those given besides it
    win. A number left out stays as it was, but `sci_mode` left out goes back to automatic.
    """
    global _options
    changes: dict[str, Any] = {}
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile must be one of {', '.join(_PROFILES)}, not {profile!r}")
        changes.update(_PROFILES[profile])
    names = ("precision", "threshold", "edgeitems", "linewidth")
    given = zip(names, (precision, threshold, edgeitems, linewidth), strict=True)
    changes.update((name, value) for name, value in given if value is not None)
    with _change:
        _options = replace(_options, **changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """The current options by name, as `set_printoptions(**options)` takes them."""
    return asdict(_options)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with other options inside a `with` block; takes what `set_printoptions` takes."""
    global _options
    before = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = before


@dataclass(frozen=True, slots=True)
class _Cells:
    """The text of each shown element in order, and the width that lines are broken by."""

    texts: list[str]
    width: int


def _exact_cells(values: np.ndarray) -> _Cells:
    """Cells of integers and booleans."""
    texts = [str(value) for value in values.tolist()]
    width = max(map(len, texts))
    return _Cells([text.rjust(width) for text in texts], width)


def _float_style(numbers: np.ndarray, options: PrintOptions) -> tuple[bool, bool]:
    """Whether all of these non-zero finite numbers are whole, and whether to print them as 1e+00.

    The bounds are PyTorch's.
    """
    if not numbers.size:
        return True, False
    sizes = np.abs(numbers)
    low, high = float(sizes.min()), float(sizes.max())
    scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    if options.sci_mode is not None:
        scientific = bool(options.sci_mode)
    return bool((numbers == np.ceil(numbers)).all()), scientific


def _float_cells(values: np.ndarray, options: PrintOptions) -> _Cells:
    """Cells of real numbers in one common style."""
    with np.errstate(invalid="ignore"):  # a signalling NaN: printing must not warn
        values = values.astype(np.float64, copy=False)  # exact; the low types lack operations
    counted = np.isfinite(values) & (values != 0)
    whole, scientific = _float_style(values[counted], options)
    if scientific:
        spec, dot = f".{options.precision}e", ""
    elif whole:
        spec, dot = ".0f", "."  # the dot says that 1. is no integer
    else:
        spec, dot = f".{options.precision}f", ""
    texts = [format(v, spec) + (dot if math.isfinite(v) else "") for v in values.tolist()]
    # Zeros and non-finite numbers have no say in the width, so -0. or -inf may stick out.
    width = max((len(texts[i]) for i in np.flatnonzero(counted)), default=1)
    return _Cells([text.rjust(width) for text in texts], width)


def _complex_cells(values: np.ndarray, options: PrintOptions) -> _Cells:
    """Cells of complex numbers: each part has its own style and width."""
    real, imag = _float_cells(values.real, options), _float_cells(values.imag, options)
    texts = []
    for left, right in zip(real.texts, imag.texts, strict=True):
        right = right.lstrip()
        texts.append(f"{left}{'' if right[0] == '-' else '+'}{right}j")
    return _Cells(texts, real.width + imag.width + 1)


def _cells(values: np.ndarray, options: PrintOptions) -> _Cells:
    if values.dtype.kind in "biu":
        return _exact_cells(values)
    if values.dtype.kind == "c":
        return _complex_cells(values, options)
    return _float_cells(values, options)


@dataclass(frozen=True, slots=True)
class _Page:
    """What laying out needs besides the cells: which dimensions are cut, and the options."""

    shape: tuple[int, ...]  # of the shown elements
    cuts: tuple[bool, ...]
    step: int  # columns that one element takes, with its comma and space
    options: PrintOptions


def _block(cells: Iterator[str], page: _Page, dim: int, indent: int) -> str:
    """The next cells in brackets, from dimension `dim` inwards; `indent` is the column of `[`."""
    if dim == len(page.shape):
        return next(cells)
    count, edge, inner = page.shape[dim], page.options.edgeitems, len(page.shape) - dim - 1
    if inner:
        parts = [_block(cells, page, dim + 1, indent + 1) for _ in range(count)]
    else:
        parts = list(islice(cells, count))
    if page.cuts[dim]:
        parts.insert(edge, "..." if inner else " ...")
    margin = " " * (indent + 1)
    if inner:
        return "[" + ("," + "\n" * inner + margin).join(parts) + "]"
    per_line = max(1, (page.options.linewidth - indent) // page.step)
    lines = (", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line))
    return "[" + f",\n{margin}".join(lines) + "]"


def _body(array: np.ndarray, indent: int, options: PrintOptions) -> str:
    """The values alone, from `[` to `]`."""
    if not array.size:
        return "[]"
    edge = options.edgeitems
    summarise = array.size > options.threshold
    if summarise and array.ndim and not edge:
        return "[...]"
    cuts = tuple(summarise and n > 2 * edge for n in array.shape)
    if any(cuts):
        kept = [
            [*range(edge), *range(n - edge, n)] if cut else range(n)
            for n, cut in zip(array.shape, cuts, strict=True)
        ]
        array = array[np.ix_(*kept)]
    cells = _cells(array.reshape(-1), options)
    return _block(iter(cells.texts), _Page(array.shape, cuts, cells.width + 2, options), 0, indent)


def _facts(
    array: np.ndarray, dtype_name: str, default_dtype_name: str, options: PrintOptions
) -> list[str]:
    """The size and the dtype, where the values do not show them."""
    facts = []
    sized = not options.edgeitems if array.size else array.ndim != 1
    if sized:
        facts.append(f"size={array.shape}")
    plain = {default_dtype_name}
    if array.size:
        default_complex = "complex128" if default_dtype_name == "float64" else "complex64"
        plain |= {default_complex, "int64", "bool"}
    if dtype_name not in plain:
        facts.append(f"dtype=torch.{dtype_name}")
    return facts


def format_array(
    array: np.ndarray,
    *,
    dtype_name: str,
    default_dtype_name: str = "float32",
    requires_grad: bool = False,
    grad_fn: str | None = None,
    prefix: str = "tensor(",
    extra: Sequence[str] = (),
    parameter: bool = False,
) -> str:
    """The text of a tensor with these values.

    `dtype_name` is the bare name, "float64". `grad_fn` is the name of the node that made the
    tensor, "MulBackward0"; it is shown in place of `requires_grad=True`. `prefix` opens the text
    and sets its indent. `extra` is what follows the gradient, such as "tangent=...".
    `parameter` puts the line of nn.Parameter above it.
    """
    options = _options  # read once: another thread may replace it meanwhile
    indent = len(prefix)
    text = prefix + _body(array, indent, options)
    facts = _facts(array, dtype_name, default_dtype_name, options)
    if grad_fn is not None:
        facts.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        facts.append("requires_grad=True")
    # PyTorch counts the last line two columns too long at first, so the first fact wraps early.
    column = len(text) - text.rfind("\n") + 1
    for fact in (*facts, *extra):
        if column + len(fact) + 2 > options.linewidth:
            text += f",\n{' ' * indent}{fact}"
            column = indent + len(fact)
        else:
            text += f", {fact}"
            column += len(fact) + 2
    return ("Parameter containing:\n" if parameter else "") + text + ")"


def format_spec(array: np.ndarray, spec: str) -> str:
    """The text of `f"{t:spec}"` for a 0-d tensor: that of its number.

    A tensor with dimensions takes no spec; without one its text is `str(t)`, the caller's part.
    """
    if array.ndim:
        raise TypeError(
            "unsupported format string passed to Tensor.__format__: "
            f"{spec!r} formats one number, and this tensor has shape {array.shape}"
        )
    return format(array.item(), spec)
