"""The clean path: DuckDB takes the fields of a batch as text, Arrow reads the text as types.

It knows nothing of reasons. A row that lacks a value anywhere, or whose text would read otherwise
from the original digits, is marked and left to the tolerant path.
"""

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from orion.formats.json.fit import fit, fit_scalar
from orion.formats.json.transform import Shape, transform
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

# Batches whose objects have more shapes than this are looked at row by row.
_MOST_SHAPES = 200

Spelling = Mapping[str, Any]


def is_fast(kind: Type) -> bool:
    """Tell whether the clean path can read a type."""
    match kind:
        case Scalar():
            return kind is not Scalar.BYTES
        case Decimal():
            return True
        case Array(element):
            return is_fast(element)
        case Map(key, value):
            return key is Scalar.STRING and isinstance(value, Scalar) and is_fast(value)
        case Struct(fields):
            return _are_fast(fields)


def _are_fast(fields: tuple[Field, ...]) -> bool:
    # DuckDB takes names that differ in case alone for one.
    is_distinct = len({field.name.upper() for field in fields}) == len(fields)
    return bool(fields) and is_distinct and all(is_fast(field.type) for field in fields)


def spelling_of(sample: Any, fields: tuple[Field, ...]) -> dict[str, Any]:
    """Return how a document names the fields, nested ones too; the exact name wins."""
    found: dict[str, Any] = {}
    by_upper = {str(key).upper(): key for key in sample} if isinstance(sample, dict) else {}
    for field in fields:
        exact = isinstance(sample, dict) and field.name in sample
        name = field.name if exact else by_upper.get(field.name.upper(), field.name)
        inner = sample.get(name) if isinstance(sample, dict) else None
        found[field.name] = (name, _inner_spelling(inner, field.type))
    return found


def _inner_spelling(sample: Any, kind: Type) -> Any:
    match kind:
        case Struct(fields):
            return spelling_of(sample, fields)
        case Array(element):
            return _inner_spelling(
                sample[0] if isinstance(sample, list) and sample else {}, element
            )
        case _:
            return None


class FastReader:
    """Reads batches of objects whose fields are spelled alike."""

    def __init__(self, columns: tuple[Field, ...]) -> None:
        self._columns = columns
        self._connection = duckdb.connect(":memory:", config={"threads": "1"})

    def read(self, texts: pa.Array, spelling: Spelling) -> tuple[list[pa.Array], pa.Array]:
        """Return the columns, and which rows must be read again."""
        found, others = self._transform(texts, spelling)
        arrays, doubt = [], found.is_null()
        lacking: dict[str, pa.Array] = {}
        for field in self._columns:
            column = pc.struct_field(found, [spelling[field.name][0]])
            if isinstance(field.type, Scalar | Decimal):
                array, doubtful = fit_scalar(column, field.type)
                # Every scalar is there as text, unless the field is missing or null.
                doubtful = pc.and_(pc.or_(doubtful, array.is_null()), column.is_valid())
                if column.null_count:
                    lacking[field.name] = column.is_null()
            else:
                array, doubtful = fit(column, field.type, spelling[field.name][1])
            arrays.append(array)
            doubt = pc.or_(doubt, doubtful)
        if lacking:
            doubt = pc.or_(doubt, self._doubt_of(lacking, arrays, spelling))
        # The exact name wins over the spelling, if a row has both.
        for column in others:
            doubt = pc.or_(doubt, column.is_valid())
        for name in _inner_names(self._columns, spelling):
            doubt = pc.or_(doubt, pc.match_substring(texts, json.dumps(name)).fill_null(False))
        return arrays, doubt

    def _doubt_of(
        self, lacking: Mapping[str, pa.Array], arrays: list[pa.Array], spelling: Spelling
    ) -> pa.Array:
        """Return which rows lack a field that may be there under another spelling."""
        # A body that is no object has no value at all.
        doubt = functools.reduce(pc.and_, [array.is_null() for array in arrays])
        for name in self._spelled_otherwise(lacking, spelling):
            doubt = pc.or_(doubt, lacking[name])
        return doubt

    def _spelled_otherwise(self, names: Iterable[str], spelling: Spelling) -> list[str]:
        query = "SELECT DISTINCT json_keys(v) FROM batch WHERE json_valid(v) LIMIT $most"
        found = self._connection.execute(query, {"most": _MOST_SHAPES}).fetchall()
        if len(found) == _MOST_SHAPES:
            return list(names)
        keys = {key for (row,) in found for key in row}
        upper = Counter(key.upper() for key in keys)
        return [
            name for name in names if upper[name.upper()] > (1 if spelling[name][0] in keys else 0)
        ]

    def normalise(self, text: str) -> str | None:
        """Return what DuckDB makes of a text that a stricter parser refused."""
        query = "SELECT CASE WHEN json_valid($v) THEN CAST(json($v) AS VARCHAR) END"
        # All rows, though there is one: a result that is not read to its end blocks the connection.
        ((found,),) = self._connection.execute(query, {"v": text}).fetchall()
        normal: str | None = found
        return normal

    def _transform(self, texts: pa.Array, spelling: Spelling) -> tuple[pa.Array, list[pa.Array]]:
        """Return the fields as they are spelled, and what lies under names that would win."""
        shapes = [Shape(_structure(Struct(self._columns), spelling))]
        exact = {f.name: "VARCHAR" for f in self._columns if spelling[f.name][0] != f.name}
        shapes += [Shape(exact, _marks(exact))] if exact else []
        found = transform(self._connection, pa.table({"v": texts}), shapes)
        others = [pc.struct_field(column, [name]) for column in found[1:] for name in exact]
        return found[0], others


def _marks(names: Iterable[str]) -> list[str]:
    """Return what stands in every text that has one of these names; none: nothing need do so."""
    # Letters may be written by their numbers, other signs in more ways.
    plain = all(name.replace("_", "a").isalnum() for name in names)
    return [*names, r"\u"] if plain else []


def _inner_names(columns: tuple[Field, ...], spelling: Spelling) -> list[str]:
    """Return the names inside of structs that are spelled otherwise."""
    names = []
    for field in columns:
        kind, inner = field.type, spelling[field.name][1]
        while isinstance(kind, Array):
            kind = kind.element
        if isinstance(kind, Struct):
            names += [f.name for f in kind.fields if inner[f.name][0] != f.name]
            names += _inner_names(kind.fields, inner)
    return names


def _structure(kind: Type, spelling: Any) -> Any:
    """Return DuckDB's description of a type, every scalar as text."""
    match kind:
        case Struct(fields):
            return {
                spelling[field.name][0]: _structure(field.type, spelling[field.name][1])
                for field in fields
            }
        case Array(element):
            return [_structure(element, spelling)]
        case Map():
            return "MAP(VARCHAR, VARCHAR)"
        case _:
            return "VARCHAR"


@functools.cache
def fast_columns(columns: tuple[Field, ...]) -> bool:
    """Tell whether the clean path can read these columns."""
    return _are_fast(columns)
