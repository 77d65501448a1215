"""INSERT INTO … VALUES: one record, computed without an engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orion.model import Scalar, Type
from orion.sql.function import Functions
from orion.sql.parse import tree
from orion.sql.plan import coercion, typed
from orion.sql.plan.catalogue import Catalogue
from orion.sql.plan.errors import StatementError, TypeMismatchError, UnknownColumnError
from orion.sql.plan.evaluate import evaluate
from orion.sql.plan.failure import telling_failures
from orion.sql.plan.meet import convert
from orion.sql.plan.resolve import Resolver
from orion.sql.plan.source import RESERVED, ROWTIME, Role, Source
from orion.sql.plan.typed import Typed


@dataclass(frozen=True)
class InsertedRow:
    """A record to write; a part is None when none of its columns were given."""

    source: Source
    key: Mapping[str, Any] | None
    value: Mapping[str, Any] | None
    timestamp_ms: int | None


class _NoColumns:
    """There is no row that values could speak of."""

    def find(self, reference: tree.ColumnRef) -> Typed:
        name = reference.name.text
        raise StatementError(f"A value cannot speak of a column: '{name}'.", node=reference)


def plan_row(
    statement: tree.InsertValues, catalogue: Catalogue, functions: Functions
) -> InsertedRow:
    """Return the record that a statement inserts."""
    source = catalogue.source(statement.target)
    _check_target(source, statement)
    names = [name.text for name in statement.columns] or [column.name for column in source.columns]
    _check_names(names, source, statement)
    if len(names) != len(statement.values):
        raise StatementError(
            f"{len(names)} columns are named, but {len(statement.values)} values are given.",
            node=statement,
        )
    resolver = Resolver(_NoColumns(), functions, catalogue.types)
    row = {
        name: _value(value, _type_of(name, source), resolver)
        for name, value in zip(names, statement.values, strict=True)
    }
    moment = row.pop(ROWTIME, None)
    if source.is_table and any(row.get(column.name) is None for column in source.key):
        raise StatementError(
            f"The primary key of '{source.name}' must have a value.", node=statement
        )
    return InsertedRow(source, _part(row, source, Role.KEY), _part(row, source, Role.VALUE), moment)


def _check_target(source: Source, statement: tree.InsertValues) -> None:
    if source.is_source:
        raise StatementError(f"'{source.name}' is read-only.", node=statement)
    if source.windowed is not None:
        raise StatementError("Windowed sources cannot be inserted into.", node=statement)
    if source.headers and (
        not statement.columns
        or {n.text for n in statement.columns} & {c.name for c in source.headers}
    ):
        raise StatementError("Headers cannot be inserted.", node=statement)


def _check_names(names: Sequence[str], source: Source, node: tree.Node) -> None:
    for name in names:
        if name in RESERVED and name != ROWTIME:
            raise StatementError(f"'{name}' cannot be inserted: Kafka gives it.", node=node)
        if name != ROWTIME and source.get(name) is None:
            raise UnknownColumnError(name, (c.name for c in source.columns), node=node)
    if len(set(names)) != len(names):
        raise StatementError("A column is named twice.", node=node)


def _type_of(name: str, source: Source) -> Type:
    column = source.get(name)
    return Scalar.BIGINT if column is None else column.type


def _value(node: tree.Expression, kind: Type, resolver: Resolver) -> Any:
    found = resolver.resolve(node)
    if isinstance(found, typed.Constant | typed.Made):
        found = convert(found, kind, node)
    elif found.type != kind:
        if not _is_insertable(found.type, kind):
            raise TypeMismatchError(f"{kind} is needed here, found {found.type}.", node=node)
        found = typed.Converted(kind, found)
    return _computed(found, node)


def _computed(value: Typed, node: tree.Expression) -> Any:
    """Return a value; one that would be NULL in a query is refused: nothing is written yet."""
    failures: list[Exception] = []
    try:
        with telling_failures(lambda _name, _row, error: failures.append(error)):
            found = evaluate(value, {})
    except Exception as error:  # noqa: BLE001  whatever a function raises, its value is missing
        failures.append(error)
    if failures:
        why = str(failures[0]).rstrip(".") or type(failures[0]).__name__
        raise StatementError(f"This value cannot be computed: {why}.", node=node) from failures[0]
    return found


def _is_insertable(found: Type | None, kind: Type) -> bool:
    return found is None or coercion.can_widen(found, kind) or found is Scalar.STRING


def _part(row: Mapping[str, Any], source: Source, role: Role) -> Mapping[str, Any] | None:
    columns = source.key if role is Role.KEY else source.value
    if not columns or (role is Role.KEY and all(row.get(c.name) is None for c in columns)):
        return None
    return {column.name: row.get(column.name) for column in columns}
