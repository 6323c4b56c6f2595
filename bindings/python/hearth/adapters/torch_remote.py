"""Hearth as the remote cache of PyTorch's compiler.

    import hearth.adapters.torch_remote
    hearth.adapters.torch_remote.install(store="/var/cache/torch")

From then on `torch.compile` keeps compiled graphs (FxGraphCache) and AOTAutograd's results in the
store, and finds there what other processes, or with a remote tier other hosts, compiled.
No server and no Redis client is needed.

PyTorch's remote caches have no lease: processes that start at the same moment may compile the same
graph each. For PyTorch 2.5 and later.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, Iterable, Optional

from ..cache import Cache
from ..host import Host
from ._late import late_class
from ._store import StorePath, or_nothing, shared_host

__all__ = [
    "GRAPH_CACHES", "HearthRemoteCacheBackend", "TUNING_CACHES", "install", "uninstall",
]  # fmt: skip

GRAPH_CACHES = ("RemoteFxGraphCache", "RemoteAOTAutogradCache")
"""PyTorch's remote caches of compiled graphs."""

TUNING_CACHES = ("RemoteAutotuneCache", "RemoteBundledAutotuneCache")
"""PyTorch's remote caches of tunings. They need Triton and a GPU: without them, PyTorch 2.6 fails to
compile when `RemoteBundledAutotuneCache` is switched on, whatever its backend is."""

# The settings that make PyTorch use each cache.
_SWITCHES = {
    "RemoteFxGraphCache": ("torch._inductor.config", "fx_graph_remote_cache"),
    "RemoteAOTAutogradCache": ("torch._functorch.config", "enable_remote_autograd_cache"),
    "RemoteAutotuneCache": ("torch._inductor.config", "autotune_remote_cache"),
    "RemoteBundledAutotuneCache": ("torch._inductor.config", "bundled_autotune_remote_cache"),
}

_saved: Dict[str, Any] = {}


def install(
    store: StorePath = None,
    *,
    remote: Optional[str] = None,
    host: Optional[Host] = None,
    caches: Iterable[str] = GRAPH_CACHES,
    enable: bool = True,
) -> Host:
    """Sends PyTorch's remote caches to Hearth, and returns the host.

    store, remote: the store and the server; see `hearth.adapters`. host: an open host instead.
    caches: which classes of remote caches, by name: those of `GRAPH_CACHES`, or of `TUNING_CACHES`
        too where there is a GPU. Those that this version of PyTorch lacks are left out.
    enable: switches the caches on in PyTorch's configuration.

    A cache that fails is a warning in the log of `hearth` and a miss for PyTorch.
    """
    chosen = host or shared_host(store, remote)
    module = importlib.import_module("torch._inductor.remote_cache")
    for name in caches:
        cache_class = getattr(module, name, None)
        if cache_class is None:
            continue
        _save(cache_class, name)
        # PyTorch calls this in place of its own connection. The key of an entry names the kind of
        # cache in later versions; in all of them each kind has a named cache of its own.
        cache_class.backend_override_cls = _backend_maker(chosen.cache(f"torch.{name}"))
        if enable:
            _switch_on(name)
    return chosen


def uninstall() -> None:
    """Puts back what `install` replaced."""
    while _saved:
        _, put_back = _saved.popitem()
        put_back()


def _save(cache_class: Any, name: str) -> None:
    if name in _saved:
        return
    own = cache_class.__dict__.get("backend_override_cls", _saved)

    def put_back() -> None:
        if own is _saved:
            del cache_class.backend_override_cls
        else:
            cache_class.backend_override_cls = own

    _saved[name] = put_back


def _switch_on(name: str) -> None:
    module, setting = _SWITCHES[name]
    try:
        config = importlib.import_module(module)
    except ImportError:
        return
    if not hasattr(config, setting):
        return
    if f"{name} switch" not in _saved:
        before = getattr(config, setting)
        _saved[f"{name} switch"] = lambda: setattr(config, setting, before)
    setattr(config, setting, True)


def _backend_maker(cache: Cache) -> Callable[[], Any]:
    def make() -> Any:
        return _backend_class()(cache)

    return staticmethod(make)


def _make_backend_class(module: Any) -> type:
    class HearthRemoteCacheBackend(module.RemoteCacheBackend):  # type: ignore[misc]
        """A `torch._inductor.remote_cache.RemoteCacheBackend` over a named cache."""

        def __init__(self, cache: Optional[Cache] = None) -> None:
            super().__init__()
            self._cache = cache or shared_host().cache("torch.remote")

        def _get(self, key: str) -> Optional[bytes]:
            return or_nothing("torch: a look-up failed", self._cache.get, key)

        def _put(self, key: str, data: bytes) -> None:
            or_nothing("torch: an entry is not stored", self._cache.put, key, data)

    return HearthRemoteCacheBackend


_backend_class = late_class(
    "torch._inductor.remote_cache", _make_backend_class, "HearthRemoteCacheBackend", __name__
)


def __getattr__(name: str) -> Any:
    if name == "HearthRemoteCacheBackend":
        return _backend_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
