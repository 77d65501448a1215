"""Changes as records of the `_schemas` topic, in the form that Confluent's registry gives them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orion.registry.schema import Kind, Mode, Reference, Schema, Version

NOOP_KEY: Mapping[str, Any] = {"keytype": "NOOP", "magic": 0}


@dataclass(frozen=True)
class Change:
    """One record: a key that compaction knows, and its new value; None deletes it."""

    key: Mapping[str, Any]
    value: Mapping[str, Any] | None

    def encode(self) -> tuple[bytes, bytes | None]:
        """Return the bytes of key and value."""
        value = None if self.value is None else _dump(self.value)
        return _dump(self.key), value


def decode_change(key: bytes | None, value: bytes | None) -> Change | None:
    """Read a record; None where it is none of the registry's."""
    try:
        decoded = json.loads(key or b"")
        body = None if not value else json.loads(value)
    except ValueError:
        return None
    if not isinstance(decoded, dict) or not isinstance(body, dict | None):
        return None
    return Change(decoded, body)


def put_version(version: Version) -> Change:
    """Store a version, or that it is deleted."""
    value = {
        "subject": version.subject,
        "version": version.version,
        "id": version.id,
        **schema_fields(version.schema),
        "deleted": version.deleted,
    }
    return Change(_schema_key(version.subject, version.version), value)


def remove_version(subject: str, version: int) -> Change:
    """Forget a version for good."""
    return Change(_schema_key(subject, version), None)


def delete_subject(subject: str, version: int) -> Change:
    """Mark every version up to this one as deleted."""
    key = {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0}
    return Change(key, {"subject": subject, "version": version})


def put_config(subject: str | None, config: Mapping[str, Any] | None) -> Change:
    """Store the configuration of a subject, a context or the whole registry; None removes it."""
    key = {"keytype": "CONFIG", "subject": subject, "magic": 0}
    return Change(key, None if config is None else {"subject": subject, **config})


def put_mode(subject: str | None, mode: Mode | None) -> Change:
    """Store the mode of a subject, a context or the whole registry; None removes it."""
    key = {"keytype": "MODE", "subject": subject, "magic": 0}
    return Change(key, None if mode is None else {"subject": subject, "mode": str(mode)})


def keep_ids(highest: Mapping[str, int]) -> Change:
    """Remember the highest id of each context, so that one of a removed schema never comes again.

    Readers of the topic pass by records of this key whatever their value.
    """
    return Change(NOOP_KEY, {"ids": dict(highest)})


def schema_fields(schema: Schema) -> dict[str, Any]:
    """Return a schema as records and answers hold it; what is usual or absent is left out."""
    body: dict[str, Any] = {}
    if schema.kind is not Kind.AVRO:
        body["schemaType"] = str(schema.kind)
    if schema.references:
        body["references"] = [
            {"name": r.name, "subject": r.subject, "version": r.version} for r in schema.references
        ]
    if schema.metadata is not None:
        body["metadata"] = dict(schema.metadata)
    if schema.rule_set is not None:
        body["ruleSet"] = dict(schema.rule_set)
    body["schema"] = schema.text
    return body


def read_version(value: Mapping[str, Any]) -> Version:
    """Read the value of a version's record."""
    references = tuple(
        Reference(str(item["name"]), str(item["subject"]), int(item["version"]))
        for item in value.get("references") or ()
    )
    schema = Schema(
        text=str(value["schema"]),
        kind=Kind(value.get("schemaType") or Kind.AVRO),
        references=references,
        metadata=value.get("metadata"),
        rule_set=value.get("ruleSet"),
    )
    return Version(
        subject=str(value["subject"]),
        version=int(value["version"]),
        id=int(value["id"]),
        schema=schema,
        deleted=bool(value.get("deleted")),
    )


def _schema_key(subject: str, version: int) -> dict[str, Any]:
    return {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}


def _dump(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
