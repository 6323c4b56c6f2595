"""What can go wrong: one class for each error that a program may want to tell apart.

Every error of the library is a `HearthError`. Its text says what happened, where, and what to do.
Where Python has an error of the same meaning, the class derives from it too: a caller that expects
`TimeoutError`, `PermissionError` or `ValueError` needs to know nothing of Hearth. A miss is no
error.
"""

from __future__ import annotations

import enum
import errno
from typing import Any, Dict, Tuple, Type

__all__ = [
    "BusyError",
    "CancelledError",
    "ClosedError",
    "CompileFailedError",
    "CorruptError",
    "ForkedError",
    "HearthError",
    "InvalidError",
    "LeaseCycleError",
    "LeaseLostError",
    "NoSpaceError",
    "NotFoundError",
    "PermissionDeniedError",
    "ReadOnlyError",
    "RemoteError",
    "Status",
    "StorageError",
    "TimedOutError",
    "TooLargeError",
    "UnsupportedError",
]


class Status(enum.IntEnum):
    """The numbers of answers (zero and below) and errors (above zero). They are stable."""

    OK = 0
    MISS = -1
    EXISTS = -2
    COMPILE = -3
    INVALID_ARGUMENT = 1
    INVALID_KEY = 2
    INVALID_VALUE = 3
    MALFORMED = 4
    TOO_LARGE = 5
    CORRUPT = 6
    NOT_FOUND = 7
    IO = 8
    NO_SPACE = 9
    TOO_MANY_FILES = 10
    PERMISSION = 11
    READ_ONLY = 12
    UNSUPPORTED = 13
    BUSY = 14
    OVERLOADED = 15
    TIMEOUT = 16
    CANCELLED = 17
    CLOSED = 18
    FORKED = 19
    LEASE_CYCLE = 20
    LEASE_LOST = 21
    COMPILE_FAILED = 22
    PROCESS_FAILED = 23
    OVERFLOW = 25
    DIVISION_BY_ZERO = 26
    UNKNOWN_NAME = 27
    REMOTE = 28
    INTERNAL = 29
    PROGRAM_NOT_FOUND = 30
    PROGRAM_REFUSED = 31


def status_code(status: int) -> str:
    """The name of a status: "ok", "miss", "no_space"; "unknown" for a number of a later version."""
    try:
        return Status(status).name.lower()
    except ValueError:
        return "unknown"


class HearthError(Exception):
    """An error of the library.

    `status` is the number, a member of `Status` unless the library is newer than this package;
    `code` is its name.
    """

    status: int
    code: str

    def __init__(self, text: str, status: int = Status.INTERNAL) -> None:
        super().__init__(text)
        self.status = status
        self.code = status_code(status)
        if isinstance(self, OSError):
            setattr(self, "errno", _ERRNO.get(status))

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), int(self.status))

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InvalidError(HearthError, ValueError):
    """An argument, a key or a value is not allowed, or bytes are malformed."""


class TooLargeError(HearthError, ValueError):
    """A key or a value is above its limit."""


class CorruptError(HearthError):
    """Stored bytes were damaged. It is reported once; then the key is a miss."""


class NotFoundError(HearthError, FileNotFoundError):
    """A file or a program that the call needs is not there."""


class StorageError(HearthError, OSError):
    """The system refused to read or write."""


class NoSpaceError(StorageError):
    """The disk is full."""


class PermissionDeniedError(HearthError, PermissionError):
    """The system forbids the access."""


class ReadOnlyError(StorageError):
    """The store can be read, and not be written."""


class UnsupportedError(HearthError, NotImplementedError):
    """This host cannot do that: a thin host has no asynchronous calls of its own."""


class BusyError(HearthError):
    """Too much is in flight, or another process holds what the call needs. Try again later."""


class TimedOutError(HearthError, TimeoutError):
    """The wait was longer than the caller allowed."""


class CancelledError(HearthError):
    """The call was cancelled."""


class ClosedError(HearthError, ValueError):
    """The host or the cache is closed."""


class ForkedError(HearthError):
    """What was opened before a fork is used in the child, and cannot be opened again: a lease."""


class LeaseCycleError(HearthError, RuntimeError):
    """A compile asks for the entry that it is making, so the wait could never end."""


class LeaseLostError(HearthError):
    """Another caller took the lease over."""


class CompileFailedError(HearthError):
    """Another caller of this process compiled the key and failed; the text is that of its error."""


class RemoteError(HearthError, ConnectionError):
    """The server of the remote tier failed."""


_CLASSES: Dict[int, Type[HearthError]] = {
    Status.INVALID_ARGUMENT: InvalidError,
    Status.INVALID_KEY: InvalidError,
    Status.INVALID_VALUE: InvalidError,
    Status.MALFORMED: InvalidError,
    Status.TOO_LARGE: TooLargeError,
    Status.CORRUPT: CorruptError,
    Status.NOT_FOUND: NotFoundError,
    Status.IO: StorageError,
    Status.NO_SPACE: NoSpaceError,
    Status.TOO_MANY_FILES: StorageError,
    Status.PERMISSION: PermissionDeniedError,
    Status.READ_ONLY: ReadOnlyError,
    Status.UNSUPPORTED: UnsupportedError,
    Status.BUSY: BusyError,
    Status.OVERLOADED: BusyError,
    Status.TIMEOUT: TimedOutError,
    Status.CANCELLED: CancelledError,
    Status.CLOSED: ClosedError,
    Status.FORKED: ForkedError,
    Status.LEASE_CYCLE: LeaseCycleError,
    Status.LEASE_LOST: LeaseLostError,
    Status.COMPILE_FAILED: CompileFailedError,
    Status.REMOTE: RemoteError,
    Status.PROGRAM_NOT_FOUND: NotFoundError,
}

_ERRNO: Dict[int, int] = {
    Status.NOT_FOUND: errno.ENOENT,
    Status.IO: errno.EIO,
    Status.NO_SPACE: errno.ENOSPC,
    Status.TOO_MANY_FILES: errno.EMFILE,
    Status.PERMISSION: errno.EACCES,
    Status.READ_ONLY: errno.EROFS,
    Status.TIMEOUT: errno.ETIMEDOUT,
    Status.PROGRAM_NOT_FOUND: errno.ENOENT,
}


def error_of(status: int, text: str) -> HearthError:
    """The exception for an error status of the library."""
    known = Status(status) if status in Status._value2member_map_ else status
    return _CLASSES.get(status, HearthError)(text or status_code(status), known)
