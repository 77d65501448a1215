"""Requests to the SQL API: the statements, what they run with, and errors in ksqlDB's form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.responses import Response

from orion.model import InvalidInputError, OrionError, UnavailableError

MEDIA_TYPE = "application/vnd.ksql.v1+json"
DELIMITED = "application/vnd.ksqlapi.delimited.v1"
BAD_REQUEST, BAD_STATEMENT, USE_QUERY, TOO_MANY = 40000, 40001, 40002, 40003
NEEDS_HTTP_2, NOT_FOUND, ASSERTION_FAILED, SERVER_ERROR = 40004, 40400, 41700, 50000


class BadRequestError(InvalidInputError):
    """Raised when a request is not one of this API."""

    def __init__(self, reason: str, *, code: int = BAD_REQUEST) -> None:
        self.reason, self.code = reason, code
        super().__init__(reason)


class AssertionFailedError(InvalidInputError):
    """Raised when what a statement asserts is not so."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class StatementFailedError(InvalidInputError):
    """Raised with the statement that failed and the answers of those before it."""

    def __init__(self, statement: str, error: OrionError, entities: Sequence[Any] = ()) -> None:
        self.statement, self.error, self.entities = statement, error, list(entities)
        super().__init__(str(error))


@dataclass(frozen=True)
class SqlRequest:
    """Statements, and the session they belong to."""

    text: str
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, body: Any, *, word: str, properties: str) -> "SqlRequest":
        """Read a body; the two kinds of endpoints name its fields differently."""
        if not isinstance(body, dict):
            raise BadRequestError("The body of the request is not an object.")
        text = body.get(word)
        if not isinstance(text, str) or not text.strip():
            raise BadRequestError(f"Field '{word}' of the body holds no statement.")
        return cls(
            text,
            _texts(body.get(properties), properties),
            _texts(body.get("sessionVariables"), "sessionVariables"),
        )


def _texts(given: Any, name: str) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadRequestError(f"Field '{name}' of the body is not an object.")
    return {str(key): _text(value) for key, value in given.items() if value is not None}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe_error(error: OrionError) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the body of an error."""
    if isinstance(error, StatementFailedError):
        status, body = describe_error(error.error)
        kind = {"@type": "statement_error", "error_code": _statement_code(body["error_code"])}
        more = {"statementText": error.statement, "entities": error.entities}
        return status, {**body, **kind, **more}
    if isinstance(error, BadRequestError):
        return error.code // 100, _generic(error.code, error)
    if isinstance(error, AssertionFailedError):
        return 417, _generic(ASSERTION_FAILED, error)
    if isinstance(error, UnavailableError) or error.exit_code in (1, 70):
        return 500, _generic(SERVER_ERROR, error)
    return 400, _generic(BAD_STATEMENT, error)


def _statement_code(code: int) -> int:
    return BAD_STATEMENT if code == BAD_REQUEST else code


def _generic(code: int, error: OrionError) -> dict[str, Any]:
    body = {"@type": "generic_error", "error_code": code, "message": str(error)}
    place = getattr(error, "place", None)
    # More than ksqlDB says: a client that knows it shows what is meant.
    return body if place is None else {**body, "place": {"start": place.start, "end": place.end}}


def error_response(error: OrionError, media_type: str = MEDIA_TYPE) -> Response:
    """Return an error as a response."""
    status, body = describe_error(error)
    return Response(orjson.dumps(body), status_code=status, media_type=media_type)
