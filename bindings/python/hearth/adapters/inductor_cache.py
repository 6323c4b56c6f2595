"""The cache classes of PyTorch's `torch._inductor.cache`, over Hearth.

    from hearth.adapters.inductor_cache import InductorOnDiskCache

    cache = InductorOnDiskCache()
    cache.insert(("add", 3), {"stages": 2})     # True; False when the key is there, which stays

`get`, `insert`, `get_async` and `insert_async` take and return what the originals do. Keys are
identified by the SHA-256 of their pickle, and values are pickled, so the warning of
`hearth.codecs.PickleCodec` holds here: whoever can write to the store can run code.

What differs is what goes wrong in the originals: a killed or failed insert leaves nothing behind, a
stale version is insertable at once, each class's own `version` counts, every damaged entry is a
`CacheError`, no lock is taken to read, and equal keys are always the same key (a pickle tells
whether two parts of a tuple are one object; here it does not).
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
from abc import ABC, abstractmethod
from ast import literal_eval
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Dict, Generic, Optional, Tuple, TypeVar, Union

from ..cache import Cache as BytesCache
from ..errors import CorruptError, HearthError
from ..host import Host
from ._store import shared_host

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = [
    "AsyncCache",
    "Cache",
    "CacheError",
    "InMemoryCache",
    "InductorOnDiskCache",
    "OnDiskCache",
]

Key = TypeVar("Key")
Value = TypeVar("Value")
Self = TypeVar("Self", bound="InMemoryCache[Any, Any]")

_PROTOCOL = 4  # the same for every version of Python

_UNPICKLING_ERRORS = (
    pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, TypeError,
    ValueError,
)  # fmt: skip


class CacheError(ValueError):
    """A key or a value that cannot be used, or an entry that is damaged."""


class Cache(ABC, Generic[Key, Value]):
    """A cache that never replaces an entry."""

    @abstractmethod
    def get(self, key: Key) -> Optional[Value]:
        """The value; None on a miss."""

    @abstractmethod
    def insert(self, key: Key, value: Value) -> bool:
        """Stores the value unless the key is there. True: it was stored."""


class AsyncCache(Cache[Key, Value]):
    """The same, with calls that run on an executor."""

    def get_async(self, key: Key, executor: Executor) -> Future[Optional[Value]]:
        """The future of `get`."""
        return executor.submit(self.get, key)

    def insert_async(self, key: Key, value: Value, executor: Executor) -> Future[bool]:
        """The future of `insert`."""
        return executor.submit(self.insert, key, value)


class InMemoryCache(Cache[Key, Value]):
    """The values of one process, as they are: a dictionary. Nothing of it is stored."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: Dict[Key, Value] = {}

    def get(self, key: Key) -> Optional[Value]:
        """The value; None on a miss."""
        with self._lock:
            return self._values.get(key)

    def insert(self, key: Key, value: Value) -> bool:
        """Stores the value unless the key is there. True: it was stored."""
        with self._lock:
            count = len(self._values)
            self._values.setdefault(key, value)
            return len(self._values) > count

    @classmethod
    def from_env_var(cls: type[Self], env_var: str) -> Self:
        """A cache with the pairs of a variable; empty when it is not set.

        The variable is `key,value;key,value`, each a Python literal of the bytes of a pickle. A
        pair may be there twice; a key with two values, and what is no such text, is a `CacheError`.
        """
        cache = cls()
        for key, value in _pairs_of(env_var, os.environ.get(env_var, "")):
            if not cache.insert(key, value) and cache.get(key) != value:
                raise CacheError(f"{env_var}: the key {key!r} has more than one value")
        return cache

    @classmethod
    def from_file_path(cls: type[Self], fpath: Path) -> Self:
        """A cache with the pickled dictionary of a file; empty when there is no file."""
        cache = cls()
        path = Path(fpath)
        if not path.is_file():
            return cache
        values = _unpickled(path.read_bytes(), str(path))
        if not isinstance(values, dict):
            raise CacheError(f"{path}: the pickle is a {type(values).__name__}, not a dict")
        cache._values = values
        return cache


class OnDiskCache(AsyncCache[Key, Value]):
    """Values in a store, shared by all processes that use it.

    name: the entries are apart from those of other names.
    host: an open host; None: the one of HEARTH_STORE.

    `version` may be set by a subclass; entries of other versions are misses.
    """

    version: Union[int, str] = 0

    def __init__(self, name: Optional[str] = None, *, host: Optional[Host] = None) -> None:
        self.name = name or "on_disk_cache"
        self._host = host
        self._opened: Optional[Tuple[str, BytesCache]] = None

    def get(self, key: Key) -> Optional[Value]:
        """The value; None on a miss. Errors: `CacheError` when the entry is damaged."""
        digest = _digest(key)
        try:
            data = self._cache().get(digest)
        except CorruptError as error:
            raise CacheError(f"the entry of {key!r} was damaged: {error}") from error
        except HearthError as error:
            raise CacheError(f"cannot look up {key!r}: {error}") from error
        return None if data is None else _unpickled(data, f"the entry of {key!r}")

    def insert(self, key: Key, value: Value) -> bool:
        """Stores the value unless the key is there. True: it was stored."""
        digest = _digest(key)
        try:
            data = pickle.dumps(value, protocol=_PROTOCOL)
        except Exception as error:
            raise CacheError(f"the value of {key!r} cannot be pickled: {error}") from error
        try:
            return self._cache().insert(digest, data)
        except HearthError as error:
            raise CacheError(f"cannot insert {key!r}: {error}") from error

    def _cache(self) -> BytesCache:
        version = str(self.version)
        if self._opened is None or self._opened[0] != version:
            host = self._host or shared_host()
            self._opened = (version, host.cache(self.name, version))
        return self._opened[1]


class InductorOnDiskCache(OnDiskCache[Key, Value]):
    """The cache that Inductor keeps its own values in."""

    def __init__(self, *, host: Optional[Host] = None) -> None:
        super().__init__("inductor_on_disk_cache", host=host)


def _digest(key: Any) -> str:
    """The key of an entry: equal pickles are equal keys, as in the original."""
    out = io.BytesIO()
    pickler = pickle.Pickler(out, protocol=_PROTOCOL)
    # Without a memo, a part that occurs twice is written twice, so equal keys have equal pickles.
    pickler.fast = True
    try:
        pickler.dump(key)
    except Exception as error:
        raise CacheError(f"the key {key!r} cannot be pickled: {error}") from error
    return hashlib.sha256(out.getvalue()).hexdigest()


def _unpickled(data: bytes, what: str) -> Any:
    try:
        return pickle.loads(data)
    except _UNPICKLING_ERRORS as error:
        raise CacheError(f"{what} is no pickle that can be loaded: {error!r}") from error


_LITERAL = r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\""""
_PAIR = re.compile(rf"\s*({_LITERAL})\s*,\s*({_LITERAL})\s*(?:;|$)", re.DOTALL)
_BLANK = re.compile(r"[\s;]*")


def _pairs_of(variable: str, text: str) -> Any:
    at = _BLANK.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            raise CacheError(
                f"{variable}: no pair of bytes, with a comma between them, at {text[at:at + 40]!r}"
            )
        yield tuple(_unpickled(literal_eval(part), f"{variable}: {part}") for part in pair.groups())
        at = _BLANK.match(text, pair.end()).end()  # type: ignore[union-attr]
