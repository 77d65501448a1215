"""The columns that operators are given and give, and how a row of them is taken apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orion.model import Field, Scalar, Type
from orion.sql import step
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.value import Row

SIGN = "$sign"
# A row is added, taken out, or taken out without a word since the same group gets another.
# A part of a group is several rows that are added: its sign is their number.
IN, OUT, SILENT_OUT = 1, -1, -2
OLD = "$old."
HAD_OLD = "$had_old"
BOUNDS = (Field("WINDOWSTART", Scalar.BIGINT), Field("WINDOWEND", Scalar.BIGINT))
SIDE, JOIN_KEY = "$side", "$join_key"
LEFT, RIGHT = 0, 1
Values = tuple[Any, ...]


@dataclass(frozen=True)
class GroupLayout:
    """The columns of groups: keys, and the arguments and result of each aggregate."""

    keys: tuple[Field, ...]
    calls: tuple[step.AggregateCall, ...]

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, arguments, whether the row is added or taken out, facts."""
        return (*self.columns, Field(SIGN, Scalar.INTEGER), *FACT_FIELDS)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The keys and the arguments of each aggregate."""
        arguments = (
            Field(f"{call.name}.{number}", argument.type or Scalar.STRING)
            for call in self.calls
            for number, argument in enumerate(call.arguments)
        )
        return (*self.keys, *arguments)

    @property
    def results(self) -> tuple[Field, ...]:
        """The result of each aggregate."""
        return tuple(Field(call.name, call.function.returns) for call in self.calls)

    @property
    def old_results(self) -> tuple[Field, ...]:
        """The results before the row, and whether there were any."""
        old = (Field(f"{OLD}{field.name}", field.type) for field in self.results)
        return (*old, Field(HAD_OLD, Scalar.BOOLEAN))

    def split(self, row: Row) -> tuple[Values, list[Values], int, Facts]:
        """Return the key, the arguments of each aggregate, the sign and the facts of a row."""
        at = len(self.keys)
        arguments = []
        for call in self.calls:
            arguments.append(row[at : at + len(call.arguments)])
            at += len(call.arguments)
        return row[: len(self.keys)], arguments, row[at], Facts(*row[at + 1 :])


@dataclass(frozen=True)
class JoinLayout:
    """The columns of a join: side, key, those of the left, those of the right, facts.

    Args:
        keeps_left: Whether left rows without a partner go out too.
        keeps_right: Whether right rows without a partner go out too.
    """

    key: Type
    left: tuple[Field, ...]
    right: tuple[Field, ...]
    keeps_left: bool
    keeps_right: bool

    @property
    def inputs(self) -> Sequence[Field]:
        """The columns of a row of either side; the other side's are null."""
        head = (Field(SIDE, Scalar.INTEGER), Field(JOIN_KEY, self.key))
        return (*head, *self.left, *self.right, *FACT_FIELDS)

    @property
    def outputs(self) -> Sequence[Field]:
        """The key, the columns of both sides, facts."""
        return (Field(JOIN_KEY, self.key), *self.left, *self.right, *FACT_FIELDS)

    def split(self, row: Row) -> tuple[int, Any, Values, Facts]:
        """Return the side, the key, the side's own columns and the facts of a row."""
        middle, end = 2 + len(self.left), 2 + len(self.left) + len(self.right)
        own = row[2:middle] if row[0] == LEFT else row[middle:end]
        return row[0], row[1], own, Facts(*row[end:])

    def joined(self, left: Values | None, right: Values | None) -> Values:
        """Return the columns of both sides; one that is missing is null."""
        return (
            *((None,) * len(self.left) if left is None else left),
            *((None,) * len(self.right) if right is None else right),
        )

    def keeps(self, side: int) -> bool:
        """Tell whether a side's rows go out without a partner."""
        return self.keeps_left if side == LEFT else self.keeps_right
