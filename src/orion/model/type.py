"""The types of columns, by the names that streaming SQL gives them.

Every room speaks of these; what carries them differs: in Spark and Arrow a DATE is a date, a
TIMESTAMP a timestamp in UTC with microseconds, a TIME the milliseconds of the day as a 32-bit
integer, and the others what one expects.
"""

import enum
from dataclasses import dataclass


class Scalar(enum.Enum):
    """Types without parameters."""

    BOOLEAN = "BOOLEAN"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    BYTES = "BYTES"
    TIME = "TIME"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Decimal:
    """An exact number of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True)
class Array:
    """A list of values of one type."""

    element: "Type"

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True)
class Map:
    """Values of one type by keys of another."""

    key: "Type"
    value: "Type"

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True)
class Field:
    """A named part of a struct, or a column."""

    name: str
    type: "Type"

    def __str__(self) -> str:
        return f"`{self.name}` {self.type}"


@dataclass(frozen=True)
class Struct:
    """Named values of several types.

    >>> str(Struct((Field("ID", Scalar.BIGINT), Field("TAGS", Array(Scalar.STRING)))))
    'STRUCT<`ID` BIGINT, `TAGS` ARRAY<STRING>>'
    """

    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(str(field) for field in self.fields)}>"

    def get(self, name: str) -> Field | None:
        """Return the field of this name."""
        return next((field for field in self.fields if field.name == name), None)


Type = Scalar | Decimal | Array | Map | Struct
