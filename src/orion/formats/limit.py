"""Which columns and properties a format can carry, told before anything runs."""

import re
from collections.abc import Callable, Iterator

from orion.formats.spec import DELIMITER_WORDS, Format, FormatSpec, Nullable
from orion.model import Array, Decimal, InvalidInputError, Map, Scalar, Struct, Type

_KAFKA_TYPES = {Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE, Scalar.STRING, Scalar.BYTES}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROTOBUF_KEYS = {Scalar.STRING, Scalar.INTEGER, Scalar.BIGINT, Scalar.BOOLEAN}


class UnsupportedTypeError(InvalidInputError):
    """Raised when a column's type has no form in a format."""

    def __init__(self, format: Format, column: str, kind: Type, why: str = "") -> None:
        self.format, self.column, self.kind = format, column, kind
        super().__init__(
            f"Format {format} cannot carry column '{column}' of type {kind}{why}.",
            fix=f"Use {_advice(format)}.",
        )


class UnsupportedColumnsError(InvalidInputError):
    """Raised when a format cannot carry this number of columns."""

    def __init__(self, format: Format, columns: tuple[str, ...], allowed: str) -> None:
        self.format, self.columns = format, columns
        found = f"there are {len(columns)}" + (f": {', '.join(columns)}" if columns else "")
        super().__init__(
            f"Format {format} carries {allowed}, {found}.", fix=f"Use {_advice(format)}."
        )


class FormatPropertyError(InvalidInputError):
    """Raised when a property does not go with its format."""

    def __init__(self, format: Format, name: str, value: object, expected: str) -> None:
        self.format, self.name, self.value = format, name, value
        super().__init__(
            f"Format {format} cannot take {name} = '{value}'.",
            fix=f"{expected[0].upper()}{expected[1:]}.",
        )


class MapKeyError(InvalidInputError):
    """Raised when a key column holds a map, whose bytes have no fixed order."""

    def __init__(self, column: str, kind: Type) -> None:
        self.column, self.kind = column, kind
        super().__init__(
            f"Key column '{column}' has type {kind}: equal maps may be written as different bytes,"
            " so a key cannot hold one.",
            fix="Use the map's entries as columns, or keep it in the value.",
        )


def check(spec: FormatSpec) -> None:
    """Raise unless the format can carry the columns with these properties."""
    _check_properties(spec)
    if spec.is_key:
        for field in spec.columns:
            if any(isinstance(kind, Map) for kind in _inside(field.type)):
                raise MapKeyError(field.name, field.type)
    match spec.format:
        case Format.NONE:
            if spec.columns:
                raise UnsupportedColumnsError(spec.format, _names(spec), "no columns")
        case Format.KAFKA:
            _check_kafka(spec)
        case Format.DELIMITED:
            _check_types(spec, _is_scalar)
        case Format.JSON | Format.JSON_SR:
            _check_types(spec, _has_text_keys)
        case Format.AVRO:
            _check_names(spec)
            _check_types(spec, _has_text_keys)
        case _:
            _check_names(spec)
            _check_types(spec, _has_protobuf_form)


def _check_kafka(spec: FormatSpec) -> None:
    if len(spec.columns) != 1:
        raise UnsupportedColumnsError(spec.format, _names(spec), "one column")
    _check_types(spec, lambda kind: kind in _KAFKA_TYPES)


def _check_types(spec: FormatSpec, fits: Callable[[Type], bool]) -> None:
    for field in spec.columns:
        for kind in _inside(field.type):
            if not fits(kind):
                raise UnsupportedTypeError(spec.format, field.name, kind)


def _is_scalar(kind: Type) -> bool:
    return isinstance(kind, Scalar | Decimal)


def _has_text_keys(kind: Type) -> bool:
    return not isinstance(kind, Map) or kind.key is Scalar.STRING


def _has_protobuf_form(kind: Type) -> bool:
    match kind:
        case Array(element):
            return not isinstance(element, Array | Map)
        case Map(key, value):
            return key in _PROTOBUF_KEYS and not isinstance(value, Array | Map)
        case _:
            return True


def _check_names(spec: FormatSpec) -> None:
    for field in spec.columns:
        for name in (field.name, *_field_names(field.type)):
            if not _NAME.fullmatch(name):
                raise FormatPropertyError(
                    spec.format,
                    "column name",
                    name,
                    "names have letters, digits and _ only, and begin with a letter or _",
                )


def _field_names(kind: Type) -> Iterator[str]:
    for each in _inside(kind):
        if isinstance(each, Struct):
            yield from (field.name for field in each.fields)


def _inside(kind: Type) -> Iterator[Type]:
    """Yield a type and all types within it."""
    yield kind
    match kind:
        case Array(element):
            yield from _inside(element)
        case Map(key, value):
            yield from _inside(key)
            yield from _inside(value)
        case Struct(fields):
            for field in fields:
                yield from _inside(field.type)


def _check_properties(spec: FormatSpec) -> None:
    if spec.format is Format.DELIMITED:
        _check_delimiter(spec)
    elif spec.delimiter != FormatSpec.delimiter:
        raise FormatPropertyError(
            spec.format, "delimiter", spec.delimiter, "only DELIMITED has a delimiter"
        )
    if spec.nullable is not Nullable.NONE and spec.format is not Format.PROTOBUF:
        raise FormatPropertyError(
            spec.format, "nullable representation", spec.nullable, "only PROTOBUF has one"
        )
    if spec.wrap is not None:
        _check_wrapping(spec, spec.wrap)


def _check_wrapping(spec: FormatSpec, wrap: bool) -> None:
    if len(spec.columns) != 1:
        raise FormatPropertyError(
            spec.format, "wrapping", wrap, "only a single column can be wrapped or not"
        )
    fixed = {
        Format.KAFKA: False,
        Format.DELIMITED: False,
        Format.PROTOBUF: True,
        Format.PROTOBUF_NOSR: True,
    }
    if not spec.format.can_choose_wrapping and fixed.get(spec.format) is not wrap:
        raise FormatPropertyError(
            spec.format, "wrapping", wrap, "leave it out: the format leaves no choice"
        )


def _check_delimiter(spec: FormatSpec) -> None:
    if spec.delimiter in DELIMITER_WORDS or (
        len(spec.delimiter) == 1 and not spec.delimiter.isspace()
    ):
        return
    raise FormatPropertyError(
        spec.format, "delimiter", spec.delimiter, "use one visible character, SPACE or TAB"
    )


def _names(spec: FormatSpec) -> tuple[str, ...]:
    return tuple(field.name for field in spec.columns)


def _advice(format: Format) -> str:
    advice = {
        Format.NONE: "another format",
        Format.KAFKA: "one column of INTEGER, BIGINT, DOUBLE, STRING or BYTES, or format JSON",
        Format.DELIMITED: "plain columns without ARRAY, MAP and STRUCT, or format JSON",
        Format.JSON: "maps with STRING keys",
        Format.JSON_SR: "maps with STRING keys",
        Format.AVRO: "maps with STRING keys",
    }
    return advice.get(format, "arrays of plain values or structs, and maps with plain keys")
