"""Wait for a condition instead of for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(condition: Callable[[], T], *, timeout_s: float = 60.0, what: str = "") -> T:
    """Return the condition's first true value; raise AssertionError when the time is over."""
    deadline = time.monotonic() + timeout_s
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{what or 'The condition'} did not come true in {timeout_s:g}s.")
        time.sleep(0.05)
