"""A request to the registry as its functions see it: names, flags and a body, all checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orion.model import InvalidInputError, nearest
from orion.registry import (
    LATEST,
    InvalidRuleSetError,
    InvalidSchemaError,
    Kind,
    Reference,
    Request,
    Schema,
    check_subject,
    parse_version,
)
from orion.serve.body import BadBodyError

# Stands for an encoded slash while paths are matched; a name can never hold it.
SLASH = "\0"
_SCHEMA_FIELDS = (
    "schema",
    "schemaType",
    "references",
    "metadata",
    "ruleSet",
    "id",
    "version",
    "subject",
)
_LARGEST = 2**31 - 1


class BadQueryError(InvalidInputError):
    """Raised when a parameter of a request cannot be used."""

    def __init__(self, name: str, value: str, expected: str) -> None:
        self.name, self.value = name, value
        super().__init__(f"Parameter '{name}' is '{value}', expected {expected}.")


class BadFieldError(InvalidInputError):
    """Raised when a body has a field of the wrong kind, or one that nobody knows."""

    def __init__(self, name: str, reason: str, fix: str = "") -> None:
        self.name, self.reason = name, reason
        super().__init__(f"Field '{name}' of the body {reason}.", fix=fix or None)


@dataclass(frozen=True)
class Call:
    """One request.

    Args:
        takes_more: Whether the client takes fields that older ones do not know, such as `guid`.
    """

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None
    takes_more: bool = False

    def word(self, name: str) -> str:
        """Return a part of the path."""
        return self.path[name].replace(SLASH, "/")

    def subject(self, *, may_be_context: bool = False) -> str:
        """Return the subject of the path."""
        return check_subject(self.word("subject"), may_be_context=may_be_context)

    def version(self) -> int:
        """Return the version of the path."""
        return parse_version(self.word("version"))

    def flag(self, name: str) -> bool:
        """Return a parameter that is true or absent."""
        return self.query.get(name, "").lower() == "true"

    def number(self, name: str, default: int) -> int:
        """Return a parameter that is a whole number."""
        text = self.query.get(name, "")
        if not text:
            return default
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
            raise BadQueryError(name, text, "a whole number")
        return int(text)

    def page(self, items: list[Any]) -> list[Any]:
        """Return the part of a list that offset and limit ask for."""
        offset, limit = max(0, self.number("offset", 0)), self.number("limit", -1)
        return items[offset:] if limit < 0 else items[offset : offset + limit]

    def fields(self, known: tuple[str, ...]) -> dict[str, Any]:
        """Return the body as an object of known fields."""
        if not isinstance(self.body, dict):
            raise BadBodyError("it is not an object")
        for name in self.body:
            if name not in known:
                raise BadFieldError(name, "is not known", nearest(name, known))
        return self.body

    def request(self, subject: str) -> Request:
        """Return the schema of the body as a registration under a subject."""
        body = self.fields(_SCHEMA_FIELDS)
        return Request(
            subject,
            _read_schema(body),
            normalize=self.flag("normalize"),
            id=_optional_number(body, "id"),
            version=_optional_number(body, "version"),
        )


def _read_schema(body: Mapping[str, Any]) -> Schema:
    text, kind = body.get("schema"), body.get("schemaType") or Kind.AVRO
    if not isinstance(kind, str) or kind not in list(Kind):
        raise InvalidSchemaError(str(kind), f"the known types are {', '.join(Kind)}")
    if not isinstance(text, str) or not text.strip():
        raise InvalidSchemaError(kind, "field 'schema' of the body is empty or no text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidSchemaError(kind, "it holds half a surrogate pair") from error
    return Schema(
        text=text,
        kind=Kind(kind),
        references=tuple(_read_reference(item) for item in _list(body, "references")),
        metadata=read_metadata(body.get("metadata")),
        rule_set=read_rules(body.get("ruleSet")),
    )


def _list(body: Mapping[str, Any], name: str) -> list[Any]:
    found = body.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise BadFieldError(name, "is not a list")
    return found


def _read_reference(item: Any) -> Reference:
    is_whole = isinstance(item, dict) and isinstance(item.get("name"), str)
    if not is_whole or not isinstance(item.get("subject"), str):
        raise BadFieldError("references", "needs a name, a subject and a version for each")
    version = item.get("version", LATEST)
    if not isinstance(version, int) or isinstance(version, bool) or version > _LARGEST:
        raise BadFieldError("references", "has a version that is no number")
    return Reference(item["name"], check_subject(item["subject"]), max(version, LATEST))


def _optional_number(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is None or value == -1:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _LARGEST:
        raise BadFieldError(name, f"is {value!r}, expected a number from 1 to {_LARGEST}")
    return value


def read_metadata(given: Any) -> Mapping[str, Any] | None:
    """Return metadata as it was given, once its shape is checked."""
    if given is None:
        return None
    shapes = {"tags": dict, "properties": dict, "sensitive": list}
    if not isinstance(given, dict):
        raise InvalidRuleSetError("metadata is not an object")
    for name, value in given.items():
        if name not in shapes or not isinstance(value, shapes[name] | None):
            raise InvalidRuleSetError(f"metadata has tags, properties and sensitive, not '{name}'")
    if not all(isinstance(value, str) for value in (given.get("properties") or {}).values()):
        raise InvalidRuleSetError("properties of metadata are texts")
    return given


def read_rules(given: Any) -> Mapping[str, Any] | None:
    """Return a rule set as it was given, once its shape is checked."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InvalidRuleSetError("a rule set is an object")
    for name, rules in given.items():
        if name not in ("domainRules", "migrationRules", "encodingRules", "enableAt"):
            raise InvalidRuleSetError(f"'{name}' is no part of a rule set")
        for rule in rules or () if isinstance(rules, list) else ():
            if not isinstance(rule, dict) or not isinstance(rule.get("name"), str):
                raise InvalidRuleSetError("a rule has no name")
    return given
