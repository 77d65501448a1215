"""The steps of a query, from its sources to its rows; nothing here knows what runs them."""

from collections.abc import Iterator
from dataclasses import dataclass

from orion.model import Type
from orion.sql.function import Aggregation, Resolved
from orion.sql.parse.tree import Emit, JoinKind, Window
from orion.sql.plan.failure import failing_alone, results_or_null
from orion.sql.plan.source import Source
from orion.sql.plan.typed import Typed


@dataclass(frozen=True)
class Named:
    """A column that is computed."""

    name: str
    expression: Typed

    @property
    def type(self) -> Type | None:
        """The type of the column."""
        return self.expression.type


@dataclass(frozen=True)
class Read:
    """The records of a source; in a join its columns are named `ALIAS.NAME`."""

    source: Source
    alias: str
    qualified: bool = False

    def column(self, name: str) -> str:
        """Return the name that a column of the source has in the rows."""
        return f"{self.alias}.{name}" if self.qualified else name


@dataclass(frozen=True)
class Filter:
    """The rows for which a condition holds; a table's other rows become tombstones."""

    input: "Step"
    condition: Typed


@dataclass(frozen=True)
class Flatten:
    """A row for each element that table functions give, side by side where there are several."""

    input: "Step"
    columns: tuple[Named, ...]


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate over the rows of a group: its arguments, and constants that shape it."""

    name: str
    function: Resolved
    arguments: tuple[Typed, ...]
    constants: tuple[object, ...] = ()

    def aggregation(self) -> Aggregation:
        """Return what the aggregate does, step by step; it is null where it has no result."""
        made = self.function.aggregation(*self.constants)
        guard = results_or_null if self.function.function.is_built_in else failing_alone
        return guard(made, self.function.name)


@dataclass(frozen=True)
class Aggregate:
    """Groups of rows by key, and by window where there is one.

    Its rows hold the keys, the `carried` columns' last values and the aggregates by their names.
    """

    input: "Step"
    keys: tuple[Named, ...]
    calls: tuple[AggregateCall, ...]
    window: Window | None = None
    emit: Emit | None = None


@dataclass(frozen=True)
class Sort:
    """A column that rows are ranked by; nulls come last unless they come first."""

    name: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Rank:
    """The first rows of each key, by an order.

    Args:
        input: Gives, besides what is shown, the columns named in `keys` and `sorts`.
        columns: What a ranked row shows, besides its rank.
        number: The name of the rank's column.
        count: How many rows of a key have a place.
        is_table: Whether it gives the places as they change; otherwise the events that take one.
    """

    input: "Project"
    keys: tuple[str, ...]
    sorts: tuple[Sort, ...]
    columns: tuple[str, ...]
    number: str
    count: int
    is_table: bool


@dataclass(frozen=True)
class Match:
    """What two sources are joined by: an expression of each side."""

    left: Typed
    right: Typed


@dataclass(frozen=True)
class Interval:
    """How far before and after a record its partner may lie; `grace_ms` None: out at once."""

    before_ms: int
    after_ms: int
    grace_ms: int | None = None


@dataclass(frozen=True)
class JoinStep:
    """Rows of two sides that match.

    Args:
        key_name: The column that holds what they are joined by.
        left_key: What the left rows are joined by; of a join before it, its key, which even a
            tombstone has.
        condition: What must hold of a pair besides; rows whose pairs all fail are alone.
    """

    kind: JoinKind
    left: "Step"
    right: Read
    match: Match
    interval: Interval | None = None
    is_foreign_key: bool = False
    key_name: str = "ROWKEY"
    left_key: Typed | None = None
    condition: Typed | None = None


@dataclass(frozen=True)
class Project:
    """The columns that go out; `having` is judged on the rows before.

    Args:
        is_keyed_anew: Whether the key is computed, so that it is there even if all of it is null.
    """

    input: "Step"
    key: tuple[Named, ...]
    value: tuple[Named, ...]
    having: Typed | None = None
    is_keyed_anew: bool = False


Step = Read | Filter | Flatten | Aggregate | Rank | JoinStep | Project


def reads_of(step: Step) -> Iterator[Read]:
    """Yield the sources that a step reads, from left to right."""
    match step:
        case Read():
            yield step
        case JoinStep():
            yield from reads_of(step.left)
            yield step.right
        case _:
            yield from reads_of(step.input)


def is_table(step: Step) -> bool:
    """Tell whether a step gives the changes of a table, not the events of a stream."""
    match step:
        case Read():
            return step.source.is_table
        case Aggregate():
            return True
        case Rank():
            return step.is_table
        case JoinStep():
            return is_table(step.left) and step.right.source.is_table
        case _:
            return is_table(step.input)
