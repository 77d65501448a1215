"""What a JSON Schema says at its top: one type, one choice, or several things at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orion.registry.json.parse import Place

# A schema without a type is of the type whose words it uses.
_HINTS = {
    "object": (
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "propertyNames",
        "unevaluatedProperties",
    ),
    "array": (
        "items",
        "prefixItems",
        "additionalItems",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
    ),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_CHOICES = ("allOf", "anyOf", "oneOf")


@dataclass(frozen=True)
class Shape:
    """One thing a schema says.

    Args:
        kind: `empty`, `false`, `combined`, `not`, `enum`, `const`, or a type; integers are numbers.
        choice: For combined ones: allOf, anyOf or oneOf.
        members: For combined ones: what is combined, looked into when it is asked for.
        integer: For numbers: whether only whole ones count.
        is_sum: For combined ones: whether it stands for all that one schema says.
    """

    kind: str
    place: Place
    choice: str = ""
    members: tuple["Shape | Place", ...] = ()
    integer: bool = False
    is_sum: bool = False

    @property
    def parts(self) -> list["Shape"]:
        """What is combined."""
        return [shape_of(part) if isinstance(part, Place) else part for part in self.members]

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells this from another thing said in the same place or elsewhere."""
        return id(self.place.body), self.kind, self.choice, self.integer, self.is_sum

    @property
    def body(self) -> dict[str, Any]:
        """The words of the schema."""
        return self.place.body if isinstance(self.place.body, dict) else {}

    def word(self, name: str) -> Any:
        """Return a word's value, or None."""
        return self.body.get(name)


def shape_of(place: Place) -> Shape:
    """Return what a schema says, $refs followed."""
    place = place.follow()
    if isinstance(place.body, bool) or not place.body:
        return Shape("false" if place.body is False else "empty", place)
    parts = tuple(_parts(place))
    if not parts:
        return Shape("empty", place)
    return parts[0] if len(parts) == 1 else Shape("combined", place, "allOf", parts, is_sum=True)


def _parts(place: Place) -> Iterator[Shape]:
    body = place.body
    types = body.get("type")
    if isinstance(types, list):
        each = tuple(_typed(place, name) for name in types)
        yield each[0] if len(each) == 1 else Shape("combined", place, "anyOf", each)
    elif isinstance(types, str):
        yield _typed(place, types)
    else:
        hinted = [kind for kind, words in _HINTS.items() if any(word in body for word in words)]
        yield from (_typed(place, kind) for kind in hinted)
    if "enum" in body:
        yield Shape("enum", place)
    if "const" in body:
        yield Shape("const", place)
    if "not" in body:
        yield Shape("not", place)
    for choice in _CHOICES:
        if isinstance(body.get(choice), list):
            inner = tuple(place.part(part) for part in body[choice])
            yield Shape("combined", place, choice, inner)


def _typed(place: Place, name: str) -> Shape:
    kind = "number" if name == "integer" else name
    return Shape(kind, place, integer=name == "integer")
