"""What registering, deleting and setting change; pure: changes and an answer come out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orion.registry.catalogue import Catalogue
from orion.registry.compatibility import Level
from orion.registry.errors import (
    IdConflictError,
    IncompatibleSchemaError,
    NotPermittedError,
    ReferenceExistsError,
    SchemaTooLargeError,
    SubjectDeletedError,
    SubjectNotDeletedError,
    VersionDeletedError,
    VersionNotDeletedError,
)
from orion.registry.lookup import Lookup
from orion.registry.parsed import Parsed
from orion.registry.record import (
    Change,
    delete_subject,
    keep_ids,
    put_config,
    put_mode,
    put_version,
    remove_version,
)
from orion.registry.schema import Mode, Schema, Version
from orion.registry.subject import split_subject

Changes = Sequence[Change]
# Kafka's own limit for a record is 1 MiB; key and framing need some of it.
MAX_SCHEMA_BYTES = 1_000_000
_SHOWN_BREACHES = 10


@dataclass(frozen=True)
class Request:
    """A schema to register; id and version are given only when importing."""

    subject: str
    schema: Schema
    normalize: bool = False
    id: int | None = None
    version: int | None = None


def register(lookup: Lookup, request: Request) -> tuple[Changes, Version]:
    """Register a schema, or find it registered."""
    catalogue = lookup.catalogue
    mode = _check_mode(catalogue, request)
    schema = lookup.complete(request.subject, lookup.pin(request.subject, request.schema))
    normalize = request.normalize or bool(
        catalogue.config_in_force(request.subject).get("normalize")
    )
    parsed = lookup.parse(request.subject, schema, normalize=normalize)
    schema = replace(schema, text=parsed.text)
    size = len(schema.text.encode())
    if size > MAX_SCHEMA_BYTES:
        raise SchemaTooLargeError(size, MAX_SCHEMA_BYTES)
    known = lookup.find(request.subject, schema, parsed.identity)
    if known is not None and request.id in (None, known.id):
        return (), known
    if mode is Mode.IMPORT:
        return _import(lookup, request, schema, parsed)
    return _append(lookup, request.subject, schema, parsed)


def _check_mode(catalogue: Catalogue, request: Request) -> Mode:
    mode = catalogue.mode_in_force(request.subject)
    check_writable(catalogue, request.subject)
    if mode is Mode.IMPORT and request.id is None:
        raise NotPermittedError(
            f"Subject '{request.subject}' is in import mode.",
            "Give the schema's id and version, or set the mode to READWRITE.",
        )
    if mode is not Mode.IMPORT and request.id is not None:
        raise NotPermittedError(
            f"Subject '{request.subject}' is not in import mode.",
            "Leave out the id, or set the mode to IMPORT.",
        )
    return mode


def check_writable(catalogue: Catalogue, subject: str) -> None:
    """Raise where the mode in force lets nobody write."""
    if catalogue.mode_in_force(subject) in (Mode.READONLY, Mode.READONLY_OVERRIDE):
        raise NotPermittedError(
            f"Subject '{subject}' is in read-only mode.", "Set its mode to READWRITE."
        )


def _append(
    lookup: Lookup, subject: str, schema: Schema, parsed: Parsed
) -> tuple[Changes, Version]:
    breaches = lookup.breaches(subject, schema, parsed)
    if breaches:
        level = lookup.level(subject)
        texts = list(dict.fromkeys(breach.text for breach in breaches))
        more = len(texts) - _SHOWN_BREACHES
        shown = texts[:_SHOWN_BREACHES] + ([f"And {more} more."] if more > 0 else [])
        advice = f"{breaches[0].advice} By {level}: {level.advice}"
        raise IncompatibleSchemaError(subject, level, shown, advice)
    context = split_subject(subject)[0]
    found = lookup.find_id(context, schema, parsed.identity)
    version = Version(
        subject,
        version=_last_number(lookup.catalogue, subject) + 1,
        id=lookup.catalogue.next_id(context) if found is None else found,
        schema=schema,
    )
    return (put_version(version),), version


def _import(
    lookup: Lookup, request: Request, schema: Schema, parsed: Parsed
) -> tuple[Changes, Version]:
    catalogue = lookup.catalogue
    context = split_subject(request.subject)[0]
    assert request.id is not None
    others = catalogue.with_id(context, request.id)
    found = lookup.find_id(context, schema, parsed.identity)
    if others and found != request.id:
        raise IdConflictError(f"Id {request.id} belongs to another schema already.")
    number = request.version or _last_number(catalogue, request.subject) + 1
    same = [v for v in catalogue.versions(request.subject, deleted=True) if v.version == number]
    if same and same[0].id != request.id:
        raise IdConflictError(
            f"Version {number} of subject '{request.subject}' is schema {same[0].id} already."
        )
    version = Version(request.subject, number, request.id, schema)
    return (put_version(version),), version


def _last_number(catalogue: Catalogue, subject: str) -> int:
    versions = catalogue.versions(subject, deleted=True)
    return versions[-1].version if versions else 0


def remove_subject(
    catalogue: Catalogue, subject: str, *, permanent: bool
) -> tuple[Changes, list[int]]:
    """Delete every version of a subject: softly, or for good after that."""
    check_writable(catalogue, subject)
    every = catalogue.require(subject, deleted=True)
    living = [version for version in every if not version.deleted]
    if permanent and living:
        raise SubjectNotDeletedError(subject)
    if not permanent and not living:
        raise SubjectDeletedError(subject)
    for version in every:
        _check_users(catalogue, version)
    if permanent:
        gone = [remove_version(subject, version.version) for version in every]
        return [*gone, keep_ids(catalogue.highest_ids)], [v.version for v in every]
    marked = delete_subject(subject, living[-1].version)
    return [marked, *_forget_settings(catalogue, subject)], [v.version for v in living]


def remove_number(
    catalogue: Catalogue, subject: str, number: int, *, permanent: bool
) -> tuple[Changes, int]:
    """Delete one version of a subject: softly, or for good after that."""
    check_writable(catalogue, subject)
    catalogue.require(subject, deleted=True)
    version = catalogue.version(subject, number, deleted=permanent or number > 0)
    if permanent and not version.deleted:
        raise VersionNotDeletedError(subject, version.version)
    if not permanent and version.deleted:
        raise VersionDeletedError(subject, version.version)
    _check_users(catalogue, version)
    if permanent:
        gone = remove_version(subject, version.version)
        return (gone, keep_ids(catalogue.highest_ids)), version.version
    changes = [put_version(replace(version, deleted=True))]
    if len(catalogue.versions(subject)) == 1:
        changes += _forget_settings(catalogue, subject)
    return changes, version.version


def _check_users(catalogue: Catalogue, version: Version) -> None:
    users = [
        user
        for user in catalogue.users(version.subject, version.version)
        if user.subject != version.subject
    ]
    if users:
        ids = sorted({user.id for user in users})
        raise ReferenceExistsError(version.subject, version.version, ids)


def _forget_settings(catalogue: Catalogue, subject: str) -> list[Change]:
    changes = []
    if catalogue.config(subject) is not None:
        changes.append(put_config(subject, None))
    if catalogue.mode(subject) is not None:
        changes.append(put_mode(subject, None))
    return changes


def set_config(
    catalogue: Catalogue, subject: str | None, given: Mapping[str, Any]
) -> tuple[Changes, Mapping[str, Any]]:
    """Lay parts of a configuration over what is set; a part given as None is removed."""
    if subject is not None:
        check_writable(catalogue, subject)
    merged = {**(catalogue.config(subject) or {}), **given}
    kept = {name: value for name, value in merged.items() if value is not None}
    kept.setdefault("compatibilityLevel", catalogue.config_in_force(subject)["compatibilityLevel"])
    kept["compatibilityLevel"] = str(Level(kept["compatibilityLevel"]))
    return (put_config(subject, kept),), kept


def set_mode(
    catalogue: Catalogue, subject: str | None, mode: Mode, *, force: bool
) -> tuple[Changes, Mode]:
    """Set a mode; importing needs an empty place, since ids are then given from outside."""
    prefix = ":*:" if subject is None else subject
    if mode is Mode.IMPORT and not force and catalogue.mode_in_force(subject) is not mode:
        taken = catalogue.subjects(prefix) if subject is None else catalogue.versions(subject)
        if taken:
            raise NotPermittedError(
                "Cannot import since found existing subjects.",
                "Delete them permanently first, or give force=true.",
            )
    return (put_mode(subject, mode),), mode
