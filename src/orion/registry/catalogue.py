"""Everything registered, as reading the log from its beginning gives it; pure."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from orion.registry.compatibility import Level
from orion.registry.errors import (
    InvalidVersionError,
    SubjectNotFoundError,
    VersionNotFoundError,
)
from orion.registry.guid import guid_of
from orion.registry.record import Change, read_version
from orion.registry.schema import Mode, Version
from orion.registry.subject import DEFAULT_CONTEXT, EVERY_CONTEXT, split_subject

logger = logging.getLogger(__name__)

Config = Mapping[str, Any]
LATEST = -1
_LARGEST = 2**31 - 1


def parse_version(text: str) -> int:
    """Return a version's number; LATEST for `latest` and -1."""
    if text in ("latest", "-1"):
        return LATEST
    if text.isascii() and text.isdigit() and 1 <= int(text) <= _LARGEST:
        return int(text)
    raise InvalidVersionError(text)


class Catalogue:
    """Subjects, versions, configurations and modes; changed by records alone."""

    def __init__(self, *, level: Level = Level.BACKWARD) -> None:
        self._default_level = level
        self._subjects: dict[str, dict[int, Version]] = {}
        self._configs: dict[str | None, Config] = {}
        self._modes: dict[str | None, Mode] = {}
        self._by_id: dict[tuple[str, int], list[Version]] = {}
        self._highest: dict[str, int] = {}

    def apply(self, change: Change) -> None:
        """Take in a record; one that is not understood is named and passed by."""
        kinds: dict[str, Callable[[Change], None]] = {
            "SCHEMA": self._apply_schema,
            "DELETE_SUBJECT": self._apply_deletion,
            "CLEAR_SUBJECT": self._apply_clearing,
            "CONFIG": self._apply_config,
            "MODE": self._apply_mode,
            "NOOP": self._apply_ids,
        }
        act = kinds.get(str(change.key.get("keytype")))
        try:
            if act is not None:
                act(change)
        except (KeyError, TypeError, ValueError) as error:
            logger.warning("a record of the registry was not understood: %s (%s)", change, error)

    def _apply_schema(self, change: Change) -> None:
        subject, number = str(change.key["subject"]), int(change.key["version"])
        versions = self._subjects.setdefault(subject, {})
        former = versions.pop(number, None)
        if former is not None:
            self._by_id[self._place(former)].remove(former)
        if change.value is not None:
            version = read_version(change.value)
            versions[number] = version
            context, identity = self._place(version)
            self._by_id.setdefault((context, identity), []).append(version)
            self._highest[context] = max(self._highest.get(context, 0), identity)
        if not versions:
            del self._subjects[subject]

    def _apply_deletion(self, change: Change) -> None:
        if change.value is None:
            return
        last = int(change.value["version"])
        for number, version in dict(self._subjects.get(str(change.key["subject"]), {})).items():
            if number <= last and not version.deleted:
                deleted = replace(version, deleted=True)
                self._subjects[version.subject][number] = deleted
                same = self._by_id[self._place(version)]
                same[same.index(version)] = deleted

    def _apply_clearing(self, change: Change) -> None:
        for version in self._subjects.pop(str(change.key["subject"]), {}).values():
            self._by_id[self._place(version)].remove(version)

    def _apply_config(self, change: Change) -> None:
        subject = change.key.get("subject")
        if change.value is None:
            self._configs.pop(subject, None)
        else:
            self._configs[subject] = {k: v for k, v in change.value.items() if k != "subject"}

    def _apply_mode(self, change: Change) -> None:
        subject = change.key.get("subject")
        if change.value is None:
            self._modes.pop(subject, None)
        else:
            self._modes[subject] = Mode(change.value["mode"])

    def _apply_ids(self, change: Change) -> None:
        for context, highest in ((change.value or {}).get("ids") or {}).items():
            self._highest[context] = max(self._highest.get(context, 0), int(highest))

    def _place(self, version: Version) -> tuple[str, int]:
        return split_subject(version.subject)[0], version.id

    @property
    def highest_ids(self) -> Mapping[str, int]:
        """The highest id ever given in each context."""
        return dict(self._highest)

    def next_id(self, context: str) -> int:
        """Return the id of the next new schema of a context."""
        return self._highest.get(context, 0) + 1

    def contexts(self) -> list[str]:
        """Return the contexts that have subjects; the default one always."""
        return sorted({DEFAULT_CONTEXT, *(split_subject(name)[0] for name in self._subjects)})

    def subjects(
        self, prefix: str = EVERY_CONTEXT, *, deleted: bool = False, only_deleted: bool = False
    ) -> list[str]:
        """Return the subjects that begin so and have a version that counts."""
        return [
            name
            for name in sorted(self._subjects)
            if _begins(name, prefix)
            and _counts(self._subjects[name].values(), deleted, only_deleted)
        ]

    def every(self, prefix: str = EVERY_CONTEXT, *, deleted: bool = False) -> Iterator[Version]:
        """Yield the versions of every subject that begins so, in order."""
        for name in self.subjects(prefix, deleted=deleted):
            yield from self.versions(name, deleted=deleted)

    def versions(
        self, subject: str, *, deleted: bool = False, only_deleted: bool = False
    ) -> list[Version]:
        """Return the versions of a subject in order; none where it is unknown."""
        found = self._subjects.get(self.resolve(subject), {})
        return [
            found[number]
            for number in sorted(found)
            if (only_deleted and found[number].deleted)
            or (not only_deleted and (deleted or not found[number].deleted))
        ]

    def require(self, subject: str, *, deleted: bool = False) -> list[Version]:
        """Return the versions of a subject that has some."""
        found = self.versions(subject, deleted=deleted)
        if not found:
            raise SubjectNotFoundError(subject, self.subjects())
        return found

    def version(self, subject: str, number: int, *, deleted: bool = False) -> Version:
        """Return one version of a subject; LATEST: the last one that is not deleted."""
        found = self.require(subject, deleted=deleted)
        if number == LATEST:
            return found[-1]
        for version in found:
            if version.version == number:
                return version
        raise VersionNotFoundError(subject, number)

    def with_id(self, context: str, identity: int) -> list[Version]:
        """Return every version that has an id, deleted ones included."""
        return list(self._by_id.get((context, identity), ()))

    def with_guid(self, guid: str) -> list[Version]:
        """Return one version for each id that a schema has, in whatever context."""
        firsts = (versions[0] for versions in self._by_id.values() if versions)
        return [version for version in firsts if guid_of(version.schema) == guid]

    def same_ids(self, context: str) -> Iterator[Version]:
        """Yield one version for each id of a context."""
        for (place, _), versions in self._by_id.items():
            if place == context and versions:
                yield versions[0]

    def users(self, subject: str, number: int) -> list[Version]:
        """Return the versions that refer to a version and are not deleted."""
        return [
            version
            for versions in self._subjects.values()
            for version in versions.values()
            if not version.deleted
            and any(r.subject == subject and r.version == number for r in version.schema.references)
        ]

    def resolve(self, subject: str) -> str:
        """Return the subject that an alias stands for, or the subject itself."""
        alias = self._configs.get(subject, {}).get("alias")
        return alias if isinstance(alias, str) and alias else subject

    def config(self, subject: str | None) -> Config | None:
        """Return the configuration set for exactly this subject, context or registry."""
        return self._configs.get(subject)

    def config_in_force(self, subject: str | None) -> Config:
        """Return the configuration that counts for a subject: its own, its context's, the rest."""
        merged: dict[str, Any] = {"compatibilityLevel": str(self._default_level)}
        for scope in reversed(_scopes(subject)):
            merged |= self._configs.get(scope, {})
        return merged

    def mode(self, subject: str | None) -> Mode | None:
        """Return the mode set for exactly this subject, context or registry."""
        return self._modes.get(subject)

    def mode_in_force(self, subject: str | None) -> Mode:
        """Return the mode that counts for a subject; a global override beats everything."""
        if self._modes.get(None) is Mode.READONLY_OVERRIDE:
            return Mode.READONLY_OVERRIDE
        found = (self._modes[scope] for scope in _scopes(subject) if scope in self._modes)
        return next(found, Mode.READWRITE)


def _scopes(subject: str | None) -> list[str | None]:
    """Return where a setting of a subject is looked for, the nearest first."""
    if subject is None:
        return [None]
    context, name = split_subject(subject)
    scopes: list[str | None] = [subject] if name else []
    return [*scopes, *([] if context == DEFAULT_CONTEXT else [f":{context}:"]), None]


def _begins(name: str, prefix: str) -> bool:
    if prefix.startswith(EVERY_CONTEXT):
        return split_subject(name)[1].startswith(prefix.removeprefix(EVERY_CONTEXT))
    context, start = split_subject(prefix)
    own, rest = split_subject(name)
    return own == context and rest.startswith(start)


def _counts(versions: Any, deleted: bool, only_deleted: bool) -> bool:
    if only_deleted:
        return all(version.deleted for version in versions)
    return deleted or any(not version.deleted for version in versions)
