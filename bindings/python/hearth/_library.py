"""The C library: its functions as ctypes knows them. Loaded once, at the first use.

Calls through `ctypes.CDLL` release the interpreter's lock, so other threads run while one waits.
The functions that make and free keys, and the one that gives a value back, are called with the lock
held (`ctypes.PyDLL`): they take no locks of their own, cannot block, and cost less that way.
"""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import (
    POINTER,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_ssize_t,
    c_uint,
    c_uint64,
    c_void_p,
)
from typing import Any, Optional

from .errors import HearthError, error_of

SONAME = "libhearth.so.1"


class Options(ctypes.Structure):
    """`hearth_options`."""

    _fields_ = [
        ("size", c_size_t),
        ("backing", c_int),
        ("memory_budget_bytes", c_uint64),
        ("disk_budget_bytes", c_uint64),
        ("remote_url", c_char_p),
        ("threads", c_uint),
    ]


class Value(ctypes.Structure):
    """`hearth_value`."""

    _fields_ = [
        ("data", c_void_p),
        ("size", c_size_t),
        ("metadata", c_void_p),
        ("metadata_size", c_size_t),
        ("held", c_void_p * 2),
    ]


class StatsRecord(ctypes.Structure):
    """`hearth_stats`."""

    _fields_ = [
        ("size", c_size_t),
        ("memory_hits", c_uint64),
        ("memory_misses", c_uint64),
        ("disk_hits", c_uint64),
        ("disk_misses", c_uint64),
        ("entries", c_uint64),
        ("bytes_used", c_uint64),
        ("time_saved_ns", c_int64),
    ]


class CacheStatsRecord(ctypes.Structure):
    """`hearth_cache_stats`."""

    _fields_ = [
        ("size", c_size_t),
        ("memory_hits", c_uint64),
        ("disk_hits", c_uint64),
        ("remote_hits", c_uint64),
        ("misses", c_uint64),
        ("waits", c_uint64),
        ("compiles", c_uint64),
        ("failures", c_uint64),
        ("inserted", c_uint64),
        ("existed", c_uint64),
        ("put", c_uint64),
        ("erased", c_uint64),
        ("time_saved_ns", c_int64),
    ]


Answer = ctypes.CFUNCTYPE(None, c_void_p, c_int, POINTER(Value), c_char_p)

# A copy of memory as bytes. (`ctypes.string_at` does not copy more than 2 GiB.)
bytes_at: Any = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_ssize_t)(
    ("PyBytes_FromStringAndSize", ctypes.pythonapi)
)

# Pointers to values are `c_void_p`, which ctypes checks faster than a typed pointer.

_CALLS = {
    "hearth_version": (c_char_p, []),
    "hearth_open": (c_int, [c_char_p, POINTER(Options), POINTER(c_void_p)]),
    "hearth_disk_problem": (c_char_p, [c_void_p]),
    "hearth_remote_problem": (c_char_p, [c_void_p]),
    "hearth_flush": (c_int, [c_void_p]),
    "hearth_close": (None, [c_void_p]),
    "hearth_cache_open": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(c_void_p)]),
    "hearth_cache_close": (None, [c_void_p]),
    "hearth_value_time_taken_ns": (c_int64, [c_void_p]),
    "hearth_get": (c_int, [c_void_p, c_void_p, c_void_p]),
    "hearth_look": (c_int, [c_void_p, c_void_p, c_void_p]),
    "hearth_get_many": (
        None,
        [c_void_p, POINTER(c_void_p), c_size_t, c_void_p, POINTER(c_int)],
    ),
    "hearth_insert_ttl": (c_int, [c_void_p, c_void_p, c_void_p, c_size_t, c_int64]),
    "hearth_put_ttl": (c_int, [c_void_p, c_void_p, c_void_p, c_size_t, c_int64]),
    "hearth_erase": (c_int, [c_void_p, c_void_p]),
    "hearth_acquire": (c_int, [c_void_p, c_void_p, c_int64, c_void_p, POINTER(c_void_p)]),
    "hearth_fulfil_ttl": (c_int, [c_void_p, c_void_p, c_size_t, c_int64, c_void_p]),
    "hearth_abandon": (None, [c_void_p, c_char_p]),
    "hearth_beat": (None, [c_void_p]),
    "hearth_release": (None, [c_void_p]),
    "hearth_get_async": (c_int, [c_void_p, c_void_p, Answer, c_void_p]),
    "hearth_insert_ttl_async": (
        c_int,
        [c_void_p, c_void_p, c_void_p, c_size_t, c_int64, Answer, c_void_p],
    ),
    "hearth_get_stats": (c_int, [c_void_p, POINTER(StatsRecord)]),
    "hearth_get_cache_stats": (c_int, [c_void_p, POINTER(CacheStatsRecord)]),
}

# Called with the interpreter's lock held.
_SHORT_CALLS = {
    "hearth_error": (c_char_p, []),
    "hearth_key_text": (c_void_p, [c_char_p, c_size_t]),
    "hearth_key_bytes": (c_void_p, [c_char_p, c_size_t]),
    "hearth_key_integer": (c_void_p, [c_int64]),
    "hearth_key_tuple": (c_void_p, [POINTER(c_void_p), c_size_t]),
    "hearth_key_decode": (c_int, [c_char_p, c_size_t, POINTER(c_void_p)]),
    "hearth_key_encoded": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "hearth_key_free": (None, [c_void_p]),
    "hearth_value_release": (None, [c_void_p]),
}


class Library:
    """The loaded library: each C function is an attribute of the same name."""

    def __init__(self, name: str) -> None:
        self.name = name
        try:
            calls, short_calls = ctypes.CDLL(name), ctypes.PyDLL(name)
        except OSError as error:
            raise OSError(
                f"cannot load Hearth's library: {error}; install it, or name the file in the "
                "variable HEARTH_LIBRARY"
            ) from None
        for functions, loaded in ((_CALLS, calls), (_SHORT_CALLS, short_calls)):
            for function, (result, arguments) in functions.items():
                try:
                    entry = getattr(loaded, function)
                except AttributeError:
                    raise OSError(
                        f"{name} has no function {function}: it is another version than this "
                        "package needs; install both from the same release"
                    ) from None
                entry.restype = result
                entry.argtypes = arguments
                setattr(self, function, entry)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def error(self, status: int) -> HearthError:
        """The exception for a status that the last call of this thread returned."""
        return error_of(status, self.hearth_error().decode("utf-8", "replace"))


_lock = threading.Lock()
_loaded: Optional[Library] = None


def library() -> Library:
    """The library; the first call loads it."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = Library(os.environ.get("HEARTH_LIBRARY") or SONAME)
    return _loaded
