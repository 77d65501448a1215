"""Statements that run on the session's Spark and Kafka, without a platform around them."""

import json
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from orion.app import App
from orion.command import FormatRules, Preparation
from orion.formats import MemorySchemas
from orion.log import Groups, Outbox, Record, Tail
from orion.model import OrionError, QueryStatus, State
from orion.process import LiveSql, sql_session
from orion.process.planning import BatchLimit, Planning
from orion.sql import Catalogue, Change, Planner, Started, parse_statements, tree
from orion.testing import wait_until
from orion.views import Views, plan_pull


class Bench:
    """A catalogue of its own on the session's Spark and Kafka."""

    def __init__(self, app: App, runtime: Any, folder: Path) -> None:
        self.app = app
        self.schemas = MemorySchemas()
        self._runtime = runtime
        self.catalogue = Catalogue()
        self._planner = Planner(app.functions, FormatRules(self.schemas))
        self._numbers = count(1)
        self.queries: list[str] = []
        # How many records of a topic a batch may hold; None: as settings say.
        self.most: int | None = None
        self._live = LiveSql(
            sql_session(runtime.spark),
            app.connection,
            app.functions,
            self.schemas,
            self._limit,
            partitions=lambda topic: len(app.topics.get(topic).partitions),
            state_folder=str(folder),
            checkpoints=runtime.checkpoints,
        )

    def _limit(self, topic: str) -> BatchLimit:
        found: BatchLimit = self._runtime.batch_limit(topic)
        return found if self.most is None else BatchLimit(self.most, is_exceeded=True)

    def set(self, name: str, value: str) -> None:
        """Set a property of the statements that follow."""
        self._planner = replace(self._planner, properties={**self._planner.properties, name: value})

    def sql(self, text: str) -> None:
        for statement in parse_statements(text):
            change = self.plan(statement.text)
            if isinstance(change, Started):
                self._start(change)

    def plan(self, text: str) -> Change:
        """Carry a statement out, but for starting its query."""
        (statement,) = parse_statements(text)
        change = self._planner.plan(statement, self.catalogue, number=next(self._numbers))
        Preparation(self.app.topics, self.schemas).prepare(change)
        self.catalogue = change.apply(self.catalogue)
        return change

    def rows(self, text: str) -> DataFrame:
        """Return what Spark will run for a statement."""
        started = self.plan(text)
        assert isinstance(started, Started)
        return self._live.rows(started, Planning())

    def _start(self, started: Started) -> None:
        self._runtime.write_records(
            lambda planning: self._live.rows(started, planning),
            started.sink.topic,
            name=started.query,
            sources=self._live.sources(started),
            state=self._live.state(started.query, started.late_topic),
        )
        self.queries.append(started.query)

    def order(self, verb: str) -> None:
        for query in self.queries:
            self._runtime.take(verb, query)

    def status(self, query: str | None = None) -> QueryStatus:
        """Return how a query is; by itself the last one."""
        found: list[QueryStatus] = self._runtime.statuses()
        return next(status for status in found if status.name == (query or self.queries[-1]))

    def write(self, topic: str, rows: list[tuple[str | None, bytes | None]]) -> None:
        self.send(
            topic,
            [Record(value, None if key is None else key.encode()) for key, value in rows],
        )

    def send(self, topic: str, records: list[Record]) -> None:
        outbox = Outbox(self.app.connection)
        for record in records:
            done: Future[Any] = Future()
            outbox.send(topic, [record], done.set_result)
            done.result(20)
        outbox.close()

    def load(self, topic: str, records: list[Record]) -> None:
        """Write records whose times are their own, all at once."""
        outbox, done = Outbox(self.app.connection), Future[Any]()
        outbox.send(topic, records, done.set_result)
        done.result(60)
        outbox.close()

    def settle(self) -> None:
        """Wait until every query has taken all there is."""
        groups = Groups(self.app.connection)

        def is_done() -> bool:
            statuses = [self.status(query) for query in self.queries]
            assert not any(status.state is State.FAILED for status in statuses), statuses
            try:
                return all(groups.get(query).lag_records == 0 for query in self.queries)
            except OrionError:
                return False

        try:
            wait_until(is_done, timeout_s=150, what="The end of the topics")
        except AssertionError as error:
            raise AssertionError([self.status(query) for query in self.queries]) from error

    def records(self, topic: str) -> list[Record]:
        """Return all that a topic holds."""
        with Tail(self.app.connection, topic, from_beginning=True) as tail:
            ends, found = tail.ends(), list[Record]()
            while not tail.has_reached(ends):
                found += tail.read(0.1)
        return found

    def read(self, topic: str) -> list[tuple[bytes | None, Any]]:
        records = self.records(topic)
        return [(record.key, json.loads(record.value or b"null")) for record in records]

    def ask(self, text: str, views: Views) -> list[list[Any]]:
        (statement,) = parse_statements(text)
        assert isinstance(statement, tree.SelectStatement)
        pull = plan_pull(statement.query, self.catalogue, self.app.functions, {})
        return sorted(list(values) for values in views.answer(pull, fresh=True))

    def stop(self) -> None:
        for query in self.queries:
            self._runtime.remove(query, forget=True)
