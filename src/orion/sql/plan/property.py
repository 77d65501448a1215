"""The properties of WITH clauses: their names, their types, which go together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orion.model import nearest
from orion.sql.parse import tree
from orion.sql.parse.tree import WindowKind
from orion.sql.plan.errors import StatementError
from orion.sql.plan.source import EventTime, Format, Windowed

_COMMON: Mapping[str, type] = {
    "KAFKA_TOPIC": str,
    "PARTITIONS": int,
    "REPLICAS": int,
    "RETENTION_MS": int,
    "CLEANUP_POLICY": str,
    "TIMESTAMP": str,
    "TIMESTAMP_FORMAT": str,
    "FORMAT": str,
    "KEY_FORMAT": str,
    "VALUE_FORMAT": str,
    "WRAP_SINGLE_VALUE": bool,
    "KEY_DELIMITER": str,
    "VALUE_DELIMITER": str,
    "KEY_SCHEMA_ID": int,
    "VALUE_SCHEMA_ID": int,
    "KEY_SCHEMA_FULL_NAME": str,
    "VALUE_SCHEMA_FULL_NAME": str,
    "VALUE_AVRO_SCHEMA_FULL_NAME": str,
    "KEY_PROTOBUF_NULLABLE_REPRESENTATION": str,
    "VALUE_PROTOBUF_NULLABLE_REPRESENTATION": str,
}
_DECLARE: Mapping[str, type] = {
    **_COMMON,
    "WINDOW_TYPE": str,
    "WINDOW_SIZE": str,
    "SOURCE_CONNECTOR": str,
    "SOURCED_BY_CONNECTOR": str,
}
_CREATE_AS: Mapping[str, type] = {**_COMMON, "LATE_TOPIC": str, "REBUILD": bool}
_INSERT: Mapping[str, type] = {"QUERY_ID": str}
_LEAST = {"PARTITIONS": 1, "REPLICAS": 1, "RETENTION_MS": -1}
_UNITS = {unit.name: unit.value for unit in tree.TimeUnit}
_UNITS |= {name.removesuffix("S"): ms for name, ms in _UNITS.items()}
_NULLABLE = ("OPTIONAL", "WRAPPER")
SCHEMA_FORMATS = ("AVRO", "JSON_SR", "PROTOBUF")


@dataclass(frozen=True)
class Properties:
    """The properties of one statement, read."""

    values: Mapping[str, Any]
    node: tree.Node | None = field(default=None, compare=False)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str, default: Any = None) -> Any:
        """Return a property's value."""
        return self.values.get(name, default)

    def key_format(self, default: Format | None) -> Format | None:
        """Return how the key is written; a format that is not named is inherited."""
        name = self.get("FORMAT") or self.get("KEY_FORMAT")
        return self._format("KEY", name, default, wrap=None)

    def value_format(self, default: Format | None) -> Format | None:
        """Return how the value is written; a format that is not named is inherited."""
        name = self.get("FORMAT") or self.get("VALUE_FORMAT")
        return self._format("VALUE", name, default, wrap=self.get("WRAP_SINGLE_VALUE"))

    def _format(
        self, part: str, name: str | None, default: Format | None, *, wrap: bool | None
    ) -> Format | None:
        if name is None and default is None:
            return None
        inherits = name is None or (default is not None and default.name == name.upper())
        inherited = default if inherits and default is not None else Format((name or "").upper())
        full_name = self._full_name(part)
        schema_id = self.get(f"{part}_SCHEMA_ID")
        if schema_id is not None and inherited.name not in SCHEMA_FORMATS:
            raise StatementError(
                f"{part}_SCHEMA_ID needs a format with schemas, not {inherited.name}.",
                node=self.node,
                fix=f"Use {', '.join(SCHEMA_FORMATS)}.",
            )
        return Format(
            inherited.name,
            delimiter=self._delimiter(part, inherited.delimiter),
            wrap=wrap,
            schema_id=schema_id,
            schema_name=full_name,
            nullable_representation=self._nullable(part, inherited.nullable_representation),
        )

    def _nullable(self, part: str, inherited: str | None) -> str | None:
        name = f"{part}_PROTOBUF_NULLABLE_REPRESENTATION"
        found: str | None = self.get(name, inherited)
        if found is not None and found.upper() not in _NULLABLE:
            raise StatementError(
                f"{name} '{found}' is not known.", node=self.node, fix="Use OPTIONAL or WRAPPER."
            )
        return found

    def _delimiter(self, part: str, inherited: str | None) -> str | None:
        found = self.get(f"{part}_DELIMITER", inherited)
        if found == "":
            raise StatementError(
                f"{part}_DELIMITER is empty.", node=self.node, fix="Use ';', SPACE or TAB."
            )
        return None if found is None else str(found)

    def _full_name(self, part: str) -> str | None:
        found = self.get(f"{part}_SCHEMA_FULL_NAME")
        avro = self.get("VALUE_AVRO_SCHEMA_FULL_NAME") if part == "VALUE" else None
        if found is not None and avro is not None:
            raise StatementError(
                "The schema's full name is given twice.",
                node=self.node,
                fix="Leave VALUE_AVRO_SCHEMA_FULL_NAME out.",
            )
        found = avro if found is None else found
        if found is not None and not str(found).strip():
            raise StatementError("The schema's full name is empty.", node=self.node)
        return None if found is None else str(found)

    def windowed(self) -> Windowed | None:
        """Return the windows that the key of a declared topic holds."""
        kind, size = self.get("WINDOW_TYPE"), self.get("WINDOW_SIZE")
        if kind is None:
            if size is not None:
                raise StatementError("WINDOW_SIZE needs a WINDOW_TYPE.", node=self.node)
            return None
        try:
            window = WindowKind(kind.upper())
        except ValueError as error:
            raise StatementError(
                f"WINDOW_TYPE '{kind}' is not known.",
                node=self.node,
                fix="Use TUMBLING, HOPPING or SESSION.",
            ) from error
        if (window is WindowKind.SESSION) == (size is not None):
            must = "has no" if window is WindowKind.SESSION else "needs a"
            raise StatementError(f"A {window.value} window {must} WINDOW_SIZE.", node=self.node)
        return Windowed(window, None if size is None else self._duration_ms(size))

    def _duration_ms(self, text: str) -> int:
        amount, _, unit = text.strip().partition(" ")
        is_amount = amount.isdecimal() and int(amount) > 0
        if not is_amount or unit.strip().upper() not in _UNITS:
            raise StatementError(
                f"WINDOW_SIZE '{text}' is no duration above 0.",
                node=self.node,
                fix="Write '10 SECONDS'.",
            )
        return int(amount) * _UNITS[unit.strip().upper()]

    def event_time(self) -> EventTime | None:
        """Return the column that is the record's time."""
        column, pattern = self.get("TIMESTAMP"), self.get("TIMESTAMP_FORMAT")
        if column is None:
            if pattern is not None:
                raise StatementError("TIMESTAMP_FORMAT needs a TIMESTAMP.", node=self.node)
            return None
        # A column is named as in a statement: in upper case unless it is quoted.
        quoted = column[:1] in '`"'
        return EventTime(column.strip('`"') if quoted else column.upper(), pattern)

    def topic_configs(self) -> dict[str, str]:
        """Return Kafka's settings for the topic."""
        names = {"RETENTION_MS": "retention.ms", "CLEANUP_POLICY": "cleanup.policy"}
        return {key: str(self.values[name]) for name, key in names.items() if name in self.values}


def read_declare(properties: tree.Properties, node: tree.Node) -> Properties:
    """Return the properties of CREATE STREAM or TABLE over a topic."""
    return _read(properties, _DECLARE, node)


def read_create_as(properties: tree.Properties, node: tree.Node) -> Properties:
    """Return the properties of CREATE … AS SELECT."""
    return _read(properties, _CREATE_AS, node)


def read_insert(properties: tree.Properties, node: tree.Node) -> Properties:
    """Return the properties of INSERT INTO … SELECT."""
    return _read(properties, _INSERT, node)


def _read(properties: tree.Properties, known: Mapping[str, type], node: tree.Node) -> Properties:
    values: dict[str, Any] = {}
    for item in properties:
        name = item.name.upper()
        if name not in known:
            raise StatementError(
                f"Property '{item.name}' is not known here.",
                node=item,
                fix=nearest(name, known) or f"There are: {', '.join(sorted(known))}.",
            )
        if name in values:
            raise StatementError(f"Property '{name}' is given twice.", node=item)
        values[name] = _value(item, known[name])
        if name in _LEAST and values[name] < _LEAST[name]:
            least = _LEAST[name]
            raise StatementError(f"Property '{name}' must be at least {least}.", node=item)
    if "FORMAT" in values and ("KEY_FORMAT" in values or "VALUE_FORMAT" in values):
        raise StatementError(
            "FORMAT stands for both formats: give it alone, or KEY_FORMAT and VALUE_FORMAT.",
            node=node,
        )
    if values.get("KAFKA_TOPIC") == "":
        raise StatementError("KAFKA_TOPIC is empty.", node=node, fix="Name a topic.")
    return Properties(values, node)


def _value(item: tree.Property, kind: type) -> Any:
    match item.value:
        case tree.BooleanLiteral(value) if kind is bool:
            return value
        case tree.IntegerLiteral(value) | tree.LongLiteral(value) if kind is int:
            return value
        case tree.StringLiteral(text):
            found = _from_text(text, kind)
            if found is not None:
                return found
    word = {str: "a text", int: "a whole number", bool: "true or false"}[kind]
    raise StatementError(f"Property '{item.name}' must be {word}.", node=item)


def _from_text(text: str, kind: type) -> Any:
    if kind is str:
        return text
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower())
    return int(text) if text.lstrip("-").isdigit() else None
