"""oneDNN: not used."""

enabled = True
deterministic = False


def is_available() -> bool:
    """False: sapwood does not use it."""
    return False
