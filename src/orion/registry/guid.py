"""The global identity of a schema: the same in every registry, whatever its id there."""

import hashlib
import json
import uuid

from orion.registry.schema import Schema


def guid_of(schema: Schema) -> str:
    """Return the digest of a schema's content as a UUID.

    For a schema without references, metadata and rules it is what Confluent's registry gives, too.

    >>> guid_of(Schema('"string"'))
    '095d71cf-1255-6b9d-5e33-0ad575b3df5d'
    """
    digest = hashlib.md5(schema.text.encode(), usedforsecurity=False)
    for reference in schema.references:
        digest.update(reference.name.encode())
        digest.update(reference.subject.encode())
        digest.update(reference.version.to_bytes(4, "big", signed=True))
    for part in (schema.metadata, schema.rule_set):
        if part is not None:
            digest.update(b"\1" + json.dumps(part, sort_keys=True).encode())
    return str(uuid.UUID(bytes=digest.digest()))
