"""Stand-ins for PyTorch, Triton and JAX: the parts that the adapters use.

They have the names, the inheritance and the calls of the originals, so that the adapters are tested
where these are not installed. Where they are, `install` leaves them alone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import types
from abc import ABC, abstractmethod
from typing import Any, Dict, List


def install() -> List[str]:
    """Makes the projects that are missing importable, and returns their names."""
    made = []
    for name, make in (("torch", _torch), ("triton", _triton), ("jax", _jax)):
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            make()
            made.append(name)
    return made


def _module(name: str, **members: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    module.__path__ = []  # a package
    module.__spec__ = importlib.util.spec_from_loader(name, None)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


# --- PyTorch: a remote cache has a serializer and a backend, which tests may override -----------


def _torch() -> None:
    class RemoteCacheBackend(ABC):
        def __init__(self) -> None:
            self._name = type(self).__name__

        @abstractmethod
        def _get(self, key: str) -> Any: ...

        @abstractmethod
        def _put(self, key: str, data: Any) -> None: ...

        def get(self, key: str) -> Any:
            return self._get(key)

        def put(self, key: str, data: Any) -> None:
            self._put(key, data)

    class RemoteCache:
        backend_override_cls: Any = None

        def __init__(self, cache_id: str) -> None:
            override = self.__class__.backend_override_cls
            if override is None:
                raise RuntimeError("there is no Redis")
            self.backend = override()
            self._form = f"pt2:{cache_id}::{{key}}:c1"

        def get(self, key: str) -> Any:
            data = self.backend.get(self._form.format(key=key))
            return json.loads(data) if data else None

        def put(self, key: str, value: Any) -> None:
            self.backend.put(self._form.format(key=key), json.dumps(value).encode("ascii"))

    classes = {
        name: type(name, (RemoteCache,), {})
        for name in ("RemoteFxGraphCache", "RemoteAOTAutogradCache", "RemoteAutotuneCache")
    }

    def create_cache(key: str, fbcode: bool, fb_class: str, oss_class: str) -> Any:
        try:
            return getattr(sys.modules["torch._inductor.remote_cache"], oss_class)(key)
        except RuntimeError:
            return None

    _module("torch")
    _module("torch._inductor")
    _module(
        "torch._inductor.config", fx_graph_remote_cache=None, autotune_remote_cache=None
    )
    _module(
        "torch._inductor.remote_cache",
        RemoteCacheBackend=RemoteCacheBackend,
        RemoteCache=RemoteCache,
        create_cache=create_cache,
        **classes,
    )
    _module("torch._functorch")
    _module("torch._functorch.config", enable_remote_autograd_cache=None)


# --- Triton: managers hand out paths of files ---------------------------------------------------


def _triton() -> None:
    class CacheManager(ABC):
        def __init__(self, key: str, override: bool = False, dump: bool = False) -> None: ...

        @abstractmethod
        def get_file(self, filename: str) -> Any: ...

        @abstractmethod
        def put(self, data: Any, filename: str, binary: bool = True) -> str: ...

        @abstractmethod
        def get_group(self, filename: str) -> Any: ...

        @abstractmethod
        def put_group(self, filename: str, group: Dict[str, str]) -> Any: ...

    class FileCacheManager(CacheManager):
        def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
            kind = "OVERRIDE" if override else "DUMP" if dump else "CACHE"
            self.folder = os.path.join(os.environ[f"TRITON_{kind}_DIR"], key)
            os.makedirs(self.folder, exist_ok=True)

        def get_file(self, filename: str) -> Any:
            path = os.path.join(self.folder, filename)
            return path if os.path.exists(path) else None

        def put(self, data: Any, filename: str, binary: bool = True) -> str:
            path = os.path.join(self.folder, filename)
            with open(path, "wb") as file:
                file.write(data if isinstance(data, bytes) else str(data).encode())
            return path

        def get_group(self, filename: str) -> Any:
            path = self.get_file("__grp__" + filename)
            if path is None:
                return None
            with open(path) as file:
                return json.load(file)["child_paths"]

        def put_group(self, filename: str, group: Dict[str, str]) -> str:
            return self.put(json.dumps({"child_paths": group}), "__grp__" + filename)

    class RemoteCacheBackend:
        def __init__(self, key: str) -> None: ...

        @abstractmethod
        def get(self, filenames: List[str]) -> Dict[str, bytes]: ...

        @abstractmethod
        def put(self, filename: str, data: bytes) -> None: ...

    def class_of(variable: str, kind: str) -> Any:
        module, name = os.environ[variable].split(":", 1)
        found = getattr(importlib.import_module(module), name)
        if not any(base.__name__ == kind for base in found.mro()):
            raise RuntimeError(f"{found} is no {kind}")
        return found

    def get_cache_manager(key: str) -> CacheManager:
        return class_of("TRITON_CACHE_MANAGER", "CacheManager")(key)

    def get_dump_manager(key: str) -> CacheManager:
        return class_of("TRITON_CACHE_MANAGER", "CacheManager")(key, dump=True)

    def get_remote_backend(key: str) -> RemoteCacheBackend:
        return class_of("TRITON_REMOTE_CACHE_BACKEND", "RemoteCacheBackend")(key)

    _module("triton")
    _module("triton.runtime")
    _module(
        "triton.runtime.cache",
        CacheManager=CacheManager,
        FileCacheManager=FileCacheManager,
        RemoteCacheBackend=RemoteCacheBackend,
        get_cache_manager=get_cache_manager,
        get_dump_manager=get_dump_manager,
        get_remote_backend=get_remote_backend,
    )


# --- JAX: one cache, made for the folder that the configuration names ---------------------------


def _jax() -> None:
    class CacheInterface(ABC):
        @abstractmethod
        def get(self, key: str) -> Any: ...

        @abstractmethod
        def put(self, key: str, value: bytes) -> None: ...

    class Config:
        def __init__(self) -> None:
            self.values: Dict[str, Any] = {}

        def update(self, name: str, value: Any) -> None:
            self.values[name] = value

    config = Config()

    def get_file_cache(path: str) -> Any:
        raise RuntimeError("JAX's own cache")

    def reset_cache() -> None:
        compilation_cache._cache = None

    def _get_cache(backend: Any) -> Any:
        path = config.values.get("jax_compilation_cache_dir")
        if compilation_cache._cache is None and path:
            compilation_cache._cache, _ = compilation_cache.get_file_cache(path)
        return compilation_cache._cache

    _module("jax", config=config)
    _module("jax._src")
    _module("jax._src.compilation_cache_interface", CacheInterface=CacheInterface)
    compilation_cache = _module(
        "jax._src.compilation_cache",
        _cache=None,
        _get_cache=_get_cache,
        get_file_cache=get_file_cache,
        reset_cache=reset_cache,
    )
