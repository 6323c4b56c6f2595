"""A named cache: look-ups, changes, and one compile for all who ask."""

from __future__ import annotations

import ctypes
import dataclasses
import logging
import threading
from contextvars import ContextVar
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Optional,
    Tuple,
    Union,
)

from . import _async, _fork, _threads
from ._block import EndsWithBlock
from ._bytes import BytesLike, readable, take
from ._library import CacheStatsRecord, Value, bytes_at, library
from ._ttl import ttl_ms
from .codecs import Codec
from .compiled import compiled_decorator
from .errors import ClosedError, HearthError, InvalidError, LeaseCycleError, Status
from .keys import Key, KeyLike, key_of
from .lease import Lease
from .view import View

if TYPE_CHECKING:
    from .host import Host
    from .values import ValueCache

__all__ = ["Cache", "Make"]

_log = logging.getLogger("hearth")

Make = Callable[[], BytesLike]
"""A function that makes an entry."""

_MISS, _OK = int(Status.MISS), int(Status.OK)

# Texts whose keys a cache keeps; a key is some 100 bytes.
_MAX_KEPT_KEYS = 1024
_MAX_KEPT_TEXT = 256

# The entries that the running code is making.
_making: ContextVar[FrozenSet[Tuple[Any, ...]]] = ContextVar("hearth_making", default=frozenset())


class _OpenCache:
    """The library's cache of one process; closed with the last call that uses it."""

    __slots__ = ("_close", "_fork", "generation", "pointer")

    def __init__(self, pointer: int, generation: int) -> None:
        self.pointer = pointer
        self.generation = generation
        self._close = library().hearth_cache_close
        self._fork = _fork

    def __del__(self) -> None:
        # In the child of a fork the parent's cache is left alone.
        if self.generation == self._fork.generation:
            self._close(self.pointer)


@dataclasses.dataclass(frozen=True)
class CacheStats:
    """What a process did in a named cache."""

    memory_hits: int
    disk_hits: int
    remote_hits: int
    misses: int
    """Look-ups that found nothing, also those that compiled then."""
    waits: int
    """Look-ups that got what another caller compiled meanwhile."""
    compiles: int
    failures: int
    """Compiles that raised an error."""
    inserted: int
    """Entries stored by inserts and compiles."""
    existed: int
    """Inserts of entries that were there."""
    put: int
    erased: int
    time_saved: float
    """Seconds of compiling that hits have saved."""


class Cache(EndsWithBlock):
    """A named cache of a host: `host.cache("kernels", version="3")`.

    Keys are str, int, bytes, or tuples of these; values are bytes (`values` has a cache of other
    values). Any thread may use a cache. Names that begin with `a` are coroutines for asyncio.
    """

    def __init__(self, host: Host, name: str, version: str = "0") -> None:
        self._library = library()
        self._get = self._library.hearth_get
        self._release = self._library.hearth_value_release
        self._places: List[Tuple[Value, int]] = []  # for values; as many as calls ran at once
        self._host = host
        self._name = name
        self._version = version
        self._lock = threading.Lock()
        self._kept_keys: Dict[str, Key] = {}
        self._flights: _async.Flights = {}
        self._open: Optional[_OpenCache] = None
        self._closed = False
        self._open = self._reopen()
        _fork.watch(self)

    # What it is ------------------------------------------------------------------------------

    @property
    def host(self) -> Host:
        """The host that the cache belongs to."""
        return self._host

    @property
    def name(self) -> str:
        """The name of the cache."""
        return self._name

    @property
    def version(self) -> str:
        """The version of the cache's entries."""
        return self._version

    # Look-ups and changes --------------------------------------------------------------------

    def get(self, key: KeyLike) -> Optional[bytes]:
        """The entry's bytes; None on a miss."""
        return self._found_by(self._get, key)

    def _look(self, key: KeyLike) -> Optional[bytes]:
        """As `get`, on this host alone; a miss is not counted. For a caller that acquires next."""
        return self._found_by(self._library.hearth_look, key)

    def _found_by(self, call: Any, key: KeyLike) -> Optional[bytes]:
        cache = self._open
        if cache is None or cache.generation != _fork.generation or self._host._closed:
            cache = self._reopen()
        # It lives until the call ends. Most keys are texts that were used before.
        wanted = (self._kept_keys.get(key) if type(key) is str else None) or self._key(key)
        try:
            place = self._places.pop()
        except IndexError:
            value = Value()
            place = (value, ctypes.addressof(value))
        value, at = place
        status = call(cache.pointer, wanted._pointer, at)
        if status == _OK:
            try:
                data: Optional[bytes] = bytes_at(value.data, value.size) if value.size else b""
            finally:
                self._release(at)
        elif status == _MISS:
            data = None
        else:
            raise self._library.error(status)
        self._places.append(place)
        return data

    def view(self, key: KeyLike) -> Optional[View]:
        """The entry without a copy; None on a miss."""
        value, wanted = Value(), self._key(key)
        cache = self._opened()
        status = self._library.hearth_get(cache.pointer, wanted._pointer, ctypes.byref(value))
        if status == _MISS:
            return None
        if status != _OK:
            raise self._library.error(status)
        return View(value)

    def get_many(self, keys: Iterable[KeyLike]) -> List[Optional[bytes]]:
        """The entries of many keys, in their order, None for each miss.

        This costs less than single calls, above all with a remote tier.
        """
        cache = self._opened()
        wanted = [key_of(key) for key in keys]
        count = len(wanted)
        if not count:
            return []
        pointers = (ctypes.c_void_p * count)(*[key._pointer for key in wanted])
        values = (Value * count)()
        statuses = (ctypes.c_int * count)()
        self._library.hearth_get_many(cache.pointer, pointers, count, values, statuses)
        # Of several errors the first counts; the text is that of the last.
        failed = next((status for status in statuses if status > 0), 0)
        problem = self._library.error(failed) if failed else None
        found = [take(v) if s == _OK else None for v, s in zip(values, statuses)]
        if problem is not None:
            raise problem
        return found

    def insert(self, key: KeyLike, value: BytesLike, *, ttl: Optional[float] = None) -> bool:
        """Stores the entry unless there is one, which stays. True: it was stored.

        ttl: seconds after which the entry ends: from then on it is a miss, in every process, and
        can be stored anew. None: it never ends.
        """
        data, size = readable(value)
        milliseconds = ttl_ms(ttl)
        cache, at = self._opened(), self._key(key)
        status = self._library.hearth_insert_ttl(
            cache.pointer, at._pointer, data, size, milliseconds
        )
        if status > 0:
            raise self._library.error(status)
        return bool(status == _OK)

    def put(self, key: KeyLike, value: BytesLike, *, ttl: Optional[float] = None) -> None:
        """Stores the entry, or replaces it, its end included. ttl: as for `insert`."""
        data, size = readable(value)
        milliseconds = ttl_ms(ttl)
        cache, at = self._opened(), self._key(key)
        status = self._library.hearth_put_ttl(
            cache.pointer, at._pointer, data, size, milliseconds
        )
        if status != _OK:
            raise self._library.error(status)

    def erase(self, key: KeyLike) -> bool:
        """Drops the entry. True: there was one."""
        cache, at = self._opened(), self._key(key)
        status = self._library.hearth_erase(cache.pointer, at._pointer)
        if status > 0:
            raise self._library.error(status)
        return bool(status == _OK)

    def stats(self) -> CacheStats:
        """What this process did in the named cache, by all its objects, since the host opened it."""
        record = CacheStatsRecord(size=ctypes.sizeof(CacheStatsRecord))
        cache = self._opened()
        status = self._library.hearth_get_cache_stats(cache.pointer, ctypes.byref(record))
        if status:
            raise self._library.error(status)
        counts = {f.name: getattr(record, f.name) for f in dataclasses.fields(CacheStats)[:-1]}
        return CacheStats(**counts, time_saved=record.time_saved_ns / 1e9)

    def __contains__(self, key: KeyLike) -> bool:
        return self.view(key) is not None

    # One compile for all who ask -------------------------------------------------------------

    def get_or_compile(
        self,
        key: KeyLike,
        make: Make,
        timeout: Optional[float] = None,
        *,
        ttl: Optional[float] = None,
    ) -> bytes:
        """The entry; when there is none, what `make()` returns, which is stored.

        ttl: seconds after which an entry that this call stores ends, as for `insert`.

        Of all concurrent callers of a key, in every thread and process, one calls `make`; the
        others wait for its result, at most `timeout` seconds, and then raise `TimedOutError`. (None:
        they wait five minutes, and then compile, too.) The timeout does not limit `make`.

        An error that `make` raises is raised here; those who wait in this process get a
        `CompileFailedError` with its text (with a thin host, and in other processes, the next of
        them compiles), and the next call compiles again. On KeyboardInterrupt and SystemExit the
        next who waits compiles instead. When the result cannot be stored, it is returned all the
        same, with a warning in the log: a broken cache does not fail a build.
        """
        ttl_ms(ttl)
        key = self._key(key)
        found = self._look(key)
        if found is not None:
            return found
        making = self._begin_making(key)
        got = self._acquire_by(key, timeout)
        if isinstance(got, bytes):
            return got
        reset = _making.set(making)
        try:
            return self._make_under(got, make, ttl)
        finally:
            _making.reset(reset)

    def acquire(self, key: KeyLike, timeout: Optional[float] = None) -> Union[bytes, Lease]:
        """The entry, or the lease to make it: `get_or_compile` in two steps."""
        return self._acquire_by(self._key(key), timeout)

    def compiled(
        self, key: Any = None, *, timeout: Optional[float] = None, ttl: Optional[float] = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: the function's results, which are bytes, are kept in this cache.

        timeout, ttl: as for `get_or_compile`.

        key: a function of the same arguments that returns the key; or the key's first part, which
        the arguments follow; None: the function's module and name, and the arguments. The
        arguments must be keys in the two latter cases. A change of the function's body is no
        change of the key: change the cache's `version` with it.

        The decorated function may be a coroutine function. It has the attributes `cache` and
        `key_of`, which returns the key of a call.
        """
        return compiled_decorator(self, key, timeout, ttl)

    def values(self, codec: Codec) -> ValueCache:
        """This cache for Python values, which the codec makes bytes of."""
        from .values import ValueCache

        return ValueCache(self, codec)

    # asyncio ---------------------------------------------------------------------------------

    async def aget(self, key: KeyLike) -> Optional[bytes]:
        """`get` for asyncio: the event loop runs on meanwhile."""
        return await _async.get(self, self._key(key))

    async def ainsert(
        self, key: KeyLike, value: BytesLike, *, ttl: Optional[float] = None
    ) -> bool:
        """`insert` for asyncio. A cancelled call may still store the entry."""
        return await _async.insert(self, self._key(key), value, ttl)

    async def aput(self, key: KeyLike, value: BytesLike, *, ttl: Optional[float] = None) -> None:
        """`put` for asyncio, on a thread. A cancelled call may still store the entry."""
        await _async.put(self, self._key(key), value, ttl)

    async def aget_or_compile(
        self,
        key: KeyLike,
        make: Callable[[], Union[BytesLike, Awaitable[BytesLike]]],
        timeout: Optional[float] = None,
        *,
        ttl: Optional[float] = None,
    ) -> bytes:
        """`get_or_compile` for asyncio. `make` is a coroutine function, or runs on a thread.

        When the task is cancelled, a coroutine is cancelled too, and the next who waits compiles;
        what runs on a thread goes on, and its result is stored.
        """
        return await _async.get_or_compile(self, self._key(key), make, timeout, ttl)

    # Its end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the cache; its calls raise `ClosedError` from then on. Allowed twice."""
        with self._lock:
            self._closed = True
            self._open = None

    def _end_of_block(self) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        return Cache, (self._host, self._name, self._version)

    def __repr__(self) -> str:
        return f"<hearth.Cache {self._name!r} version {self._version!r} of {self._host!r}>"

    # -----------------------------------------------------------------------------------------

    def _opened(self) -> _OpenCache:
        cache = self._open
        if cache is None or cache.generation != _fork.generation or self._host._closed:
            return self._reopen()
        return cache

    def _reopen(self) -> _OpenCache:
        with self._lock:
            if self._closed:
                raise ClosedError("the cache is closed; open it again", Status.CLOSED)
            if self._host.closed:
                raise ClosedError("the host is closed; open another one", Status.CLOSED)
            if self._open is None or self._open.generation != _fork.generation:
                pointer = self._host._open_cache(self._name, self._version)
                self._open = _OpenCache(pointer, _fork.generation)
            return self._open

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._flights = {}

    def _key(self, value: KeyLike) -> Key:
        """The key; that of a short text is kept for later calls."""
        if type(value) is Key:
            return value
        if type(value) is not str:
            return Key(value)
        key = self._kept_keys.get(value)
        if key is None:
            key = Key(value)
            if len(value) <= _MAX_KEPT_TEXT:
                if len(self._kept_keys) >= _MAX_KEPT_KEYS:
                    self._kept_keys.clear()
                self._kept_keys[value] = key
        return key

    def _begin_making(self, key: Key) -> FrozenSet[Tuple[Any, ...]]:
        """What is being made, with this entry. Raises when it is among them already."""
        entry = (self._host.store or id(self._host), self._name, self._version, key.encoded)
        making = _making.get()
        if entry in making:
            raise LeaseCycleError(
                f"the compile of an entry of {self._name!r} asks for the same entry",
                Status.LEASE_CYCLE,
            )
        return making | {entry}

    def _acquire(self, key: Key, timeout: Optional[float]) -> Union[bytes, Lease]:
        """Waits in the library, where no signal handler of Python runs."""
        if timeout is None:
            milliseconds = -1
        elif timeout >= 0:
            milliseconds = min(int(timeout * 1000), 2**53)
        else:
            raise InvalidError(f"the timeout is negative: {timeout}", Status.INVALID_ARGUMENT)
        value, lease = Value(), ctypes.c_void_p()
        cache = self._opened()
        status = self._library.hearth_acquire(
            cache.pointer,
            key._pointer,
            milliseconds,
            ctypes.byref(value),
            ctypes.byref(lease),
        )
        if status == Status.COMPILE:
            return Lease(lease.value or 0, needs_beats=self._host.is_thin)
        if status != _OK:
            raise self._library.error(status)
        return take(value)

    def _acquire_by(self, key: Key, timeout: Optional[float]) -> Union[bytes, Lease]:
        """The same; the main thread can be interrupted meanwhile."""
        if threading.current_thread() is not threading.main_thread():
            return self._acquire(key, timeout)
        future = _threads.submit(self._acquire, key, timeout)
        try:
            got: Union[bytes, Lease] = future.result()
            return got
        except BaseException:
            future.add_done_callback(_async.give_back)
            raise

    def _make_under(self, lease: Lease, make: Make, ttl: Optional[float]) -> bytes:
        try:
            made = make()
            readable(made)
        except Exception as error:
            lease.abandon(f"{type(error).__name__}: {error}")
            raise
        except BaseException:
            lease.release()
            raise
        return self._fulfil(lease, made, ttl)

    def _fulfil(self, lease: Lease, made: BytesLike, ttl: Optional[float]) -> bytes:
        try:
            return lease.fulfil(made, ttl=ttl)
        except HearthError as error:
            _log.warning("the compiled entry of %r is not stored: %s", self._name, error)
            return bytes(made)
