"""Threads for calls that wait: for a lease, mostly.

They are daemon threads, so a wait never delays the end of the program. An idle one ends after some
seconds. At most `MAX_THREADS` run; more calls queue.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from typing import Any, Callable, Tuple

from . import _fork

MAX_THREADS = 64
IDLE_SECONDS = 5.0

_Job = Tuple["Future[Any]", Callable[..., Any], Tuple[Any, ...]]


class _Pool:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: "queue.SimpleQueue[_Job]" = queue.SimpleQueue()
        self._threads = 0
        self._unclaimed = 0  # idle threads, less the jobs that they have not taken yet

    def submit(self, function: Callable[..., Any], arguments: Tuple[Any, ...]) -> "Future[Any]":
        future: "Future[Any]" = Future()
        with self._lock:
            self._unclaimed -= 1
            start = self._unclaimed < 0 and self._threads < MAX_THREADS
            self._threads += start
            self._unclaimed += start
            self._jobs.put((future, function, arguments))
        if start:
            try:
                threading.Thread(target=self._work, name="hearth", daemon=True).start()
            except RuntimeError:
                with self._lock:
                    self._threads -= 1
                    self._unclaimed -= 1
                    if self._threads == 0:
                        raise
        return future

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._unclaimed <= 0:
                        continue  # a job is on its way to this thread
                    self._unclaimed -= 1
                    self._threads -= 1
                    return
            _run(job)
            del job
            with self._lock:
                self._unclaimed += 1


def _run(job: _Job) -> None:
    future, function, arguments = job
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function(*arguments)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


_pool = _Pool()


def _forget_threads() -> None:
    global _pool
    _pool = _Pool()


_fork.call_in_child(_forget_threads)


def submit(function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
    """Calls the function on a thread; the future has its result."""
    return _pool.submit(function, arguments)
