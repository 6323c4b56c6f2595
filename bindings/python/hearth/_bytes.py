"""Bytes on their way to the library and back."""

from __future__ import annotations

import ctypes
from typing import Any, Tuple, Union

from ._library import Value, bytes_at, library

BytesLike = Union[bytes, bytearray, memoryview]
"""What the calls of a cache take as a value: an object with the buffer protocol."""


def readable(data: Any) -> Tuple[Any, int]:
    """What ctypes takes as a pointer to the bytes, and how many they are.

    Bytes and writable buffers are not copied; the pointer keeps them alive.
    """
    if type(data) is bytes:
        return data, len(data)
    if isinstance(data, str):
        raise TypeError("a value is bytes, not str: encode it, or use a codec")
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError(f"a value is bytes, not {type(data).__name__}; use a codec") from None
    if view.nbytes == 0:
        return b"", 0
    if view.readonly or not view.c_contiguous:
        return view.tobytes(), view.nbytes
    return (ctypes.c_char * view.nbytes).from_buffer(view), view.nbytes


def take(value: Value) -> bytes:
    """The value's bytes as Python's; the value is released."""
    try:
        data: bytes = bytes_at(value.data, value.size) if value.size else b""
        return data
    finally:
        library().hearth_value_release(ctypes.byref(value))
