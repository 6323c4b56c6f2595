"""Hearth as Triton's cache of compiled kernels: no import, one variable.

    TRITON_CACHE_MANAGER=hearth.adapters.triton:HearthCacheManager
    HEARTH_STORE=/var/cache/kernels

Triton wants paths of files, so a hit is written to Triton's own cache folder (TRITON_CACHE_DIR)
unless it is there. That folder may be lost at any time; the store has everything.

A program that uses Triton's `RemoteCacheManager` has the store as its backend with

    TRITON_CACHE_MANAGER=triton.runtime.cache:RemoteCacheManager
    TRITON_REMOTE_CACHE_BACKEND=hearth.adapters.triton:HearthRemoteCacheBackend

A cache that fails is a warning in the log of `hearth` and a miss for Triton.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

from ..cache import Cache
from ..codecs import JSON
from ._late import late_class
from ._store import or_nothing, shared_host

__all__ = ["HearthCacheManager", "HearthRemoteCacheBackend"]

_FAILED_GET = "triton: a look-up failed"
_FAILED_PUT = "triton: a file is not stored"


def _open_cache() -> Cache:
    return shared_host().cache("triton")


def _is_plain_name(name: str) -> bool:
    """Whether the name is one of a file, and of nothing outside the cache's folder."""
    return bool(name) and name not in (".", "..") and "/" not in name and "\0" not in name


def _make_manager_class(module: Any) -> type:
    class HearthCacheManager(module.CacheManager):  # type: ignore[misc]
        """A `triton.runtime.cache.CacheManager` over the named cache "triton".

        key: what the files belong to. override, dump: Triton's folders for debugging, which are
        left to Triton's own manager.
        """

        def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
            self._key = key
            self._files = module.FileCacheManager(key, override=override, dump=dump)
            self._cache = None if override or dump else _open_cache()

        def has_file(self, filename: str) -> bool:
            """Whether there is such a file."""
            return self.get_file(filename) is not None

        def get_file(self, filename: str) -> Optional[str]:
            """The path of a file with the entry's bytes; None on a miss."""
            path = self._files.get_file(filename)
            if path is not None or self._cache is None:
                return path
            data = or_nothing(_FAILED_GET, self._cache.get, (self._key, filename))
            return None if data is None else self._files.put(data, filename, binary=True)

        def put(self, data: Union[bytes, str], filename: str, binary: bool = True) -> str:
            """Stores the file's bytes, and returns the path of a file with them."""
            if self._cache is not None:
                stored = data if isinstance(data, bytes) else str(data).encode()
                or_nothing(_FAILED_PUT, self._cache.put, (self._key, filename), stored)
            return self._files.put(data, filename, binary=binary)

        def get_group(self, filename: str) -> Optional[Dict[str, str]]:
            """The paths of a group's files by their names; None unless all of them are there."""
            if self._cache is None:
                return self._files.get_group(filename)
            names = or_nothing(
                _FAILED_GET, self._cache.values(JSON).get, (self._key, "group", filename)
            )
            if not isinstance(names, list):
                return None
            present = {name: self._present(name) for name in names}
            paths = {name: path for name, path in present.items() if path is not None}
            missing = [name for name in names if name not in paths]
            found = or_nothing(
                _FAILED_GET, self._cache.get_many, [(self._key, name) for name in missing]
            )
            for name, data in zip(missing, found or [None] * len(missing)):
                if data is None or not _is_plain_name(name):
                    return None
                paths[name] = self._files.put(data, name, binary=True)
            return paths

        def put_group(self, filename: str, group: Dict[str, str]) -> str:
            """Stores which files belong together: paths by names, each of which `put` stored."""
            if self._cache is not None:
                values = self._cache.values(JSON)
                or_nothing(
                    _FAILED_PUT, values.put, (self._key, "group", filename), sorted(group)
                )
            return self._files.put_group(filename, group)

        def _present(self, name: str) -> Optional[str]:
            return self._files.get_file(name) if _is_plain_name(name) else None

    return HearthCacheManager


def _make_backend_class(module: Any) -> type:
    class HearthRemoteCacheBackend(module.RemoteCacheBackend):  # type: ignore[misc]
        """A `triton.runtime.cache.RemoteCacheBackend` over the named cache "triton"."""

        def __init__(self, key: str) -> None:
            self._key = key
            self._cache = _open_cache()

        def get(self, filenames: List[str]) -> Dict[str, bytes]:
            """The bytes of those files that there are."""
            names = list(filenames)
            found = or_nothing(
                _FAILED_GET, self._cache.get_many, [(self._key, name) for name in names]
            )
            return {name: data for name, data in zip(names, found or ()) if data is not None}

        def put(self, filename: str, data: bytes) -> None:
            """Stores a file's bytes."""
            or_nothing(_FAILED_PUT, self._cache.put, (self._key, filename), data)

    return HearthRemoteCacheBackend


# Triton checks that the class is one of its own kind, so it is defined once Triton is there.
_CLASSES = {
    name: late_class("triton.runtime.cache", make, name, __name__)
    for name, make in (
        ("HearthCacheManager", _make_manager_class),
        ("HearthRemoteCacheBackend", _make_backend_class),
    )
}


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return _CLASSES[name]()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
