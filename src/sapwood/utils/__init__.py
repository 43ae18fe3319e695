"""torch.utils: helpers around the engine."""

from sapwood._names import late as _late

__getattr__ = _late(__name__, ("checkpoint", "data", "dlpack", "hooks"))
