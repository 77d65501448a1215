"""A schema and where it stands: its kind, text, references, subject and version."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The languages schemas are written in."""

    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


@dataclass(frozen=True)
class Reference:
    """A schema that another one needs.

    Args:
        name: What the text calls it: a type of Avro, a $ref of JSON, an import of Protobuf.
    """

    name: str
    subject: str
    version: int


@dataclass(frozen=True)
class Schema:
    """What is registered; the metadata and rules are kept as they were given."""

    text: str
    kind: Kind = Kind.AVRO
    references: tuple[Reference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Version:
    """A schema as a version of a subject."""

    subject: str
    version: int
    id: int
    schema: Schema
    deleted: bool = False


class Mode(StrEnum):
    """What may be done with a subject."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"
    FORWARD = "FORWARD"
