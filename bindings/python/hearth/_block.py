"""Handles that a `with` statement ends."""

from __future__ import annotations

from types import TracebackType
from typing import Optional, Type, TypeVar

_Self = TypeVar("_Self")


class EndsWithBlock:
    """Enters as itself, and calls `_end_of_block` when the block ends."""

    __slots__ = ()

    def _end_of_block(self) -> None:
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._end_of_block()
