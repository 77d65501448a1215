"""The one table from an error to its HTTP status and the error code that clients look at."""

from dataclasses import dataclass

from orion.log import StateLogError
from orion.model import (
    ConflictError,
    InternalError,
    InvalidInputError,
    NotFoundError,
    OrionError,
    UnavailableError,
)
from orion.registry import (
    CompatibilityNotSetError,
    ContextNotEmptyError,
    IdConflictError,
    IncompatibleSchemaError,
    InvalidCompatibilityError,
    InvalidModeError,
    InvalidRuleSetError,
    InvalidSchemaError,
    InvalidSubjectError,
    InvalidVersionError,
    ModeNotSetError,
    NotPermittedError,
    ReferenceExistsError,
    SchemaNotFoundError,
    SchemaTooLargeError,
    SubjectDeletedError,
    SubjectNotDeletedError,
    SubjectNotFoundError,
    VersionDeletedError,
    VersionNotDeletedError,
    VersionNotFoundError,
)
from orion.serve import rest_proxy
from orion.serve.body import BadBodyError, BodyTooLargeError, MediaTypeError
from orion.serve.registry import BadQueryError, NotAcceptableError


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
    NotAcceptableError: Wire(406, 406),
    BadQueryError: Wire(400, 400),
    # The schema registry.
    SubjectNotFoundError: Wire(404, 40401),
    VersionNotFoundError: Wire(404, 40402),
    SchemaNotFoundError: Wire(404, 40403),
    SubjectDeletedError: Wire(404, 40404),
    SubjectNotDeletedError: Wire(404, 40405),
    VersionDeletedError: Wire(404, 40406),
    VersionNotDeletedError: Wire(404, 40407),
    CompatibilityNotSetError: Wire(404, 40408),
    ModeNotSetError: Wire(404, 40409),
    IncompatibleSchemaError: Wire(409, 409),
    InvalidSchemaError: Wire(422, 42201),
    InvalidVersionError: Wire(422, 42202),
    InvalidCompatibilityError: Wire(422, 42203),
    InvalidModeError: Wire(422, 42204),
    NotPermittedError: Wire(422, 42205),
    ReferenceExistsError: Wire(422, 42206),
    IdConflictError: Wire(422, 42207),
    InvalidSubjectError: Wire(422, 42208),
    SchemaTooLargeError: Wire(422, 42209),
    InvalidRuleSetError: Wire(422, 42210),
    ContextNotEmptyError: Wire(422, 42211),
    StateLogError: Wire(500, 50001),
    # The REST proxy.
    **{kind: Wire(*codes) for kind, codes in rest_proxy.WIRES.items()},
}


def wire(error: OrionError) -> Wire:
    """Return the status and code of an error."""
    return next(_TABLE[kind] for kind in type(error).__mro__ if kind in _TABLE)
