"""torch.backends: switches of libraries that sapwood does not use; setting them changes nothing."""

from sapwood._names import late as _late
from sapwood.backends import cpu as cpu
from sapwood.backends import cuda as cuda
from sapwood.backends import cudnn as cudnn
from sapwood.backends import mkl as mkl
from sapwood.backends import mkldnn as mkldnn
from sapwood.backends import mps as mps
from sapwood.backends import openmp as openmp
from sapwood.backends import opt_einsum as opt_einsum

__getattr__ = _late(__name__)
