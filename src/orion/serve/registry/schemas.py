"""Paths below /schemas and /contexts: schemas by their ids, wherever they are registered."""

from typing import Any

from orion.registry import (
    DEFAULT_CONTEXT,
    EVERY_CONTEXT,
    Kind,
    Registry,
    SchemaNotFoundError,
    Version,
    guid_of,
    schema_fields,
    split_subject,
)
from orion.serve.registry.call import Call
from orion.serve.registry.subjects import entity, guid_field


def list_types(_registry: Registry, _call: Call) -> Any:
    """Return the kinds of schemas."""
    return [str(kind) for kind in (Kind.JSON, Kind.PROTOBUF, Kind.AVRO)]


def list_schemas(registry: Registry, call: Call) -> Any:
    """Return the versions of every subject."""
    found = registry.schemas(
        call.query.get("subjectPrefix", EVERY_CONTEXT),
        deleted=call.flag("deleted"),
        latest=call.flag("latestOnly"),
    )
    return call.page([entity(call, version) for version in found])


def get_schema(registry: Registry, call: Call) -> Any:
    """Return the schema of an id."""
    version = _found(registry, call)[0]
    body = {**guid_field(call, version), **schema_fields(version.schema)}
    body["schema"] = registry.text(version, call.query.get("format", ""))
    if call.flag("fetchMaxId"):
        body["maxId"] = registry.highest_id(_context(call))
    return body


def get_schema_text(registry: Registry, call: Call) -> Any:
    """Return the schema alone of an id."""
    return registry.text(_found(registry, call)[0], call.query.get("format", "")).encode()


def get_schema_by_guid(registry: Registry, call: Call) -> Any:
    """Return the schema of a global identity."""
    version = registry.with_guid(call.word("guid"))[0]
    body = {"guid": guid_of(version.schema), **schema_fields(version.schema)}
    body["schema"] = registry.text(version, call.query.get("format", ""))
    return body


def list_ids_of_guid(registry: Registry, call: Call) -> Any:
    """Return the ids that the schema of a global identity has, each with its context."""
    found = registry.with_guid(call.word("guid"))
    places = sorted((split_subject(version.subject)[0], version.id) for version in found)
    return [{"context": context, "id": number} for context, number in places]


def list_subjects(registry: Registry, call: Call) -> Any:
    """Return the subjects that have an id."""
    return call.page(sorted({version.subject for version in _living(registry, call)}))


def list_versions(registry: Registry, call: Call) -> Any:
    """Return the subjects and versions that have an id."""
    pairs = sorted((version.subject, version.version) for version in _living(registry, call))
    return call.page([{"subject": subject, "version": number} for subject, number in pairs])


def list_contexts(registry: Registry, call: Call) -> Any:
    """Return the contexts."""
    return call.page(registry.contexts())


def delete_context(registry: Registry, call: Call) -> Any:
    """Delete a context that has no subjects."""
    registry.delete_context(call.word("context"))
    return b""


def _context(call: Call) -> str:
    return split_subject(call.query.get("subject", ""))[0]


def _found(registry: Registry, call: Call) -> list[Version]:
    identity = int(call.path["id"])
    found = registry.with_id(identity, context=_context(call))
    name = split_subject(call.query.get("subject", ""))[1]
    if not name:
        return found
    # Who names a subject wants that one's words where several share the id.
    own = [version for version in found if split_subject(version.subject)[1] == name]
    if not own and _context(call) == DEFAULT_CONTEXT:
        return found
    if not own:
        raise SchemaNotFoundError(str(identity))
    return own


def _living(registry: Registry, call: Call) -> list[Version]:
    found = registry.with_id(int(call.path["id"]), context=_context(call))
    return [version for version in found if call.flag("deleted") or not version.deleted]
