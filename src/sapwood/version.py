"""The version, in the shape of torch.version."""

from sapwood import __version__ as __version__

cuda: str | None = None
hip: str | None = None
xpu: str | None = None
git_version = "unknown"
debug = False
