"""Samples of creation: sizes, sequences, values from outside, questions about dtypes."""

from __future__ import annotations

import numpy as np

from sapwood._core import dtype as dt
from sapwood._core.device import channels_last, contiguous_format
from sapwood.testing.sample import Sample, f, i, sample

F4, F8, I8 = dt.float32, dt.float64, dt.int64


def flat(*args: object, **kwargs: object) -> Sample:
    """A sample without a derivative."""
    return sample(*args, grad=False, **kwargs)  # type: ignore[arg-type]


def of(first: object, *args: object, **kwargs: object) -> Sample:
    """A sample of a method of the first array."""
    return sample(first, *args, grad=False, method=True, **kwargs)  # type: ignore[arg-type]


SIZES = [
    flat(3),
    flat(2, 3),
    flat((2, 3)),
    flat([2, 3]),
    flat(()),
    flat(0),
    flat(2, 0),
    flat(size=(2,)),
    flat(2, dtype=F8),
    flat(2, dtype=I8),
    flat(2, dtype=dt.bool_),
    flat(2, dtype=dt.float16),
    flat(2, dtype=dt.complex64),
    flat(2, dtype=int),
    flat(2, device="cpu"),
    flat(2, requires_grad=True),
    flat(2, 3, out=f(2, 3)),
    flat(2, out=f(3)),
]
LIKE = [
    flat(f(2, 3)),
    flat(f()),
    flat(f(0, 3)),
    flat(f(3, 4).T),
    flat(f(4, 6)[::2, 1:]),
    flat(f(4, 3)[::-1]),
    flat(i(3)),
    flat(i(3), dtype=F8),
    flat(f(3), dtype=dt.bool_),
    flat(f(2, 3) * 1j),
    flat(f(3, dtype="f2")),
    flat(f(2, 3).T, memory_format=contiguous_format),
    flat(f(2, 3, 4, 5), memory_format=channels_last),
    flat(f(3), requires_grad=True),
]
NEW = [
    of(f(2), 2, 3),
    of(f(2), (2, 3)),
    of(i(2), 3),
    of(f(2), 3, dtype=I8),
    of(f(2), ()),
    of(f(2), 2, requires_grad=True),
    of(f(2) * 1j, 2),
]
FULL = [
    flat((2, 3), 1),
    flat((2,), 1.5),
    flat((2,), True),
    flat((), 2j),
    flat((0,), 3),
    flat((2,), 3.7, dtype=I8),
    flat((2,), -1, dtype=dt.uint8),
    flat((2,), 2, dtype=dt.bool_),
    flat((2,), float("inf")),
    flat((2,), float("nan"), dtype=dt.float16),
    flat((2,), 3, requires_grad=True, dtype=F8),
]
SPANS = [
    flat(5),
    flat(5.0),
    flat(1, 5),
    flat(1, 2.5, 0.5),
    flat(5, 1, -1),
    flat(5, 1, -2),
    flat(0),
    flat(3, 3),
    flat(end=4),
    flat(start=1, end=4),
    flat(0, 1, 0.25, dtype=F8),
    flat(3, dtype=F4),
    flat(3, dtype=dt.float16),
    flat(-3, 3, dtype=dt.uint8),
    flat(0, 3, 0.5, dtype=dt.int32),
    flat(2.7, dtype=I8),
    flat(2**62, 2**62 + 3),
    flat(-(2**63), -(2**63) + 2),
    flat(True),
    flat(3.0, requires_grad=True),
]
SPACED = [
    flat(0, 1, 5),
    flat(0, 1, 1),
    flat(0, 1, 0),
    flat(3, -2, 4),
    flat(0, 10, 4, dtype=I8),
    flat(0.5, 2.5, 3, dtype=I8),
    flat(0, 1, 5, dtype=dt.float16),
    flat(0, 1j, 3),
    flat(0, 1, 3, dtype=dt.complex128),
    flat(start=0, end=1, steps=3),
    flat(-1, 1, 5, dtype=F8),
    flat(np.array(0.25), 2, 4),
    flat(0, 1, 3, requires_grad=True),
]
DATA = [
    flat(3),
    flat(1.5),
    flat(True),
    flat(2j),
    flat([1, 2]),
    flat([1, 2.5, True]),
    flat([True, 2]),
    flat([[1, 2], [3, 4]]),
    flat([]),
    flat([[], []]),
    flat((1, 2)),
    flat(range(3)),
    flat([[[1], [2]]]),
    flat(float("nan")),
    flat([1e300]),
    flat([1, 2], dtype=F8),
    flat([1.7, -1.7], dtype=I8),
    flat([-1, 255], dtype=dt.uint8),
    flat([0.5, 0], dtype=dt.bool_),
    flat(2**63, dtype=dt.uint64),
    flat(2**70, dtype=F4),
    flat([1.0, 2.0], requires_grad=True),
    flat([i(), i(1)]),
    flat([i(), 2.5]),
    flat(np.array(2.0)),
    flat(f(2, 3).T),
    flat(f(3)[::-1]),
    flat(i(2, 3)),
    flat(f(3), dtype=F4),
    flat(f(3) > 0),
    flat(f(2) * 1j),
]

SAMPLES = {
    "zeros": SIZES,
    "ones": SIZES,
    "empty": [*SIZES[:-2], flat(2, 3, 4, 5, memory_format=channels_last)],
    "full": FULL,
    "zeros_like": LIKE,
    "ones_like": LIKE,
    "empty_like": LIKE,
    "full_like": [flat(s.args[0], 3, **s.kwargs) for s in LIKE]
    + [flat(i(2), 3.7), flat(f(2), True)],
    "new_zeros": NEW,
    "new_ones": NEW,
    "new_empty": NEW,
    "new_full": [
        of(f(2), s.args[0], s.args[1], **s.kwargs) for s in FULL if type(s.args[1]) in (int, float)
    ]
    + [of(i(2), (2,), 3.7)],
    "scalar_tensor": [flat(3), flat(3.5), flat(True), flat(3.5, dtype=F8), flat(3.7, dtype=I8)],
    "empty_strided": [
        flat((2, 3), (1, 2)),
        flat((2, 3), (3, 1), dtype=F8),
        flat((0, 3), (1, 1)),
        flat((), ()),
    ],
    "new_empty_strided": [of(f(1), (2, 3), (1, 2)), of(i(1), (2,), (1,))],
    "arange": SPANS,
    "range": [
        flat(0, 3),
        flat(0, 3, 0.5),
        flat(0, -3, -1),
        flat(1, 5, dtype=I8),
        flat(0, 1, dtype=F8),
    ],
    "linspace": SPACED,
    "logspace": [
        *SPACED[:7],
        flat(0, 2, 3, base=2.0),
        flat(0, 3, 4, dtype=I8),
        flat(0, 2, 3, 2),
        flat(-1, 1, 5, dtype=F8),
    ],
    "eye": [
        flat(3),
        flat(2, 3),
        flat(3, 2),
        flat(0),
        flat(2, dtype=I8),
        flat(2, dtype=dt.bool_),
        flat(2, dtype=dt.complex64),
        flat(2, requires_grad=True),
        flat(2, out=f(2, 2)),
    ],
    "tril_indices": [
        flat(3, 3),
        flat(3, 4, 1),
        flat(3, 4, -1),
        flat(0, 3),
        flat(2, 0),
        flat(3, 3, offset=-5),
        flat(3, 3, dtype=dt.int32),
    ],
    "triu_indices": [
        flat(3, 3),
        flat(3, 4, 1),
        flat(3, 4, -1),
        flat(0, 3),
        flat(2, 0),
        flat(3, 3, offset=5),
        flat(3, 3, dtype=dt.int32),
    ],
    "tensor": DATA,
    "new_tensor": [of(f(2), s.args[0], **s.kwargs) for s in DATA[4:12]]
    + [of(i(2), [1.7, -1.7]), of(i(2), f(3)), of(f(2), i(3), dtype=I8)],
    "as_tensor": [*DATA[:8], flat(f(3)), flat(i(3)), sample(f(3), dtype=F4), flat(i(3), dtype=F8)],
    "asarray": [
        *DATA[:8],
        flat(f(3)),
        flat(i(3), dtype=F8),
        flat(f(3), copy=True),
        flat(f(3), requires_grad=False),
        flat([1.0], requires_grad=True),
        flat(bytearray(b"abcdefgh"), dtype=dt.int32),
    ],
    "frombuffer": [
        flat(bytearray(b"abcdefgh"), dtype=dt.uint8),
        flat(bytearray(b"abcdefgh"), dtype=dt.int16, offset=2),
        flat(bytearray(b"abcdefgh"), dtype=F4, count=1),
    ],
    "from_dlpack": [flat(i(2, 3)), flat(i(4)[::2]), flat(f(2, 3, dtype="f4").T)],
    "new": [of(f(2), [1, 2]), of(i(2), [1.7]), of(f(2)), of(i(1), ((1, 2), (3, 4)))],
    "type": [
        of(f(2)),
        of(i(2)),
        of(f(2) > 0),
        of(f(2) * 1j),
        sample(f(2), F4, method=True),
        of(i(2), "torch.DoubleTensor"),
        of(f(2, dtype="f2")),
    ],
    "numel": [flat(f(2, 3)), flat(f()), flat(f(0, 3))],
    "is_floating_point": [flat(f(2)), flat(i(2)), flat(f(2) * 1j), flat(f(2) > 0)],
    "is_complex": [flat(f(2)), flat(i(2)), flat(f(2) * 1j)],
    "is_signed": [flat(f(2)), flat(i(2)), flat(i(2, dtype="u1")), flat(f(2) > 0)],
    "is_inference": [flat(f(2))],
    "get_device": [of(f(2))],
    "is_pinned": [of(f(2))],
    "result_type": [
        flat(f(2), 1.5),
        flat(i(2), 1.5),
        flat(1, 1.5),
        flat(i(2), f()),
        flat(i(2), f(1)),
        flat(f(2, dtype="f4"), f()),
        flat(i(2), 2j),
        flat(True, 2),
    ],
    "promote_types": [flat(a, b) for a in dt.ALL[:6] + dt.ALL[9:] for b in dt.ALL[:6] + dt.ALL[9:]],
    "can_cast": [flat(a, b) for a in dt.ALL[:6] + dt.ALL[9:] for b in dt.ALL[:6] + dt.ALL[9:]],
}
