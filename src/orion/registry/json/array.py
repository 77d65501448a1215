"""Arrays of JSON Schema: their items one by one, the rest, and how many there may be."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from orion.registry.conflict import Conflict
from orion.registry.json.limit import limit_conflicts
from orion.registry.json.shape import Shape, shape_of

if TYPE_CHECKING:
    from orion.registry.json.comparison import Comparison


def compare_arrays(
    comparison: "Comparison", old: Shape, new: Shape, path: str
) -> Iterator[Conflict]:
    """Yield what the new array refuses of the old one's documents."""
    yield from _compare_all(comparison, old, new, path)
    yield from _compare_leading(comparison, old, new, path)
    yield from _compare_rest(comparison, old, new, path)
    for word, rule, lower in (("maxItems", "MAX_ITEMS", False), ("minItems", "MIN_ITEMS", True)):
        yield from limit_conflicts(
            old.word(word), new.word(word), f"{path}/{word}", rule=rule, lower=lower
        )
    if new.word("uniqueItems") and not old.word("uniqueItems"):
        text = "the reader wants every item once"
        yield Conflict("UNIQUE_ITEMS_ADDED", f"{path}/uniqueItems", text)


def _leading(shape: Shape) -> list[Any]:
    """Return the schemas of the first items; the newest draft gave them a word of their own."""
    found = shape.word("prefixItems")
    if isinstance(found, list):
        return found
    found = shape.word("items")
    return found if isinstance(found, list) else []


def _all(shape: Shape) -> Any:
    """Return the one schema of every item, or None."""
    found = shape.word("items")
    return None if isinstance(found, list) or "prefixItems" in shape.body else found


def _rest(shape: Shape) -> Any:
    """Return what items after the leading ones must be: True for anything, False for none."""
    if not _leading(shape):
        return True
    found = shape.body.get("items" if "prefixItems" in shape.body else "additionalItems", True)
    return True if found == {} else found


def _compare_all(comparison: "Comparison", old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
    before, after = _all(old), _all(new)
    if after is None or (before is None and shape_of(new.place.part(after)).kind == "empty"):
        return
    if before is None:
        text = "the reader has a schema for the items, the writer had none"
        yield Conflict("SCHEMA_ADDED", f"{path}/items", text)
        return
    yield from comparison.compare(old.place.part(before), new.place.part(after), f"{path}/items")


def _compare_leading(
    comparison: "Comparison", old: Shape, new: Shape, path: str
) -> Iterator[Conflict]:
    before, after = _leading(old), _leading(new)
    for number in range(max(len(before), len(after))):
        place = f"{path}/items/{number}"
        if number >= len(after):
            yield from _removed(comparison, old, new, before[number], place)
        elif number >= len(before):
            yield from _added(comparison, old, new, after[number], place)
        else:
            yield from comparison.compare(
                old.place.part(before[number]), new.place.part(after[number]), place
            )


def _removed(
    comparison: "Comparison", old: Shape, new: Shape, former: Any, path: str
) -> Iterator[Conflict]:
    rest, place = _rest(new), old.place.part(former)
    if rest is True:
        return
    if rest is False:
        if shape_of(place).kind != "false":
            rule = "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"
            yield Conflict(rule, path, "the reader, which is closed, has no place for the item")
        return
    found = comparison.compare(place, new.place.part(rest), path)
    yield from found
    if found:
        rule = "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
        yield Conflict(rule, path, "the item is gone, and the reader's other items do not take it")


def _added(
    comparison: "Comparison", old: Shape, new: Shape, fresh: Any, path: str
) -> Iterator[Conflict]:
    rest, place = _rest(old), new.place.part(fresh)
    if rest is False:
        return
    if rest is True:
        if shape_of(place).kind != "empty":
            rule = "ITEM_ADDED_TO_OPEN_CONTENT_MODEL"
            text = "the item is new to the reader, and the writer allowed anything there"
            yield Conflict(rule, path, text)
        return
    found = comparison.compare(old.place.part(rest), place, path)
    yield from found
    if found:
        rule = "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
        yield Conflict(rule, path, "the reader's item does not take what the writer allowed there")


def _compare_rest(
    comparison: "Comparison", old: Shape, new: Shape, path: str
) -> Iterator[Conflict]:
    before, after = _rest(old), _rest(new)
    place = f"{path}/additionalItems"
    if after is True or before is False:
        return
    if after is False:
        text = "the reader takes no further items, the writer's documents may have some"
        yield Conflict("ADDITIONAL_ITEMS_REMOVED", place, text)
    elif before is True:
        text = "the reader takes further items of one kind only, the writer took any"
        yield Conflict("ADDITIONAL_ITEMS_NARROWED", place, text)
    else:
        yield from comparison.compare(old.place.part(before), new.place.part(after), place)
