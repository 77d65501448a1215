"""What the SQL API works with: the command log, the log's topics, formats and functions."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from orion.formats import HttpSchemas, SchemaSource
from orion.log import Outbox, Outcome, Record, Refused, RequestLog
from orion.model import UnavailableError
from orion.serve.schema_source import RegistrySchemas
from orion.views import Feeds, Views

if TYPE_CHECKING:
    from orion.app import App
    from orion.command import Commands
    from orion.model import QueryStatus
    from orion.sql import Catalogue, Functions

# Clients compare this with the oldest ksqlDB they can speak to.
KSQL_VERSION = "0.29.0"
SERVICE_ID = "orion_"
_WRITE_TIMEOUT_S = 40.0


class RowRefusedError(UnavailableError):
    """Raised when Kafka did not take a row."""

    def __init__(self, topic: str, reason: str) -> None:
        self.topic, self.reason = topic, reason
        super().__init__(f"The row was not written to topic '{topic}': {reason}.")


@dataclass(frozen=True)
class SqlRooms:
    """The rooms of the SQL API, opened at its first use."""

    app: "App"

    @cached_property
    def schemas(self) -> SchemaSource:
        """The schema registry: the one of this process, unless another one is named."""
        url = self.app.settings.registry.url
        return HttpSchemas(url) if url else RegistrySchemas(self.app.registry)

    @cached_property
    def commands(self) -> "Commands":
        """The statements that count, and what they add up to."""
        return self.app.open_commands(self.schemas, listener=self._on_change)

    def _on_change(self, _command: object, _change: object) -> None:
        """Let go of dropped tables; before the first question there are none to let go of."""
        if "views" in self.__dict__:
            self.views.keep_only(self.catalogue)

    @cached_property
    def views(self) -> Views:
        """The tables that were asked about."""
        return Views(self.app.connection, self.schemas)

    @cached_property
    def feeds(self) -> Feeds:
        """The streams and tables that clients follow."""
        return Feeds(self.app.connection, self.schemas)

    @cached_property
    def requests(self) -> RequestLog:
        """The way to the engine."""
        requests = RequestLog(self.app.connection)
        requests.create()
        return requests

    @cached_property
    def _outbox(self) -> Outbox:
        return Outbox(self.app.connection)

    def write(self, topic: str, record: Record) -> None:
        """Write a record; it is stored when this returns."""
        done: Future[list[Outcome]] = Future()
        self._outbox.send(topic, [record], done.set_result)
        (outcome,) = done.result(_WRITE_TIMEOUT_S)
        if isinstance(outcome, Refused):
            raise RowRefusedError(topic, outcome.reason)

    @property
    def catalogue(self) -> "Catalogue":
        """Everything that is declared now."""
        return self.commands.catalogue

    @property
    def functions(self) -> "Functions":
        """The functions of SQL."""
        return self.app.functions

    def statuses(self) -> "Mapping[str, QueryStatus]":
        """Return what queries last said of themselves."""
        return self.app.statuses.read()
