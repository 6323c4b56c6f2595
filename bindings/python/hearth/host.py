"""An open store."""

from __future__ import annotations

import atexit
import ctypes
import dataclasses
import logging
import os
import threading
import weakref
from typing import Any, Dict, Optional, Tuple, Union

from . import _fork
from ._block import EndsWithBlock
from ._library import Options, StatsRecord, library
from .cache import Cache
from .errors import ClosedError, InvalidError, Status

__all__ = ["Host", "Stats", "open"]

_log = logging.getLogger("hearth")

_RUNTIME, _STORE = 0, 1  # hearth_backing


@dataclasses.dataclass(frozen=True)
class Stats:
    """What a host has counted since it was opened, in this process."""

    memory_hits: int
    memory_misses: int
    disk_hits: int
    disk_misses: int
    entries: int
    """Entries in memory."""
    bytes_used: int
    """Bytes of memory that they use."""
    time_saved: float
    """Seconds of compiling that hits have saved."""


@dataclasses.dataclass(frozen=True)
class _Settings:
    store: Optional[str]
    remote: Optional[str]
    memory_budget: int
    disk_budget: int
    threads: int
    thin: bool


class Host(EndsWithBlock):
    """An open store, and what answers for it: tiers in memory, on disk and in a server.

    store: the directory, made when it is missing; several hosts and processes may share it. None:
        memory alone, of this process.
    remote: the address of a server that hosts share (`redis://host`); several, nearest first, with blanks between
        them; None: no remote tier.
    memory_budget, disk_budget: bytes; 0: 256 MiB, and 10 GiB but at most a tenth of the free disk.
    threads: of the runtime; 0: one a core, at least 2.
    thin: the store alone, without a runtime: no thread, no tier in memory, no remote tier. For
        programs that end soon, and for many processes on one machine. (While a compile runs, a
        thread of Python tells other processes so.) It needs a store, and handles the signal SIGBUS.

    A store that cannot be used is no error: the host goes on without it, logs a warning and tells
    why in `disk_problem`.

    Any thread may use a host. In the child of a fork the host opens itself again at the first call,
    with the same settings; a host of memory alone begins empty there. A pickled host is opened in
    the process that loads it, once for all hosts of equal settings.
    """

    def __init__(
        self,
        store: Union[str, "os.PathLike[str]", None] = None,
        *,
        remote: Optional[str] = None,
        memory_budget: int = 0,
        disk_budget: int = 0,
        threads: int = 0,
        thin: bool = False,
    ) -> None:
        self._lock = threading.RLock()
        self._pointer = 0
        self._generation = -1
        self._closed = False
        self._settings = _Settings(
            None if store is None else os.fsdecode(store),
            remote,
            _checked("memory_budget", memory_budget, 64),
            _checked("disk_budget", disk_budget, 64),
            _checked("threads", threads, 32),
            bool(thin),
        )
        self._open()
        _hosts.add(self)
        _fork.watch(self)

    @property
    def store(self) -> Optional[str]:
        """The directory of the store; None: memory alone."""
        return self._settings.store

    @property
    def is_thin(self) -> bool:
        """Whether the host is the store alone."""
        return self._settings.thin

    @property
    def disk_problem(self) -> str:
        """Why there is no disk tier although a store was named; "" when all is well."""
        with self._lock:
            return _utf8(library().hearth_disk_problem(self._opened()))

    @property
    def remote_problem(self) -> str:
        """Why there is no remote tier although a server was named; "" when all is well."""
        with self._lock:
            return _utf8(library().hearth_remote_problem(self._opened()))

    def cache(self, name: str, version: Union[str, int] = "0") -> Cache:
        """The named cache. Another version is another cache: its old entries are misses."""
        return Cache(self, name, str(version))

    def flush(self) -> None:
        """Makes what was stored survive a power loss, not only a kill of the process."""
        with self._lock:
            status = library().hearth_flush(self._opened())
            if status:
                raise library().error(status)

    def stats(self) -> Stats:
        """The counts of this host."""
        record = StatsRecord(size=ctypes.sizeof(StatsRecord))
        with self._lock:
            status = library().hearth_get_stats(self._opened(), ctypes.byref(record))
            if status:
                raise library().error(status)
        return Stats(
            record.memory_hits,
            record.memory_misses,
            record.disk_hits,
            record.disk_misses,
            record.entries,
            record.bytes_used,
            record.time_saved_ns / 1e9,
        )

    def close(self) -> None:
        """Ends the host; calls of its caches raise `ClosedError` from then on. Allowed twice."""
        with self._lock:
            self._closed = True
            pointer, self._pointer = self._pointer, 0
            if pointer and self._generation == _fork.generation:
                library().hearth_close(pointer)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def _open(self) -> None:
        """Opens the host. The caller holds the lock, or is the only one that knows the host."""
        settings = self._settings
        options = Options(
            size=ctypes.sizeof(Options),
            backing=_STORE if settings.thin else _RUNTIME,
            memory_budget_bytes=settings.memory_budget,
            disk_budget_bytes=settings.disk_budget,
            remote_url=_text("remote", settings.remote),
            threads=settings.threads,
        )
        store = None if settings.store is None else os.fsencode(settings.store)
        pointer = ctypes.c_void_p()
        status = library().hearth_open(store, ctypes.byref(options), ctypes.byref(pointer))
        if status:
            raise library().error(status)
        self._pointer = pointer.value or 0
        self._generation = _fork.generation
        for problem in (self.disk_problem, self.remote_problem):
            if problem:
                _log.warning("%s: %s", settings.store or settings.remote, problem)

    def _opened(self) -> int:
        """The library's host of this process. The caller holds the lock."""
        if self._closed:
            raise ClosedError("the host is closed; open another one", Status.CLOSED)
        if self._generation != _fork.generation:
            self._open()
        return self._pointer

    def _open_cache(self, name: str, version: str) -> int:
        pointer = ctypes.c_void_p()
        with self._lock:
            status = library().hearth_cache_open(
                self._opened(), _text("name", name), _text("version", version),
                ctypes.byref(pointer),
            )
            if status:
                raise library().error(status)
        return pointer.value or 0

    def _after_fork(self) -> None:
        # The parent's host is of no use here, and another thread may have held the lock.
        self._lock = threading.RLock()
        self._pointer = 0

    def _end_of_block(self) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        return _shared_host, (self._settings,)

    def __del__(self) -> None:
        if getattr(self, "_pointer", 0):
            self.close()

    def __repr__(self) -> str:
        state = "closed " if self._closed else ""
        return f"<{state}hearth.Host of {self.store or 'memory'}>"


def open(  # noqa: A001 (as io.open)
    store: Union[str, "os.PathLike[str]", None] = None, **options: Any
) -> Host:
    """Opens a store; the options are those of `Host`."""
    return Host(store, **options)


def _utf8(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _text(what: str, value: Optional[str]) -> Optional[bytes]:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {type(value).__name__}")
    if "\0" in value:
        raise InvalidError(f"{what} has a zero character", Status.INVALID_ARGUMENT)
    return value.encode("utf-8", "surrogateescape")


def _checked(what: str, value: int, bits: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is an int, not {type(value).__name__}")
    if not 0 <= value < 2**bits:
        raise InvalidError(f"{what} is {value}: it is negative or too big", Status.INVALID_ARGUMENT)
    return value


_hosts: "weakref.WeakSet[Host]" = weakref.WeakSet()
_shared: Dict[_Settings, Host] = {}
_shared_lock = threading.Lock()


def _shared_host(settings: _Settings) -> Host:
    """The host of a pickled one. It stays open until the process ends."""
    with _shared_lock:
        host = _shared.get(settings)
        if host is None or host.closed:
            host = _shared[settings] = Host(**dataclasses.asdict(settings))
        return host


def _renew_shared_lock() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()


_fork.call_in_child(_renew_shared_lock)


@atexit.register
def _close_hosts() -> None:
    # The runtime's threads call back into Python; they must end before Python does.
    for host in list(_hosts):
        host.close()
