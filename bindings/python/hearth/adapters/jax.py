"""Hearth as JAX's persistent compilation cache.

    import hearth.adapters.jax
    hearth.adapters.jax.install(store="/var/cache/jax")

From then on `jax.jit` keeps compiled programs in the store. JAX itself decides what is worth
keeping: programs that took a second or longer to compile, unless `min_compile_time` says otherwise.

A cache that fails is a warning in the log of `hearth` and a miss for JAX.
"""

from __future__ import annotations

import importlib
import pathlib
from typing import Any, Optional, Tuple

from ..host import Host
from ._late import late_class
from ._store import StorePath, or_nothing, shared_host

__all__ = ["HearthCache", "install", "uninstall"]

_replaced: Any = None  # JAX's own function, while ours is in its place


def install(
    store: StorePath = None,
    *,
    remote: Optional[str] = None,
    host: Optional[Host] = None,
    min_compile_time: Optional[float] = None,
) -> Host:
    """Sends JAX's persistent cache to Hearth, and returns the host.

    store, remote: the store and the server; see `hearth.adapters`. host: an open host instead.
    min_compile_time: seconds; programs that compile faster are not kept. None: JAX's setting.
    """
    global _replaced
    chosen = host or shared_host(store, remote)
    jax = importlib.import_module("jax")
    compilation_cache: Any = importlib.import_module("jax._src.compilation_cache")
    if _replaced is None:
        _replaced = compilation_cache.get_file_cache

    def open_cache(path: str) -> Tuple[Any, str]:
        return _cache_class()(chosen, path), path

    compilation_cache.get_file_cache = open_cache
    # JAX asks for a cache only when a folder is set; nothing is written there by JAX itself.
    jax.config.update("jax_compilation_cache_dir", chosen.store or "hearth")
    if min_compile_time is not None:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", min_compile_time)
    compilation_cache.reset_cache()
    return chosen


def uninstall() -> None:
    """Puts JAX's own cache back in its place. Its folder stays set."""
    global _replaced
    if _replaced is None:
        return
    compilation_cache: Any = importlib.import_module("jax._src.compilation_cache")
    compilation_cache.get_file_cache = _replaced
    _replaced = None
    compilation_cache.reset_cache()


def _make_cache_class(module: Any) -> type:
    class HearthCache(module.CacheInterface):  # type: ignore[misc]
        """A `CacheInterface` of JAX over the named cache "jax" of a host."""

        def __init__(self, host: Optional[Host] = None, path: str = "") -> None:
            chosen = host or shared_host()
            self._cache = chosen.cache("jax")
            self._path = pathlib.Path(path or chosen.store or "")

        def get(self, key: str) -> Optional[bytes]:
            """The entry's bytes; None on a miss."""
            return or_nothing("jax: a look-up failed", self._cache.get, key)

        def put(self, key: str, value: bytes) -> None:
            """Stores the entry unless there is one: equal keys are equal programs."""
            or_nothing("jax: an entry is not stored", self._cache.insert, key, value)

    return HearthCache


_cache_class = late_class(
    "jax._src.compilation_cache_interface", _make_cache_class, "HearthCache", __name__
)


def __getattr__(name: str) -> Any:
    if name == "HearthCache":
        return _cache_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
