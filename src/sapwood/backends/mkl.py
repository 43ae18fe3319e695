"""Intel's MKL: not used; products are NumPy's."""


def is_available() -> bool:
    """False: sapwood does not use it."""
    return False
