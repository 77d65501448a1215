"""The one table from an error to its HTTP status and the error code that clients look at."""

from dataclasses import dataclass

from orion.model import (
    ConflictError,
    InternalError,
    InvalidInputError,
    NotFoundError,
    OrionError,
    UnavailableError,
)
from orion.serve.body import BadBodyError, BodyTooLargeError, MediaTypeError


@dataclass(frozen=True)
class Wire:
    """How an error looks on the wire."""

    status: int
    code: int


# The nearest class of an error counts: a leaf may have a line of its own or share its family's.
_TABLE: dict[type[OrionError], Wire] = {
    InvalidInputError: Wire(422, 422),
    NotFoundError: Wire(404, 404),
    ConflictError: Wire(409, 409),
    UnavailableError: Wire(503, 50301),
    InternalError: Wire(500, 50001),
    OrionError: Wire(500, 50001),
    BadBodyError: Wire(400, 400),
    BodyTooLargeError: Wire(413, 413),
    MediaTypeError: Wire(415, 415),
}


def wire(error: OrionError) -> Wire:
    """Return the status and code of an error."""
    return next(_TABLE[kind] for kind in type(error).__mro__ if kind in _TABLE)
