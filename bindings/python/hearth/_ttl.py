"""Times to live, as the library takes them."""

from __future__ import annotations

import math
from typing import Optional

from .errors import InvalidError, Status

_MAX_MS = 2**53


def ttl_ms(seconds: Optional[float]) -> int:
    """The time in ms, rounded up; 0, which means no end, for None.

    Errors: InvalidError when it is not above zero.
    """
    if seconds is None:
        return 0
    if not seconds > 0:
        raise InvalidError(
            f"the time to live is not above zero: {seconds}; None is an entry that never ends",
            Status.INVALID_ARGUMENT,
        )
    return math.ceil(min(seconds * 1000, _MAX_MS))
