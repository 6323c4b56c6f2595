"""Keys: a text, a whole number, bytes, or a tuple of keys."""

from __future__ import annotations

import ctypes
from typing import Any, Tuple, Union

from ._library import library
from .errors import InvalidError, Status

__all__ = ["Key", "KeyLike"]

_MAX_DEPTH = 32
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1


class Key:
    """A key that is made once for many calls, which saves its encoding in each of them.

    Every call takes plain values too: `cache.get("a")` is `cache.get(Key("a"))`.

    The text "1", the number 1 and the bytes b"1" are three keys. Python's bool and float are no
    keys: `True == 1 == 1.0` in Python, and they would be different entries elsewhere.
    """

    __slots__ = ("_free", "_pointer")

    _pointer: int

    def __init__(self, value: KeyLike) -> None:
        self._pointer = 0
        self._free = library().hearth_key_free
        self._pointer = _make(value, 0)
        if not self._pointer:
            raise MemoryError("no memory for a key")

    @classmethod
    def decode(cls, encoded: bytes) -> Key:
        """The key whose canonical msgpack these bytes are."""
        key = cls.__new__(cls)
        key._pointer = 0
        key._free = library().hearth_key_free
        made = ctypes.c_void_p()
        status = library().hearth_key_decode(encoded, len(encoded), ctypes.byref(made))
        if status:
            raise library().error(status)
        key._pointer = made.value or 0
        return key

    @property
    def encoded(self) -> bytes:
        """The canonical msgpack of the key: equal keys have equal bytes, in every language."""
        size = ctypes.c_size_t()
        data = library().hearth_key_encoded(self._pointer, ctypes.byref(size))
        return ctypes.string_at(data, size.value) if size.value else b""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return NotImplemented
        return self.encoded == other.encoded

    def __hash__(self) -> int:
        return hash(self.encoded)

    def __repr__(self) -> str:
        return f"Key.decode({self.encoded!r})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Key.decode, (self.encoded,)

    def __del__(self) -> None:
        if self._pointer:
            self._free(self._pointer)


KeyLike = Union[str, int, bytes, Tuple["KeyLike", ...], Key]
"""What the calls of a cache take as a key."""


def _make(value: Any, depth: int) -> int:
    """A key of the library, to be freed by the caller; 0 when memory is short."""
    if isinstance(value, str):
        try:
            text = value.encode()
        except UnicodeEncodeError:
            raise InvalidError(
                f"the key {value!r} has a character that is no Unicode text; use bytes",
                Status.INVALID_KEY,
            ) from None
        return library().hearth_key_text(text, len(text)) or 0
    if isinstance(value, bool):
        raise TypeError("a key cannot be a bool: True == 1 in Python; use 1 or \"true\"")
    if isinstance(value, int):
        if not _MIN_INTEGER <= value <= _MAX_INTEGER:
            raise InvalidError(
                f"the key {value} does not fit in 64 bits; use its text", Status.INVALID_KEY
            )
        return library().hearth_key_integer(value) or 0
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        return library().hearth_key_bytes(data, len(data)) or 0
    if isinstance(value, (tuple, Key)):
        return _make_tuple(value, depth) if isinstance(value, tuple) else _copy(value)
    raise TypeError(
        f"a key is a str, an int, bytes or a tuple of keys, not {type(value).__name__}"
    )


def _copy(key: Key) -> int:
    data = key.encoded
    made = ctypes.c_void_p()
    status = library().hearth_key_decode(data, len(data), ctypes.byref(made))
    if status:
        raise library().error(status)
    return made.value or 0


def _make_tuple(values: Tuple[Any, ...], depth: int) -> int:
    if depth == _MAX_DEPTH:
        raise InvalidError(
            f"a key has more than {_MAX_DEPTH} levels of tuples", Status.INVALID_KEY
        )
    parts = (ctypes.c_void_p * len(values))()
    try:
        for place, value in enumerate(values):
            part = _make(value, depth + 1)
            if not part:
                raise MemoryError("no memory for a key")
            parts[place] = part
        return library().hearth_key_tuple(parts, len(values)) or 0
    finally:
        for made in parts:
            if made:
                library().hearth_key_free(made)


def key_of(value: KeyLike) -> Key:
    """The value as a key; a key as it is."""
    return value if type(value) is Key else Key(value)
