"""What a case declares: its sources by topic, how its records are written and shown."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orion.cases.body import decode_body, encode_body, in_form_of
from orion.cases.case import Case, Json
from orion.cases.prepare import prepare_topics, writer_spec
from orion.command import FormatRules, key_spec, register_columns, value_spec
from orion.formats import FormatSpec, MemorySchemas, SchemaSource, codec_of, plain_rows
from orion.process import GivenRecord
from orion.sql import (
    Catalogue,
    Functions,
    Planner,
    Source,
    Started,
    StatementError,
    Windowed,
    parse_statements,
    plan_row,
    tree,
)

_CHANGING = (
    tree.CreateSource,
    tree.CreateAs,
    tree.InsertQuery,
    tree.DropSource,
    tree.AlterSource,
    tree.CreateType,
    tree.DropType,
    tree.Terminate,
)


_FOR_SHELLS = (
    tree.RunScript,
    tree.AssertValues,
    tree.AssertTombstone,
    tree.AssertSource,
)


class Script:
    """The statements of a case, planned one after the other.

    Args:
        schemas: Where schemas are kept; a case's own are registered there.
    """

    def __init__(
        self, case: Case, functions: Functions, schemas: SchemaSource | None = None
    ) -> None:
        self._case = case
        self._functions = functions
        self.schemas = schemas or MemorySchemas()
        # Otherwise a server does what statements do to schemas.
        self._is_alone = isinstance(self.schemas, MemorySchemas)
        if isinstance(self.schemas, MemorySchemas):
            prepare_topics(case.topics, self.schemas)
        self.properties = {name: str(value) for name, value in case.properties.items()}
        self._planner = Planner(functions, FormatRules(self.schemas), self.properties)
        self._catalogue = Catalogue()
        self.queries: list[Started] = []
        self.sources: dict[str, Source] = {}

    def take(self, text: str, number: int) -> Iterator[tuple[Source, GivenRecord]]:
        """Plan the statements of a text; yield the records that they insert."""
        for statement in parse_statements(text):
            if isinstance(statement, tree.InsertValues):
                yield self._inserted(statement)
            elif isinstance(statement, _CHANGING):
                self._change(statement, number)
            elif isinstance(statement, tree.SetProperty):
                self.properties[statement.name] = statement.value
            elif isinstance(statement, tree.UnsetProperty):
                self.properties.pop(statement.name, None)
            elif isinstance(statement, _FOR_SHELLS):
                raise StatementError("This statement is for a shell.", node=statement)

    def _change(self, statement: tree.Statement, number: int) -> None:
        change = self._planner.plan(statement, self._catalogue, number=number)
        self._catalogue = change.apply(self._catalogue)
        if isinstance(change, Started):
            self.queries.append(change)
        for source in self._catalogue.sources.values():
            if source.topic.upper() not in self.sources and self._is_alone:
                register_columns(key_spec(source), self.schemas)
                register_columns(value_spec(source), self.schemas)
            self.sources.setdefault(source.topic.upper(), source)

    def _inserted(self, statement: tree.InsertValues) -> tuple[Source, GivenRecord]:
        row = plan_row(statement, self._catalogue, self._functions)
        key = _encode_row(row.key, key_spec(row.source), self.schemas)
        value = _encode_row(row.value, value_spec(row.source), self.schemas)
        return row.source, GivenRecord(key, value, row.timestamp_ms or 0, ())

    def given(self) -> Iterator[tuple[Source, GivenRecord]]:
        """Yield the case's records, as bytes, in their order; those of no source are left out."""
        for item in self._case.inputs:
            source = self.sources.get(str(item["topic"]).upper())
            if source is not None:
                yield source, self._record(item, source)

    def _record(self, item: Json, source: Source) -> GivenRecord:
        key = encode_body(item.get("key"), self._writer(source, is_key=True), self.schemas)
        value = encode_body(item.get("value"), self._writer(source, is_key=False), self.schemas)
        window = item.get("window")
        if window and key is not None:
            key += _window_bytes(window)
        headers = tuple(
            (str(h["KEY"]), None if h["VALUE"] is None else base64.b64decode(h["VALUE"]))
            for h in item.get("headers") or ()
        )
        return GivenRecord(key, value, int(item.get("timestamp") or 0), (), headers)

    def _writer(self, source: Source, *, is_key: bool) -> FormatSpec:
        return writer_spec(source, self._case.topics, self.schemas, is_key=is_key)

    def outputs(self, read: Mapping[str, Sequence[GivenRecord]]) -> list[Json]:
        """Return the records of the topics that the case names, in the form it uses.

        Args:
            read: Records by topic, in upper case.
        """
        wanted: dict[str, list[Json]] = {}
        for item in self._case.outputs:
            wanted.setdefault(str(item["topic"]), []).append(item)
        return [
            shown
            for topic, likes in wanted.items()
            for shown in self._in_form(topic, read.get(topic.upper(), ()), likes)
        ]

    def _in_form(
        self, topic: str, records: Sequence[GivenRecord], likes: Sequence[Json]
    ) -> Iterator[Json]:
        source = self.sources.get(topic.upper())
        if source is None:
            return
        for number, record in enumerate(records):
            shown = self._show(record, source, topic)
            like = likes[number] if number < len(likes) else {}
            parts = {name: in_form_of(shown[name], like.get(name)) for name in ("key", "value")}
            yield {**shown, **parts}

    def _show(self, record: GivenRecord, source: Source, topic: str) -> dict[str, Any]:
        key, window = _split_key(record.key, source.windowed)
        shown: dict[str, Any] = {
            "topic": topic,
            "key": decode_body(key, key_spec(source), self.schemas),
            "value": decode_body(record.value, value_spec(source), self.schemas),
            "timestamp": record.timestamp_ms,
        }
        if window is not None:
            shown["window"] = window
        shown["headers"] = [
            {"KEY": name, "VALUE": None if body is None else base64.b64encode(body).decode()}
            for name, body in record.headers
        ]
        return shown


def _encode_row(
    row: Mapping[str, Any] | None, spec: FormatSpec, schemas: SchemaSource
) -> bytes | None:
    """Return the bytes of a row whose moments are numbers."""
    if row is None or not spec.columns:
        return None
    rows = plain_rows([row], spec.columns)
    encoded: bytes | None = codec_of(spec, schemas).encode(rows)[0].as_py()
    return encoded


def _window_bytes(window: Json) -> bytes:
    start = int(window["start"]).to_bytes(8, "big", signed=True)
    if str(window.get("type", "")).lower() == "session":
        return int(window["end"]).to_bytes(8, "big", signed=True) + start
    return start


def _split_key(key: bytes | None, windowed: Windowed | None) -> tuple[bytes | None, Json | None]:
    if key is None or windowed is None:
        return key, None
    start = int.from_bytes(key[-8:], "big", signed=True)
    if windowed.kind is tree.WindowKind.SESSION:
        end = int.from_bytes(key[-16:-8], "big", signed=True)
        return key[:-16], {"start": start, "end": end, "type": "session"}
    return key[:-8], {"start": start, "end": start + (windowed.size_ms or 0), "type": "time"}
