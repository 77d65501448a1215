"""Rows of two sides brought together: by equal keys where there are some, else pair by pair."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from orion.sql import answer, step, tree
from orion.views.question.order import Compute
from orion.views.reader import Row, hashable

_KEEPS_LEFT = (tree.JoinKind.LEFT, tree.JoinKind.FULL)
_KEEPS_RIGHT = (tree.JoinKind.RIGHT, tree.JoinKind.FULL)


def join_rows(
    joined: answer.Joined, left: Iterable[Row], right: Sequence[Row], compute: Compute
) -> Iterator[Row]:
    """Yield the pairs as one row each, and the rows without a partner that the join keeps."""
    of_left = [compute(key) for key in joined.left_keys]
    of_right = [compute(key) for key in joined.right_keys]
    condition = None if joined.condition is None else compute(joined.condition)
    partners: dict[Any, list[int]] = {}
    for number, row in enumerate(right):
        at = tuple(hashable(key(row)) for key in of_right)
        # NULL equals nothing, not even NULL.
        if None not in at:
            partners.setdefault(at, []).append(number)
    met: set[int] = set()
    nothing = dict.fromkeys(_names(joined.right))
    for row in left:
        is_met = False
        for number in partners.get(tuple(hashable(key(row)) for key in of_left), ()):
            pair = {**row, **right[number]}
            if condition is None or condition(pair) is True:
                is_met = True
                met.add(number)
                yield pair
        if not is_met and joined.kind in _KEEPS_LEFT:
            yield {**row, **nothing}
    if joined.kind in _KEEPS_RIGHT:
        empty = dict.fromkeys(_names(joined.left))
        yield from ({**empty, **row} for n, row in enumerate(right) if n not in met)


def _names(relation: answer.Relation) -> Iterator[str]:
    """Yield the columns that the rows of a relation have."""
    if isinstance(relation, answer.Joined):
        yield from _names(relation.left)
        yield from _names(relation.right)
        return
    read: step.Read = relation.read
    for name in (*(column.name for column in read.source.columns), *read.source.pseudo):
        yield read.column(name)
