"""JSON objects to typed columns, decoded by DuckDB over whole Arrow batches.

A record is bad, with its reason, when it is null, empty, not UTF-8, not JSON, not an object, or
holds a field that its column's type cannot take. A missing field and a JSON null are both null.
A string that spells a number is taken as that number; a fraction or an overflow in a whole-number
column is bad, never rounded. Names match exactly.
"""

import functools
import json
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from orion.formats.json.transform import Shape, to_text, transform
from orion.model import InvalidInputError

_PLAIN = {
    pa.bool_(): "BOOLEAN",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.large_string(): "VARCHAR",
    pa.date32(): "DATE",
}
_WHOLE = {pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INTEGER", pa.int64(): "BIGINT"}
# Whole numbers are read as doubles, so that fractions and overflows stay visible. A double is
# exact below 2^53; the few numbers beyond are read again from their text.
_EXACT = 1 << 53

NULL_VALUE = "the value is null (a tombstone)"
NOT_UTF8 = "the value is not valid UTF-8"


class UnsupportedTypeError(InvalidInputError):
    """Raised when a column's type has no JSON form."""

    def __init__(self, column: str, type_name: str) -> None:
        self.column, self.type_name = column, type_name
        super().__init__(
            f"Column '{column}' has type {type_name}, which JSON cannot carry.",
            fix="Use a text, number, boolean, date, timestamp, array, map or struct.",
        )


class JsonDecoder:
    """Decode batches of JSON objects into the columns of a schema; one per thread.

    A plain query decodes the whole batch; only rows that lack a value are looked at again by the
    query that knows the reasons, since planning that one costs more than decoding a clean batch.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._fields = list(schema)
        self._shape = {field.name: _structure(field.name, field.type) for field in self._fields}
        self._explain = _explain_query(self._fields)
        self._connection = duckdb.connect(":memory:", config={"threads": "1"})

    def decode(self, values: pa.Array) -> tuple[list[pa.Array], pa.Array]:
        """Return the schema's columns, one row a value, and a reason (or null) a value.

        A row whose reason is not null has columns that must not be used.
        """
        texts, is_text = to_text(values)
        batch = pa.table({"v": texts, "ok": is_text})
        (found,) = transform(self._connection, batch, [Shape(self._shape)])
        columns = [_narrow(pc.struct_field(found, [f.name]), f.type) for f in self._fields]
        suspect = _any_null(columns)
        if not pc.any(suspect).as_py():
            return columns, pa.nulls(len(values), pa.string())
        self._connection.register("batch", batch.filter(suspect))
        slow = self._connection.sql(self._explain).to_arrow_table()
        for position, field in enumerate(self._fields):
            exact = slow.column(field.name).combine_chunks()
            columns[position] = _patch(columns[position], suspect, exact)
        reasons = slow.column("reason").combine_chunks()
        return columns, _patch(pa.nulls(len(values), pa.string()), suspect, reasons)


def _narrow(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column in its own type; null where a whole number's double does not fit."""
    if kind not in _WHOLE:
        return column.cast(kind) if column.type != kind else column
    limit = float(min(_EXACT, 1 << (kind.bit_width - 1)))
    fits = pc.and_(pc.less(pc.abs(column), limit), pc.equal(column, pc.trunc(column)))
    return pc.if_else(fits, column, pa.scalar(None, pa.float64())).cast(kind)


def _any_null(columns: list[pa.Array]) -> pa.Array:
    """Return which rows lack a value somewhere, inside of nested values too."""
    suspect = pa.repeat(False, len(columns[0]))
    for column in columns:
        for lacking in _nulls(column):
            suspect = pc.or_(suspect, lacking)
    return suspect


def _nulls(column: pa.Array) -> Iterator[pa.Array]:
    if column.null_count:
        yield column.is_null()
    if pa.types.is_struct(column.type):
        for position in range(column.type.num_fields):
            yield from _nulls(pc.struct_field(column, [position]))
    elif pa.types.is_map(column.type) and column.items.null_count:
        yield pa.repeat(True, len(column))
    elif pa.types.is_list(column.type):
        inner = list(_nulls(column.flatten()))
        if inner:
            lacking = functools.reduce(pc.or_, inner)
            rows = pc.unique(pc.list_parent_indices(column).filter(lacking))
            yield pc.is_in(pa.array(range(len(column)), pa.int64()), value_set=rows)


def _patch(column: pa.Array, mask: pa.Array, values: pa.Array) -> pa.Array:
    """Return the column with the values at the mask's places."""
    if pa.types.is_nested(column.type):
        # Arrow cannot replace nested values in place: take each row from where it is right.
        places = pc.if_else(
            mask,
            pc.add(pc.subtract(pc.cumulative_sum(mask.cast(pa.int64())), 1), len(column)),
            pa.array(range(len(column)), pa.int64()),
        )
        return pa.concat_arrays([column, values.cast(column.type)]).take(places)
    return pc.replace_with_mask(column, mask, values.cast(column.type))


def _explain_query(fields: list[pa.Field]) -> str:
    """Return the query that says why a row cannot be used, and reads large numbers exactly."""
    wanted = json.dumps({field.name: _structure(field.name, field.type) for field in fields})
    checks, columns = [], []
    for position, field in enumerate(fields):
        path = _path(field.name)
        raw = f"s[{_text(field.name)}]"
        alias = f"c{position}"
        narrow = _exact(field.type, raw, path)
        columns.append((alias, narrow, field.name))
        problem = _reason(field, alias, path)
        present = f"coalesce(json_type(v, {path}), 'NULL') <> 'NULL'"
        checks.append(f"WHEN {alias} IS NULL AND {present} THEN {problem}")
        checks += [
            f"WHEN {bad} THEN {_text(f'field {field.name!r} holds an element of the wrong type')}"
            for bad in _inner_checks(field.type, path, alias)
        ]
    # Anything but an object decodes to nothing: only rows without a value are asked for their kind.
    empty = " AND ".join(f"{alias} IS NULL" for alias, _, _ in columns)
    names = ", ".join(f"{alias} AS {_name(name)}" for alias, _, name in columns)
    narrowed = ", ".join(f"{expression} AS {alias}" for alias, expression, _ in columns)
    return f"""
        SELECT {names}, CASE
            WHEN NOT ok THEN {_text(NOT_UTF8)}
            WHEN v IS NULL THEN {_text(NULL_VALUE)}
            WHEN v = '' THEN 'the value is empty'
            WHEN NOT good THEN 'the value is not valid JSON'
            WHEN {empty} AND json_type(v) <> 'OBJECT' THEN 'the value is JSON but not an object'
            {" ".join(checks)} END AS reason
        FROM (SELECT v, ok, good, {narrowed} FROM (
            SELECT v, ok, good, CASE WHEN good THEN json_transform(v, {_text(wanted)}) END AS s
            FROM (SELECT v, ok, coalesce(json_valid(v), false) AS good FROM batch)))
    """


def _structure(name: str, kind: pa.DataType) -> object:
    """Return DuckDB's description of the wanted type."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _WHOLE:
        return "DOUBLE"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMPTZ" if kind.tz else "TIMESTAMP"
    if pa.types.is_list(kind):
        return [_inner_structure(name, kind.value_type)]
    if pa.types.is_struct(kind):
        return {field.name: _inner_structure(f"{name}.{field.name}", field.type) for field in kind}
    if pa.types.is_map(kind) and pa.types.is_string(kind.key_type):
        value = _inner_structure(name, kind.item_type)
        return f"MAP(VARCHAR, {value})" if isinstance(value, str) else _refuse(name, kind)
    return _refuse(name, kind)


def _inner_structure(name: str, kind: pa.DataType) -> object:
    return _WHOLE[kind] if kind in _WHOLE else _structure(name, kind)


def _refuse(name: str, kind: pa.DataType) -> object:
    raise UnsupportedTypeError(name, str(kind))


def _exact(kind: pa.DataType, raw: str, path: str) -> str:
    """Return the column in its own type; null where the value does not fit."""
    if pa.types.is_struct(kind):
        return f"CASE WHEN NOT good THEN NULL WHEN json_type(v, {path}) = 'OBJECT' THEN {raw} END"
    if kind not in _WHOLE:
        return raw
    whole = f"WHEN {raw} = trunc({raw}) THEN TRY_CAST({raw} AS {_WHOLE[kind]})"
    if kind != pa.int64():
        return f"CASE {whole} END"
    beyond = f"TRY_CAST(json_extract_string(v, {path}) AS BIGINT)"
    return f"CASE WHEN abs({raw}) >= {_EXACT} THEN {beyond} {whole} END"


def _inner_checks(kind: pa.DataType, path: str, alias: str) -> Iterator[str]:
    """Yield conditions that find values lost inside arrays and structs."""
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        if not _holds_struct(kind):
            wanted = _text(json.dumps(_structure("", kind)))
            strict = f"TRY(json_transform_strict(json_extract(v, {path}), {wanted}))"
            yield f"{alias} IS NOT NULL AND {strict} IS NULL"
    elif pa.types.is_struct(kind):
        for field in kind:
            inner = f"{path} || {_text('.' + _quoted(field.name))}"
            value = f"{alias}[{_text(field.name)}]"
            yield f"{value} IS NULL AND coalesce(json_type(v, {inner}), 'NULL') <> 'NULL'"


def _holds_struct(kind: pa.DataType) -> bool:
    """Tell whether a type has fields, which may be missing without being wrong."""
    if pa.types.is_struct(kind):
        return True
    if pa.types.is_list(kind):
        return _holds_struct(kind.value_type)
    return pa.types.is_map(kind) and _holds_struct(kind.item_type)


def _reason(field: pa.Field, alias: str, path: str) -> str:
    kind = _WHOLE.get(field.type) or _structure(field.name, field.type)
    label = kind if isinstance(kind, str) else ("ARRAY" if isinstance(kind, list) else "STRUCT")
    start = _text(f"field {field.name!r} is not {label}: ")
    return f"{start} || left(CAST(json_extract(v, {path}) AS VARCHAR), 60)"


def _path(name: str) -> str:
    return _text(f"$.{_quoted(name)}")


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'
