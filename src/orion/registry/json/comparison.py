"""Compares two JSON Schemas by the rules of Confluent's registry.

A change is harmless when every document that the old schema takes is taken by the new one. Objects
and arrays differ by whether they are open (unknown members may come), closed, or partly open.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from orion.registry.conflict import Conflict
from orion.registry.json.array import compare_arrays
from orion.registry.json.limit import limit_conflicts
from orion.registry.json.object import compare_objects
from orion.registry.json.parse import JsonSchema, Place
from orion.registry.json.shape import Shape, shape_of


def find_conflicts(reader: JsonSchema, writer: JsonSchema) -> list[Conflict]:
    """Return every change by which the reader may refuse what the writer's schema takes."""
    return list(Comparison().compare(writer.root, reader.root, "#"))


class Comparison:
    """One pass over two schemas; a pair that is being compared is taken to fit."""

    def __init__(self) -> None:
        self._open: set[tuple[object, object]] = set()

    def compare(self, old: Place, new: Place, path: str) -> list[Conflict]:
        """Return what the new schema may refuse of what the old one takes."""
        return self.compare_shapes(shape_of(old), shape_of(new), path)

    def compare_shapes(self, old: Shape, new: Shape, path: str) -> list[Conflict]:
        """Compare schemas whose $refs were followed."""
        if _says_the_same(old, new):
            return []
        pair = (old.identity, new.identity)
        if pair in self._open:
            return []
        self._open.add(pair)
        try:
            return list(self._compare(old, new, path))
        finally:
            self._open.discard(pair)

    def _compare(self, old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
        if old.kind != new.kind and self._fits_choice(old, new, path):
            return
        if old.kind != new.kind:
            if old.kind != "false" and new.kind != "empty":
                text = f"the reader expects {_word(new)}, the writer's documents are {_word(old)}"
                yield Conflict("TYPE_CHANGED", path, text)
            return
        if new.kind in _SIMPLE:
            yield from _SIMPLE[new.kind](old, new, path)
        elif new.kind == "not":
            yield from self._compare_negations(old, new, path)
        elif new.kind == "combined":
            yield from self._compare_choices(old, new, path)
        elif new.kind == "object":
            yield from compare_objects(self, old, new, path)
        elif new.kind == "array":
            yield from compare_arrays(self, old, new, path)

    def _fits_choice(self, old: Shape, new: Shape, path: str) -> bool:
        """Tell whether one schema became a choice, or a choice of one became a schema."""
        if new.kind == "combined" and (len(new.parts) == 1 or new.choice != "allOf"):
            return any(not self.compare_shapes(old, part, path) for part in new.parts)
        if old.kind == "combined" and len(old.parts) == 1:
            return not self.compare_shapes(old.parts[0], new, path)
        return False

    def _compare_negations(self, old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
        before, after = old.place.part(old.word("not")), new.place.part(new.word("not"))
        if self.compare(after, before, f"{path}/not"):
            yield Conflict("NOT_TYPE_EXTENDED", f"{path}/not", "the reader excludes more")

    def _compare_choices(self, old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
        if old.choice != new.choice and not _may_become(old, new):
            text = f"the reader has {new.choice} where the writer had {old.choice}"
            yield Conflict("COMBINED_TYPE_CHANGED", path, text)
            return
        before, after = _distinct(old.parts), _distinct(new.parts)
        if len(before) < len(after) and new.choice == "allOf":
            yield Conflict("PRODUCT_TYPE_EXTENDED", path, "the reader's allOf asks for more")
        if len(before) > len(after) and new.choice != "allOf":
            text = f"the reader's {new.choice} has fewer choices"
            yield Conflict("SUM_TYPE_NARROWED", path, text)
        fits = [
            {n for n, part in enumerate(after) if not self.compare_shapes(each, part, path)}
            for each in before
        ]
        if _matched(fits) < min(len(before), len(after)):
            text = f"a part of the writer's {old.choice} fits no part of the reader's {new.choice}"
            yield Conflict("COMBINED_TYPE_SUBSCHEMAS_CHANGED", path, text)


def _compare_strings(old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
    for word, rule, lower in (
        ("maxLength", "MAX_LENGTH", False),
        ("minLength", "MIN_LENGTH", True),
    ):
        yield from limit_conflicts(
            old.word(word), new.word(word), f"{path}/{word}", rule=rule, lower=lower
        )
    pattern = new.word("pattern")
    if pattern is not None and pattern != old.word("pattern"):
        rule = "PATTERN_ADDED" if old.word("pattern") is None else "PATTERN_CHANGED"
        yield Conflict(rule, f"{path}/pattern", f"the reader asks for the pattern '{pattern}'")


def _compare_numbers(old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
    if new.integer and not old.integer:
        text = "the reader expects integer, the writer's documents are number"
        yield Conflict("TYPE_NARROWED", f"{path}/type", text)
    before, after = _limits(old.body), _limits(new.body)
    for word, rule, lower in (
        ("maximum", "MAXIMUM", False),
        ("minimum", "MINIMUM", True),
        ("exclusiveMaximum", "EXCLUSIVE_MAXIMUM", False),
        ("exclusiveMinimum", "EXCLUSIVE_MINIMUM", True),
    ):
        yield from limit_conflicts(
            before.get(word), after.get(word), f"{path}/{word}", rule=rule, lower=lower
        )
    step, former = new.word("multipleOf"), old.word("multipleOf")
    if step is None or step == former:
        return
    if former is None:
        yield Conflict("MULTIPLE_OF_ADDED", f"{path}/multipleOf", f"multipleOf {step} is new")
    elif former % step:
        rule = "MULTIPLE_OF_CHANGED" if step % former else "MULTIPLE_OF_EXPANDED"
        text = f"multipleOf is {step} for the reader, was {former}"
        yield Conflict(rule, f"{path}/multipleOf", text)


def _limits(body: dict[str, Any]) -> dict[str, Any]:
    """Return the limits as numbers; draft 4 had exclusive ones as marks of the others."""
    found = dict(body)
    for limit, mark in (("maximum", "exclusiveMaximum"), ("minimum", "exclusiveMinimum")):
        if body.get(mark) is True and limit in body:
            found[mark] = found.pop(limit)
        elif isinstance(body.get(mark), bool):
            found.pop(mark)
    return found


def _compare_enums(old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
    after = new.word("enum")
    missing = [value for value in old.word("enum") if value not in after]
    if missing:
        added = any(value not in old.word("enum") for value in after)
        rule = "ENUM_ARRAY_CHANGED" if added else "ENUM_ARRAY_NARROWED"
        shown = ", ".join(repr(value) for value in missing[:5])
        yield Conflict(rule, f"{path}/enum", f"the reader's enum lacks {shown}")


def _compare_constants(old: Shape, new: Shape, path: str) -> Iterator[Conflict]:
    if old.word("const") != new.word("const"):
        text = f"const is {new.word('const')!r} for the reader, was {old.word('const')!r}"
        yield Conflict("CONST_CHANGED", f"{path}/const", text)


_SIMPLE = {
    "string": _compare_strings,
    "number": _compare_numbers,
    "enum": _compare_enums,
    "const": _compare_constants,
}


def _may_become(old: Shape, new: Shape) -> bool:
    if new.choice == "anyOf":
        return True
    if new.choice == "oneOf":
        return len(old.parts) == 1
    return len(old.parts) == 1 and len(new.parts) == 1


def _distinct(parts: Sequence[Shape]) -> list[Shape]:
    kept: list[Shape] = []
    for part in parts:
        if not any(_says_the_same(part, other) for other in kept):
            kept.append(part)
    return kept


def _says_the_same(one: Shape, other: Shape) -> bool:
    whole = one.kind == other.kind and one.choice == other.choice and one.integer == other.integer
    if not whole or len(one.members) != len(other.members):
        return False
    # Equal words mean the same only while they are looked up in the same document.
    same = one.place.body == other.place.body and one.place.resolver is other.place.resolver
    return same or one.place.body is other.place.body


def _matched(fits: Sequence[Iterable[int]]) -> int:
    """Return how many parts can be paired, each with another one that fits it."""
    owner: dict[int, int] = {}

    def place(part: int, tried: set[int]) -> bool:
        for candidate in fits[part]:
            if candidate in tried:
                continue
            tried.add(candidate)
            if candidate not in owner or place(owner[candidate], tried):
                owner[candidate] = part
                return True
        return False

    return sum(place(part, set()) for part in range(len(fits)))


def _word(shape: Shape) -> str:
    if shape.kind == "combined":
        return f"one of a choice ({shape.choice})"
    if shape.kind == "number":
        return "integer" if shape.integer else "number"
    return {"empty": "anything", "false": "nothing"}.get(shape.kind, shape.kind)
