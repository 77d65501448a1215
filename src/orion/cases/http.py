"""Cases over HTTP: the same statements and records, on a running platform and its SQL API."""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from orion.cases.case import Case, Json
from orion.cases.prepare import case_schemas
from orion.cases.run import Outcome, told
from orion.cases.script import Script
from orion.formats import Schema, SchemaSource, forget_schemas
from orion.log import (
    Connection,
    Groups,
    Outbox,
    Record,
    Tail,
    TopicExistsError,
    TopicNotFoundError,
    Topics,
)
from orion.model import InvalidInputError, OrionError, UnavailableError
from orion.process import GivenRecord
from orion.sql import Functions, parse_statements, tree

_TIMEOUT_S = 30.0
_STEP_S = 0.05
_EARLIEST = {"auto.offset.reset": "earliest", "orion.query.pull.fresh": "true"}


class AnswerError(InvalidInputError):
    """Raised when the server refuses a statement."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(f"HTTP {status}: {message}")


class SlowCaseError(UnavailableError):
    """Raised when queries do not come to the end of their topics."""

    def __init__(self, waiting: Sequence[str]) -> None:
        self.waiting = tuple(waiting)
        super().__init__(f"After {_TIMEOUT_S:.0f} s still behind: {', '.join(waiting)}.")


@dataclass(frozen=True)
class Platform:
    """A running platform that cases may use up: they drop what they find.

    Args:
        sql_url: The SQL API.
        registry_url: The schema registry.
    """

    connection: Connection
    schemas: SchemaSource
    functions: Functions
    sql_url: str
    registry_url: str


def run_http_case(case: Case, platform: Platform) -> Outcome:
    """Run one case on a platform; never raises for what the case does."""
    run = _HttpRun(case, platform)
    try:
        return told(case, run.run, lambda: run.statement)
    finally:
        run.clean()


class _HttpRun:
    """One case on a platform."""

    def __init__(self, case: Case, platform: Platform) -> None:
        self._case = case
        self._platform = platform
        self._topics = Topics(platform.connection)
        self._groups = Groups(platform.connection)
        self._script = Script(case, platform.functions, platform.schemas)
        self.statement = 0

    def run(self) -> Outcome:
        self._prepare()
        script = self._script
        responses: list[Json] = []
        fed = False
        for number, text in enumerate(self._case.statements):
            self.statement = number
            is_query = text.lstrip().upper().startswith(("SELECT", "WITH"))
            if is_query and not fed:
                self._feed(script)
                fed = True
            responses.append(self._ask(text) if is_query else self._tell(text, script, number))
        if not fed:
            self._feed(script)
        return Outcome(self._case.id, script.outputs(self._read(script)), responses=responses)

    def _prepare(self) -> None:
        """Make the topics and schemas that the case takes for granted."""
        for subject, schema, number in case_schemas(self._case.topics):
            if number is None:
                self._platform.schemas.register(subject, schema)
            else:
                self._import(subject, schema, number)
        for name in self._source_topics():
            try:
                self._topics.create(name, partitions=1)
            except TopicExistsError:
                continue

    def _import(self, subject: str, schema: Schema, number: int) -> None:
        """Register a schema under the id that the case asks for."""
        url = self._platform.registry_url
        mode = f"{url}/mode/{subject}?force=true"
        _send("PUT", mode, {"mode": "IMPORT"})
        references = [vars(reference) for reference in schema.references]
        body = {
            "schema": schema.text,
            "schemaType": schema.kind,
            "references": references,
            "id": number,
            "version": 1,
        }
        _send("POST", f"{url}/subjects/{subject}/versions", body)
        _send("PUT", mode, {"mode": "READWRITE"})

    def _source_topics(self) -> set[str]:
        names = {str(topic["name"]) for topic in self._case.topics}
        for text in self._case.statements:
            try:
                statements = parse_statements(text)
            except OrionError:
                continue
            for statement in statements:
                if isinstance(statement, tree.CreateSource):
                    names |= {
                        p.value.value
                        for p in statement.properties
                        if p.name == "KAFKA_TOPIC" and isinstance(p.value, tree.StringLiteral)
                    }
        return names

    def _tell(self, text: str, script: Script, number: int) -> Json:
        answers = self._post("/ksql", {"ksql": text, "streamsProperties": self._properties()})
        for _ in script.take(text, number):
            pass  # the server has written the records of INSERT VALUES
        return {"admin": answers[0] if answers else {}}

    def _ask(self, text: str) -> Json:
        rows = self._post("/query", {"ksql": text, "streamsProperties": self._properties()})
        return {"query": rows}

    def _properties(self) -> dict[str, Any]:
        return {**_EARLIEST, **self._script.properties}

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return _send("POST", self._platform.sql_url + path, body)

    def _feed(self, script: Script) -> None:
        """Write the case's records and wait until every query has taken them."""
        outbox = Outbox(self._platform.connection)
        try:
            for source, given in script.given():
                done: Future[Any] = Future()
                outbox.send(source.topic, [_record(given)], done.set_result)
                done.result(_TIMEOUT_S)
        finally:
            outbox.close()
        self._await(lambda: self._behind(script))

    def _behind(self, script: Script) -> list[str]:
        """Return the queries that have not come to the end of what they read."""
        behind = []
        for query in script.queries:
            try:
                lag = self._groups.get(self._id_of(query.sink.name)).lag_records
            except OrionError:
                lag = None
            if lag != 0:
                behind.append(query.sink.name)
        return behind

    def _id_of(self, sink: str) -> str:
        shown = self._post("/ksql", {"ksql": "SHOW QUERIES;"})[0]["queries"]
        return next((q["id"] for q in shown if sink in q["sinks"]), sink)

    def _await(self, waiting: Callable[[], list[str]]) -> None:
        deadline = time.monotonic() + _TIMEOUT_S
        while found := waiting():
            if time.monotonic() > deadline:
                raise SlowCaseError(found)
            time.sleep(_STEP_S)

    def _read(self, script: Script) -> dict[str, list[GivenRecord]]:
        names = {str(item["topic"]).upper() for item in self._case.outputs}
        found: dict[str, list[GivenRecord]] = {}
        for name in names:
            source = script.sources.get(name)
            if source is None:
                continue
            with Tail(self._platform.connection, source.topic, from_beginning=True) as tail:
                ends, records = tail.ends(), list[Record]()
                while not tail.has_reached(ends):
                    records += tail.read(_STEP_S)
            found[name] = [_given(record) for record in records]
        return found

    def clean(self) -> None:
        """Drop what the case has made: queries, sources, topics, schemas."""
        for text in ("TERMINATE ALL;", *self._drops()):
            try:
                self._post("/ksql", {"ksql": text})
            except AnswerError:
                continue
        for name in self._topics.names():
            # The engine removes what its queries leave at the same time.
            with suppress(TopicNotFoundError):
                self._topics.delete(name)
        self._delete_schemas()
        # The next case may give an id of this one to a schema of its own.
        forget_schemas()

    def _delete_schemas(self) -> None:
        """Delete every subject for good; those that others refer to have to wait for these."""
        url = f"{self._platform.registry_url}/subjects"
        while left := _send("GET", url, None):
            refusals = []
            for subject in left:
                try:
                    for query in ("", "?permanent=true"):
                        _send("DELETE", f"{url}/{subject}{query}", None)
                except AnswerError as error:
                    refusals.append(error)
            if len(refusals) == len(left):
                raise refusals[0]

    def _drops(self) -> list[str]:
        """Return statements that drop every source, those made last first."""
        found = []
        for kind in ("STREAMS", "TABLES"):
            shown = self._post("/ksql", {"ksql": f"SHOW {kind};"})[0]
            found += [(kind.removesuffix("S"), s["name"]) for s in shown[kind.lower()]]
        return [f"DROP {kind} IF EXISTS `{name}`;" for kind, name in reversed(found)] * 2


def _record(given: GivenRecord) -> Record:
    return Record(
        value=given.value,
        key=given.key,
        headers=given.headers,
        # To Kafka's clients a time of 0 means now: the first millisecond is as near as can be.
        timestamp_ms=given.timestamp_ms or 1,
    )


def _given(record: Record) -> GivenRecord:
    place = (record.offset or 0,)
    return GivenRecord(record.key, record.value, record.timestamp_ms or 0, place, record.headers)


def _read_all(answer: http.client.HTTPResponse) -> bytes:
    """Return a whole body; a query that goes on is given up, though it says that it lives."""
    deadline, body = time.monotonic() + _TIMEOUT_S, bytearray()
    while part := answer.read1(65_536):
        body += part
        if time.monotonic() > deadline:
            raise SlowCaseError(["the answer of a query"])
    return bytes(body)


def _send(method: str, url: str, body: Mapping[str, Any] | None) -> Any:
    """Send a request and return its JSON; a refusal is raised with the server's words."""
    encoded = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, encoded, method=method)
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            text = _read_all(answer).decode()
    except urllib.error.HTTPError as error:
        told_by = json.loads(error.read() or b"{}")
        raise AnswerError(error.code, str(told_by.get("message", told_by))) from error
    return json.loads(text, parse_float=Decimal) if text.strip() else []
