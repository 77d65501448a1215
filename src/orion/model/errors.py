"""Every error a user can cause, as a tree; rooms define the leaves.

OrionError
├── InvalidInputError   what was given cannot be used; the text says what can     (exit code 2)
├── NotFoundError       the thing named does not exist                             (exit code 3)
├── ConflictError       the thing exists, runs or is held by someone already       (exit code 4)
├── UnavailableError    a part is down or out of reach; trying again may help      (exit code 5)
└── InternalError       a fault of Orion's own                                     (exit code 70)
"""

from collections.abc import Iterable
from difflib import get_close_matches


class OrionError(Exception):
    """Say what failed, what was found, and what to do.

    Args:
        text: What failed and what was expected or found, in full sentences.
        fix: The one thing to do or the command to run next.
    """

    exit_code = 1

    def __init__(self, text: str, *, fix: str | None = None) -> None:
        self.text = text
        self.fix = fix
        super().__init__(text if fix is None else f"{text} {fix}")


class InvalidInputError(OrionError):
    """Raised when a value, option or file cannot be used as given."""

    exit_code = 2


class NotFoundError(OrionError):
    """Raised when the thing a user named does not exist."""

    exit_code = 3


class ConflictError(OrionError):
    """Raised when something exists, runs or is held already."""

    exit_code = 4


class UnavailableError(OrionError):
    """Raised when a part cannot be reached or did not get ready; may be retried."""

    exit_code = 5


class InternalError(OrionError):
    """Raised when Orion itself is at fault."""

    exit_code = 70


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `Did you mean 'x'?` for the closest known word, or an empty string.

    >>> nearest("amuont", ["amount", "user"])
    "Did you mean 'amount'?"
    """
    found = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"Did you mean '{found[0]}'?" if found else ""
