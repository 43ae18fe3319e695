"""Apple's GPUs: not used."""


def is_available() -> bool:
    """False: sapwood computes on the CPU."""
    return False


def is_built() -> bool:
    """False: sapwood computes on the CPU."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False: nothing here depends on it."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False: nothing here depends on it."""
    return False
