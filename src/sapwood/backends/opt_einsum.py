"""The package opt_einsum: not used."""

enabled = True
strategy = "auto"


def is_available() -> bool:
    """False: sapwood does not use it."""
    return False


def get_opt_einsum() -> None:
    """None: it is not used."""
    return
