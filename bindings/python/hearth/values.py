"""Caches of Python values."""

from __future__ import annotations

import inspect
from typing import Any, Awaitable, Callable, Iterable, List, Optional, Union

from .cache import Cache
from .codecs import PICKLE, Codec
from .compiled import compiled_decorator
from .errors import InvalidError, Status
from .keys import KeyLike

__all__ = ["PickledCache", "ValueCache"]


class ValueCache:
    """A cache whose values a codec makes bytes of: `host.cache("tunings").values(hearth.JSON)`.

    The calls are those of `Cache`. A miss is `default`, which tells it from a stored None.
    """

    def __init__(self, cache: Cache, codec: Codec) -> None:
        self.cache = cache
        self.codec = codec

    def get(self, key: KeyLike, default: Any = None) -> Any:
        """The entry's value; `default` on a miss."""
        return self._decoded(key, self.cache.get(key), default)

    def get_many(self, keys: Iterable[KeyLike], default: Any = None) -> List[Any]:
        """The values of many keys, in their order."""
        wanted = list(keys)
        found = self.cache.get_many(wanted)
        return [self._decoded(key, data, default) for key, data in zip(wanted, found)]

    def insert(self, key: KeyLike, value: Any, *, ttl: Optional[float] = None) -> bool:
        """Stores the value unless there is an entry, which stays. True: it was stored.

        ttl: seconds after which the entry ends, as for `Cache.insert`.
        """
        return self.cache.insert(key, self.codec.encode(value), ttl=ttl)

    def put(self, key: KeyLike, value: Any, *, ttl: Optional[float] = None) -> None:
        """Stores the value, or replaces the entry."""
        self.cache.put(key, self.codec.encode(value), ttl=ttl)

    def erase(self, key: KeyLike) -> bool:
        """Drops the entry. True: there was one."""
        return self.cache.erase(key)

    def __contains__(self, key: KeyLike) -> bool:
        return key in self.cache

    def get_or_compile(
        self,
        key: KeyLike,
        make: Callable[[], Any],
        timeout: Optional[float] = None,
        *,
        ttl: Optional[float] = None,
    ) -> Any:
        """The value; when there is none, what `make()` returns. See `Cache.get_or_compile`."""
        data = self.cache.get_or_compile(
            key, lambda: self.codec.encode(make()), timeout, ttl=ttl
        )
        return self._decoded(key, data, None)

    def compiled(
        self, key: Any = None, *, timeout: Optional[float] = None, ttl: Optional[float] = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: the function's results are kept in this cache. See `Cache.compiled`."""
        return compiled_decorator(self, key, timeout, ttl)

    async def aget(self, key: KeyLike, default: Any = None) -> Any:
        """`get` for asyncio."""
        return self._decoded(key, await self.cache.aget(key), default)

    async def ainsert(self, key: KeyLike, value: Any, *, ttl: Optional[float] = None) -> bool:
        """`insert` for asyncio."""
        return await self.cache.ainsert(key, self.codec.encode(value), ttl=ttl)

    async def aput(self, key: KeyLike, value: Any, *, ttl: Optional[float] = None) -> None:
        """`put` for asyncio."""
        await self.cache.aput(key, self.codec.encode(value), ttl=ttl)

    async def aget_or_compile(
        self,
        key: KeyLike,
        make: Callable[[], Union[Any, Awaitable[Any]]],
        timeout: Optional[float] = None,
        *,
        ttl: Optional[float] = None,
    ) -> Any:
        """`get_or_compile` for asyncio."""

        async def encoded(value: Awaitable[Any]) -> bytes:
            return self.codec.encode(await value)

        def made() -> Any:
            value = make()
            return encoded(value) if inspect.isawaitable(value) else self.codec.encode(value)

        async def made_in_loop() -> bytes:
            return self.codec.encode(await make())

        on_loop = inspect.iscoroutinefunction(make)
        data = await self.cache.aget_or_compile(
            key, made_in_loop if on_loop else made, timeout, ttl=ttl
        )
        return self._decoded(key, data, None)

    def _decoded(self, key: KeyLike, data: Optional[bytes], default: Any) -> Any:
        if data is None:
            return default
        try:
            return self.codec.decode(data)
        except Exception as error:
            raise InvalidError(
                f"the entry {key!r} of the cache {self.cache.name!r} is no {self.codec.name}: "
                f"{error}; erase it, or use another version of the cache",
                Status.MALFORMED,
            ) from error

    def __repr__(self) -> str:
        return f"<hearth.ValueCache of {self.codec.name} in {self.cache!r}>"


class PickledCache(ValueCache):
    """A cache of any Python objects. Read the warning of `codecs.PickleCodec` first."""

    def __init__(self, cache: Cache) -> None:
        super().__init__(cache, PICKLE)
