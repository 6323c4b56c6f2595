"""Keys: a text, a whole number, bytes, or a tuple of keys."""

from __future__ import annotations

import ctypes
from typing import Any, Tuple, Union

from ._library import library
from ._msgpack import encode_array_head, encode_bytes, encode_int, encode_text
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
        self._pointer = _make(value)
        if not self._pointer:
            raise MemoryError("no memory for a key")

    @classmethod
    def decode(cls, encoded: bytes) -> Key:
        """The key whose canonical msgpack these bytes are."""
        key = cls.__new__(cls)
        key._pointer = 0
        key._free = library().hearth_key_free
        key._pointer = _decode(encoded)
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


def _make(value: Any) -> int:
    """A key of the library, to be freed by the caller; 0 when memory is short."""
    if isinstance(value, str):
        text = _utf8(value)
        return library().hearth_key_text(text, len(text)) or 0
    if isinstance(value, int) and not isinstance(value, bool):
        return library().hearth_key_integer(_checked(value)) or 0
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        return library().hearth_key_bytes(data, len(data)) or 0
    out = bytearray()
    _encode(value, out, _MAX_DEPTH)
    return _decode(bytes(out))


def _decode(encoded: bytes) -> int:
    """The same, of a key's canonical msgpack."""
    made = ctypes.c_void_p()
    status = library().hearth_key_decode(encoded, len(encoded), ctypes.byref(made))
    if status:
        raise library().error(status)
    return made.value or 0


def _encode(value: Any, out: bytearray, depth: int) -> None:
    """Appends the value's canonical msgpack. A tuple costs one call of the library that way."""
    kind = type(value)
    if kind is str:
        text = _utf8(value)
        encode_text(text, out)
    elif kind is int:
        encode_int(_checked(value), out)
    elif isinstance(value, tuple):
        if depth == 0:
            raise InvalidError(
                f"a key has more than {_MAX_DEPTH} levels of tuples", Status.INVALID_KEY
            )
        encode_array_head(len(value), out)
        for part in value:
            _encode(part, out, depth - 1)
    elif isinstance(value, Key):
        out += value.encoded
    elif isinstance(value, (bytes, bytearray, memoryview)):
        encode_bytes(bytes(value), out)
    elif isinstance(value, bool):
        raise TypeError('a key cannot be a bool: True == 1 in Python; use 1 or "true"')
    elif isinstance(value, str):
        encode_text(_utf8(value), out)
    elif isinstance(value, int):
        encode_int(_checked(value), out)
    else:
        raise TypeError(f"a key is a str, an int, bytes or a tuple of keys, not {kind.__name__}")


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidError(
            f"the key {text!r} has a character that is no Unicode text; use bytes",
            Status.INVALID_KEY,
        ) from None


def _checked(number: int) -> int:
    if not _MIN_INTEGER <= number <= _MAX_INTEGER:
        raise InvalidError(
            f"the key {number} does not fit in 64 bits; use its text", Status.INVALID_KEY
        )
    return int(number)


def key_of(value: KeyLike) -> Key:
    """The value as a key; a key as it is."""
    return value if type(value) is Key else Key(value)
