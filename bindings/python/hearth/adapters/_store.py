"""The host that the adapters of a process share."""

from __future__ import annotations

import logging
import os
from typing import Any, Callable, Optional, Union

from .. import host as hosts
from ..errors import HearthError

_log = logging.getLogger("hearth")

StorePath = Union[str, "os.PathLike[str]", None]


def default_store() -> str:
    """The store of the program `hearth`: a variable, or a folder of the user's cache."""
    variables = os.environ
    if variables.get("HEARTH_STORE"):
        return variables["HEARTH_STORE"]
    cache = variables.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "hearth")


def shared_host(store: StorePath = None, remote: Optional[str] = None) -> hosts.Host:
    """The host of the store; it is opened once and stays open until the process ends."""
    return hosts._shared_host(
        hosts._Settings(
            store=os.path.abspath(os.fsdecode(store if store is not None else default_store())),
            remote=remote or os.environ.get("HEARTH_REMOTE") or None,
            memory_budget=0,
            disk_budget=0,
            threads=0,
            thin=False,
        )
    )


def or_nothing(what: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """The call's result; None, and a warning in the log, when the cache fails.

    A compiler can go on without its cache.
    """
    try:
        return call(*arguments)
    except HearthError as error:
        _log.warning("%s: %s", what, error)
        return None
