"""The registry of this process as the formats ask for schemas."""

from dataclasses import dataclass

from orion.formats import RegisteredSchema, SchemaKind, SchemaReference
from orion.formats import Schema as FormatSchema
from orion.formats import SchemaNotFoundError as NoSuchSchemaError
from orion.model import NotFoundError
from orion.registry import Kind, Reference, Registry, Request, Schema, Version


# Compared by identity: codecs are kept for each source.
@dataclass(frozen=True, eq=False)
class RegistrySchemas:
    """Schemas without a way over HTTP, for the process that is the registry."""

    registry: Registry

    def schema(self, schema_id: int) -> FormatSchema:
        """Return the schema of an id."""
        try:
            return _given(self.registry.with_id(schema_id)[0]).schema
        except NotFoundError as error:
            raise NoSuchSchemaError(f"id {schema_id}") from error

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """Return a subject's version."""
        try:
            return _given(self.registry.version(subject, version))
        except NotFoundError as error:
            raise NoSuchSchemaError(f"version {version} of subject '{subject}'") from error

    def versions(self, subject: str) -> tuple[RegisteredSchema, ...]:
        """Return a subject's schemas, oldest first; none if there is no such subject."""
        try:
            return tuple(_given(version) for version in self.registry.versions(subject))
        except NotFoundError:
            return ()

    def latest(self, subject: str) -> RegisteredSchema | None:
        """Return a subject's newest schema, if it has one."""
        try:
            return _given(self.registry.version(subject))
        except NotFoundError:
            return None

    def register(self, subject: str, schema: FormatSchema) -> int:
        """Register a schema if it is new to the subject; return its id."""
        references = tuple(Reference(r.name, r.subject, r.version) for r in schema.references)
        taken = Schema(schema.text, Kind(schema.kind), references)
        return self.registry.register(Request(subject, taken)).id


def _given(version: Version) -> RegisteredSchema:
    schema = version.schema
    references = tuple(SchemaReference(r.name, r.subject, r.version) for r in schema.references)
    return RegisteredSchema(
        version.id, FormatSchema(SchemaKind(schema.kind), schema.text, references)
    )
