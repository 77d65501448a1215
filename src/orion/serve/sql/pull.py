"""Pull queries over the wire: planned, answered from the views, and written in one go."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from orion.model import OrionError, Scalar, Type
from orion.serve.lane import Answer
from orion.serve.sql.protobuf_row import PROTOBUF_TYPE, ProtobufRows
from orion.serve.sql.request import DELIMITED, MEDIA_TYPE, SqlRequest, StatementFailedError
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.statement import session_of
from orion.serve.sql.value import dump, dump_rows, show_rows
from orion.sql import tree
from orion.views import PlanCache, PullPlan, QuestionPlan, Values, plan_pull

# Asks that an answer holds everything written before the question.
FRESH = "orion.query.pull.fresh"


@dataclass(frozen=True)
class Form:
    """How an answer is written: by the endpoint that was asked, and by what the client accepts."""

    accept: str
    older: bool

    @property
    def json_type(self) -> str:
        """The media type of JSON that this client expects, errors included."""
        return MEDIA_TYPE if "vnd.ksql" in self.accept else "application/json"


@dataclass(frozen=True)
class PullAnswer:
    """The columns and rows of an answer."""

    id: str
    columns: list[tuple[str, Type | None, bool]]
    rows: list[Values]

    @property
    def schema_text(self) -> str:
        """The columns as the API shows them, those of the key marked."""
        return ", ".join(
            f"`{name}` {kind or Scalar.STRING}{' KEY' if is_key else ''}"
            for name, kind, is_key in self.columns
        )


class PullQueries:
    """Answers questions that are asked once."""

    def __init__(self, rooms: SqlRooms) -> None:
        self._rooms = rooms
        self._plans = PlanCache()

    def look_up(self, given: SqlRequest, form: Form) -> Answer | None:
        """Answer without waiting: a question of a known kind, by key, about a table that is read.

        Safe to call from the event loop; None where any of that is not so.
        """
        found = self._plans.find(given.text, given.properties, self._rooms.catalogue)
        if found is None or given.variables or _is_fresh(given.properties):
            return None
        plan, keys = found
        rows = None if keys is None else self._rooms.views.look_up(plan, keys)
        return None if rows is None else write_answer(_answer_of(plan, rows), form)

    def answer(self, given: SqlRequest, statement: tree.SelectStatement, form: Form) -> Answer:
        """Answer a question; blocks while its table is read the first time."""
        return write_answer(self.ask(given, statement), form)

    def ask(self, given: SqlRequest, statement: tree.SelectStatement) -> PullAnswer:
        """Return the columns and rows that answer a question."""
        properties = session_of(given)
        catalogue = self._rooms.catalogue
        try:
            plan = plan_pull(statement.query, catalogue, self._rooms.functions, properties)
            rows = self._rooms.views.answer(plan, fresh=_is_fresh(properties))
        except OrionError as error:
            raise StatementFailedError(statement.text, error) from error
        if not given.variables and isinstance(plan, PullPlan):
            self._plans.keep(given.text, properties, catalogue, plan)
        return _answer_of(plan, rows)


def _is_fresh(properties: Mapping[str, str]) -> bool:
    return str(properties.get(FRESH, "false")).lower() == "true"


def _answer_of(plan: PullPlan | QuestionPlan, rows: list[Values]) -> PullAnswer:
    shown = show_rows([kind for _, kind, _ in plan.columns], rows)
    return PullAnswer(f"query_{uuid.uuid4().hex[:16]}", plan.columns, shown)


def write_answer(answer: PullAnswer, form: Form) -> Answer:
    """Return the bytes of an answer in the form that was asked for."""
    if PROTOBUF_TYPE in form.accept:
        return Answer(200, PROTOBUF_TYPE, _protobuf_body(answer))
    if form.older or MEDIA_TYPE in form.accept:
        return Answer(200, form.json_type, _array_body(answer))
    if "application/json" in form.accept:
        body = b"[" + b",\n".join(_parts(answer, b",\n")) + b"]\n"
        return Answer(200, "application/json", body)
    return Answer(200, DELIMITED, b"\n".join(_parts(answer, b"\n")) + b"\n")


def _array_body(answer: PullAnswer) -> bytes:
    """Return one JSON array: header, then rows."""
    header = {"header": {"queryId": answer.id, "schema": answer.schema_text}}
    rows = dump_rows(answer.rows, b'}},\n{"row":{"columns":')
    body = b',\n{"row":{"columns":' + rows + b"}}" if answer.rows else b""
    return b"[" + dump(header) + body + b"]\n"


def _parts(answer: PullAnswer, separator: bytes) -> list[bytes]:
    """Return the header object, and the rows as arrays."""
    header = {
        "queryId": answer.id,
        "columnNames": [name for name, _, _ in answer.columns],
        "columnTypes": [str(kind or Scalar.STRING) for _, kind, _ in answer.columns],
    }
    return [dump(header), *([dump_rows(answer.rows, separator)] if answer.rows else [])]


def _protobuf_body(answer: PullAnswer) -> bytes:
    rows = ProtobufRows([(name, kind) for name, kind, _ in answer.columns])
    parts = [rows.header(answer.id, answer.schema_text), *(rows.row(row) for row in answer.rows)]
    return b"[" + b",\n".join(parts) + b"]\n"
