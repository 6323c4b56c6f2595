"""Classes whose base belongs to a package that may be missing, or is imported later."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable

__all__ = ["late_class"]


def late_class(module: str, make: Callable[[Any], type], name: str, of: str) -> Callable[[], Any]:
    """A function that returns the class `name` of the module `of`.

    The first call imports `module` and makes the class by `make(module)`; later calls return the same
    class, as for any other.
    """

    @functools.lru_cache(maxsize=None)
    def made() -> Any:
        result = make(importlib.import_module(module))
        result.__module__, result.__qualname__ = of, name
        return result

    return made
