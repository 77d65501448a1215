"""What the SQL shell prints: tables that fit, JSON or CSV; to the screen and to a spool file."""

import csv
import io
import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import IO, Any

_LEAST_WIDTH = 8


class Form(StrEnum):
    """How answers look."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class Printer:
    """Writes answers in a form; also to a file while one is open."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.spool: IO[str] | None = None

    def line(self, text: str) -> None:
        """Write a line."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        if self.spool is not None:
            self.spool.write(text + "\n")
            self.spool.flush()

    def entity(self, entity: dict[str, Any]) -> None:
        """Write what a statement answered."""
        if self.form is Form.JSON:
            self.line(_compact(entity))
            return
        head, rows, words = describe(entity)
        for text in words:
            self.line(text)
        if rows and self.form is Form.CSV:
            self.header(head)
            for row in rows:
                self.row(head, row)
        elif rows:
            self._whole_table(head, rows)

    def header(self, names: Sequence[str]) -> None:
        """Write the names of columns before rows that come one by one."""
        if self.form is Form.CSV:
            self.line(_csv(names))
        elif self.form is Form.TABLE:
            widths = _even_widths(len(names))
            self._cells(names, widths)
            self.line("+" + "+".join("-" * (width + 2) for width in widths) + "+")

    def row(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Write a row that has come."""
        if self.form is Form.JSON:
            self.line(_compact(dict(zip(names, values, strict=False))))
        elif self.form is Form.CSV:
            self.line(_csv([_cell(value) for value in values]))
        else:
            self._cells([_cell(value) for value in values], _even_widths(len(names)))

    def _whole_table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        texts = [[_cell(value) for value in row] for row in rows]
        widths = _fit([head, *texts], _screen_width())
        self._cells(head, widths)
        self.line("+" + "+".join("-" * (width + 2) for width in widths) + "+")
        for row in texts:
            self._cells(row, widths)

    def _cells(self, texts: Sequence[str], widths: Sequence[int]) -> None:
        """Write one row; what is too long for its column goes on below."""
        parts = [
            textwrap.wrap(text, width, break_long_words=True, drop_whitespace=False) or [""]
            for text, width in zip(texts, widths, strict=True)
        ]
        for number in range(max((len(part) for part in parts), default=0)):
            cells = [
                (part[number] if number < len(part) else "").ljust(width)
                for part, width in zip(parts, widths, strict=True)
            ]
            self.line("| " + " | ".join(cells) + " |")


def _screen_width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _even_widths(count: int) -> list[int]:
    """Return equal widths for rows whose contents are not known yet."""
    each = max(_LEAST_WIDTH, (_screen_width() - 3 * count - 1) // max(1, count))
    return [each] * count


def _fit(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return widths that fit: columns get what they need, the widest give way first."""
    widths = [max(1, *(len(row[n]) for row in rows)) for n in range(len(rows[0]))]
    while sum(widths) + 3 * len(widths) + 1 > room and max(widths) > _LEAST_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    return _compact(value) if isinstance(value, dict | list | bool) else str(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _csv(values: Sequence[Any]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(values)
    return written.getvalue()


Described = tuple[list[str], list[list[Any]], list[str]]


def describe(entity: dict[str, Any]) -> Described:
    """Return an entity as column names, rows, and lines of words before them."""
    kind = entity.get("@type", "")
    if kind in _LISTS:
        word, columns = _LISTS[kind]
        rows = [[_value(item, column) for column in columns.values()] for item in entity[word]]
        return list(columns), rows, [] if rows else ["There are none."]
    act = _DESCRIPTIONS.get(kind)
    return act(entity) if act is not None else ([], [], [_compact(entity)])


# Where a cell of a list comes from: a name of the item, or what is made of the whole item.
Column = str | Callable[[dict[str, Any]], Any]


def _value(item: dict[str, Any], column: Column) -> Any:
    return item.get(column) if isinstance(column, str) else column(item)


def _listed(name: str) -> Column:
    return lambda item: ", ".join(str(each) for each in item[name])


_SOURCES: dict[str, Column] = {
    "Name": "name",
    "Kafka Topic": "topic",
    "Key Format": "keyFormat",
    "Value Format": "valueFormat",
    "Windowed": "isWindowed",
}
_TOPICS: dict[str, Column] = {
    "Kafka Topic": "name",
    "Partitions": lambda topic: len(topic["replicaInfo"]),
    "Copies": lambda topic: min(topic["replicaInfo"], default=0),
}
_LISTS: dict[str, tuple[str, dict[str, Column]]] = {
    "streams": ("streams", _SOURCES),
    "tables": ("tables", _SOURCES),
    "kafka_topics": ("topics", _TOPICS),
    "kafka_topics_extended": (
        "topics",
        {**_TOPICS, "Consumers": "consumerCount", "Groups": "consumerGroupCount"},
    ),
    "queries": (
        "queries",
        {
            "Query ID": "id",
            "Status": "state",
            "Sink": _listed("sinks"),
            "Sink Topic": _listed("sinkKafkaTopics"),
            "Query": "queryString",
        },
    ),
    "function_names": ("functions", {"Name": "name", "Category": "category", "Type": "type"}),
    "variables": ("variables", {"Variable": "name", "Value": "value"}),
    "properties": ("properties", {"Property": "name", "Value": "value"}),
}


def _status(entity: dict[str, Any]) -> Described:
    return [], [], [str(entity["commandStatus"]["message"])]


def _source(entity: dict[str, Any]) -> Described:
    return _source_words(entity["sourceDescription"])


def _source_words(source: dict[str, Any]) -> Described:
    words = [
        f"Name         : {source['name']}",
        f"Type         : {source['type']}",
        f"Kafka topic  : {source['topic']}",
        f"Formats      : key {source['keyFormat']}, value {source['valueFormat']}",
    ]
    if source["extended"]:
        words.append(f"Partitions   : {source['partitions']}, copies {source['replication']}")
        words += [f"Statistics   : {source['statistics']}"] if source["statistics"] else []
        words += [f"Statement    : {source['statement']}"] if source["statement"] else []
    for word, queries in (("Read by", "readQueries"), ("Written by", "writeQueries")):
        ids = ", ".join(query["id"] for query in source[queries])
        words += [f"{word:<13}: {ids}"] if ids else []
    rows = [
        [
            field["name"],
            type_text(field["schema"]) + (f" ({field['type'].lower()})" if "type" in field else ""),
        ]
        for field in source["fields"]
    ]
    return ["Field", "Type"], rows, words


def _sources(entity: dict[str, Any]) -> Described:
    words: list[str] = []
    for source in entity["sourceDescriptions"]:
        _, rows, lines = _source_words(source)
        words += [*lines, *(f"  {name}: {kind}" for name, kind in rows), ""]
    return [], [], words


def _query(entity: dict[str, Any]) -> Described:
    query = entity["queryDescription"]
    words = [f"ID           : {query['id']}"] if query["id"] else []
    words += [f"Status       : {query['state']}"] if query["state"] else []
    promise, _, in_spark = query["topology"].partition("\n")
    words += [f"Promise      : {promise}"] if promise else []
    words += [f"Error        : {error['errorMessage']}" for error in query["queryErrors"]]
    rows = [[field["name"], type_text(field["schema"])] for field in query["fields"]]
    plan = ["Plan:", *query["executionPlan"].splitlines(), *in_spark.splitlines(), ""]
    return ["Field", "Type"], rows, [*words, *plan]


def _function(entity: dict[str, Any]) -> Described:
    words = [f"{entity['name']} ({entity['type'].lower()}): {entity['description']}"]
    rows = [
        [
            ", ".join(f"{each['name']} {each['type']}" for each in variant["arguments"]),
            variant["returnType"],
        ]
        for variant in entity["functions"]
    ]
    return ["Arguments", "Returns"], rows, words


def _types(entity: dict[str, Any]) -> Described:
    rows = [[name, type_text(shape)] for name, shape in entity["types"].items()]
    return ["Name", "Type"], rows, [] if rows else ["There are none."]


def _asserted(entity: dict[str, Any]) -> Described:
    what = entity.get("topicName") or entity.get("subject") or entity.get("id")
    word = "exists" if entity["exists"] else "does not exist"
    return [], [], [f"{what} {word}."]


_DESCRIPTIONS: dict[str, Callable[[dict[str, Any]], Described]] = {
    "currentStatus": _status,
    "warning_entity": lambda entity: ([], [], [str(entity["message"])]),
    "sourceDescription": _source,
    "source_descriptions": _sources,
    "queryDescription": _query,
    "describe_function": _function,
    "type_list": _types,
    "assert_topic": _asserted,
    "assert_schema": _asserted,
}


def type_text(shape: dict[str, Any]) -> str:
    """Return a type of an entity as SQL writes it."""
    name = str(shape["type"])
    if name == "STRUCT":
        parts = (f"{field['name']} {type_text(field['schema'])}" for field in shape["fields"])
        return f"STRUCT<{', '.join(parts)}>"
    if name == "MAP":
        return f"MAP<STRING, {type_text(shape['memberSchema'])}>"
    if name == "ARRAY":
        return f"ARRAY<{type_text(shape['memberSchema'])}>"
    if name == "DECIMAL":
        given = shape["parameters"]
        return f"DECIMAL({given['precision']}, {given['scale']})"
    return name
