"""A registry over HTTP, Orion's or another one; for commands, which are processes of their own."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from orion.model import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    OrionError,
    UnavailableError,
    split_login,
)
from orion.registry.parsed import Parsed, parse
from orion.registry.record import read_version, schema_fields
from orion.registry.schema import Reference, Schema, Version

_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_TIMEOUT_S = 30.0


class RegistryAwayError(UnavailableError):
    """Raised when no registry answers at an address."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(
            f"No schema registry answers at {url} ({reason}).",
            fix="Start the local one with: orion up --detach, or set registry.url.",
        )


class RegistryRefusalError(InvalidInputError):
    """Raised when a registry refuses a request."""

    def __init__(self, status: int, code: int, message: str) -> None:
        self.status, self.code, self.message = status, code, message
        super().__init__(message)


class RegistryNotFoundError(NotFoundError):
    """Raised when a registry does not know what was asked for."""

    def __init__(self, status: int, code: int, message: str) -> None:
        self.status, self.code, self.message = status, code, message
        super().__init__(message, fix="See what there is with: orion schemas list")


class RegistryConflictError(ConflictError):
    """Raised when a registry finds a schema incompatible."""

    def __init__(self, status: int, code: int, message: str) -> None:
        self.status, self.code, self.message = status, code, message
        super().__init__(message)


class RegistryClient:
    """Asks a registry; nothing is kept."""

    def __init__(self, url: str) -> None:
        bare, self._login = split_login(url)
        self.url = bare.rstrip("/")

    def subjects(self, prefix: str = ":*:", *, deleted: bool = False) -> list[str]:
        """Return the names of subjects."""
        found = self._ask("GET", "/subjects", subjectPrefix=prefix, deleted=deleted)
        return [str(name) for name in found]

    def schemas(self, prefix: str = ":*:", *, deleted: bool = False) -> list[Version]:
        """Return the versions of every subject that begins so."""
        found = self._ask("GET", "/schemas", subjectPrefix=prefix, deleted=deleted)
        return [read_version(item) for item in found]

    def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        """Return the numbers of a subject's versions."""
        found = self._ask("GET", f"/subjects/{_quoted(subject)}/versions", deleted=deleted)
        return [int(number) for number in found]

    def version(self, subject: str, number: str = "latest", *, deleted: bool = False) -> Version:
        """Return one version of a subject."""
        path = f"/subjects/{_quoted(subject)}/versions/{_quoted(number)}"
        return read_version(self._ask("GET", path, deleted=deleted))

    def with_id(self, identity: int) -> Schema:
        """Return the schema of an id."""
        found = self._ask("GET", f"/schemas/ids/{identity}")
        return read_version({"subject": "", "version": 0, "id": identity, **found}).schema

    def register(self, subject: str, schema: Schema, *, normalize: bool = False) -> int:
        """Register a schema and return its id."""
        path = f"/subjects/{_quoted(subject)}/versions"
        found = self._ask("POST", path, _body(schema), normalize=normalize)
        return int(found["id"])

    def find(self, subject: str, schema: Schema) -> Version:
        """Return the version of a subject that is this schema."""
        return read_version(self._ask("POST", f"/subjects/{_quoted(subject)}", _body(schema)))

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete a subject and return the numbers of its versions."""
        path = f"/subjects/{_quoted(subject)}"
        return [int(number) for number in self._ask("DELETE", path, permanent=permanent)]

    def delete_version(self, subject: str, number: str, *, permanent: bool = False) -> int:
        """Delete one version and return its number."""
        path = f"/subjects/{_quoted(subject)}/versions/{_quoted(number)}"
        return int(self._ask("DELETE", path, permanent=permanent))

    def level(self, subject: str | None = None) -> str:
        """Return the compatibility level in force."""
        path = "/config" if subject is None else f"/config/{_quoted(subject)}"
        found = self._ask("GET", path, defaultToGlobal=subject is not None)
        return str(found["compatibilityLevel"])

    def set_level(self, subject: str | None, level: str | None) -> None:
        """Set a compatibility level, or remove a subject's own."""
        path = "/config" if subject is None else f"/config/{_quoted(subject)}"
        if level is None:
            self._ask("DELETE", path)
        else:
            self._ask("PUT", path, {"compatibility": level})

    def parse(self, schema: Schema) -> Parsed:
        """Parse a schema, its references fetched from the registry."""
        found: dict[str, str] = {}
        self._gather(schema.references, found)
        return parse(schema.kind, schema.text, tuple(found.items()))

    def _gather(self, references: tuple[Reference, ...], found: dict[str, str]) -> None:
        for reference in references:
            if reference.name not in found:
                version = self.version(reference.subject, str(reference.version), deleted=True)
                self._gather(version.schema.references, found)
                found[reference.name] = version.schema.text

    def _ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        given = {name: str(value).lower() for name, value in query.items() if value is True}
        given |= {name: value for name, value in query.items() if isinstance(value, str)}
        url = f"{self.url}{path}" + (f"?{urlencode(given)}" if given else "")
        payload = None if body is None else json.dumps(body).encode()
        accept = f"{_MEDIA_TYPE}, application/json"
        headers = {"Content-Type": _MEDIA_TYPE, "Accept": accept, **self._login}
        try:
            request = urllib.request.Request(url, payload, headers, method=method)
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from error
        except (OSError, ValueError) as error:
            raise RegistryAwayError(self.url, str(error)) from error


def _refusal(error: urllib.error.HTTPError) -> OrionError:
    try:
        body = json.load(error)
        code, message = int(body["error_code"]), str(body["message"])
    except (ValueError, KeyError, TypeError):
        code, message = error.code, f"The registry answered with HTTP {error.code}."
    if error.code == 404:
        return RegistryNotFoundError(error.code, code, message)
    if error.code == 409:
        return RegistryConflictError(error.code, code, message)
    return RegistryRefusalError(error.code, code, message)


def _body(schema: Schema) -> Mapping[str, Any]:
    return schema_fields(schema)


def _quoted(word: str) -> str:
    return quote(word, safe="")
