"""Groups of rows with their aggregates, by the meanings that persistent queries have."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from orion.model import Decimal, Scalar
from orion.sql import step
from orion.views.question.order import Compute
from orion.views.reader import Row, hashable


def group_rows(
    rows: Iterable[Row],
    keys: Sequence[step.Named],
    calls: Sequence[step.AggregateCall],
    compute: Compute,
) -> Iterator[Row]:
    """Yield a row for each group: its keys and its aggregates by their names.

    Without keys all rows are one group, which is there even if it is empty.
    """
    of_keys = [compute(key.expression) for key in keys]
    is_plain = all(
        isinstance(key.type, Scalar | Decimal) and key.type is not Scalar.DOUBLE for key in keys
    )
    identify = tuple if is_plain else hashable
    meanings = [call.aggregation() for call in calls]
    arguments = [[compute(part) for part in call.arguments] for call in calls]
    steps = [(m.add, given) for m, given in zip(meanings, arguments, strict=True)]
    groups: dict[Any, tuple[list[Any], list[Any]]] = {}
    if not keys:
        groups[()] = ([], [m.initial() for m in meanings])
    for row in rows:
        values = [key(row) for key in of_keys]
        at = identify(values)
        found = groups.get(at)
        if found is None:
            found = groups[at] = (values, [m.initial() for m in meanings])
        states = found[1]
        for number, (add, given) in enumerate(steps):
            states[number] = add(states[number], *(part(row) for part in given))
    names = [*(key.name for key in keys), *(call.name for call in calls)]
    for values, states in groups.values():
        results = [m.result(state) for m, state in zip(meanings, states, strict=True)]
        yield dict(zip(names, (*values, *results), strict=True))
