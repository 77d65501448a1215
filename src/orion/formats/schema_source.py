"""Where schemas come from, in the words of this room; a registry answers elsewhere."""

import enum
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from orion.model import NotFoundError


class SchemaKind(enum.StrEnum):
    """The languages of schemas, by the registry's names."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True)
class SchemaReference:
    """Another registered schema that a text uses under a name."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True)
class Schema:
    """A schema's text and what it refers to."""

    kind: SchemaKind
    text: str
    references: tuple[SchemaReference, ...] = ()


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema under its id."""

    id: int
    schema: Schema


class SchemaNotFoundError(NotFoundError):
    """Raised when no schema has the id, or a subject has no such version."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        super().__init__(
            f"Schema {wanted} is not registered.",
            fix="Register it first, or look at what there is with: orion schemas list",
        )


class SchemaSource(Protocol):
    """What a codec asks for; called from any thread, and in Spark's workers after pickling."""

    def __hash__(self) -> int: ...

    def schema(self, schema_id: int) -> Schema:
        """Return the schema of an id, or raise SchemaNotFoundError."""

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a subject's version, or raise SchemaNotFoundError."""

    def versions(self, subject: str) -> tuple[RegisteredSchema, ...]:
        """Return a subject's schemas, oldest first; none if there is no such subject."""

    def latest(self, subject: str) -> RegisteredSchema | None:
        """Return a subject's newest schema, if it has one."""

    def register(self, subject: str, schema: Schema) -> int:
        """Register a schema if it is new to the subject; return its id."""


# Compared by identity: codecs are kept for each source.
@dataclass(eq=False)
class MemorySchemas:
    """Schemas kept in this process, for tests and for runs without a registry."""

    by_id: dict[int, Schema] = field(default_factory=dict)
    by_subject: dict[str, list[int]] = field(default_factory=dict)

    def schema(self, schema_id: int) -> Schema:
        """Return the schema of an id."""
        if schema_id not in self.by_id:
            raise SchemaNotFoundError(f"id {schema_id}")
        return self.by_id[schema_id]

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a subject's version; versions count from 1."""
        ids = self.by_subject.get(subject, [])
        if not 1 <= version <= len(ids):
            raise SchemaNotFoundError(f"version {version} of subject '{subject}'")
        return RegisteredSchema(ids[version - 1], self.by_id[ids[version - 1]])

    def versions(self, subject: str) -> tuple[RegisteredSchema, ...]:
        """Return a subject's schemas, oldest first."""
        return tuple(RegisteredSchema(i, self.by_id[i]) for i in self.by_subject.get(subject, ()))

    def latest(self, subject: str) -> RegisteredSchema | None:
        """Return a subject's newest schema, if it has one."""
        ids = self.by_subject.get(subject)
        return RegisteredSchema(ids[-1], self.by_id[ids[-1]]) if ids else None

    def register(self, subject: str, schema: Schema) -> int:
        """Register a schema if it is new; the same schema has the same id everywhere."""
        with _registering:
            known = next((i for i, each in self.by_id.items() if each == schema), None)
            schema_id = len(self.by_id) + 1 if known is None else known
            self.by_id[schema_id] = schema
            ids = self.by_subject.setdefault(subject, [])
            if schema_id not in ids:
                ids.append(schema_id)
            return schema_id


_registering = threading.Lock()


def referenced(schemas: SchemaSource, schema: Schema) -> Mapping[str, Schema]:
    """Return all that a schema refers to, by the names it uses, referred ones' own included."""
    found: dict[str, Schema] = {}
    waiting = list(schema.references)
    while waiting:
        reference = waiting.pop()
        if reference.name not in found:
            other = schemas.version(reference.subject, reference.version).schema
            found[reference.name] = other
            waiting += other.references
    return found
