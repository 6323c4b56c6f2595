"""The calls for asyncio.

Look-ups and inserts are asynchronous in the library: it calls `_answered` on a thread of its own,
which wakes the event loop. The wait for a lease takes a thread of `_threads`, at most one for each
key of an event loop: other tasks of the loop that want the same entry wait for that task.
"""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import functools
import inspect
import itertools
import threading
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Tuple, Union

from . import _fork, _threads
from ._bytes import BytesLike, readable, take
from ._library import Answer, Value, library
from ._ttl import ttl_ms
from .errors import CompileFailedError, HearthError, Status, TimedOutError, error_of
from .lease import Lease

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .cache import Cache
    from .keys import Key

# --- look-ups and inserts ----------------------------------------------------------------------


class _Call:
    """A call that the library has not answered yet."""

    __slots__ = ("future", "loop", "thread", "used")

    def __init__(self, used: Any) -> None:
        self.loop = asyncio.get_running_loop()
        self.future: "asyncio.Future[Tuple[int, bytes]]" = self.loop.create_future()
        self.thread = threading.get_ident()
        self.used = used  # what the library may read until it answers

    def answer(self, status: int, data: bytes, error: Optional[bytes]) -> None:
        if self.thread == threading.get_ident():
            self._finish(status, data, error)
            return
        try:
            self.loop.call_soon_threadsafe(self._finish, status, data, error)
        except RuntimeError:
            pass  # the loop has ended, and with it all who wait

    def _finish(self, status: int, data: bytes, error: Optional[bytes]) -> None:
        if self.future.done():
            return
        if status > 0:
            text = (error or b"").decode("utf-8", "replace")
            self.future.set_exception(error_of(status, text))
        else:
            self.future.set_result((status, data))


_calls: Dict[int, _Call] = {}
_numbers = itertools.count(1)
_fork.call_in_child(_calls.clear)


@Answer  # type: ignore[misc]
def _answered(context: int, status: int, value: Any, error: Optional[bytes]) -> None:
    call = _calls.pop(context, None)
    data = take(value.contents) if value else b""
    if call is not None:
        call.answer(status, data, error)


async def get(cache: Cache, key: Key) -> Optional[bytes]:
    """`Cache.aget`."""
    opened = cache._opened()
    call, number = _Call((opened, key)), next(_numbers)
    _calls[number] = call
    status = library().hearth_get_async(opened.pointer, key._pointer, _answered, number)
    if status:
        _calls.pop(number, None)
        if status != Status.UNSUPPORTED:
            raise library().error(status)
        return await asyncio.wrap_future(_threads.submit(cache.get, key))
    answer, data = await call.future
    return data if answer == Status.OK else None


async def insert(cache: Cache, key: Key, value: BytesLike, ttl: Optional[float]) -> bool:
    """`Cache.ainsert`."""
    data, size = readable(value)
    milliseconds = ttl_ms(ttl)
    opened = cache._opened()
    call, number = _Call((opened, key, data)), next(_numbers)
    _calls[number] = call
    status = library().hearth_insert_ttl_async(
        opened.pointer, key._pointer, data, size, milliseconds, _answered, number
    )
    if status:
        _calls.pop(number, None)
        if status != Status.UNSUPPORTED:
            raise library().error(status)
        store = functools.partial(cache.insert, key, value, ttl=ttl)
        return await asyncio.wrap_future(_threads.submit(store))
    answer, _ = await call.future
    return answer == Status.OK


async def put(cache: Cache, key: Key, value: BytesLike, ttl: Optional[float]) -> None:
    """`Cache.aput`."""
    store = functools.partial(cache.put, key, value, ttl=ttl)
    await asyncio.wrap_future(_threads.submit(store))


# --- one compile for all who ask ---------------------------------------------------------------

Outcome = Union[bytes, str, None]
"""How a task's compile ended: the entry, the text of an error, or that the next task compiles."""

Flights = Dict[Tuple[int, bytes], "asyncio.Future[Outcome]"]
"""The keys that tasks are making: by event loop and key."""


class _Job(NamedTuple):
    """A call of `aget_or_compile`."""

    cache: Cache
    key: Key
    make: Any
    making: Any  # what `make` is called for, with this entry
    ttl: Optional[float]

    def keep(self, lease: Lease, made: BytesLike) -> bytes:
        return self.cache._fulfil(lease, made, self.ttl)


class _Begun(NamedTuple):
    """A compile that goes on in the event loop."""

    lease: Lease
    made: Any  # an awaitable


async def get_or_compile(
    cache: Cache, key: Key, make: Any, timeout: Optional[float], ttl: Optional[float]
) -> bytes:
    """`Cache.aget_or_compile`."""
    ttl_ms(ttl)
    found = cache._look(key)
    if found is not None:
        return found
    job = _Job(cache, key, make, cache._begin_making(key), ttl)
    loop = asyncio.get_running_loop()
    end = None if timeout is None else loop.time() + timeout
    flights, place = cache._flights, (id(loop), key.encoded)
    while place in flights:
        outcome = await _outcome_of(flights[place], _remaining(loop, end))
        if isinstance(outcome, bytes):
            return outcome
        if outcome is not None:
            raise CompileFailedError(outcome, Status.COMPILE_FAILED)
    flight: "asyncio.Future[Outcome]" = loop.create_future()
    flights[place] = flight
    outcome = None
    try:
        outcome = await _compile(job, _remaining(loop, end))
        return outcome
    except CompileFailedError as error:
        outcome = str(error)
        raise
    except HearthError:
        raise  # this task's timeout, for example, is not that of the next one
    except Exception as error:
        outcome = _text_of(error)
        raise
    finally:
        flights.pop(place, None)
        flight.set_result(outcome)


def _text_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _remaining(loop: asyncio.AbstractEventLoop, end: Optional[float]) -> Optional[float]:
    return None if end is None else max(0.0, end - loop.time())


async def _outcome_of(
    flight: "asyncio.Future[Outcome]", timeout: Optional[float]
) -> Outcome:
    done, _ = await asyncio.wait([flight], timeout=timeout)
    if not done:
        raise TimedOutError(
            f"another task's compile of the entry took longer than {timeout:.3f} s",
            Status.TIMEOUT,
        )
    return flight.result()


async def _compile(job: _Job, timeout: Optional[float]) -> bytes:
    context = contextvars.copy_context()
    future = _threads.submit(context.run, _begin, job, timeout)
    try:
        got = await asyncio.wrap_future(future)
    except BaseException:
        future.add_done_callback(give_back)
        raise
    if isinstance(got, bytes):
        return got
    if isinstance(got, Lease):
        got = _Begun(got, job.make())
    return await _finish(job, got)


def _begin(job: _Job, timeout: Optional[float]) -> Union[bytes, Lease, _Begun]:
    """On a thread: the entry, or a lease for what the event loop makes."""
    from .cache import _making

    got = job.cache._acquire(job.key, timeout)
    if isinstance(got, bytes) or inspect.iscoroutinefunction(job.make):
        return got
    _making.set(job.making)  # in a context of its own
    try:
        made = job.make()
        if inspect.isawaitable(made):
            return _Begun(got, made)
        readable(made)
    except Exception as error:
        got.abandon(_text_of(error))
        raise
    except BaseException:
        got.release()
        raise
    return job.keep(got, made)


async def _finish(job: _Job, begun: _Begun) -> bytes:
    """In the event loop: waits for what is made, and stores it."""
    from .cache import _making

    reset = _making.set(job.making)
    try:
        made = await begun.made
        readable(made)
    except asyncio.CancelledError:
        begun.lease.release()
        raise
    except Exception as error:
        begun.lease.abandon(_text_of(error))
        raise
    except BaseException:
        begun.lease.release()
        raise
    finally:
        _making.reset(reset)
    stored = _threads.submit(job.keep, begun.lease, made)
    return await asyncio.shield(asyncio.wrap_future(stored))


def give_back(future: "Future[Any]") -> None:
    """For a future that nobody waits for any more: the next who waits compiles."""
    if future.cancelled() or future.exception() is not None:
        return
    got = future.result()
    if isinstance(got, _Begun):
        if inspect.iscoroutine(got.made):
            got.made.close()
        got.lease.release()
    elif isinstance(got, Lease):
        got.release()
