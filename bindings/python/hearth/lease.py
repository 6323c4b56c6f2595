"""The right and the duty to make one entry."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from typing import Any, Optional

from . import _fork
from ._block import EndsWithBlock
from ._bytes import BytesLike, readable, take
from ._library import Value, library
from ._ttl import ttl_ms
from .errors import ForkedError, InvalidError, Status

__all__ = ["Lease"]


class Lease(EndsWithBlock):
    """What `Cache.acquire` gives the one caller that compiles; the others wait for it.

    End it with `fulfil`, `abandon` or `release`. As a context manager, and when it is dropped, it
    is released unless it ended before. One thread at a time uses a lease.
    """

    __slots__ = ("__weakref__", "_generation", "_lock", "_pointer")

    def __init__(self, pointer: int, needs_beats: bool = False) -> None:
        self._pointer = pointer
        self._generation = _fork.generation
        self._lock = threading.Lock()  # between the end of the lease and a beat
        if needs_beats:
            _heart.add(self)

    def fulfil(self, data: BytesLike, *, ttl: Optional[float] = None) -> bytes:
        """Stores the entry and gives it to all who wait. Returns what is stored now.

        ttl: seconds after which the entry ends, as for `Cache.insert`.
        """
        at, size = readable(data)
        milliseconds = ttl_ms(ttl)
        value = Value()
        status = library().hearth_fulfil_ttl(
            self._end(), at, size, milliseconds, ctypes.byref(value)
        )
        if status != Status.OK:
            raise library().error(status)
        return take(value)

    def abandon(self, text: str) -> None:
        """The compile failed: those who wait get the text as a `CompileFailedError`.

        With a thin host, and in other processes, the next who waits compiles instead.
        """
        library().hearth_abandon(self._end(), text.encode("utf-8", "replace").replace(b"\0", b" "))

    def release(self) -> None:
        """The caller gives up: the next who waits compiles. Does nothing after the end."""
        if self._pointer and self._generation == _fork.generation:
            library().hearth_release(self._end())

    def _beat(self) -> None:
        with self._lock:
            if self._pointer and self._generation == _fork.generation:
                library().hearth_beat(self._pointer)

    def _end(self) -> int:
        if self._generation != _fork.generation:
            raise ForkedError(
                "the lease belongs to the process that forked; acquire the key again",
                Status.FORKED,
            )
        with self._lock:
            pointer, self._pointer = self._pointer, 0
        if not pointer:
            raise InvalidError("the lease has ended", Status.INVALID_ARGUMENT)
        return pointer

    def _end_of_block(self) -> None:
        self.release()

    def __del__(self, _fork: Any = _fork) -> None:
        if self._pointer and self._generation == _fork.generation:
            self.release()


class _Heart:
    """Tells other processes that the holders of leases live, for hosts without threads.

    Those who wait for such a lease compile by themselves after three seconds without a beat. The
    thread ends when no lease is held.
    """

    SECONDS = 1.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: "weakref.WeakSet[Lease]" = weakref.WeakSet()
        self._is_running = False

    def add(self, lease: Lease) -> None:
        with self._lock:
            self._leases.add(lease)
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(target=self._run, name="hearth beats", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(self.SECONDS)
            with self._lock:
                held = [lease for lease in self._leases if lease._pointer]
                self._is_running = bool(held)
                if not held:
                    return
            for lease in held:
                lease._beat()
            del held


_heart = _Heart()


def _forget_leases() -> None:
    global _heart
    _heart = _Heart()


_fork.call_in_child(_forget_leases)
