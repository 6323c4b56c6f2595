"""The decorator of `Cache.compiled`."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

from .keys import KeyLike

__all__ = ["compiled_decorator"]

KeyFunction = Callable[..., KeyLike]


def compiled_decorator(
    cache: Any, key: Any, timeout: Optional[float], ttl: Optional[float]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that keeps a function's results in `cache`: a `Cache` or a `ValueCache`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        key_of = key if callable(key) else _arguments_key(function, key)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*arguments: Any, **named: Any) -> Any:
                async def make() -> Any:
                    return await function(*arguments, **named)

                return await cache.aget_or_compile(
                    key_of(*arguments, **named), make, timeout, ttl=ttl
                )

        else:

            @functools.wraps(function)
            def wrapper(*arguments: Any, **named: Any) -> Any:
                return cache.get_or_compile(
                    key_of(*arguments, **named),
                    lambda: function(*arguments, **named),
                    timeout,
                    ttl=ttl,
                )

        wrapper.cache = cache  # type: ignore[attr-defined]
        wrapper.key_of = key_of  # type: ignore[attr-defined]
        return wrapper

    return decorate


def _arguments_key(function: Callable[..., Any], first: Optional[KeyLike]) -> KeyFunction:
    """The key of a call: its first part, the positional arguments, (name, value) of the others."""
    signature = inspect.signature(function)
    name = f"{function.__module__}.{function.__qualname__}" if first is None else first

    def key_of(*arguments: Any, **named: Any) -> KeyLike:
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        return (name, tuple(bound.args), tuple(sorted(bound.kwargs.items())))

    return key_of
