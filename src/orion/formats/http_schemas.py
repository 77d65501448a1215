"""Schemas asked of a registry over HTTP; what an id stands for never changes, so it is kept."""

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from orion.formats.schema_source import (
    RegisteredSchema,
    Schema,
    SchemaKind,
    SchemaNotFoundError,
    SchemaReference,
)
from orion.model import InvalidInputError, UnavailableError, split_login

_TIMEOUT_S = 10.0
_MAX_KEPT = 10_000
_NOT_FOUND = 404
_TYPE = "application/vnd.schemaregistry.v1+json"


class RegistryUnreachableError(UnavailableError):
    """Raised when the registry does not answer, or not as a registry does."""

    def __init__(self, url: str, why: str) -> None:
        self.url, self.why = url, why
        super().__init__(
            f"The schema registry at {url} does not answer: {why}.",
            fix="Start it with `orion up`, or set registry.url.",
        )


class RegistryRefusedError(InvalidInputError):
    """Raised when the registry refuses a schema."""

    def __init__(self, url: str, message: str) -> None:
        self.url, self.message = url, message
        super().__init__(
            f"The schema registry at {url} refused: {message}",
            fix="Change the columns, or the subject's compatibility.",
        )


@dataclass(frozen=True)
class HttpSchemas:
    """A registry by its address; cheap to pickle, so that Spark's workers ask by themselves."""

    url: str

    def schema(self, schema_id: int) -> Schema:
        """Return the schema of an id."""
        return _schema_of_id(self.url, schema_id)

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a subject's version."""
        return _version(self.url, subject, str(version))

    def versions(self, subject: str) -> tuple[RegisteredSchema, ...]:
        """Return a subject's schemas, oldest first."""
        try:
            numbers = _get(self.url, f"/subjects/{_quoted(subject)}/versions")
        except SchemaNotFoundError:
            return ()
        return tuple(self.version(subject, number) for number in numbers)

    def latest(self, subject: str) -> RegisteredSchema | None:
        """Return a subject's newest schema, if it has one."""
        try:
            return _read_version(_get(self.url, f"/subjects/{_quoted(subject)}/versions/latest"))
        except SchemaNotFoundError:
            return None

    def register(self, subject: str, schema: Schema) -> int:
        """Register a schema if it is new to the subject; return its id."""
        body: dict[str, Any] = {"schema": schema.text, "schemaType": schema.kind.value}
        if schema.references:
            body["references"] = [vars(reference) for reference in schema.references]
        found = _get(self.url, f"/subjects/{_quoted(subject)}/versions", body)
        return int(found["id"])


@lru_cache(_MAX_KEPT)
def _schema_of_id(url: str, schema_id: int) -> Schema:
    return _read_schema(_get(url, f"/schemas/ids/{schema_id}"))


@lru_cache(_MAX_KEPT)
def _version(url: str, subject: str, version: str) -> RegisteredSchema:
    return _read_version(_get(url, f"/subjects/{_quoted(subject)}/versions/{version}"))


def forget_schemas() -> None:
    """Ask anew for every id: of use where schemas are deleted for good and others imported."""
    _schema_of_id.cache_clear()
    _version.cache_clear()


def _read_version(found: Any) -> RegisteredSchema:
    return RegisteredSchema(int(found["id"]), _read_schema(found))


def _read_schema(found: Any) -> Schema:
    references = tuple(
        SchemaReference(each["name"], each["subject"], int(each["version"]))
        for each in found.get("references", ())
    )
    return Schema(SchemaKind(found.get("schemaType", "AVRO")), found["schema"], references)


def _get(url: str, path: str, body: Any = None) -> Any:
    """Ask, or send a body; a 404 raises SchemaNotFoundError."""
    payload = None if body is None else json.dumps(body).encode()
    address, login = split_login(url.rstrip("/"))
    headers = {"Content-Type": _TYPE, "Accept": f"{_TYPE}, application/json", **login}
    request = urllib.request.Request(address + path, payload, headers)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            message = _message(error)
        if error.code == _NOT_FOUND:
            raise SchemaNotFoundError(path.lstrip("/")) from error
        raise RegistryRefusedError(address, message) from error
    except (OSError, ValueError) as error:
        raise RegistryUnreachableError(address, str(error)) from error


def _message(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {error.code}"


def _quoted(subject: str) -> str:
    return urllib.parse.quote(subject, safe="")
