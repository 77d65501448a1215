"""Messages to plain values and back, by functions made once for a message type."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal as Exact
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor

from orion.formats.number import shift_decimal
from orion.formats.protobuf.column import (
    DATE,
    DECIMAL,
    TIME,
    TIMESTAMP,
    WRAPPERS,
    column_name,
    is_map,
    parts,
)
from orion.formats.schema_error import SchemaColumnsError
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

Read = Callable[[Any], Any]
Fill = Callable[[Any, Any], None]

_EPOCH = date(1970, 1, 1).toordinal()
_MS_OF = {"hours": 3_600_000, "minutes": 60_000, "seconds": 1_000}


def reader(message: Descriptor, wanted: set[str] | None = None) -> Read:
    """Return the function from a message to a dict by column names.

    Args:
        wanted: Columns to read, in upper case; None reads all.
    """
    steps = [
        (column_name(part), _part_reader(part))
        for part in parts(message)
        if wanted is None or column_name(part).upper() in wanted
    ]
    return lambda found: {name: read(found) for name, read in steps}


def _part_reader(part: FieldDescriptor | OneofDescriptor) -> Read:
    if isinstance(part, OneofDescriptor):
        choices = {field.name: (_part_reader(field), field.name) for field in part.fields}
        name = part.name

        def read_choice(found: Any) -> Any:
            chosen = found.WhichOneof(name)
            if chosen is None:
                return None
            return {chosen: choices[chosen][0](found)}

        return read_choice
    return _field_reader(part)


def _field_reader(field: FieldDescriptor) -> Read:
    name = field.name
    if is_map(field):
        read = _single_reader(field.message_type.fields_by_name["value"])
        return lambda found: {key: read(each) for key, each in getattr(found, name).items()}
    read = _single_reader(field)
    if field.is_repeated:
        return lambda found: [read(each) for each in getattr(found, name)]
    if field.has_presence:
        return lambda found: read(getattr(found, name)) if found.HasField(name) else None
    return lambda found: read(getattr(found, name))


def _single_reader(field: FieldDescriptor) -> Read:
    message = field.message_type
    if message is None:
        if field.enum_type is None:
            return lambda value: value
        names = {value.number: value.name for value in field.enum_type.values}
        return lambda value: names.get(value, str(value))
    if message.full_name in WRAPPERS:
        return lambda found: found.value
    known: dict[str, Read] = {
        TIMESTAMP: lambda found: (found.seconds * 1_000) + found.nanos // 1_000_000,
        # A date without a year is how a null in a list comes back.
        DATE: lambda found: date(found.year, found.month, found.day) if found.year else None,
        TIME: _read_time,
        DECIMAL: _read_decimal,
    }
    # Made at first use: a message may hold itself.
    made: list[Read] = []

    def read(found: Any) -> Any:
        if not made:
            made.append(known.get(message.full_name) or reader(message))
        return made[0](found)

    return read


def _read_time(found: Any) -> int:
    whole = sum(getattr(found, name) * ms for name, ms in _MS_OF.items())
    return int(whole + found.nanos // 1_000_000)


def _read_decimal(found: Any) -> Exact:
    return shift_decimal(Exact(int.from_bytes(found.value, "big", signed=True)), -found.scale)


def filler(columns: tuple[Field, ...], message: Descriptor, path: str = "") -> Fill:
    """Return the function that puts a row, its temporal parts as numbers, into a message."""
    by_upper = {column_name(part).upper(): part for part in parts(message)}
    exact = {column_name(part): part for part in parts(message)}
    steps = []
    for column in columns:
        part = exact.get(column.name) or by_upper.get(column.name.upper())
        where = f"{path}.{column.name}".strip(".")
        if part is None:
            raise SchemaColumnsError(where, "it has no such field")
        steps.append((column.name, _part_filler(part, column.type, where)))

    def fill(target: Any, row: Any) -> None:
        for name, put in steps:
            if row[name] is not None:
                put(target, row[name])

    return fill


def _part_filler(part: FieldDescriptor | OneofDescriptor, kind: Type, path: str) -> Fill:
    if isinstance(part, OneofDescriptor):
        if not isinstance(kind, Struct):
            raise SchemaColumnsError(path, f"{kind} is no struct of alternatives")
        by_name = {field.name.upper(): field for field in part.fields}
        choices = {f.name: _part_filler(by_name[f.name.upper()], f.type, path) for f in kind.fields}

        def choose(target: Any, value: Any) -> None:
            for name, put in choices.items():
                if value[name] is not None:
                    put(target, value[name])

        return choose
    return _field_filler(part, kind, path)


def _field_filler(field: FieldDescriptor, kind: Type, path: str) -> Fill:
    name = field.name
    if is_map(field):
        if not isinstance(kind, Map):
            raise SchemaColumnsError(path, f"{kind} is no map")
        return _map_filler(field, kind.value, path)
    inner = kind.element if field.is_repeated and isinstance(kind, Array) else kind
    if field.is_repeated != isinstance(kind, Array):
        raise SchemaColumnsError(path, f"{kind} is no {'list' if field.is_repeated else 'value'}")
    if field.message_type is None:
        convert = _plain_writer(field, inner, path)
        if field.is_repeated:
            # Protobuf has no null in a list: it becomes the type's default.
            empty = convert(_EMPTY.get(inner))
            return lambda target, value: getattr(target, name).extend(
                [empty if each is None else convert(each) for each in value]
            )
        return lambda target, value: setattr(target, name, convert(value))
    put = _message_filler(field.message_type, inner, path)
    if field.is_repeated:
        return lambda target, value: _extend(getattr(target, name), put, value)

    def fill(target: Any, value: Any) -> None:
        found = getattr(target, name)
        # Reading a part does not make it; an empty one must be there, too.
        found.SetInParent()
        put(found, value)

    return fill


def _extend(target: Any, put: Fill, values: list[Any]) -> None:
    for value in values:
        added = target.add()
        if value is not None:
            put(added, value)


def _map_filler(field: FieldDescriptor, kind: Type, path: str) -> Fill:
    name, entry = field.name, field.message_type.fields_by_name["value"]
    if entry.message_type is None:
        convert = _plain_writer(entry, kind, path)
        empty = convert(_EMPTY.get(kind))
        return lambda target, value: getattr(target, name).update(
            {key: empty if each is None else convert(each) for key, each in value}
        )
    put = _message_filler(entry.message_type, kind, path)

    def fill(target: Any, value: Any) -> None:
        found = getattr(target, name)
        for key, each in value:
            if each is None:
                found[key].SetInParent()
            else:
                put(found[key], each)

    return fill


_EMPTY: dict[Type, Any] = {
    Scalar.BOOLEAN: False,
    Scalar.INTEGER: 0,
    Scalar.BIGINT: 0,
    Scalar.DOUBLE: 0.0,
    Scalar.STRING: "",
    Scalar.BYTES: b"",
    Scalar.DATE: 0,
    Scalar.TIME: 0,
    Scalar.TIMESTAMP: 0,
}
_FITS = {
    FieldDescriptor.CPPTYPE_INT32: {Scalar.INTEGER, Scalar.DATE, Scalar.TIME},
    FieldDescriptor.CPPTYPE_UINT32: {Scalar.INTEGER, Scalar.BIGINT},
    FieldDescriptor.CPPTYPE_INT64: {
        Scalar.INTEGER,
        Scalar.BIGINT,
        Scalar.DATE,
        Scalar.TIME,
        Scalar.TIMESTAMP,
    },
    FieldDescriptor.CPPTYPE_UINT64: {Scalar.INTEGER, Scalar.BIGINT},
    FieldDescriptor.CPPTYPE_DOUBLE: {Scalar.DOUBLE, Scalar.INTEGER, Scalar.BIGINT},
    FieldDescriptor.CPPTYPE_FLOAT: {Scalar.DOUBLE, Scalar.INTEGER, Scalar.BIGINT},
    FieldDescriptor.CPPTYPE_BOOL: {Scalar.BOOLEAN},
    FieldDescriptor.CPPTYPE_STRING: {Scalar.STRING, Scalar.BYTES},
}


def _plain_writer(field: FieldDescriptor, kind: Type, path: str) -> Read:
    if field.enum_type is not None and kind is Scalar.STRING:
        numbers = {value.name: value.number for value in field.enum_type.values}
        return lambda value: numbers.get(value, 0)
    if kind not in _FITS.get(field.cpp_type, set()):
        raise SchemaColumnsError(path, f"{kind} does not fit it")
    if kind is Scalar.TIMESTAMP:
        return lambda value: value // 1_000
    return lambda value: value


def _message_filler(message: Descriptor, kind: Type, path: str) -> Fill:
    match kind:
        case Struct(fields):
            return filler(fields, message, path)
        case Scalar.TIMESTAMP if message.full_name == TIMESTAMP:
            return _fill_timestamp
        case Scalar.DATE if message.full_name == DATE:
            return _fill_date
        case Scalar.TIME if message.full_name == TIME:
            return _fill_time
        case Decimal() if message.full_name == DECIMAL:
            return lambda target, value: _fill_decimal(target, value, kind)
        case Scalar() if message.full_name in WRAPPERS:
            return lambda target, value: setattr(target, "value", value)
        case _:
            raise SchemaColumnsError(path, f"{kind} is no {message.full_name}")


def _fill_timestamp(target: Any, value: int) -> None:
    target.seconds, micros = divmod(value, 1_000_000)
    target.nanos = micros * 1_000


def _fill_date(target: Any, value: int) -> None:
    found = date.fromordinal(value + _EPOCH)
    target.year, target.month, target.day = found.year, found.month, found.day


def _fill_time(target: Any, value: int) -> None:
    seconds, ms = divmod(value, 1_000)
    minutes, target.seconds = divmod(seconds, 60)
    target.hours, target.minutes = divmod(minutes, 60)
    target.nanos = ms * 1_000_000


def _fill_decimal(target: Any, value: Exact, kind: Decimal) -> None:
    number = int(shift_decimal(value, kind.scale))
    target.value = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    target.precision, target.scale = kind.precision, kind.scale
