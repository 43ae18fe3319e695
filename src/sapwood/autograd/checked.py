"""`sapwood.checked()`: what is saved for backward carries fingerprints."""

from __future__ import annotations

from sapwood.autograd.grad_mode import Switch


class checked(Switch):  # noqa: N801 (named as the grad modes are)
    """Inside, values saved for backward are checked against silent writes.

    A write through NumPy or `.data` is not counted, so that backward uses the new values, as in
    PyTorch. What is saved inside this block carries a fingerprint, and backward raises where the
    content changed. Costs one pass over every saved value in forward and one in backward.
    """

    def __init__(self) -> None:
        super().__init__(checked=True)
