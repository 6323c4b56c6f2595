"""Hearth: a compile cache. One compile for all threads, processes and hosts that ask.

    import hearth

    with hearth.open("/var/cache/mine") as host:
        kernels = host.cache("kernels", version="3")
        code = kernels.get_or_compile("matmul-256", lambda: compile_kernel(source))

The package needs no compiler: it calls `libhearth.so.1`, or the file that the variable
HEARTH_LIBRARY names, which is loaded at the first use.
"""

from .cache import Cache, CacheStats
from .codecs import JSON, MSGPACK, PICKLE, Codec
from .errors import (
    BusyError,
    CancelledError,
    ClosedError,
    CompileFailedError,
    CorruptError,
    ForkedError,
    HearthError,
    InvalidError,
    LeaseCycleError,
    LeaseLostError,
    NoSpaceError,
    NotFoundError,
    PermissionDeniedError,
    ReadOnlyError,
    RemoteError,
    Status,
    StorageError,
    TimedOutError,
    TooLargeError,
    UnsupportedError,
)
from .host import Host, Stats, open
from .keys import Key, KeyLike
from .lease import Lease
from .values import PickledCache, ValueCache
from .view import View

__all__ = [
    "BusyError",
    "Cache",
    "CacheStats",
    "CancelledError",
    "ClosedError",
    "Codec",
    "CompileFailedError",
    "CorruptError",
    "ForkedError",
    "HearthError",
    "Host",
    "InvalidError",
    "JSON",
    "Key",
    "KeyLike",
    "Lease",
    "LeaseCycleError",
    "LeaseLostError",
    "MSGPACK",
    "NoSpaceError",
    "NotFoundError",
    "PICKLE",
    "PermissionDeniedError",
    "PickledCache",
    "ReadOnlyError",
    "RemoteError",
    "Stats",
    "Status",
    "StorageError",
    "TimedOutError",
    "TooLargeError",
    "UnsupportedError",
    "ValueCache",
    "View",
    "open",
    "version",
]


def version() -> str:
    """The version of the library: "0.1.0"."""
    from ._library import library

    return str(library().hearth_version(), "utf-8")
