"""Expressions as a statement plans them, over a stream of given columns."""

from collections.abc import Iterable, Iterator, Sequence

from orion.command import FormatRules
from orion.model import Field, OrionError, Type
from orion.sql import Catalogue, Planner, Started, built_in_functions, parse_statements, typed


def planned(fields: Sequence[Field], texts: Iterable[str]) -> Iterator[tuple[str, typed.Typed]]:
    """Yield those expressions that are not refused, with what they mean."""
    planner = Planner(built_in_functions(), FormatRules(None), {})
    columns = ", ".join(f"`{field.name}` {field.type}" for field in fields)
    source = f"CREATE STREAM given ({columns}) WITH (KAFKA_TOPIC='given', VALUE_FORMAT='JSON');"
    (declared,) = parse_statements(source)
    catalogue = planner.plan(declared, Catalogue(), number=0).apply(Catalogue())
    for text in texts:
        (statement,) = parse_statements(f"CREATE STREAM made AS SELECT {text} AS v FROM given;")
        try:
            change = planner.plan(statement, catalogue, number=1)
        except OrionError:
            continue
        assert isinstance(change, Started)
        yield text, change.plan.value[0].expression


def kind_of(expression: typed.Typed) -> Type:
    """Return the type of an expression that is not a bare NULL."""
    assert expression.type is not None
    return expression.type
