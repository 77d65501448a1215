"""JSON Schema text to a checked document that knows what its $refs mean."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft7Validator, validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7

from orion.registry.errors import InvalidSchemaError

Document = Any
# A place that no $ref names, so that relative names of references are found as they are.
_ROOT = ""
_MAX_DEPTH = 200


@dataclass(frozen=True)
class Place:
    """A schema inside a document, and how its $refs are looked up."""

    body: Document
    resolver: Any

    def follow(self) -> "Place":
        """Return the schema that a $ref means, or the place itself."""
        place, seen = self, 0
        while isinstance(place.body, dict) and isinstance(place.body.get("$ref"), str):
            found = place.resolver.lookup(place.body["$ref"])
            place, seen = Place(found.contents, found.resolver), seen + 1
            if seen > _MAX_DEPTH:
                raise InvalidSchemaError("JSON", "a $ref leads to itself")
        return place

    def part(self, body: Document) -> "Place":
        """Return a schema within this one."""
        if isinstance(body, dict) and "$id" in body:
            resource = Resource.from_contents(body, default_specification=DRAFT7)
            return Place(body, self.resolver.in_subresource(resource))
        return Place(body, self.resolver)


@dataclass(frozen=True)
class JsonSchema:
    """A parsed schema: its document, and the way to look into it."""

    document: Document
    root: Place


def parse_json_schema(text: str, references: Mapping[str, str] | None = None) -> JsonSchema:
    """Return a checked schema.

    Args:
        text: The schema, in JSON.
        references: Texts of other schemas by the name a $ref uses.
    """
    document = _load(text)
    others = {name: _load(given) for name, given in (references or {}).items()}
    try:
        cls = validator_for(document, default=Draft7Validator)
        cls.check_schema(document)
    except SchemaError as error:
        place = "/".join(str(part) for part in error.absolute_path)
        raise InvalidSchemaError("JSON", f"{error.message} (at /{place})") from error
    resource = Resource.from_contents(document, default_specification=DRAFT7)
    resources = [(name, _resource(body)) for name, body in others.items()]
    resources += [(own, _resource(body)) for body in others.values() if (own := _own_id(body))]
    registry: Any = Registry().with_resources(resources)
    own = _own_id(document) or _ROOT
    resolver = registry.with_resource(own, resource).resolver(base_uri=own)
    root = Place(document, resolver)
    _check_references(root)
    return JsonSchema(document, root)


def render_json_schema(schema: JsonSchema, *, normalize: bool = False) -> str:
    """Return the text without blanks; normalized: with its names in order."""
    return json.dumps(
        schema.document, ensure_ascii=False, separators=(",", ":"), sort_keys=normalize
    )


def _load(text: str) -> Document:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSchemaError("JSON", f"it is not JSON ({error})") from error
    if not isinstance(document, dict | bool):
        raise InvalidSchemaError("JSON", "a schema is an object, true or false")
    return document


def _resource(document: Document) -> Any:
    return Resource.from_contents(document, default_specification=DRAFT7)


def _own_id(document: Document) -> str:
    found = document.get("$id", "") if isinstance(document, dict) else ""
    return found if isinstance(found, str) else ""


def _check_references(root: Place) -> None:
    """Refuse a $ref that leads nowhere; nothing is ever fetched from elsewhere."""
    for place in _with_references(root, 0):
        try:
            place.follow()
        except Unresolvable as error:
            reason = f"$ref '{place.body['$ref']}' is neither in it nor among its references"
            raise InvalidSchemaError("JSON", reason) from error


def _with_references(place: Place, depth: int) -> Iterator[Place]:
    if depth > _MAX_DEPTH:
        raise InvalidSchemaError("JSON", f"it is nested more than {_MAX_DEPTH} deep")
    body = place.body
    if isinstance(body, dict):
        if isinstance(body.get("$ref"), str):
            yield place
        for word, part in body.items():
            # Values are no schemas, even where they look like one.
            if word not in ("enum", "const", "default", "examples"):
                yield from _with_references(place.part(part), depth + 1)
    elif isinstance(body, list):
        for part in body:
            yield from _with_references(place.part(part), depth + 1)
