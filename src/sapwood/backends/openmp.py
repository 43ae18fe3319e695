"""OpenMP: not used."""


def is_available() -> bool:
    """False: sapwood does not use it."""
    return False
