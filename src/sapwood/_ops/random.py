"""MAKE: random tensors, and random values written into tensors.

The numbers come from `_core.draws`, from the same words as PyTorch's CPU generator, so that equal
seeds give equal numbers. Where a random value takes the place of one that had a gradient, that
gradient is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood._core import draws
from sapwood._core import dtype as dt
from sapwood._core.border import function, function_only, method
from sapwood._core.device import CPU, check_device, device
from sapwood._core.door import TABLE, primitive
from sapwood._core.memory import bump, check_write, rebase
from sapwood._core.mode import MODE
from sapwood._core.op import MAKE
from sapwood._core.slow import general
from sapwood._core.tensor import Tensor, with_node
from sapwood._ops.arguments import number, resolve, sizes, whole
from sapwood._ops.make import Array, factory, into, like, made, storage, zeros_like


class Generator:
    """A stream of random numbers with its own seed: `rand(3, generator=Generator())`."""

    __slots__ = ("__weakref__", "stream")

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self.stream = draws.Generator()

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    def manual_seed(self, seed: int) -> Generator:
        """Start from a seed; returns self."""
        if isinstance(seed, float) or not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        self.stream.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Start from a random seed, and return it."""
        return self.stream.seed()

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self.stream.initial_seed()

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, the same as PyTorch's."""
        return made(self.stream.get_state())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that get_state returned, here or in PyTorch."""
        if not isinstance(new_state, Tensor) or new_state.dtype is not dt.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self.stream.set_state(new_state.array)

    def clone_state(self) -> Generator:
        """A new generator that will draw the same numbers."""
        return around(self.stream.clone_state())

    def __reduce__(self) -> tuple:
        return around, (self.stream,)


def around(stream: draws.Generator) -> Generator:
    """The public generator of a stream."""
    generator = object.__new__(Generator)
    generator.stream = stream
    return generator


default_generator = around(draws.default_generator)


def stream_of(generator: Any, name: str) -> draws.Generator:
    """The stream that `generator=` means; None: the default one."""
    if generator is None:
        return draws.default_generator
    if not isinstance(generator, Generator):
        raise TypeError(
            f"{name}(): argument 'generator' must be torch.Generator, not "
            f"{type(generator).__name__}"
        )
    return generator.stream


@function_only
def manual_seed(seed: Any) -> Generator:
    """Start the default generator from a seed, and return it."""
    return default_generator.manual_seed(int(seed))


@function_only
def seed() -> int:
    """Start the default generator from a random seed, and return that."""
    return default_generator.seed()


@function_only
def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


@function_only
def get_rng_state() -> Tensor:
    """The state of the default generator as a tensor of bytes."""
    return default_generator.get_state()


@function_only
def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state that get_rng_state returned."""
    default_generator.set_state(new_state)


# ---- new tensors ------------------------------------------------------------------------------


@factory
def rand(*shape: Any, size: Any = None, generator: Any = None, kind: Any = None) -> Array:
    """Uniform in [0, 1)."""
    found = sizes("rand", shape, size)
    return draws.rand(stream_of(generator, "rand"), found, storage(kind))


@factory
def randn(*shape: Any, size: Any = None, generator: Any = None, kind: Any = None) -> Array:
    """Normal, with mean 0 and variance 1 (the parts of complex values: 1/2)."""
    found = sizes("randn", shape, size)
    return draws.randn(stream_of(generator, "randn"), found, storage(kind))


def limits(name: str, given: tuple, low: Any, high: Any) -> tuple[int, int]:
    """low and high of `randint(high)`, `randint(low, high)` and their keywords."""
    if len(given) > 2 or (len(given) == 2 and high is not None):
        raise TypeError(f"{name}() received an invalid combination of arguments: {given}")
    if len(given) == 2:
        low, high = given
    elif given and high is None:
        high = given[0]
    elif given:
        low = given[0]
    if high is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "high"')
    return whole(low, name, "'low'"), whole(high, name, "'high'")


@factory
def randint(
    *bounds: Any,
    low: Any = 0,
    high: Any = None,
    size: Any = None,
    generator: Any = None,
    kind: Any = None,
) -> Array:
    """Integers in [low, high): `randint(high, size)` or `randint(low, high, size)`; int64."""
    if size is None and bounds:
        *bounds, size = bounds  # type: ignore[assignment]
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            "randint(): argument 'size' must be tuple of ints, not "
            f"{type(size).__name__}; randint(high, size) or randint(low, high, size)"
        )
    first, last = limits("randint", tuple(bounds), low, high)
    found = sizes("randint", (size,))
    return draws.randint(
        stream_of(generator, "randint"), first, last, found, storage(kind or dt.int64)
    )


@factory
def randperm(n: Any, *, generator: Any = None, kind: Any = None) -> Array:
    """The integers from 0 to n - 1 in random order."""
    count = whole(n, "randperm", "'n' (position 1)")
    return draws.randperm(stream_of(generator, "randperm"), count, storage(kind or dt.int64))


@like
def rand_like(out: Array, *, generator: Any = None) -> Array:
    """Uniform in [0, 1), in the shape and dtype of `input`."""
    return draws.uniform_(stream_of(generator, "rand_like"), out)


@like
def randn_like(out: Array, *, generator: Any = None) -> Array:
    """Normal with mean 0 and variance 1, in the shape and dtype of `input`."""
    return draws.normal_(stream_of(generator, "randn_like"), out)


@like
def randint_like(
    out: Array, *bounds: Any, low: Any = 0, high: Any = None, generator: Any = None
) -> Array:
    """Integers in [low, high), in the shape and dtype of `input`."""
    first, last = limits("randint_like", bounds, low, high)
    return draws.random_(stream_of(generator, "randint_like"), out, first, last)


# ---- from tensors of parameters ---------------------------------------------------------------


def normal_run(mean: Any, std: Any, generator: Any, variant: int) -> Array:
    """Normals with a mean and a std at each place, in the dtype of the first array."""
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
    out = np.empty(shape, (mean if isinstance(mean, np.ndarray) else std).dtype)
    if isinstance(std, np.ndarray):
        if not (std >= 0).all():
            raise RuntimeError("normal expects all elements of std >= 0.0")
        draws.normal_(generator, out)
        out *= std.astype(out.dtype, copy=False)
    else:
        draws.normal_(generator, out, 0.0, std)
    out += np.asarray(mean).astype(out.dtype, copy=False)
    return out


def bernoulli_run(x: Array, generator: Any, p: float | None) -> Array:
    """Coin flips with the probability at each place, or with p at all of them."""
    if p is None:
        return draws.bernoulli(generator, x)
    return draws.bernoulli_(generator, np.empty_like(x), p)


_normal = primitive(
    "_normal",
    "mean std; generator variant",
    kind=MAKE,
    run=normal_run,
    dtype="keep",
    title=lambda node: f"NormalBackward{node.attrs[1]}",
    grad=dict(mean=lambda g: zeros_like(g), std=lambda g: zeros_like(g)),
    doc="Normals whose mean or std are tensors; no gradient flows through a draw: it is zero.",
)
_bernoulli = primitive(
    "_bernoulli",
    "x; generator p",
    kind=MAKE,
    dtype="keep",
    title="BernoulliBackward0",
    run=bernoulli_run,
    grad=dict(x=lambda g: zeros_like(g)),
    doc="1 with the probability given at each place; no gradient flows through a draw: it is zero.",
)
_poisson = primitive(
    "_poisson",
    "x; generator",
    kind=MAKE,
    dtype="keep",
    title="PoissonBackward0",
    run=lambda x, generator: draws.poisson(generator, x),
    grad=dict(x=lambda g: zeros_like(g)),
    doc="Counts with the mean given at each place; no gradient flows through a draw: it is zero.",
)
primitive(
    "_drawn",
    "x; title",
    kind=MAKE,
    dtype="keep",
    title=lambda node: node.attrs[0],
    alias=True,
    run=lambda x, title: x,
    grad=dict(x=lambda g: zeros_like(g)),
    doc="Random values were written over x: what stood there before has no gradient any more.",
)
primitive(
    "_drawn_by",
    "x y; title",
    kind=MAKE,
    dtype="keep",
    title=lambda node: node.attrs[0],
    run=lambda x, y, title: x,
    grad=dict(x=lambda g: zeros_like(g), y=lambda g: zeros_like(g)),
    alias=True,
    doc="The same for values drawn with probabilities y, which get no gradient either.",
)


@function_only
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Normal with this mean and std: numbers (with a size) or tensors."""
    stream = stream_of(generator, "normal")
    if not isinstance(mean, Tensor):
        mean = number(mean, "normal", "'mean'")
    if not isinstance(std, Tensor):
        std = number(std, "normal", "'std'")
    variant = 2 * isinstance(std, Tensor) + isinstance(mean, Tensor)
    if variant and size is not None:
        raise TypeError("normal(): the tensors mean and std give the size, not 'size'")
    if variant:
        result = _normal(mean, std, stream, variant)
        return result if out is None else into(out, result.array, "normal")
    if size is None:
        raise TypeError('normal() of two numbers is missing the argument "size"')
    kind = resolve("normal", dtype, layout, device, pin=pin_memory)
    if kind is None and out is not None:
        kind = out.dtype
    drawn = draws.normal_(stream, np.empty(sizes("normal", (size,)), storage(kind)), mean, std)
    if out is not None:
        return into(out, drawn, "normal", requires_grad=requires_grad)
    return made(drawn, requires_grad=requires_grad)


@function
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None, out: Any = None) -> Tensor:
    """1 or 0: with the probability that stands at each place, or with p everywhere."""
    stream = stream_of(generator, "bernoulli")
    result = _bernoulli(input, stream, None if p is None else real(p, "bernoulli", "p"))
    return result if out is None else into(out, result.array, "bernoulli")


@function_only
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Poisson counts with the mean that stands at each place."""
    return _poisson(input, stream_of(generator, "poisson"))


@function
def multinomial(
    input: Tensor,
    num_samples: Any,
    replacement: bool = False,
    *,
    generator: Any = None,
    out: Any = None,
) -> Tensor:
    """Indices drawn with the weights in each row of a 1-D or 2-D tensor; int64."""
    count = whole(num_samples, "multinomial", "'num_samples' (position 2)")
    found = draws.multinomial(
        stream_of(generator, "multinomial"), input.array, count, bool(replacement)
    )
    return made(found) if out is None else into(out, found, "multinomial")


# ---- into a tensor ----------------------------------------------------------------------------


def overwrite(
    t: Tensor, name: str, title: str, draw: Callable[[Array], Any], by: Tensor | None = None
) -> Tensor:
    """Let `draw` fill the tensor's memory; what was there, and `by`, get a zero gradient."""
    graph = by is not None and by.requires_grad and t.array.dtype.kind in "fcV"
    check_write(t, name, graph=graph)
    draw(t.array)
    bump(t)
    mode = MODE.get()
    if mode.grad and (t.node is not None or graph):
        before = with_node(t.array, t.node, t.port)
        name = "_drawn" if by is None else "_drawn_by"
        operands = (before,) if by is None else (before, by)
        rebase(t, general(TABLE[name], operands, (title,), mode.site or (None, 0)).node, 0)
    return t


def real(value: Any, name: str, what: str) -> float:
    """A float argument."""
    found = number(value, name, f"'{what}'")
    if isinstance(found, complex):
        raise TypeError(f"{name}(): argument '{what}' must be float, not complex")
    return float(found)


def taken(named: dict[str, Any], start: Any, name: str) -> Any:
    """PyTorch's parameter `from`, which Python only takes as **{"from": ...}."""
    for key in named:
        if key != "from":
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    return named.get("from", start)


@method
def uniform_(
    self: Tensor, start: Any = 0.0, to: Any = 1.0, *, generator: Any = None, **named: Any
) -> Tensor:
    """Fill with uniform values in [from, to); returns self."""
    low = real(taken(named, start, "uniform_"), "uniform_", "from")
    high = real(to, "uniform_", "to")
    stream = stream_of(generator, "uniform_")
    return overwrite(
        self, "uniform_", "UniformBackward0", lambda a: draws.uniform_(stream, a, low, high)
    )


@method
def normal_(self: Tensor, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal values; returns self."""
    m, s = real(mean, "normal_", "mean"), real(std, "normal_", "std")
    stream = stream_of(generator, "normal_")
    return overwrite(self, "normal_", "NormalBackward0", lambda a: draws.normal_(stream, a, m, s))


@method
def random_(
    self: Tensor, start: Any = None, to: Any = None, *, generator: Any = None, **named: Any
) -> Tensor:
    """Fill with integers from [0, to) or [from, to), or all that the dtype has; returns self."""
    start = taken(named, start, "random_")
    stream = stream_of(generator, "random_")
    variant = 2 if start is None and to is None else 1 if start is None or to is None else 0
    if variant == 1 and start is not None and "from" not in named:
        start, to = 0, start
    if variant == 1 and start is None:
        start = 0
    low = None if start is None else whole(start, "random_", "'from'")
    high = None if to is None else whole(to, "random_", "'to'")
    return overwrite(
        self, "random_", f"RandomBackward{variant}", lambda a: draws.random_(stream, a, low, high)
    )


@method
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 (with probability p: a number, or a tensor of them) and 0; returns self."""
    stream = stream_of(generator, "bernoulli_")
    if isinstance(p, Tensor):
        try:
            places = np.broadcast_to(p.array, self.array.shape)
        except ValueError:
            raise RuntimeError(
                f"The expanded size of the tensor {list(self.array.shape)} must match the existing "
                f"size {list(p.array.shape)} of the probabilities"
            ) from None
        return overwrite(
            self,
            "bernoulli_",
            "BernoulliBackward1",
            lambda a: draws.bernoulli(stream, places, out=a),
            by=p,
        )
    chance = real(p, "bernoulli_", "p")
    return overwrite(
        self, "bernoulli_", "BernoulliBackward2", lambda a: draws.bernoulli_(stream, a, chance)
    )


@method
def exponential_(self: Tensor, lambd: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with waiting times at the rate lambd; returns self."""
    rate, stream = real(lambd, "exponential_", "lambd"), stream_of(generator, "exponential_")
    return overwrite(
        self, "exponential_", "ExponentialBackward0", lambda a: draws.exponential_(stream, a, rate)
    )


@method
def geometric_(self: Tensor, p: Any, *, generator: Any = None) -> Tensor:
    """Fill with the number of trials up to the first success, each having chance p."""
    chance, stream = real(p, "geometric_", "p"), stream_of(generator, "geometric_")
    return overwrite(
        self, "geometric_", "GeometricBackward0", lambda a: draws.geometric_(stream, a, chance)
    )


@method
def cauchy_(self: Tensor, median: Any = 0.0, sigma: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with Cauchy values; returns self."""
    m, s = real(median, "cauchy_", "median"), real(sigma, "cauchy_", "sigma")
    stream = stream_of(generator, "cauchy_")
    return overwrite(self, "cauchy_", "CauchyBackward0", lambda a: draws.cauchy_(stream, a, m, s))


@method
def log_normal_(self: Tensor, mean: Any = 1.0, std: Any = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with exponentials of normal values with this mean and std; returns self."""
    m, s = real(mean, "log_normal_", "mean"), real(std, "log_normal_", "std")
    stream = stream_of(generator, "log_normal_")
    return overwrite(
        self, "log_normal_", "LogNormalBackward0", lambda a: draws.log_normal_(stream, a, m, s)
    )
