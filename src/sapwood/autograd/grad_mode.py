"""Whether operations record gradients: context managers, decorators, and plain calls.

The mode lives in a context variable, so it is right per thread and per asyncio task. Decorated
generators and coroutines hold it inside and give the caller's back at every yield.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from typing import Any

from sapwood._core.mode import MODE


class Switch:
    """A change of the mode, as a `with` block or a decorator."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes
        self.before: list = []

    def __enter__(self) -> Any:
        old = MODE.get()
        self.before.append(old)
        try:
            MODE.set(old.but(**self.changes))
        except BaseException:  # a signal: the `with` block is not entered
            MODE.set(old)
            raise
        return None

    def __exit__(self, *exc: object) -> None:
        old = self.before[-1]
        try:
            self.before.pop()
            fresh = MODE.get().but(**{k: getattr(old, k) for k in self.changes})
        except BaseException:  # a signal
            MODE.set(old)
            raise
        MODE.set(fresh)

    def clone(self) -> Switch:
        """A fresh one with the same effect: a decorated function may be re-entered."""
        fresh = Switch.__new__(Switch)
        Switch.__init__(fresh, **self.changes)
        return fresh

    def __call__(self, fn: Callable) -> Callable:
        """Decorate a function, generator function, coroutine function or (deprecated) a class."""
        if inspect.isclass(fn):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future "
                "versions. You should only decorate functions or methods.",
                FutureWarning,
                stacklevel=2,
            )
            fn.__init__ = self(fn.__init__)  # type: ignore[method-assign]
            return fn
        if inspect.isgeneratorfunction(fn):
            return self.wrap_generator(fn)
        if inspect.iscoroutinefunction(fn):
            return self.wrap_coroutine(fn)

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return fn(*args, **kwargs)

        return wrapped

    def wrap_generator(self, fn: Callable) -> Callable:
        """The mode holds while the generator runs and not while its caller does."""

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Generator:
            gen = fn(*args, **kwargs)
            send, value = gen.send, None
            try:
                while True:
                    with self.clone():
                        result = send(value)
                    try:
                        value = yield result
                        send = gen.send
                    except GeneratorExit:
                        with self.clone():
                            gen.close()
                        raise
                    except BaseException as e:
                        send, value = gen.throw, e
            except StopIteration as stop:
                return stop.value

        return wrapped

    def wrap_coroutine(self, fn: Callable) -> Callable:
        """The mode holds while the coroutine runs and not while others of the loop do."""

        @functools.wraps(fn)
        async def wrapped(*args: Any, **kwargs: Any) -> Any:
            return await _Stepped(fn(*args, **kwargs), self)

        return wrapped


class _Stepped:
    """Awaits a coroutine step by step, with the mode set during each step only."""

    def __init__(self, coroutine: Any, switch: Switch) -> None:
        self.coroutine, self.switch = coroutine, switch

    def __await__(self) -> Generator:
        send, value = self.coroutine.send, None
        try:
            while True:
                with self.switch.clone():
                    result = send(value)
                try:
                    value = yield result
                    send = self.coroutine.send
                except BaseException as e:
                    send, value = self.coroutine.throw, e
        except StopIteration as stop:
            return stop.value


class no_grad(Switch):  # noqa: N801 (PyTorch's name)
    """Results do not require grad inside. With or without parentheses as a decorator."""

    def __new__(cls, fn: Callable | None = None) -> Any:
        """`@no_grad` without parentheses decorates at once."""
        self = object.__new__(cls)
        if fn is None:
            return self
        self.__init__()  # type: ignore[misc]
        return self(fn)

    def __init__(self, fn: Callable | None = None) -> None:
        super().__init__(grad=False)


class enable_grad(Switch):  # noqa: N801
    """Results require grad inside where an operand does, also within no_grad."""

    def __new__(cls, fn: Callable | None = None) -> Any:
        """`@enable_grad` without parentheses decorates at once."""
        self = object.__new__(cls)
        if fn is None:
            return self
        self.__init__()  # type: ignore[misc]
        return self(fn)

    def __init__(self, fn: Callable | None = None) -> None:
        super().__init__(grad=True)


class set_grad_enabled(Switch):  # noqa: N801
    """Set grad mode at once; as a `with` block, until its end; as a decorator, inside only."""

    def __init__(self, mode: bool) -> None:
        super().__init__(grad=bool(mode))
        self.old = MODE.get()
        MODE.set(self.old.but(grad=bool(mode)))

    def __enter__(self) -> None:
        self.before.append(self.old)
        MODE.set(MODE.get().but(**self.changes))

    def __call__(self, fn: Callable) -> Callable:
        """Decorate a function: what the construction switched is taken back."""
        MODE.set(MODE.get().but(grad=self.old.grad))
        return super().__call__(fn)


class inference_mode(Switch):  # noqa: N801
    """No graph, no versions, no views: results can never take part in autograd."""

    def __new__(cls, mode: Any = True) -> Any:
        """`@inference_mode` without parentheses decorates at once."""
        self = object.__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__()  # type: ignore[misc]
        return self(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(inference=mode, grad=not mode)


class set_multithreading_enabled:  # noqa: N801
    """Accepted and without effect: backward runs on the thread that calls it."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


def is_grad_enabled() -> bool:
    """Whether operations record gradients here."""
    return MODE.get().grad


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on here."""
    return MODE.get().inference
