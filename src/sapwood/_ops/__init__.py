"""The table of primitives: what exists. Open this folder first.

MAP     elementwise power extremes unary special compare complex: element by element, broadcasting
FOLD    reduce moments norm scan order quantile counting: fewer axes, or along one; folds (helpers)
MOVE    views parts splits strided turned: seen otherwise; movement joining copies: copied
PICK    index assign (brackets), picking scatter placing: where the data say
DOT     linear affine contract einsum: products
MAKE    make sequences random convert: from numbers, from chance, from outside
beside  legacy facts text dlpack (what a tensor is and how it shows), rules checks arguments
        axes keys adding layout (helpers), structure, attach overlay (what the core is given)
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def load() -> dict[str, Any]:
    """Fill the table, attach the methods, connect the core; the public functions by name."""
    for part in iter_modules(__path__):
        import_module(f"{__name__}.{part.name}")
    from sapwood._core.border import FUNCTIONS, NAMES
    from sapwood._core.door import TABLE
    from sapwood._ops import attach, overlay

    overlay.connect(TABLE["add"].door, TABLE["clone"].door)
    attach.attach()
    doors = {name: op.door for name, op in TABLE.items() if not name.startswith("_")}
    return doors | FUNCTIONS | NAMES | attach.in_place_functions()
