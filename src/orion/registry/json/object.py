"""Objects of JSON Schema: members that come and go, in open, closed and partly open ones."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from orion.registry.conflict import Conflict
from orion.registry.json.limit import limit_conflicts
from orion.registry.json.shape import Shape, shape_of

if TYPE_CHECKING:
    from orion.registry.json.comparison import Comparison
    from orion.registry.json.parse import Place


def compare_objects(
    comparison: "Comparison", old: Shape, new: Shape, path: str
) -> Iterator[Conflict]:
    """Yield what the new object refuses of the old one's documents."""
    yield from _compare_properties(comparison, old, new, path)
    yield from _compare_required(old, new, path)
    yield from _compare_dependencies(comparison, old, new, path)
    yield from _compare_additional(comparison, old, new, path)
    yield from _compare_sizes(old, new, path)


def _properties(shape: Shape) -> dict[str, Any]:
    found = shape.word("properties")
    return found if isinstance(found, dict) else {}


def _required(shape: Shape) -> list[str]:
    found = shape.word("required")
    return found if isinstance(found, list) else []


def _additional(shape: Shape) -> Any:
    """Return what unknown members must be: True for anything, False for none, or a schema."""
    word = "additionalProperties"
    if word not in shape.body:
        word = "unevaluatedProperties"
    found = shape.body.get(word, True)
    return True if found == {} else found


def _patterns(shape: Shape) -> dict[str, Any]:
    found = shape.word("patternProperties")
    return found if isinstance(found, dict) else {}


def _is_open(shape: Shape) -> bool:
    return not _patterns(shape) and _additional(shape) is True


def _cover(shape: Shape, name: str) -> "Place | None":
    """Return the schema that a partly open object has for members of a name."""
    for pattern, body in _patterns(shape).items():
        if re.search(pattern, name):
            return shape.place.part(body)
    extra = _additional(shape)
    return shape.place.part(extra) if isinstance(extra, dict) else None


def _compare_properties(
    comparison: "Comparison", old: Shape, new: Shape, path: str
) -> Iterator[Conflict]:
    before, after = _properties(old), _properties(new)
    for name in [*before, *(name for name in after if name not in before)]:
        place = f"{path}/properties/{name}"
        if name not in after:
            yield from _removed(comparison, old, new, name, place)
        elif name not in before:
            yield from _added(comparison, old, new, name, place)
        else:
            yield from comparison.compare(
                old.place.part(before[name]), new.place.part(after[name]), place
            )


def _removed(
    comparison: "Comparison", old: Shape, new: Shape, name: str, path: str
) -> Iterator[Conflict]:
    if _is_open(new):
        return
    former = old.place.part(_properties(old)[name])
    cover = _cover(new, name)
    if cover is not None:
        found = comparison.compare(former, cover, path)
        yield from found
        if found:
            rule = "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            text = f"property '{name}' is gone, and what the reader has for others does not take it"
            yield Conflict(rule, path, text)
    elif shape_of(former).kind != "false":
        rule = "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
        yield Conflict(rule, path, f"property '{name}' is unknown to the reader, which is closed")


def _added(
    comparison: "Comparison", old: Shape, new: Shape, name: str, path: str
) -> Iterator[Conflict]:
    fresh = new.place.part(_properties(new)[name])
    if _is_open(old):
        if shape_of(fresh).kind != "empty":
            rule = "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
            text = (
                f"property '{name}' is new to the reader, and the writer's documents, which are"
                " open, may hold anything under that name"
            )
            yield Conflict(rule, path, text)
        return
    cover = _cover(old, name)
    if cover is not None:
        found = comparison.compare(cover, fresh, path)
        yield from found
        if found:
            rule = "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            text = f"property '{name}' of the reader does not take what the writer allowed there"
            yield Conflict(rule, path, text)
    if name in _required(new) and not _has_default(fresh):
        rule = "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
        text = (
            f"property '{name}' is required by the reader, has no default, and the writer had none"
        )
        yield Conflict(rule, path, text)


def _compare_required(old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
    before, after = _properties(old), _properties(new)
    for name in before:
        asked = name in after and name in _required(new) and name not in _required(old)
        if asked and not _has_default(new.place.part(after[name])):
            text = f"property '{name}' is required by the reader, has no default, and was optional"
            yield Conflict("REQUIRED_ATTRIBUTE_ADDED", f"{path}/required/{name}", text)


def _compare_dependencies(
    comparison: "Comparison", old: Shape, new: Shape, path: str
) -> Iterator[Conflict]:
    before, after = _dependencies(old), _dependencies(new)
    for name, wanted in after.items():
        place, former = f"{path}/dependencies/{name}", before.get(name)
        if isinstance(wanted, list):
            former = former if isinstance(former, list) else None
            if former is None:
                yield Conflict("DEPENDENCY_ARRAY_ADDED", place, f"'{name}' needs {wanted}, is new")
            elif not set(wanted) <= set(former):
                more = "EXTENDED" if set(former) <= set(wanted) else "CHANGED"
                text = f"'{name}' needs {wanted} for the reader, needed {former}"
                yield Conflict(f"DEPENDENCY_ARRAY_{more}", place, text)
        elif former is None or isinstance(former, list):
            text = f"the dependency of '{name}' is new"
            yield Conflict("DEPENDENCY_SCHEMA_ADDED", place, text)
        else:
            yield from comparison.compare(old.place.part(former), new.place.part(wanted), place)


def _dependencies(shape: Shape) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in ("dependencies", "dependentRequired", "dependentSchemas"):
        part = shape.word(word)
        found |= part if isinstance(part, dict) else {}
    return found


def _compare_additional(
    comparison: "Comparison", old: Shape, new: Shape, path: str
) -> Iterator[Conflict]:
    before, after = _additional(old), _additional(new)
    place = f"{path}/additionalProperties"
    if after is True or before is False:
        return
    if after is False:
        text = "the reader takes no unknown members, the writer's documents may have some"
        yield Conflict("ADDITIONAL_PROPERTIES_REMOVED", place, text)
    elif before is True:
        text = "the reader takes unknown members of one kind only, the writer took any"
        yield Conflict("ADDITIONAL_PROPERTIES_NARROWED", place, text)
    else:
        yield from comparison.compare(old.place.part(before), new.place.part(after), place)


def _compare_sizes(old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
    for word, rule, lower in (
        ("maxProperties", "MAX_PROPERTIES", False),
        ("minProperties", "MIN_PROPERTIES", True),
    ):
        yield from limit_conflicts(
            old.word(word), new.word(word), f"{path}/{word}", rule=rule, lower=lower
        )


def _has_default(place: "Place") -> bool:
    body = place.follow().body
    return isinstance(body, dict) and "default" in body
