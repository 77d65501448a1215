"""Types: read them as written, and turn what is written into the model's types."""

from collections.abc import Mapping

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.errors import DuplicateFieldError, UnknownTypeError

BUILT_IN_TYPES = {scalar.value: scalar for scalar in Scalar} | {
    "INT": Scalar.INTEGER,
    "VARCHAR": Scalar.STRING,
}
# What Spark and Arrow compute with.
MOST_DIGITS = 38


def read_type(cursor: Cursor) -> tree.WrittenType:
    """Read a type, with any number of `ARRAY` after it."""
    cursor.enter()
    start = cursor.mark()
    found = _read_plain_type(cursor)
    while cursor.take("ARRAY"):
        found = tree.ArrayType(found, place=cursor.place(start))
    cursor.leave()
    return found


def resolve_type(written: tree.WrittenType, made: Mapping[str, Type] | None = None) -> Type:
    """Return the type that is meant.

    Args:
        written: The type as it was read.
        made: The types that CREATE TYPE made, by name.
    """
    made = made or {}
    match written:
        case tree.SimpleType(name):
            found = made.get(name.text) or BUILT_IN_TYPES.get(name.text.upper())
            if found is None:
                raise UnknownTypeError(name.text, written.place, [*BUILT_IN_TYPES, *made])
            return found
        case tree.DecimalType(precision, scale):
            return Decimal(precision, scale)
        case tree.ArrayType(element):
            return Array(resolve_type(element, made))
        case tree.MapType(key, value):
            return Map(resolve_type(key, made), resolve_type(value, made))
        case tree.StructType(fields):
            return Struct(_resolve_fields(fields, made))


def _resolve_fields(
    fields: tuple[tree.StructTypeField, ...], made: Mapping[str, Type]
) -> tuple[Field, ...]:
    seen: set[str] = set()
    for field in fields:
        if field.name.text in seen:
            raise DuplicateFieldError(field.name.text, field.place)
        seen.add(field.name.text)
    return tuple(Field(field.name.text, resolve_type(field.type, made)) for field in fields)


def _read_plain_type(cursor: Cursor) -> tree.WrittenType:
    start = cursor.mark()
    if cursor.at("DECIMAL"):
        return _read_decimal(cursor)
    angled = cursor.peek().kind == "SYMBOL" and cursor.peek().value in ("<", "<>")
    if angled and cursor.token.kind == "WORD":
        if cursor.take("ARRAY"):
            cursor.expect_symbol("<")
            element = read_type(cursor)
            cursor.expect_symbol(">")
            return tree.ArrayType(element, place=cursor.place(start))
        if cursor.take("MAP"):
            cursor.expect_symbol("<")
            key = read_type(cursor)
            cursor.expect_symbol(",")
            value = read_type(cursor)
            cursor.expect_symbol(">")
            return tree.MapType(key, value, place=cursor.place(start))
        if cursor.take("STRUCT"):
            return tree.StructType(_read_fields(cursor), place=cursor.place(start))
    name = cursor.name("a type")
    _skip_parameters(cursor)
    return tree.SimpleType(name, place=cursor.place(start))


def _read_decimal(cursor: Cursor) -> tree.DecimalType:
    start = cursor.mark()
    cursor.advance()
    cursor.expect_symbol("(")
    digits = cursor.mark()
    precision = cursor.integer()
    if not 1 <= precision <= MOST_DIGITS:
        cursor.fail(
            reason=f"the precision of a DECIMAL is 1 to {MOST_DIGITS}, not {precision}", at=digits
        )
    cursor.expect_symbol(",")
    scale = cursor.integer()
    if scale > precision:
        cursor.fail(reason=f"the scale {scale} of a DECIMAL exceeds its precision {precision}")
    cursor.expect_symbol(")")
    return tree.DecimalType(precision, scale, place=cursor.place(start))


def _read_fields(cursor: Cursor) -> tuple[tree.StructTypeField, ...]:
    # The two brackets of an empty struct look like the sign for "not equal".
    if cursor.take_symbol("<>"):
        return ()
    cursor.expect_symbol("<")
    fields: list[tree.StructTypeField] = []
    while not cursor.at_symbol(">"):
        if fields:
            cursor.expect_symbol(",")
        start = cursor.mark()
        name = cursor.name("a field")
        type_ = read_type(cursor)
        fields.append(tree.StructTypeField(name, type_, place=cursor.place(start)))
    cursor.expect_symbol(">")
    return tuple(fields)


def _skip_parameters(cursor: Cursor) -> None:
    """Read the length of VARCHAR(255), which other databases want and nobody here needs."""
    if not cursor.take_symbol("("):
        return
    while True:
        if cursor.token.kind == "INTEGER" or cursor.at("STRING"):
            cursor.advance()
        else:
            cursor.integer("a length")
        if not cursor.take_symbol(","):
            break
    cursor.expect_symbol(")")
