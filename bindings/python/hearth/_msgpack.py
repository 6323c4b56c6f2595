"""msgpack for plain values, always in its shortest form, as the rest of Hearth reads and writes it.

None, bool, whole numbers of 64 bits, float, str, bytes, lists (tuples become lists) and maps, in the
order of their keys. No extension types.
https://github.com/msgpack/msgpack/blob/master/spec.md
"""

from __future__ import annotations

import math
import struct
from typing import Any, List, Tuple

_MAX_DEPTH = 100


def encode(value: Any) -> bytes:
    """The value's bytes. Errors: TypeError, ValueError."""
    out = bytearray()
    _encode(value, out, _MAX_DEPTH)
    return bytes(out)


def decode(data: bytes) -> Any:
    """The value of the bytes. Errors: ValueError when they are not exactly one value."""
    view = memoryview(data).cast("B")
    try:
        value, end = _decode(view, 0, _MAX_DEPTH)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"no msgpack: {error}") from None
    if end != len(view):
        raise ValueError(f"{len(view) - end} bytes follow the msgpack value")
    return value


def _encode(value: Any, out: bytearray, depth: int) -> None:
    if depth == 0:
        raise ValueError(f"more than {_MAX_DEPTH} levels of nesting")
    if value is None:
        out.append(0xC0)
    elif value is True or value is False:
        out.append(0xC3 if value else 0xC2)
    elif isinstance(value, int):
        encode_int(value, out)
    elif isinstance(value, float):
        out += struct.pack(">Bd", 0xCB, value)
    elif isinstance(value, str):
        encode_text(value.encode(), out)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        encode_bytes(bytes(value), out)
    elif isinstance(value, (list, tuple)):
        encode_array_head(len(value), out)
        for item in value:
            _encode(item, out, depth - 1)
    elif isinstance(value, dict):
        _encode_size(len(value), out, (0x80, 15), (0, 0xDE, 0xDF))
        for name, item in sorted(value.items(), key=lambda member: _order(member[0])):
            _encode(name, out, depth - 1)
            _encode(item, out, depth - 1)
    else:
        raise TypeError(f"msgpack has no {type(value).__name__}")


def _order(key: Any) -> Tuple[Any, ...]:
    """Where a key of a map stands: by kind, then by value, as `value::key_order` of C++."""
    if key is None:
        return (0,)
    if isinstance(key, bool):
        return 1, key
    if isinstance(key, int):
        return 2, key
    if isinstance(key, float):
        bits = struct.unpack(">q", struct.pack(">d", math.nan if key != key else key))[0]
        return 3, bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF
    if isinstance(key, str):
        return 4, key.encode()
    if isinstance(key, bytes):
        return 5, key
    if isinstance(key, tuple):
        return 6, tuple(_order(part) for part in key)
    raise TypeError(
        f"a map's key is no {type(key).__name__}: use None, bool, int, float, str, bytes or a "
        "tuple of these"
    )


def encode_text(utf8: bytes, out: bytearray) -> None:
    """Appends a str of these bytes."""
    if len(utf8) <= 31:
        out.append(0xA0 | len(utf8))
    else:
        _encode_size(len(utf8), out, (0, -1), (0xD9, 0xDA, 0xDB))
    out += utf8


def encode_bytes(data: bytes, out: bytearray) -> None:
    """Appends a bin."""
    _encode_size(len(data), out, (0, -1), (0xC4, 0xC5, 0xC6))
    out += data


def encode_array_head(size: int, out: bytearray) -> None:
    """Appends the head of an array, which `size` values follow."""
    _encode_size(size, out, (0x90, 15), (0, 0xDC, 0xDD))


def encode_int(value: int, out: bytearray) -> None:
    """Appends a whole number. Errors: ValueError when it does not fit in 64 bits."""
    if 0 <= value < 128:
        out.append(value)
    elif -32 <= value < 0:
        out.append(value + 256)
    elif value >= 0:
        for mark, width in ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
            if value < 1 << 8 * width:
                out.append(mark)
                out += value.to_bytes(width, "big")
                return
        raise ValueError(f"{value} does not fit in 64 bits")
    else:
        for mark, width in ((0xD0, 1), (0xD1, 2), (0xD2, 4), (0xD3, 8)):
            if value >= -(1 << 8 * width - 1):
                out.append(mark)
                out += value.to_bytes(width, "big", signed=True)
                return
        raise ValueError(f"{value} does not fit in 64 bits")


def _encode_size(
    size: int, out: bytearray, short: Tuple[int, int], marks: Tuple[int, int, int]
) -> None:
    if size <= short[1]:
        out.append(short[0] | size)
    elif size < 1 << 8 and marks[0]:
        out += struct.pack(">BB", marks[0], size)
    elif size < 1 << 16:
        out += struct.pack(">BH", marks[1], size)
    elif size < 1 << 32:
        out += struct.pack(">BI", marks[2], size)
    else:
        raise ValueError(f"{size} is too long for msgpack")


_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_SIZES = {
    0xC4: ("bin", ">B"),
    0xC5: ("bin", ">H"),
    0xC6: ("bin", ">I"),
    0xD9: ("str", ">B"),
    0xDA: ("str", ">H"),
    0xDB: ("str", ">I"),
    0xDC: ("array", ">H"),
    0xDD: ("array", ">I"),
    0xDE: ("map", ">H"),
    0xDF: ("map", ">I"),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def _decode(view: memoryview, at: int, depth: int) -> Tuple[Any, int]:
    if depth == 0:
        raise ValueError(f"more than {_MAX_DEPTH} levels of nesting")
    mark = view[at]
    at += 1
    if mark < 0x80:
        return mark, at
    if mark >= 0xE0:
        return mark - 0x100, at
    if mark in _CONSTANTS:
        return _CONSTANTS[mark], at
    if mark in _NUMBERS:
        form = _NUMBERS[mark]
        return struct.unpack_from(form, view, at)[0], at + struct.calcsize(form)
    if mark in _SIZES:
        kind, form = _SIZES[mark]
        size = struct.unpack_from(form, view, at)[0]
        at += struct.calcsize(form)
    elif mark < 0xC0:
        kind, size = (
            ("str", mark & 0x1F) if mark >= 0xA0
            else ("array", mark & 0x0F) if mark >= 0x90
            else ("map", mark & 0x0F)
        )
    else:
        raise ValueError(f"no msgpack of a plain value: {mark:#04x} at {at - 1}")
    # Each item takes a byte at least, so a wrong size cannot make a huge list.
    if size > len(view) - at:
        raise ValueError(f"the value at {at - 1} is cut off")
    if kind in ("bin", "str"):
        data = bytes(view[at : at + size])
        return (data if kind == "bin" else data.decode()), at + size
    return _decode_items(view, at, kind, size, depth)


def _decode_items(
    view: memoryview, at: int, kind: str, size: int, depth: int
) -> Tuple[Any, int]:
    items: List[Any] = []
    for _ in range(size if kind == "array" else 2 * size):
        item, at = _decode(view, at, depth - 1)
        items.append(item)
    if kind == "array":
        return items, at
    members = {_as_key(key): item for key, item in zip(items[::2], items[1::2])}
    if len(members) != size:
        raise ValueError(
            "two keys of a map are one in Python, which takes 1, 1.0 and True as equal"
        )
    return members, at


def _as_key(key: Any) -> Any:
    """A list as a tuple, which a dict can have as a key."""
    if isinstance(key, dict):
        raise ValueError("a map's key is a map")
    return tuple(_as_key(part) for part in key) if isinstance(key, list) else key
