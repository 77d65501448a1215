"""What is called safe takes every document it took: jsonschema is asked about hundreds of them."""

import itertools
import json
from typing import Any

import pytest
from jsonschema.validators import Draft7Validator, validator_for
from tests.unit.registry.test_compatibility import cases

from orion.registry import Kind

SCALARS: list[Any] = [
    None,
    True,
    0,
    1,
    2,
    4,
    5,
    6,
    9,
    10,
    12,
    20,
    1.5,
    -1,
    "",
    "a",
    "b",
    "c",
    "abcdef",
]
FEW: list[Any] = [None, 1, 1.5, "a", {"a": 1}, {"a": "x"}, [1], ["a", 1]]
KEYS = ("a", "b", "c", "n", "o", "s_a", "v", "next", "kids")


def documents() -> list[Any]:
    objects: list[Any] = [{}]
    for count in (1, 2):
        for keys in itertools.combinations(KEYS, count):
            for values in itertools.product(FEW[: 8 // count], repeat=count):
                objects.append(dict(zip(keys, values, strict=True)))
    arrays = [
        list(values) for count in range(4) for values in itertools.product(FEW[:4], repeat=count)
    ]
    nested = [{"v": 1, "kids": [{"v": value}]} for value in FEW[:4]]
    nested += [{"v": 1, "next": {"v": value, "next": None}} for value in FEW[:4]]
    return [*SCALARS, *objects, *arrays, *nested]


DOCUMENTS = documents()
# A reader fills in defaults before it judges; a validator does not.
SAFE = [
    pytest.param(old, new, id=f"{way} {case['name']}")
    for case in cases(Kind.JSON)
    for way, old, new in (
        ("backward", case["old"], case["new"]),
        ("forward", case["new"], case["old"]),
    )
    if case[way] and "default" not in case["name"]
]


def valid(schema: Any) -> set[int]:
    validator = validator_for(schema, default=Draft7Validator)(schema)
    return {number for number, each in enumerate(DOCUMENTS) if validator.is_valid(each)}


@pytest.mark.parametrize(("old", "new"), SAFE)
def test_no_document_is_refused_after_a_safe_change(old: Any, new: Any) -> None:
    lost = valid(old) - valid(new)
    assert not lost, json.dumps(DOCUMENTS[min(lost)])
