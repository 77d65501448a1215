"""REGISTRY: subjects, versions and the rules of their change; state in the log.

In:  schemas of Avro, JSON Schema and Protobuf; a log that orders changes.
Out: ids, versions, verdicts with reasons; the same from every server that reads the same log.
Never: HTTP, or a schema fetched from elsewhere.
"""

from orion.registry.catalogue import LATEST, parse_version
from orion.registry.change_log import ChangeLog, MemoryLog
from orion.registry.client import RegistryAwayError, RegistryClient, RegistryNotFoundError
from orion.registry.compatibility import Breach, Earlier, Level, find_breaches, parse_level
from orion.registry.conflict import Conflict
from orion.registry.errors import (
    CompatibilityNotSetError,
    ContextNotEmptyError,
    IdConflictError,
    IncompatibleSchemaError,
    InvalidCompatibilityError,
    InvalidModeError,
    InvalidRuleSetError,
    InvalidSchemaError,
    InvalidSubjectError,
    InvalidVersionError,
    ModeNotSetError,
    NotPermittedError,
    ReferenceExistsError,
    SchemaNotFoundError,
    SchemaTooLargeError,
    SubjectDeletedError,
    SubjectNotDeletedError,
    SubjectNotFoundError,
    VersionDeletedError,
    VersionNotDeletedError,
    VersionNotFoundError,
)
from orion.registry.guid import guid_of
from orion.registry.parsed import Parsed, find_conflicts, parse
from orion.registry.record import schema_fields
from orion.registry.registration import Request
from orion.registry.registry import Registry, Verdict
from orion.registry.schema import Kind, Mode, Reference, Schema, Version
from orion.registry.subject import DEFAULT_CONTEXT, EVERY_CONTEXT, check_subject, split_subject
from orion.registry.text import TextCodec, UnreadableRecordError

__all__ = [
    "DEFAULT_CONTEXT",
    "EVERY_CONTEXT",
    "LATEST",
    "Breach",
    "ChangeLog",
    "CompatibilityNotSetError",
    "Conflict",
    "ContextNotEmptyError",
    "Earlier",
    "IdConflictError",
    "IncompatibleSchemaError",
    "InvalidCompatibilityError",
    "InvalidModeError",
    "InvalidRuleSetError",
    "InvalidSchemaError",
    "InvalidSubjectError",
    "InvalidVersionError",
    "Kind",
    "Level",
    "MemoryLog",
    "Mode",
    "ModeNotSetError",
    "NotPermittedError",
    "Parsed",
    "Reference",
    "ReferenceExistsError",
    "Registry",
    "RegistryAwayError",
    "RegistryClient",
    "RegistryNotFoundError",
    "Request",
    "Schema",
    "SchemaNotFoundError",
    "SchemaTooLargeError",
    "SubjectDeletedError",
    "SubjectNotDeletedError",
    "SubjectNotFoundError",
    "TextCodec",
    "UnreadableRecordError",
    "Verdict",
    "Version",
    "VersionDeletedError",
    "VersionNotDeletedError",
    "VersionNotFoundError",
    "check_subject",
    "find_breaches",
    "find_conflicts",
    "guid_of",
    "parse",
    "parse_level",
    "parse_version",
    "schema_fields",
    "split_subject",
]
