"""A hit without a copy."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from ._block import EndsWithBlock
from ._library import Value, library

__all__ = ["View"]


class _Held:
    """The library's value; released with the last memory view of it."""

    __slots__ = ("_place", "_release", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self._place = ctypes.addressof(value)
        self._release = library().hearth_value_release

    def __del__(self) -> None:
        self._release(self._place)


class View(EndsWithBlock):
    """The bytes of an entry where the cache has them.

    `data` and its slices are read-only, and keep the entry alive as long as they live, also when it
    is erased, evicted or replaced meanwhile, or the host is closed. As a context manager the view
    gives its own reference back at the end.

        with cache.view("weights") as weights:
            numpy.frombuffer(weights.data, dtype="float32")
    """

    __slots__ = ("_held", "data")

    data: memoryview

    def __init__(self, value: Value) -> None:
        self._held: Optional[_Held] = _Held(value)
        self.data = _memory(value.data, value.size, self._held)

    @property
    def metadata(self) -> bytes:
        """The metadata of the entry: a msgpack map, or b"" when there is none."""
        value = self._value()
        return ctypes.string_at(value.metadata, value.metadata_size) if value.metadata_size else b""

    @property
    def time_taken(self) -> float:
        """How many seconds making the entry took; 0 when that is unknown."""
        nanoseconds: int = library().hearth_value_time_taken_ns(ctypes.byref(self._value()))
        return nanoseconds / 1e9

    def release(self) -> None:
        """Gives this view's reference back. Slices of `data` that are in use stay valid."""
        self.data = memoryview(b"")
        self._held = None

    def _value(self) -> Value:
        if self._held is None:
            raise ValueError("the view is released")
        return self._held.value

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: Any) -> Any:
        return self.data[place]

    def __bytes__(self) -> bytes:
        return bytes(self.data)

    def _end_of_block(self) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<hearth.View of {len(self)} bytes>"


def _memory(data: Optional[int], size: int, held: _Held) -> memoryview:
    if not data or not size:
        return memoryview(b"")
    array = (ctypes.c_ubyte * size).from_address(data)
    # It lives as long as the array, which lives as long as its memory views.
    setattr(array, "_held", held)
    return memoryview(array).cast("B").toreadonly()
