"""Codecs: Python values as bytes.

* `MSGPACK`: plain values, as C++ programs that use Hearth store them.
* `JSON`: plain values that people read.
* `PICKLE`: any Python object. Read its warning first.

Any object with `name`, `encode` and `decode` is a codec.
"""

from __future__ import annotations

import json
import pickle
from typing import Any, Protocol

from . import _msgpack

__all__ = ["Codec", "JSON", "JsonCodec", "MSGPACK", "MsgpackCodec", "PICKLE", "PickleCodec"]


class Codec(Protocol):
    """Makes bytes of values, and values of bytes."""

    name: str
    """What errors call it."""

    def encode(self, value: Any) -> bytes:
        """The value's bytes."""
        ...

    def decode(self, data: bytes) -> Any:
        """The value of the bytes. Any exception tells that they are not of this codec."""
        ...


class JsonCodec:
    """JSON. Tuples come back as lists, and a map's keys as texts; bytes are no JSON."""

    name = "JSON"

    def encode(self, value: Any) -> bytes:
        """The value as compact UTF-8."""
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def decode(self, data: bytes) -> Any:
        """The value of the text."""
        return json.loads(data)


class MsgpackCodec:
    """msgpack: None, bool, int of 64 bits, float, str, bytes, lists and maps of these.

    A map's keys are any of these but lists and maps, or tuples of keys. Tuples come back as lists,
    but as tuples in keys. Equal values have equal bytes: a map's members come back in the order of
    their keys.
    """

    name = "msgpack"

    def encode(self, value: Any) -> bytes:
        """The value in the shortest form."""
        return _msgpack.encode(value)

    def decode(self, data: bytes) -> Any:
        """The value of the bytes."""
        return _msgpack.decode(data)


class PickleCodec:
    """Python's pickle: any object whose class can be imported.

    Nothing uses it by default, because to load a pickle is to run code that its author chose.
    Whoever can write to the store, or to the server of its remote tier, can run code in every
    process that reads pickled entries from it. Use it only where all of them are trusted as much as
    the program itself. Entries also depend on the classes' code: change the cache's version with
    it.
    """

    name = "pickle"

    def __init__(self, protocol: int = 4) -> None:
        self.protocol = protocol

    def encode(self, value: Any) -> bytes:
        """The pickled object."""
        return pickle.dumps(value, protocol=self.protocol)

    def decode(self, data: bytes) -> Any:
        """The object of the pickle. This runs code that the pickle names."""
        return pickle.loads(data)


JSON = JsonCodec()
MSGPACK = MsgpackCodec()
PICKLE = PickleCodec()
