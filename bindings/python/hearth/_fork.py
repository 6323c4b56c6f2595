"""Which process this is: handles that were opened before a fork are opened again in the child.

`generation` counts the forks between the first process and this one. A handle remembers the number
at which it was opened, and is of no use under another one.
"""

from __future__ import annotations

import os
import weakref
from typing import Any, Callable, List

generation = 0

_objects: "weakref.WeakSet[Any]" = weakref.WeakSet()
_functions: List[Callable[[], None]] = []


def watch(thing: Any) -> None:
    """Calls `thing._after_fork()` in the child of a fork, while `thing` lives."""
    _objects.add(thing)


def call_in_child(function: Callable[[], None]) -> None:
    """Calls `function` in the child of each fork."""
    _functions.append(function)


def _after_fork_in_child() -> None:
    global generation
    generation += 1
    for function in _functions:
        function()
    for thing in list(_objects):
        thing._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
