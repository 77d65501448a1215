"""Protobuf messages read as SQL columns, and the fields that columns come from."""

from collections.abc import Iterator
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor

from orion.formats.schema_error import UnmappedTypeError
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

DECIMAL, DATE, TIME = "confluent.type.Decimal", "google.type.Date", "google.type.TimeOfDay"
TIMESTAMP = "google.protobuf.Timestamp"
WRAPPERS = {
    f"google.protobuf.{name}Value": kind
    for name, kind in {
        "Double": Scalar.DOUBLE,
        "Float": Scalar.DOUBLE,
        "Int64": Scalar.BIGINT,
        "UInt64": Scalar.BIGINT,
        "Int32": Scalar.INTEGER,
        "UInt32": Scalar.BIGINT,
        "Bool": Scalar.BOOLEAN,
        "String": Scalar.STRING,
        "Bytes": Scalar.BYTES,
    }.items()
}
_MESSAGES = {DATE: Scalar.DATE, TIME: Scalar.TIME, TIMESTAMP: Scalar.TIMESTAMP}
_SCALARS = {
    FieldDescriptor.TYPE_DOUBLE: Scalar.DOUBLE,
    FieldDescriptor.TYPE_FLOAT: Scalar.DOUBLE,
    FieldDescriptor.TYPE_INT32: Scalar.INTEGER,
    FieldDescriptor.TYPE_SINT32: Scalar.INTEGER,
    FieldDescriptor.TYPE_SFIXED32: Scalar.INTEGER,
    # Unsigned 32 bits do not fit an INTEGER.
    FieldDescriptor.TYPE_UINT32: Scalar.BIGINT,
    FieldDescriptor.TYPE_FIXED32: Scalar.BIGINT,
    FieldDescriptor.TYPE_INT64: Scalar.BIGINT,
    FieldDescriptor.TYPE_SINT64: Scalar.BIGINT,
    FieldDescriptor.TYPE_SFIXED64: Scalar.BIGINT,
    FieldDescriptor.TYPE_UINT64: Scalar.BIGINT,
    FieldDescriptor.TYPE_FIXED64: Scalar.BIGINT,
    FieldDescriptor.TYPE_BOOL: Scalar.BOOLEAN,
    FieldDescriptor.TYPE_STRING: Scalar.STRING,
    FieldDescriptor.TYPE_BYTES: Scalar.BYTES,
    FieldDescriptor.TYPE_ENUM: Scalar.STRING,
}
_DEFAULT_DECIMAL = (38, 0)


def columns_of_message(message: Descriptor) -> tuple[Field, ...]:
    """Return the columns of a message; alternatives of a oneof are fields of one struct."""
    return _struct(message, "", ()).fields


def _struct(message: Descriptor, path: str, above: tuple[str, ...]) -> Struct:
    if message.full_name in above:
        raise UnmappedTypeError(path, f"message {message.full_name} within itself")
    inner = (*above, message.full_name)
    fields = []
    for part in parts(message):
        name = column_name(part)
        where = f"{path}.{name}".strip(".")
        if isinstance(part, OneofDescriptor):
            choices = tuple(Field(f.name, _field(f, where, inner)) for f in part.fields)
            fields.append(Field(name, Struct(choices)))
        else:
            fields.append(Field(name, _field(part, where, inner)))
    return Struct(tuple(fields))


def parts(message: Descriptor) -> Iterator[FieldDescriptor | OneofDescriptor]:
    """Yield the fields of a message in order, each real oneof once, where it begins."""
    seen: set[str] = set()
    for field in message.fields:
        oneof = field.containing_oneof
        if oneof is None or _is_optional(oneof):
            yield field
        elif oneof.name not in seen:
            seen.add(oneof.name)
            yield oneof


def column_name(part: FieldDescriptor | OneofDescriptor) -> str:
    """Return the column's name; converters of Kafka Connect number oneofs."""
    if isinstance(part, OneofDescriptor):
        return f"{part.name}_{part.index}"
    return str(part.name)


def _is_optional(oneof: OneofDescriptor) -> bool:
    """Tell whether this is how proto3 marks a single optional field."""
    return len(oneof.fields) == 1 and oneof.name == f"_{oneof.fields[0].name}"


def is_map(field: FieldDescriptor) -> bool:
    """Tell whether a field is a map."""
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def _field(field: FieldDescriptor, path: str, above: tuple[str, ...]) -> Type:
    if is_map(field):
        entry = field.message_type.fields_by_name
        return Map(_single(entry["key"], path, above), _single(entry["value"], path, above))
    kind = _single(field, path, above)
    return Array(kind) if field.is_repeated else kind


def _single(field: FieldDescriptor, path: str, above: tuple[str, ...]) -> Type:
    message = field.message_type
    if message is None:
        if field.type not in _SCALARS:
            raise UnmappedTypeError(path, "a group")
        return _SCALARS[field.type]
    if message.full_name in WRAPPERS:
        return WRAPPERS[message.full_name]
    if message.full_name in _MESSAGES:
        return _MESSAGES[message.full_name]
    if message.full_name == DECIMAL:
        return _decimal(field)
    return _struct(message, path, above)


def _options(field: FieldDescriptor) -> list[tuple[FieldDescriptor, Any]]:
    """Return a field's options, read by the field's own pool, which knows the added ones."""
    pool = field.file.pool
    try:
        known = pool.FindMessageTypeByName("google.protobuf.FieldOptions")
    except KeyError:
        return []
    raw = field.GetOptions().SerializeToString()
    options: Any = message_factory.GetMessageClass(known).FromString(raw)
    return list(options.ListFields())


def _decimal(field: FieldDescriptor) -> Decimal:
    """Return a decimal with the digits that the field's options tell."""
    found: dict[str, str] = {}
    for option, value in _options(field):
        if option.full_name == "confluent.field_meta":
            found = dict(value.params)
    precision, scale = _DEFAULT_DECIMAL
    return Decimal(int(found.get("precision", precision)), int(found.get("scale", scale)))
