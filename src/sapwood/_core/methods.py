"""The base of Tensor, empty when it runs: `_ops` attaches the methods to Tensor itself.

For type checkers `methods.pyi` stands here, which `tools/make_stubs.py` writes from the table.
"""

from __future__ import annotations


class Methods:
    """Declares, in the stub, what the operation table gives to tensors."""

    __slots__ = ()
