"""What the tests share."""

from __future__ import annotations

import shutil
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import hearth


def is_miss_soon(cache: Any, key: Any) -> bool:
    """Whether the entry, whose time to live is a millisecond at most, becomes a miss."""
    end = time.monotonic() + 60
    while cache.get(key) is not None:
        if time.monotonic() > end:
            return False
    return True


class StoreTest(unittest.TestCase):
    """A test with a private directory; it is kept when the test fails."""

    def setUp(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="hearth-python-"))
        self.store = self.directory / "store"
        self.addCleanup(self._remove)

    def open(self, **options: Any) -> hearth.Host:
        """A host of the test's store, closed at the end of the test."""
        host = hearth.Host(self.store, **options)
        self.addCleanup(host.close)
        return host

    def open_cache(self, name: str = "test", version: str = "0", **options: Any) -> hearth.Cache:
        """A cache of the test's store."""
        return self.open(**options).cache(name, version)

    def _remove(self) -> None:
        errors = [what for _, what in getattr(self._outcome, "errors", []) if what]
        if errors:
            print(f"kept: {self.directory}")
        else:
            shutil.rmtree(self.directory, ignore_errors=True)
