"""Compares two Protobuf schemas by the rules of Confluent's registry.

Fields are known by their numbers, so names may change; types may change within a group that has one
form on the wire; messages may be added but not removed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from orion.registry.conflict import Conflict
from orion.registry.protobuf.parse import ProtobufSchema

_GROUPS = {
    "integer": ("int32", "int64", "uint32", "uint64", "bool", "enum"),
    "zigzag integer": ("sint32", "sint64"),
    "text or bytes": ("string", "bytes"),
    "32 fixed bits": ("fixed32", "sfixed32"),
    "64 fixed bits": ("fixed64", "sfixed64"),
    "float": ("float",),
    "double": ("double",),
}
_GROUP = {name: group for group, names in _GROUPS.items() for name in names}


@dataclass(frozen=True)
class _Type:
    """A message or enum: where it is defined and what it is called within its package."""

    local_name: str
    is_local: bool
    definition: DescriptorProto | EnumDescriptorProto


def find_conflicts(reader: ProtobufSchema, writer: ProtobufSchema) -> list[Conflict]:
    """Return every rule that keeps the reader from reading bytes of the writer."""
    return list(_Comparison(writer, reader).compare_files())


class _Comparison:
    """One pass over two schemas; a message that is being compared is taken to fit."""

    def __init__(self, old: ProtobufSchema, new: ProtobufSchema) -> None:
        self._old, self._new = old, new
        self._old_types, self._new_types = _types(old), _types(new)
        self._open: set[tuple[int, int]] = set()

    def compare_files(self) -> Iterator[Conflict]:
        old, new = self._old.file, self._new.file
        if old.package != new.package:
            text = f"the package is '{new.package}' for the reader, was '{old.package}'"
            yield Conflict("PACKAGE_CHANGED", "#/", text)
        yield from self._compare_messages(_named(old.message_type), _named(new.message_type), "#/")

    def _compare_messages(
        self, old: Mapping[str, DescriptorProto], new: Mapping[str, DescriptorProto], path: str
    ) -> Iterator[Conflict]:
        for name, message in old.items():
            if name in new:
                yield from self._compare_message(message, new[name], f"{path}{name}")
            else:
                text = f"message '{name}' is unknown to the reader"
                yield Conflict("MESSAGE_REMOVED", f"{path}{name}", text)

    def _compare_message(
        self, old: DescriptorProto, new: DescriptorProto, path: str
    ) -> list[Conflict]:
        pair = (id(old), id(new))
        if pair in self._open:
            return []
        self._open.add(pair)
        try:
            found = [*_compare_oneofs(old, new, path), *self._compare_fields(old, new, path)]
            inner = self._compare_messages(
                _named(old.nested_type), _named(new.nested_type), f"{path}."
            )
            return [*found, *inner]
        finally:
            self._open.discard(pair)

    def _compare_fields(
        self, old: DescriptorProto, new: DescriptorProto, path: str
    ) -> Iterator[Conflict]:
        before = {field.number: field for field in old.field}
        after = {field.number: field for field in new.field}
        for number, field in before.items():
            if number in after:
                yield from self._compare_field(field, after[number], f"{path}/{number}")
            elif _is_required(field):
                text = f"the reader lacks the required field '{field.name}'"
                yield Conflict("REQUIRED_FIELD_REMOVED", f"{path}/{number}", text)
        for number, field in after.items():
            if number not in before and _is_required(field):
                text = f"field '{field.name}' is required by the reader, and the writer has none"
                yield Conflict("REQUIRED_FIELD_ADDED", f"{path}/{number}", text)

    def _compare_field(
        self, old: FieldDescriptorProto, new: FieldDescriptorProto, path: str
    ) -> Iterator[Conflict]:
        yield from self._compare_types(old, new, path)
        if _is_required(new) and not _is_required(old):
            text = f"field '{new.name}' is required by the reader, and was not"
            yield Conflict("REQUIRED_FIELD_ADDED", path, text)
        if _is_repeated(old) != _is_repeated(new) and _is_number(old) and _is_number(new):
            text = f"field '{new.name}' is repeated on one side only, and its type is a number"
            yield Conflict("FIELD_NUMERIC_LABEL_CHANGED", path, text)

    def _compare_types(
        self, old: FieldDescriptorProto, new: FieldDescriptorProto, path: str
    ) -> Iterator[Conflict]:
        kinds = (self._kind(old, self._old_types), self._kind(new, self._new_types))
        if kinds[0] != kinds[1]:
            text = f"field '{new.name}' is a {kinds[1]} for the reader, was a {kinds[0]}"
            yield Conflict("FIELD_KIND_CHANGED", path, text)
        elif kinds[0] == "scalar":
            yield from _compare_scalars(old, new, path)
        elif kinds[0] == "map":
            before, after = self._entry(old, self._old_types), self._entry(new, self._new_types)
            for one, other in zip(before.field, after.field, strict=True):
                yield from self._compare_types(one, other, f"{path}/{other.name}")
        else:
            yield from self._compare_named(old, new, path)

    def _compare_named(
        self, old: FieldDescriptorProto, new: FieldDescriptorProto, path: str
    ) -> Iterator[Conflict]:
        before, after = self._old_types[old.type_name], self._new_types[new.type_name]
        if before.local_name != after.local_name:
            text = f"field '{new.name}' is a '{after.local_name}', was a '{before.local_name}'"
            yield Conflict("FIELD_NAMED_TYPE_CHANGED", path, text)
        elif not (before.is_local and after.is_local):
            # Messages of this file are compared on their own; imported ones only where used.
            assert isinstance(before.definition, DescriptorProto)
            assert isinstance(after.definition, DescriptorProto)
            yield from self._compare_message(before.definition, after.definition, path)

    def _kind(self, field: FieldDescriptorProto, types: Mapping[str, _Type]) -> str:
        if not field.type_name:
            return "scalar"
        definition = types[field.type_name].definition
        if isinstance(definition, EnumDescriptorProto):
            return "scalar"
        return "map" if definition.options.map_entry else "message"

    def _entry(self, field: FieldDescriptorProto, types: Mapping[str, _Type]) -> DescriptorProto:
        definition = types[field.type_name].definition
        assert isinstance(definition, DescriptorProto)
        return definition


def _compare_oneofs(old: DescriptorProto, new: DescriptorProto, path: str) -> Iterator[Conflict]:
    before, after = _oneofs(old), _oneofs(new)
    alone = {f.number for f in old.field} - {n for numbers in before.values() for n in numbers}
    together = {n for numbers in before.values() for n in numbers}
    for name, numbers in after.items():
        moved, kept = numbers & alone, numbers & together
        if len(moved) > 1:
            text = f"oneof '{name}' of the reader joins fields that could be set together"
            yield Conflict("MULTIPLE_FIELDS_MOVED_TO_ONEOF", f"{path}/{name}", text)
        elif moved and kept:
            text = f"a field was moved into oneof '{name}', which has others already"
            yield Conflict("FIELD_MOVED_TO_EXISTING_ONEOF", f"{path}/{name}", text)
        for number in sorted(before.get(name, set()) - numbers):
            text = f"oneof '{name}' of the reader lacks field {number}"
            yield Conflict("ONEOF_FIELD_REMOVED", f"{path}/{name}/{number}", text)


def _oneofs(message: DescriptorProto) -> dict[str, set[int]]:
    """Return the numbers in each oneof; the ones that only mark a field optional do not count."""
    found: dict[str, set[int]] = {}
    for field in message.field:
        if field.HasField("oneof_index") and not field.proto3_optional:
            name = message.oneof_decl[field.oneof_index].name
            found.setdefault(name, set()).add(field.number)
    return found


def _compare_scalars(
    old: FieldDescriptorProto, new: FieldDescriptorProto, path: str
) -> Iterator[Conflict]:
    before, after = _type_name(old), _type_name(new)
    if _GROUP[before] != _GROUP[after]:
        text = (
            f"field '{new.name}' is {after} ({_GROUP[after]}) for the reader, was {before}"
            f" ({_GROUP[before]})"
        )
        yield Conflict("FIELD_SCALAR_KIND_CHANGED", path, text)


def _type_name(field: FieldDescriptorProto) -> str:
    return str(FieldDescriptorProto.Type.Name(field.type)).removeprefix("TYPE_").lower()


def _is_number(field: FieldDescriptorProto) -> bool:
    group = _GROUP.get(_type_name(field))
    return group is not None and group != "text or bytes"


def _is_required(field: FieldDescriptorProto) -> bool:
    return bool(field.label == FieldDescriptorProto.LABEL_REQUIRED)


def _is_repeated(field: FieldDescriptorProto) -> bool:
    return bool(field.label == FieldDescriptorProto.LABEL_REPEATED)


def _named(messages: "list[DescriptorProto]") -> dict[str, DescriptorProto]:
    return {message.name: message for message in messages if not message.options.map_entry}


def _types(schema: ProtobufSchema) -> dict[str, _Type]:
    found: dict[str, _Type] = {}
    for file in (*schema.imports.values(), schema.file):
        _gather(file, found, is_local=file is schema.file)
    return found


def _gather(file: FileDescriptorProto, found: dict[str, _Type], *, is_local: bool) -> None:
    prefix = f".{file.package}." if file.package else "."

    def add(name: str, definition: DescriptorProto | EnumDescriptorProto) -> None:
        found[f"{prefix}{name}"] = _Type(name, is_local, definition)

    for enum in file.enum_type:
        add(enum.name, enum)
    waiting = [(message.name, message) for message in file.message_type]
    while waiting:
        name, message = waiting.pop()
        add(name, message)
        waiting += [(f"{name}.{inner.name}", inner) for inner in message.nested_type]
        for enum in message.enum_type:
            add(f"{name}.{enum.name}", enum)
