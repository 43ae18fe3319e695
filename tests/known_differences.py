"""Where an operation differs from PyTorch on purpose, or PyTorch is wrong; each with its reason.

Keys: (name, what) for all samples, or (name, what, number of the sample). `what` is one of
value, grad, half, alias. A difference with a number must be there, or the suite fails.
"""

from __future__ import annotations

from typing import Any

TRIGAMMA = "PyTorch's trigamma (and what is derived from it) is right to 9 digits only"
DIFFERENT: dict[tuple[Any, ...], str] = {
    ("lgamma", "grad"): TRIGAMMA,
    ("digamma", "grad"): TRIGAMMA,
    ("polygamma", "grad"): TRIGAMMA,
    ("histc", "half"): "PyTorch places bfloat16 values with bin widths rounded to bfloat16",
    ("pow", "grad", 17): "0 ** y has second derivative 0 with respect to y > 0, not NaN",
}
