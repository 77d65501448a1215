"""A file descriptor as .proto text."""

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)

_LABELS = {
    FieldDescriptorProto.LABEL_OPTIONAL: "optional ",
    FieldDescriptorProto.LABEL_REQUIRED: "required ",
    FieldDescriptorProto.LABEL_REPEATED: "repeated ",
}
# An open end of a range, as protoc keeps it.
_MAX = 536_870_912
_ENUM_MAX = 2_147_483_647
_TEXT_DEFAULTS = (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES)


def render_protobuf(schema: Any, *, normalize: bool = False) -> str:
    """Return the text of a compiled schema; normalized: fields by number, imports by name."""
    file = FileDescriptorProto()
    file.CopyFrom(schema.file)
    if normalize:
        _sort(file)
    return render_file(file)


def render_file(file: FileDescriptorProto) -> str:
    """Return a file descriptor as text; comments and custom options are not in it."""
    return "\n".join(_file(file)) + "\n"


def _file(file: FileDescriptorProto) -> Iterator[str]:
    yield from _preamble(file)
    is_proto3 = file.syntax == "proto3"
    for message in file.message_type:
        yield ""
        full = f"{file.package}.{message.name}".strip(".")
        yield from _message(message, full, is_proto3=is_proto3)
    for enum in file.enum_type:
        yield ""
        yield from _enum(enum)
    for field in file.extension:
        yield from ("", f"extend {field.extendee} {{")
        yield from (f"  {_field(field, is_proto3=is_proto3)}", "}")
    for service in file.service:
        yield ""
        yield from _service(service)


def _preamble(file: FileDescriptorProto) -> Iterator[str]:
    if file.syntax == "editions":
        yield f'edition = "{Edition.Name(file.edition).removeprefix("EDITION_")}";'
    else:
        yield f'syntax = "{file.syntax or "proto2"}";'
    if file.package:
        yield f"package {file.package};"
    if file.dependency:
        yield ""
    for number, name in enumerate(file.dependency):
        word = "public " if number in file.public_dependency else ""
        yield f'import {word}"{name}";'
    options = list(_options(file.options))
    if options:
        yield ""
    for name, value in options:
        yield f"option {name} = {value};"


def _message(message: DescriptorProto, full: str, *, is_proto3: bool) -> Iterator[str]:
    yield f"message {message.name} {{"
    yield from _indented(_ranges(message))
    for name, value in _options(message.options):
        if name != "map_entry":
            yield f"  option {name} = {value};"
    maps = {
        f".{full}.{nested.name}": nested
        for nested in message.nested_type
        if nested.options.map_entry
    }
    yield from _indented(_fields(message, maps, is_proto3=is_proto3))
    for nested in message.nested_type:
        if not nested.options.map_entry:
            yield ""
            inner = f"{full}.{nested.name}"
            yield from _indented(_message(nested, inner, is_proto3=is_proto3))
    for enum in message.enum_type:
        yield ""
        yield from _indented(_enum(enum))
    for field in message.extension:
        yield f"  extend {field.extendee} {{ {_field(field, is_proto3=is_proto3)} }}"
    yield "}"


def _fields(
    message: DescriptorProto, maps: dict[str, DescriptorProto], *, is_proto3: bool
) -> Iterator[str]:
    shown: set[int] = set()
    for field in message.field:
        if not _in_oneof(field):
            yield _field(field, is_proto3=is_proto3, maps=maps)
        elif field.oneof_index not in shown:
            shown.add(field.oneof_index)
            yield f"oneof {message.oneof_decl[field.oneof_index].name} {{"
            for part in message.field:
                if _in_oneof(part) and part.oneof_index == field.oneof_index:
                    yield f"  {_field(part, is_proto3=is_proto3)}"
            yield "}"


def _in_oneof(field: FieldDescriptorProto) -> bool:
    return bool(field.HasField("oneof_index") and not field.proto3_optional)


def _field(
    field: FieldDescriptorProto,
    *,
    is_proto3: bool,
    maps: dict[str, DescriptorProto] | None = None,
) -> str:
    entry = (maps or {}).get(field.type_name)
    if entry is not None:
        label, kind = "", f"map<{_type(entry.field[0])}, {_type(entry.field[1])}>"
    else:
        label, kind = _label(field, is_proto3=is_proto3), _type(field)
    options = [f"{name} = {value}" for name, value in _options(field.options)]
    if field.HasField("default_value"):
        options.insert(0, f"default = {_default(field)}")
    if field.json_name:
        options.append(f'json_name = "{field.json_name}"')
    tail = f" [{', '.join(options)}]" if options else ""
    return f"{label}{kind} {field.name} = {field.number}{tail};"


def _label(field: FieldDescriptorProto, *, is_proto3: bool) -> str:
    if _in_oneof(field):
        return ""
    if is_proto3 and field.label == FieldDescriptorProto.LABEL_OPTIONAL:
        return "optional " if field.proto3_optional else ""
    return _LABELS[field.label]


def _default(field: FieldDescriptorProto) -> str:
    text = field.default_value
    if field.type not in _TEXT_DEFAULTS:
        return str(text)
    # Bytes are kept escaped already.
    escaped = text if field.type == FieldDescriptorProto.TYPE_BYTES else _escape(text)
    return f'"{escaped}"'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _type(field: FieldDescriptorProto) -> str:
    if field.type_name:
        return str(field.type_name)
    return str(FieldDescriptorProto.Type.Name(field.type)).removeprefix("TYPE_").lower()


def _enum(enum: EnumDescriptorProto) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    for name, value in _options(enum.options):
        yield f"  option {name} = {value};"
    spans = [
        f"{span.start} to {'max' if span.end == _ENUM_MAX else span.end}"
        for span in enum.reserved_range
    ]
    yield from (f"  {line}" for line in _reserved(spans, enum.reserved_name))
    for item in enum.value:
        options = ", ".join(f"{name} = {value}" for name, value in _options(item.options))
        yield f"  {item.name} = {item.number}{f' [{options}]' if options else ''};"
    yield "}"


def _service(service: ServiceDescriptorProto) -> Iterator[str]:
    yield f"service {service.name} {{"
    for method in service.method:
        taken = ("stream " if method.client_streaming else "") + method.input_type
        given = ("stream " if method.server_streaming else "") + method.output_type
        yield f"  rpc {method.name} ({taken}) returns ({given});"
    yield "}"


def _ranges(message: DescriptorProto) -> Iterator[str]:
    spans = [_span(span.start, span.end) for span in message.reserved_range]
    yield from _reserved(spans, message.reserved_name)
    for span in message.extension_range:
        yield f"extensions {_span(span.start, span.end)};"


def _reserved(spans: list[str], names: Iterable[str]) -> Iterator[str]:
    if spans:
        yield f"reserved {', '.join(spans)};"
    quoted = [f'"{name}"' for name in names]
    if quoted:
        yield f"reserved {', '.join(quoted)};"


def _span(start: int, end: int) -> str:
    if end == _MAX:
        return f"{start} to max"
    return str(start) if end - start == 1 else f"{start} to {end - 1}"


def _options(options: Any) -> Iterator[tuple[str, str]]:
    """Yield the options that protoc itself knows."""
    for field, value in options.ListFields():
        if field.is_extension or field.message_type is not None:
            continue
        if field.enum_type is not None and not isinstance(value, list):
            yield field.name, field.enum_type.values_by_number[value].name
        elif isinstance(value, bool):
            yield field.name, str(value).lower()
        elif isinstance(value, str):
            yield field.name, f'"{_escape(value)}"'
        elif isinstance(value, int):
            yield field.name, str(value)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" if line else line for line in lines)


def _sort(file: FileDescriptorProto) -> None:
    if not file.public_dependency and not file.weak_dependency:
        names = sorted(file.dependency)
        file.ClearField("dependency")
        file.dependency.extend(names)
    messages = list(file.message_type)
    while messages:
        message = messages.pop()
        messages += message.nested_type
        message.field.sort(key=lambda field: field.number)
