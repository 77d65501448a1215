"""Questions about schemas that need them parsed: references, equality, compatibility; pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from orion.model import NotFoundError, OrionError
from orion.registry.catalogue import LATEST, Catalogue
from orion.registry.compatibility import Breach, Earlier, Level, find_breaches, parse_level
from orion.registry.errors import InvalidSchemaError
from orion.registry.parsed import Parsed, Resolved, fingerprint, parse
from orion.registry.schema import Reference, Schema, Version
from orion.registry.subject import join_subject, split_subject

_MAX_REFERENCES = 1_000


class Lookup:
    """Parses what a catalogue holds, and compares with it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        # An id means one schema for ever.
        self._prints: dict[tuple[str, int], str] = {}

    def resolve(self, subject: str, references: tuple[Reference, ...]) -> Resolved:
        """Return the texts that a schema of a subject refers to, those that others need first."""
        found: dict[str, str] = {}
        self._gather(split_subject(subject)[0], references, found)
        return tuple(found.items())

    def _gather(
        self, context: str, references: tuple[Reference, ...], found: dict[str, str]
    ) -> None:
        for reference in references:
            if len(found) > _MAX_REFERENCES:
                raise InvalidSchemaError("", f"it needs more than {_MAX_REFERENCES} others")
            if reference.name in found:
                continue
            version = self._referred(context, reference)
            self._gather(context, version.schema.references, found)
            found[reference.name] = version.schema.text

    def _referred(self, context: str, reference: Reference) -> Version:
        subject = reference.subject
        if not subject.startswith(":."):
            subject = join_subject(context, subject)
        try:
            return self.catalogue.version(subject, reference.version, deleted=True)
        except NotFoundError as error:
            place = f"version {reference.version} of subject '{reference.subject}'"
            reason = f"its reference '{reference.name}' names {place}, which does not exist"
            raise InvalidSchemaError("", reason) from error

    def pin(self, subject: str, schema: Schema) -> Schema:
        """Return the schema with references to the latest version naming that version."""
        context = split_subject(subject)[0]
        pinned = tuple(
            replace(r, version=self._referred(context, r).version) if r.version == LATEST else r
            for r in schema.references
        )
        return replace(schema, references=pinned)

    def parse(self, subject: str, schema: Schema, *, normalize: bool = False) -> Parsed:
        """Parse a schema as one of a subject."""
        references = self.resolve(subject, schema.references)
        return parse(schema.kind, schema.text, references, normalize=normalize)

    def complete(self, subject: str, schema: Schema) -> Schema:
        """Return the schema with metadata and rules that it inherits or that are laid down."""
        versions = self.catalogue.versions(subject)
        former = versions[-1].schema if versions else None
        config = self.catalogue.config_in_force(subject)
        metadata, rules = schema.metadata, schema.rule_set
        if metadata is None:
            metadata = (former.metadata if former else None) or config.get("defaultMetadata")
        if rules is None:
            rules = (former.rule_set if former else None) or config.get("defaultRuleSet")
        return replace(
            schema,
            metadata=_merge(metadata, config.get("overrideMetadata")),
            rule_set=_merge(rules, config.get("overrideRuleSet")),
        )

    def fingerprint(self, version: Version) -> str:
        """Return what tells whether a registered schema is the same as another one."""
        try:
            identity = self.parse(version.subject, version.schema).identity
        except OrionError:
            # Written by a registry that took what this one does not: the text stands for itself.
            identity = version.schema.text
        return fingerprint(version.schema, identity)

    def find(
        self, subject: str, schema: Schema, identity: str, *, deleted: bool = False
    ) -> Version | None:
        """Return the newest version of a subject that is this schema."""
        wanted = fingerprint(schema, identity)
        for version in reversed(self.catalogue.versions(subject, deleted=deleted)):
            known = version
            if schema.metadata is None and schema.rule_set is None:
                # Who asks by the text alone does not know of metadata.
                plain = replace(version.schema, metadata=None, rule_set=None)
                known = replace(version, schema=plain)
            if version.schema.kind is schema.kind and self.fingerprint(known) == wanted:
                return version
        return None

    def find_id(self, context: str, schema: Schema, identity: str) -> int | None:
        """Return the id that this schema has in a context already."""
        wanted = fingerprint(schema, identity)
        for version in self.catalogue.same_ids(context):
            place = (context, version.id)
            if place not in self._prints:
                self._prints[place] = self.fingerprint(version)
            if self._prints[place] == wanted:
                return version.id
        return None

    def level(self, subject: str) -> Level:
        """Return the compatibility level in force for a subject."""
        return parse_level(self.catalogue.config_in_force(subject)["compatibilityLevel"])

    def breaches(self, subject: str, schema: Schema, new: Parsed) -> list[Breach]:
        """Return what a new schema of a subject breaks by the level in force."""
        return find_breaches(new, list(self._earlier(subject, schema)), self.level(subject))

    def breaches_with(self, version: Version, new: Parsed, subject: str) -> list[Breach]:
        """Return what a new schema breaks towards one version, by the level in force."""
        earlier = Earlier(version.version, self.parse(version.subject, version.schema))
        return find_breaches(new, [earlier], self.level(subject))

    def _earlier(self, subject: str, schema: Schema) -> Iterator[Earlier]:
        group = self.catalogue.config_in_force(subject).get("compatibilityGroup")
        for version in self.catalogue.versions(subject):
            if group and _group(version.schema, group) != _group(schema, group):
                continue
            yield Earlier(version.version, self.parse(version.subject, version.schema))


def _group(schema: Schema, name: str) -> object:
    properties = (schema.metadata or {}).get("properties") or {}
    return properties.get(name)


def _merge(
    given: Mapping[str, Any] | None, laid_down: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return metadata or rules with what is laid down put over it, part by part."""
    if not laid_down:
        return given
    merged: dict[str, Any] = dict(given or {})
    for part, value in laid_down.items():
        former = merged.get(part)
        both = isinstance(former, dict) and isinstance(value, dict)
        merged[part] = {**former, **value} if both else value  # type: ignore[dict-item]
    return merged
