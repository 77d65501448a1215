"""Pairs of schemas with their verdicts, and what the levels make of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from orion.registry import Earlier, Kind, Level, Parsed, find_breaches, parse

CASES = Path(__file__).parents[2] / "cases" / "schemas"
FILES = {Kind.AVRO: "avro.jsonl", Kind.JSON: "json.jsonl", Kind.PROTOBUF: "protobuf.jsonl"}
LEAST = {Kind.AVRO: 150, Kind.JSON: 60, Kind.PROTOBUF: 60}


def cases(kind: Kind) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / FILES[kind]).read_text().splitlines()]


def read(kind: Kind, schema: Any) -> Parsed:
    return parse(kind, schema if kind is Kind.PROTOBUF else json.dumps(schema))


EVERY = [pytest.param(k, case, id=f"{k} {case['name']}") for k in Kind for case in cases(k)]


@pytest.mark.parametrize(("kind", "case"), EVERY)
def test_a_pair_is_judged_by_every_level(kind: Kind, case: dict[str, Any]) -> None:
    old, new = read(kind, case["old"]), read(kind, case["new"])
    expected = {
        Level.NONE: True,
        Level.BACKWARD: case["backward"],
        Level.FORWARD: case["forward"],
        Level.FULL: case["backward"] and case["forward"],
    }
    for level, verdict in expected.items():
        for form in {level, Level(f"{level}_TRANSITIVE") if level is not Level.NONE else level}:
            breaches = find_breaches(new, [Earlier(1, old)], form)
            assert (not breaches) == verdict, (form, breaches)
            for breach in breaches:
                assert breach.conflict.rule in breach.text
                assert "the reader" not in breach.text
                assert "the writer" not in breach.text
                assert breach.advice


@pytest.mark.parametrize("kind", Kind)
def test_there_are_enough_pairs_and_none_twice(kind: Kind) -> None:
    names = [case["name"] for case in cases(kind)]
    assert len(names) >= LEAST[kind]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("kind", "case"), EVERY)
def test_a_schema_reads_its_own_data(kind: Kind, case: dict[str, Any]) -> None:
    for schema in (case["old"], case["new"]):
        same = read(kind, schema)
        again = parse(kind, same.text)
        assert again.text == same.text
        assert again.identity == same.identity
        assert find_breaches(again, [Earlier(1, same)], Level.FULL) == []


def avro(*fields: tuple[object, ...]) -> Parsed:
    parts = [
        {"name": f[0], "type": f[1], **({"default": f[2]} if len(f) > 2 else {})} for f in fields
    ]
    return parse(Kind.AVRO, json.dumps({"type": "record", "name": "R", "fields": parts}))


HISTORY = [
    Earlier(1, avro(("a", "int"))),
    Earlier(2, avro(("a", "int"), ("b", "int", 0))),
]


@pytest.mark.parametrize(
    ("level", "allowed"),
    [
        (Level.BACKWARD, True),
        (Level.BACKWARD_TRANSITIVE, False),
        (Level.FORWARD, True),
        (Level.FORWARD_TRANSITIVE, True),
        (Level.FULL, True),
        (Level.FULL_TRANSITIVE, False),
        (Level.NONE, True),
    ],
)
def test_transitive_levels_look_at_every_version(level: Level, allowed: bool) -> None:
    # Version 2 has the field that the new one needs, version 1 does not.
    new = avro(("a", "int"), ("b", "int"))
    breaches = find_breaches(new, HISTORY, level)
    assert (not breaches) == allowed
    assert all(breach.version == 1 for breach in breaches)


def test_forward_transitive_finds_the_oldest_reader() -> None:
    history = [Earlier(1, avro(("a", "int"), ("b", "int"))), Earlier(2, avro(("a", "int")))]
    new = avro(("a", "int"))
    assert find_breaches(new, history, Level.FORWARD) == []
    (breach,) = find_breaches(new, history, Level.FORWARD_TRANSITIVE)
    assert (breach.version, breach.is_backward) == (1, False)
    assert breach.text == (
        "FORWARD (READER_FIELD_MISSING_DEFAULT_VALUE at /fields/1): Field 'b' of record 'R' has no"
        " default, and the new schema's data lacks it."
    )


def test_a_refusal_names_the_field_and_what_changed() -> None:
    inner = {"type": "record", "name": "I", "fields": [{"name": "x", "type": "int"}]}
    other = {"type": "record", "name": "I", "fields": [{"name": "x", "type": "string"}]}
    (breach,) = find_breaches(
        avro(("in", other)), [Earlier(3, avro(("in", inner)))], Level.BACKWARD
    )
    assert breach.text == (
        "BACKWARD (TYPE_MISMATCH at /fields/0/type/fields/0/type): In field 'in.x', the new schema"
        " expects string, version 3's data is int."
    )


@pytest.mark.parametrize(("one", "other"), [(a, b) for a in Kind for b in Kind if a is not b])
def test_kinds_do_not_mix(one: Kind, other: Kind) -> None:
    old, new = (read(kind, cases(kind)[0]["old"]) for kind in (one, other))
    (breach,) = find_breaches(new, [Earlier(1, old)], Level.BACKWARD)
    assert breach.conflict.rule == "SCHEMA_TYPE_CHANGED"


@pytest.mark.parametrize(
    ("level", "word"),
    [(Level.BACKWARD, "consumers first"), (Level.FORWARD, "producers first"), (Level.FULL, "any")],
)
def test_levels_say_who_goes_first(level: Level, word: str) -> None:
    assert word in level.advice
