"""Runs a case: its statements are checked, its records written, its queries run one by one."""

import base64
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orion.cases.body import decode_body, encode_body, in_form_of
from orion.cases.case import Case, Json
from orion.cases.prepare import prepare_topics, writer_spec
from orion.command import FormatRules, key_spec, register_columns, value_spec
from orion.formats import FormatSpec, MemorySchemas, codec_of, plain_rows
from orion.model import OrionError
from orion.process import BatchRunner, GivenRecord
from orion.sql import (
    Catalogue,
    Functions,
    Planner,
    Source,
    Started,
    Windowed,
    parse_statements,
    plan_row,
    tree,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


@dataclass(frozen=True)
class Outcome:
    """What a case did.

    Args:
        failed_statement: The number, from 0, of the statement that was refused.
        internal: Whether the error is a fault of the engine, not a refusal.
    """

    id: str
    outputs: list[Json] = field(default_factory=list)
    error: str | None = None
    failed_statement: int | None = None
    internal: bool = False
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the line of a report."""
        line: dict[str, Any] = {"id": self.id, "error": self.error, "outputs": self.outputs}
        if self.error is not None:
            line |= {"failed_statement": self.failed_statement, "internal": self.internal}
        return {**line, "seconds": round(self.seconds, 3)}


def run_case(case: Case, spark: "SparkSession", functions: Functions) -> Outcome:
    """Run one case on a session; never raises for what the case does."""
    started = time.perf_counter()
    run = _Run(case, spark, functions)
    try:
        run.plan()
        run.feed()
        outputs = run.outputs()
    except OrionError as error:
        outcome = Outcome(case.id, error=str(error), failed_statement=run.statement)
    except Exception as error:  # noqa: BLE001  a crash is what a report must tell
        text = "".join(traceback.format_exception_only(error)).strip()
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{text[:600]} [{where.filename.rsplit('/', 1)[-1]}:{where.lineno}]"
        outcome = Outcome(case.id, error=text, failed_statement=run.statement, internal=True)
    else:
        outcome = Outcome(case.id, outputs)
    return Outcome(**{**vars(outcome), "seconds": time.perf_counter() - started})


class _Run:
    """The state of one case."""

    def __init__(self, case: Case, spark: "SparkSession", functions: Functions) -> None:
        self._case = case
        self._functions = functions
        self._schemas = MemorySchemas()
        self._topics: dict[str, list[GivenRecord]] = {}
        self._names: dict[str, str] = {}
        self._catalogue = Catalogue()
        self._queries: list[Started] = []
        self._sources: dict[str, Source] = {}
        self._runner = BatchRunner(spark, functions, self._schemas)
        self.statement = 0

    def plan(self) -> None:
        prepare_topics(self._case.topics, self._schemas)
        properties = {name: str(value) for name, value in self._case.properties.items()}
        planner = Planner(self._functions, FormatRules(self._schemas), properties)
        for number, text in enumerate(self._case.statements):
            self.statement = number
            for statement in parse_statements(text):
                self._take(statement, planner, number)

    def _take(self, statement: tree.Statement, planner: Planner, number: int) -> None:
        if isinstance(statement, tree.InsertValues):
            self._insert(statement)
            return
        if not isinstance(statement, _CHANGING):
            return
        change = planner.plan(statement, self._catalogue, number=number)
        self._catalogue = change.apply(self._catalogue)
        if isinstance(change, Started):
            self._queries.append(change)
        for source in self._catalogue.sources.values():
            if source.topic.upper() not in self._sources:
                register_columns(key_spec(source), self._schemas)
                register_columns(value_spec(source), self._schemas)
            self._sources.setdefault(source.topic.upper(), source)

    def _insert(self, statement: tree.InsertValues) -> None:
        row = plan_row(statement, self._catalogue, self._functions)
        source = row.source
        key = _encode_row(row.key, key_spec(source), self._schemas)
        value = _encode_row(row.value, value_spec(source), self._schemas)
        record = GivenRecord(key, value, row.timestamp_ms or 0, (self._next(),))
        self._write(source.topic, record)

    def _next(self) -> int:
        return sum(len(records) for records in self._topics.values())

    def _write(self, topic: str, record: GivenRecord) -> None:
        name = self._names.setdefault(topic.upper(), topic)
        self._topics.setdefault(name, []).append(record)

    def feed(self) -> None:
        """Write the case's records into their topics."""
        for item in self._case.inputs:
            topic = str(item["topic"])
            source = self._sources.get(topic.upper())
            if source is None:
                continue
            self._write(source.topic, self._record(item, source))

    def _record(self, item: Json, source: Source) -> GivenRecord:
        key = encode_body(item.get("key"), self._writer(source, is_key=True), self._schemas)
        value = encode_body(item.get("value"), self._writer(source, is_key=False), self._schemas)
        window = item.get("window")
        if window and key is not None:
            key += _window_bytes(window)
        headers = tuple(
            (str(h["KEY"]), None if h["VALUE"] is None else base64.b64decode(h["VALUE"]))
            for h in item.get("headers") or ()
        )
        timestamp = int(item.get("timestamp") or 0)
        return GivenRecord(key, value, timestamp, (self._next(),), headers)

    def _writer(self, source: Source, *, is_key: bool) -> FormatSpec:
        return writer_spec(source, self._case.topics, self._schemas, is_key=is_key)

    def outputs(self) -> list[Json]:
        """Run the queries and return what they left in the topics that the case names."""
        for query in self._queries:
            written = self._runner.run(query, self._topics)
            for record in written:
                self._write(query.sink.topic, record)
        wanted: dict[str, list[Json]] = {}
        for item in self._case.outputs:
            wanted.setdefault(str(item["topic"]), []).append(item)
        return [shown for topic, likes in wanted.items() for shown in self._in_form(topic, likes)]

    def _in_form(self, topic: str, likes: Sequence[Json]) -> Iterator[Json]:
        for number, shown in enumerate(self._shown(topic)):
            like = likes[number] if number < len(likes) else {}
            parts = {name: in_form_of(shown[name], like.get(name)) for name in ("key", "value")}
            yield {**shown, **parts}

    def _shown(self, topic: str) -> Iterator[Json]:
        source = self._sources.get(topic.upper())
        name = self._names.get(topic.upper())
        if source is None or name is None:
            return
        for record in self._topics[name]:
            yield self._show(record, source, topic)

    def _show(self, record: GivenRecord, source: Source, topic: str) -> Json:
        key, window = _split_key(record.key, source.windowed)
        shown: dict[str, Any] = {
            "topic": topic,
            "key": decode_body(key, key_spec(source), self._schemas),
            "value": decode_body(record.value, value_spec(source), self._schemas),
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
    row: Mapping[str, Any] | None, spec: FormatSpec, schemas: MemorySchemas
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
