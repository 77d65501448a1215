"""Paths below /subjects and /compatibility: register, look up, check and delete."""

from typing import Any

from orion.model import InvalidInputError
from orion.registry import (
    EVERY_CONTEXT,
    Registry,
    SchemaNotFoundError,
    Version,
    guid_of,
    schema_fields,
)
from orion.serve.registry.call import Call


class NoMetadataError(InvalidInputError):
    """Raised when metadata is asked for without naming what it must hold."""

    def __init__(self) -> None:
        super().__init__(
            "The parameters 'key' and 'value' do not come in pairs.",
            fix="Give each key one value, like ?key=owner&value=ann",
        )


def entity(call: Call, version: Version, text: str | None = None) -> dict[str, Any]:
    """Return a version as answers hold it."""
    fields = schema_fields(version.schema)
    if text is not None:
        fields["schema"] = text
    return {
        "subject": version.subject,
        "version": version.version,
        "id": version.id,
        **guid_field(call, version),
        **fields,
    }


def guid_field(call: Call, version: Version) -> dict[str, Any]:
    """Return the global identity of a schema, for clients that take it."""
    return {"guid": guid_of(version.schema)} if call.takes_more else {}


def list_subjects(registry: Registry, call: Call) -> Any:
    """Return the names of subjects."""
    return call.page(
        registry.subjects(
            call.query.get("subjectPrefix", EVERY_CONTEXT),
            deleted=call.flag("deleted"),
            only_deleted=call.flag("deletedOnly"),
        )
    )


def list_versions(registry: Registry, call: Call) -> Any:
    """Return the numbers of a subject's versions."""
    versions = registry.versions(
        call.subject(), deleted=call.flag("deleted"), only_deleted=call.flag("deletedOnly")
    )
    return call.page([version.version for version in versions])


def get_version(registry: Registry, call: Call) -> Any:
    """Return one version of a subject."""
    version = registry.version(call.subject(), call.version(), deleted=call.flag("deleted"))
    return entity(call, version, registry.text(version, call.query.get("format", "")))


def get_version_text(registry: Registry, call: Call) -> Any:
    """Return the schema alone of one version."""
    version = registry.version(call.subject(), call.version(), deleted=call.flag("deleted"))
    return registry.text(version, call.query.get("format", "")).encode()


def get_users(registry: Registry, call: Call) -> Any:
    """Return the ids of schemas that refer to a version."""
    users = registry.users(call.subject(), call.version())
    return call.page(sorted({version.id for version in users}))


def get_by_metadata(registry: Registry, call: Call) -> Any:
    """Return the latest version whose metadata holds every property asked for."""
    query: Any = call.query
    keys, values = query.getlist("key"), query.getlist("value")
    if not keys or len(keys) != len(values):
        raise NoMetadataError
    subject = call.subject()
    wanted = dict(zip(keys, values, strict=True))
    for version in reversed(registry.versions(subject, deleted=call.flag("deleted"))):
        properties = (version.schema.metadata or {}).get("properties") or {}
        if wanted.items() <= properties.items():
            return entity(call, version, registry.text(version, call.query.get("format", "")))
    raise SchemaNotFoundError(f"with that metadata in subject '{subject}'")


def register(registry: Registry, call: Call) -> Any:
    """Register a schema; answers its id."""
    version = registry.register(call.request(call.subject()))
    if not call.takes_more:
        return {"id": version.id}
    # Without the text: clients would keep it in place of the form that they sent and know.
    return {"id": version.id, "version": version.version, **guid_field(call, version)}


def find(registry: Registry, call: Call) -> Any:
    """Return the version of a subject that is the schema of the body."""
    request = call.request(call.subject())
    version = registry.find(
        request.subject,
        request.schema,
        normalize=request.normalize,
        deleted=call.flag("deleted"),
    )
    return entity(call, version, registry.text(version, call.query.get("format", "")))


def delete_subject(registry: Registry, call: Call) -> Any:
    """Delete a subject; answers the numbers of its versions."""
    return registry.delete_subject(call.subject(), permanent=call.flag("permanent"))


def delete_version(registry: Registry, call: Call) -> Any:
    """Delete a version; answers its number."""
    return registry.delete_version(call.subject(), call.version(), permanent=call.flag("permanent"))


def check_version(registry: Registry, call: Call) -> Any:
    """Tell whether a schema is compatible with one version."""
    return _check(registry, call, call.version())


def check_every(registry: Registry, call: Call) -> Any:
    """Tell whether a schema is compatible with the versions that count."""
    return _check(registry, call, None)


def _check(registry: Registry, call: Call, version: int | None) -> Any:
    request = call.request(call.subject())
    verdict = registry.check(
        request.subject, request.schema, version=version, normalize=request.normalize
    )
    body: dict[str, Any] = {"is_compatible": verdict.is_compatible}
    if call.flag("verbose"):
        body["messages"] = list(verdict.reasons)
        if verdict.reasons:
            body["messages"] += [verdict.advice, f"{verdict.level}: {verdict.level.advice}"]
    return body
