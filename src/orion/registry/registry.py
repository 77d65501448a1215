"""The registry: asks the catalogue, and changes it through the log alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from orion.registry import registration
from orion.registry.catalogue import LATEST, Catalogue
from orion.registry.change_log import ChangeLog, MemoryLog
from orion.registry.compatibility import Level
from orion.registry.errors import (
    CompatibilityNotSetError,
    ContextNotEmptyError,
    ModeNotSetError,
    SchemaNotFoundError,
    SubjectNotFoundError,
    VersionNotFoundError,
)
from orion.registry.lookup import Lookup
from orion.registry.parsed import render
from orion.registry.record import decode_change, put_config, put_mode
from orion.registry.registration import Changes, Request
from orion.registry.schema import Mode, Schema, Version
from orion.registry.subject import DEFAULT_CONTEXT, EVERY_CONTEXT

Result = TypeVar("Result")


@dataclass(frozen=True)
class Verdict:
    """Whether a schema may follow, by which level, and why not."""

    level: Level
    reasons: tuple[str, ...] = ()
    advice: str = ""

    @property
    def is_compatible(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons


class Registry:
    """Subjects, versions and rules of one log; threads may share it."""

    def __init__(
        self,
        make_log: Callable[[Callable[[bytes | None, bytes | None], None]], ChangeLog],
        *,
        level: Level = Level.BACKWARD,
    ) -> None:
        self._catalogue = Catalogue(level=level)
        self._lookup = Lookup(self._catalogue)
        self._log = make_log(self._take)

    @classmethod
    def in_memory(cls) -> "Registry":
        """Return a registry that lives as long as its process."""
        return cls(MemoryLog)

    def open(self) -> None:
        """Read the log to its end; called once, before anything else."""
        self._log.open()

    def close(self) -> None:
        """Stop reading the log."""
        self._log.close()

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        change = decode_change(key, value)
        if change is not None:
            self._catalogue.apply(change)

    def _change(self, make: Callable[[], tuple[Changes, Result]]) -> Result:
        def encoded() -> tuple[list[tuple[bytes, bytes | None]], Result]:
            changes, result = make()
            return [change.encode() for change in changes], result

        return self._log.decide(encoded)

    def register(self, request: Request) -> Version:
        """Register a schema under a subject, or return the version it is already."""
        with self._log.lock:
            # Most producers register what is there: that needs no turn at the log.
            changes, known = registration.register(self._lookup, request)
        if not changes:
            return known
        return self._change(lambda: registration.register(self._lookup, request))

    def find(
        self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False
    ) -> Version:
        """Return the version of a subject that is this schema."""
        with self._log.lock:
            self._catalogue.require(subject, deleted=deleted)
            pinned = self._lookup.pin(subject, schema)
            parsed = self._lookup.parse(subject, pinned, normalize=normalize)
            found = self._lookup.find(subject, pinned, parsed.identity, deleted=deleted)
        if found is None:
            raise SchemaNotFoundError(f"of that content in subject '{subject}'")
        return found

    def check(
        self, subject: str, schema: Schema, *, version: int | None = None, normalize: bool = False
    ) -> Verdict:
        """Tell whether a schema could be registered: towards one version, or those that count."""
        with self._log.lock:
            level = self._lookup.level(subject)
            pinned = self._lookup.pin(subject, schema)
            parsed = self._lookup.parse(subject, pinned, normalize=normalize)
            if version is None:
                breaches = self._lookup.breaches(subject, pinned, parsed)
            elif version == LATEST and not self._catalogue.versions(subject):
                breaches = []
            else:
                known = self._known(subject, version)
                breaches = self._lookup.breaches_with(known, parsed, subject)
        texts = tuple(dict.fromkeys(breach.text for breach in breaches))
        return Verdict(level, texts, breaches[0].advice if breaches else level.advice)

    def _known(self, subject: str, version: int) -> Version:
        try:
            return self._catalogue.version(subject, version)
        except SubjectNotFoundError as error:
            raise VersionNotFoundError(subject, version) from error

    def subjects(
        self, prefix: str = EVERY_CONTEXT, *, deleted: bool = False, only_deleted: bool = False
    ) -> list[str]:
        """Return the names of subjects that begin so."""
        with self._log.lock:
            return self._catalogue.subjects(prefix, deleted=deleted, only_deleted=only_deleted)

    def schemas(
        self, prefix: str = EVERY_CONTEXT, *, deleted: bool = False, latest: bool = False
    ) -> list[Version]:
        """Return the versions of every subject that begins so."""
        with self._log.lock:
            found = list(self._catalogue.every(prefix, deleted=deleted))
        return list({version.subject: version for version in found}.values()) if latest else found

    def versions(
        self, subject: str, *, deleted: bool = False, only_deleted: bool = False
    ) -> list[Version]:
        """Return the versions of a subject that has some."""
        with self._log.lock:
            self._catalogue.require(subject, deleted=deleted or only_deleted)
            return self._catalogue.versions(subject, deleted=deleted, only_deleted=only_deleted)

    def version(self, subject: str, number: int = LATEST, *, deleted: bool = False) -> Version:
        """Return one version of a subject; without a number the latest."""
        with self._log.lock:
            return self._catalogue.version(subject, number, deleted=deleted)

    def with_id(self, identity: int, *, context: str = DEFAULT_CONTEXT) -> list[Version]:
        """Return the versions that have an id, deleted ones included."""
        with self._log.lock:
            found = self._catalogue.with_id(context, identity)
        if not found:
            raise SchemaNotFoundError(str(identity))
        return found

    def with_guid(self, guid: str) -> list[Version]:
        """Return one version for each id that the schema of a global identity has."""
        with self._log.lock:
            found = self._catalogue.with_guid(guid.lower())
        if not found:
            raise SchemaNotFoundError(guid)
        return found

    def highest_id(self, context: str = DEFAULT_CONTEXT) -> int:
        """Return the highest id that was given in a context."""
        with self._log.lock:
            return self._catalogue.highest_ids.get(context, 0)

    def text(self, version: Version, form: str = "") -> str:
        """Return a version's schema in a form that its kind has."""
        if not form:
            return version.schema.text
        with self._log.lock:
            return render(self._lookup.parse(version.subject, version.schema), form)

    def users(self, subject: str, number: int) -> list[Version]:
        """Return the versions that refer to a version."""
        with self._log.lock:
            version = self._catalogue.version(subject, number)
            return self._catalogue.users(version.subject, version.version)

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete every version of a subject and return their numbers."""
        return self._change(
            lambda: registration.remove_subject(self._catalogue, subject, permanent=permanent)
        )

    def delete_version(self, subject: str, number: int, *, permanent: bool = False) -> int:
        """Delete one version of a subject and return its number."""
        return self._change(
            lambda: registration.remove_number(
                self._catalogue, subject, number, permanent=permanent
            )
        )

    def contexts(self) -> list[str]:
        """Return the contexts."""
        with self._log.lock:
            return self._catalogue.contexts()

    def delete_context(self, context: str) -> None:
        """Check that a context has no subjects: one without any is gone by itself."""
        with self._log.lock:
            if self._catalogue.subjects(f":{context}:", deleted=True):
                raise ContextNotEmptyError(context)

    def config(self, subject: str | None, *, in_force: bool = False) -> Mapping[str, Any]:
        """Return the configuration of a subject; in force: with what it inherits."""
        with self._log.lock:
            own = self._catalogue.config(subject)
            if own is None and subject is not None and not in_force:
                raise CompatibilityNotSetError(subject)
            return self._catalogue.config_in_force(subject) if in_force or own is None else own

    def set_config(self, subject: str | None, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Set parts of a configuration and return all of it."""
        return self._change(lambda: registration.set_config(self._catalogue, subject, given))

    def unset_config(self, subject: str | None) -> Mapping[str, Any]:
        """Remove a configuration and return what it was."""

        def make() -> tuple[Changes, Mapping[str, Any]]:
            own = self._catalogue.config(subject)
            if own is None and subject is not None:
                raise SubjectNotFoundError(subject)
            former = self._catalogue.config_in_force(None) if own is None else own
            return ([] if own is None else [put_config(subject, None)]), former

        return self._change(make)

    def mode(self, subject: str | None, *, in_force: bool = False) -> Mode:
        """Return the mode of a subject; in force: with what it inherits."""
        with self._log.lock:
            own = self._catalogue.mode(subject)
            if own is None and subject is not None and not in_force:
                raise ModeNotSetError(subject)
            return self._catalogue.mode_in_force(subject) if in_force or own is None else own

    def set_mode(self, subject: str | None, mode: Mode, *, force: bool = False) -> Mode:
        """Set the mode of a subject, a context or the whole registry."""
        return self._change(
            lambda: registration.set_mode(self._catalogue, subject, mode, force=force)
        )

    def unset_mode(self, subject: str | None) -> Mode:
        """Remove a mode and return what it was."""

        def make() -> tuple[Changes, Mode]:
            own = self._catalogue.mode(subject)
            if own is None and subject is not None:
                raise SubjectNotFoundError(subject)
            former = self._catalogue.mode_in_force(None) if own is None else own
            return ([] if own is None else [put_mode(subject, None)]), former

        return self._change(make)
