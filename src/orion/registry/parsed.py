"""A schema of any kind, parsed: its text in one form, and whether it reads another one's data."""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from orion.registry.conflict import Conflict
from orion.registry.schema import Kind, Schema

# Pairs of the name a text uses and the text it means, those that others need first.
Resolved = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Parsed:
    """A parsed schema.

    Args:
        text: What is stored and given back: without needless blanks where the kind is JSON.
        identity: Equal for texts of the same schema.
        tree: The parsed form of its kind.
    """

    kind: Kind
    text: str
    identity: str
    tree: Any


# The kinds' parsers are imported with the first schema of their kind: protoc alone costs megabytes.
@lru_cache(maxsize=2_000)
def parse(kind: Kind, text: str, references: Resolved = (), *, normalize: bool = False) -> Parsed:
    """Parse a schema, or raise what is wrong with it."""
    if kind is Kind.AVRO:
        from orion.registry.avro import parse_avro, render_avro

        avro = parse_avro(text, [body for _, body in references])
        written = render_avro(avro.root, normalize=normalize)
        return Parsed(kind, written, written, avro)
    if kind is Kind.JSON:
        from orion.registry.json import parse_json_schema, render_json_schema

        document = parse_json_schema(text, dict(references))
        written = render_json_schema(document, normalize=normalize)
        return Parsed(kind, written, written, document)
    from orion.registry.protobuf import parse_protobuf, render_protobuf

    proto = parse_protobuf(text, dict(references))
    if normalize:
        proto = parse_protobuf(render_protobuf(proto, normalize=True), dict(references))
    return Parsed(kind, proto.text, proto.identity, proto)


def find_conflicts(reader: Parsed, writer: Parsed) -> list[Conflict]:
    """Return what keeps the reader from reading the writer's data."""
    if reader.kind is not writer.kind:
        text = f"the reader is {reader.kind}, the writer is {writer.kind}"
        return [Conflict("SCHEMA_TYPE_CHANGED", "/", text)]
    if reader.kind is Kind.AVRO:
        from orion.registry.avro import find_conflicts as find

        return find(reader.tree, writer.tree)
    if reader.kind is Kind.JSON:
        from orion.registry.json import find_conflicts as find_json

        return find_json(reader.tree, writer.tree)
    from orion.registry.protobuf import find_conflicts as find_protobuf

    return find_protobuf(reader.tree, writer.tree)


def render(parsed: Parsed, form: str) -> str:
    """Return a text in a form: `serialized` (Protobuf), `resolved` (Avro), else as stored."""
    if form == "serialized" and parsed.kind is Kind.PROTOBUF:
        file = parsed.tree.file
        named = type(file)()
        named.CopyFrom(file)
        named.name = "default"
        return base64.b64encode(named.SerializeToString()).decode()
    if form == "resolved" and parsed.kind is Kind.AVRO:
        from orion.registry.avro import render_resolved

        return render_resolved(parsed.tree)
    return parsed.text


def fingerprint(schema: Schema, identity: str) -> str:
    """Return what two registrations of the same schema share, metadata and rules included."""
    references: Iterable[Sequence[object]] = (
        (r.name, r.subject, r.version) for r in schema.references
    )
    parts = [schema.kind, identity, list(references), schema.metadata, schema.rule_set]
    body = json.dumps(parts, sort_keys=True, default=dict)
    return hashlib.sha256(body.encode()).hexdigest()
