"""The facts that travel with rows through every operator, and where they stand in a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orion.model import Array, Field, Scalar, Struct

TIME, SEQUENCE, ABSENT, HEADERS, ORIGIN = "$time", "$seq", "$absent", "$headers", "$origin"
_HEADERS = Array(Struct((Field("key", Scalar.STRING), Field("value", Scalar.BYTES))))

FACT_FIELDS: Sequence[Field] = (
    Field(TIME, Scalar.BIGINT),
    # The place of the record among all of its batch; operators append that of their output.
    Field(SEQUENCE, Array(Scalar.BIGINT)),
    # Whether the value is null: a tombstone of a table, an empty event of a stream.
    Field(ABSENT, Scalar.BOOLEAN),
    Field(HEADERS, _HEADERS),
    # The topic and partition that the record came from.
    Field(ORIGIN, Scalar.STRING),
)
FACTS = tuple(field.name for field in FACT_FIELDS)
# The place of a record: its turn, a number for its topic, these two.
PARTITION, OFFSET = 2, 3


@dataclass(frozen=True)
class Facts:
    """The facts of one row."""

    time_ms: int
    sequence: list[int]
    is_absent: bool
    headers: Any
    origin: str

    def row(self, number: int, *, time_ms: int, is_absent: bool = False) -> tuple[Any, ...]:
        """Return the facts of a row that this one causes, the `number`th of them."""
        return time_ms, [*self.sequence, number], is_absent, self.headers, self.origin
