"""torch.utils.dlpack: sharing memory with other libraries."""

from sapwood._ops.dlpack import from_dlpack as from_dlpack
from sapwood._ops.dlpack import to_dlpack as to_dlpack
