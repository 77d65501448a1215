"""Columns computed from the rows beside a row: ranks, neighbours, running aggregates."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from orion.sql import Computation, answer, step
from orion.views.question.order import Compute, sort_key
from orion.views.reader import Row, hashable

Peers = list[list[Row]]


def add_column(rows: list[Row], over: answer.OverCall, compute: Compute) -> list[Row]:
    """Return the rows, in their order, with one more column."""
    of_partition = [compute(part) for part in over.partition_by]
    partitions: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        at = tuple(hashable(part(row)) for part in of_partition)
        partitions.setdefault(at, []).append(number)
    by = sort_key(over.order_by, compute)
    arguments = [compute(argument) for argument in over.arguments]
    found: dict[int, Any] = {}
    for numbers in partitions.values():
        # Sorting keeps the order of equal rows.
        ordered = sorted(numbers, key=lambda number: by(rows[number]))
        inside = [rows[number] for number in ordered]
        values = _column(over, inside, arguments, by)
        found.update(zip(ordered, values, strict=True))
    return [{**row, over.name: found[number]} for number, row in enumerate(rows)]


def _column(
    over: answer.OverCall,
    rows: list[Row],
    arguments: Sequence[Computation],
    by: Callable[[Row], Any],
) -> Iterator[Any]:
    peers = [list(group) for _, group in groupby(rows, key=by)]
    if isinstance(over.function, step.AggregateCall):
        return _aggregated(over.function, peers, arguments)
    if over.function in ("LAG", "LEAD"):
        return _neighbours(over.function, rows, arguments)
    if over.function in ("FIRST_VALUE", "LAST_VALUE"):
        return _ends(over.function, peers, arguments[0])
    return _ranks(over.function, peers)


def _aggregated(
    call: step.AggregateCall, peers: Peers, arguments: Sequence[Computation]
) -> Iterator[Any]:
    """Yield what the aggregate is up to each row; rows that are equal in order count together."""
    meaning = call.aggregation()
    state = meaning.initial()
    for group in peers:
        for row in group:
            state = meaning.add(state, *(argument(row) for argument in arguments))
        result = meaning.result(state)
        yield from (result for _ in group)


def _neighbours(name: str, rows: list[Row], arguments: Sequence[Computation]) -> Iterator[Any]:
    value, *more = arguments
    for number, row in enumerate(rows):
        distance = more[0](row) if more else 1
        at = None if distance is None else number - distance if name == "LAG" else number + distance
        if at is not None and 0 <= at < len(rows):
            yield value(rows[at])
        else:
            yield more[1](row) if len(more) > 1 else None


def _ends(name: str, peers: Peers, value: Computation) -> Iterator[Any]:
    first = value(peers[0][0])
    for group in peers:
        shown = first if name == "FIRST_VALUE" else value(group[-1])
        yield from (shown for _ in group)


def _ranks(name: str, peers: Peers) -> Iterator[int]:
    before = 0
    for number, group in enumerate(peers):
        for within in range(len(group)):
            place = {"ROW_NUMBER": before + within, "RANK": before, "DENSE_RANK": number}[name]
            yield place + 1
        before += len(group)
