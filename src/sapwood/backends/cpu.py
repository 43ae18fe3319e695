"""The CPU, the only device."""


def get_cpu_capability() -> str:
    """NumPy chooses its own loops by processor."""
    return "DEFAULT"
