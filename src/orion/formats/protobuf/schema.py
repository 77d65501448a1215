"""SQL columns as a Protobuf file, in the form that ksqlDB writes."""

from itertools import count

from orion.formats.schema_source import Schema, SchemaKind
from orion.formats.spec import FormatSpec, Nullable
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

DEFAULT_NAME = "ConnectDefault"
_PLAIN = {
    Scalar.BOOLEAN: "bool",
    Scalar.INTEGER: "int32",
    Scalar.BIGINT: "int64",
    Scalar.DOUBLE: "double",
    Scalar.STRING: "string",
    Scalar.BYTES: "bytes",
}
_WRAPPERS = {
    Scalar.BOOLEAN: "BoolValue",
    Scalar.INTEGER: "Int32Value",
    Scalar.BIGINT: "Int64Value",
    Scalar.DOUBLE: "DoubleValue",
    Scalar.STRING: "StringValue",
    Scalar.BYTES: "BytesValue",
}
_MESSAGES = {
    Scalar.DATE: ("google.type.Date", "google/type/date.proto"),
    Scalar.TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    Scalar.TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}


def protobuf_schema(spec: FormatSpec) -> Schema:
    """Return the schema of a spec's columns."""
    return Schema(SchemaKind.PROTOBUF, _Writer(spec).text())


class _Writer:
    def __init__(self, spec: FormatSpec) -> None:
        self._spec = spec
        self._imports: set[str] = set()
        self._numbers = count(1)

    def text(self) -> str:
        package, _, name = self._spec.full_name.rpartition(".")
        body = self._message(name or f"{DEFAULT_NAME}{next(self._numbers)}", self._spec.columns, "")
        lines = ['syntax = "proto3";', *([f"package {package};"] if package else []), ""]
        lines += [f'import "{path}";' for path in sorted(self._imports)]
        return "\n".join([*lines, "", *body, ""])

    def _message(self, name: str, fields: tuple[Field, ...], indent: str) -> list[str]:
        inner, nested = indent + "  ", []
        lines = []
        for number, field in enumerate(fields, 1):
            kind, more = self._field(field.type, inner)
            nested += more
            options = self._options(field.type)
            lines.append(f"{inner}{kind} {field.name} = {number}{options};")
        return [f"{indent}message {name} {{", *lines, *nested, f"{indent}}}"]

    def _field(self, kind: Type, indent: str) -> tuple[str, list[str]]:
        """Return a field's type and the messages that it needs."""
        match kind:
            case Array(element):
                word, nested = self._type(element, indent)
                return f"repeated {word}", nested
            case Map(key, value):
                word, nested = self._type(value, indent)
                return f"map<{self._type(key, indent)[0]}, {word}>", nested
            case Scalar() if kind in _PLAIN and self._spec.nullable is Nullable.WRAPPER:
                self._imports.add("google/protobuf/wrappers.proto")
                return f"google.protobuf.{_WRAPPERS[kind]}", []
            case Scalar() if kind in _PLAIN and self._spec.nullable is Nullable.OPTIONAL:
                return f"optional {_PLAIN[kind]}", []
            case _:
                return self._type(kind, indent)

    def _type(self, kind: Type, indent: str) -> tuple[str, list[str]]:
        match kind:
            case Struct(fields):
                name = f"{DEFAULT_NAME}{next(self._numbers)}"
                return name, self._message(name, fields, indent)
            case Decimal():
                self._imports.add("confluent/type/decimal.proto")
                return "confluent.type.Decimal", []
            case Scalar() if kind in _MESSAGES:
                word, path = _MESSAGES[kind]
                self._imports.add(path)
                return word, []
            case _:
                assert isinstance(kind, Scalar)
                return _PLAIN[kind], []

    def _options(self, kind: Type) -> str:
        inner = kind.element if isinstance(kind, Array) else kind
        if not isinstance(inner, Decimal):
            return ""
        self._imports.add("confluent/meta.proto")
        parameters = (("precision", inner.precision), ("scale", inner.scale))
        given = ", ".join(f'{{key: "{name}", value: "{value}"}}' for name, value in parameters)
        return f" [(confluent.field_meta) = {{params: [{given}]}}]"
