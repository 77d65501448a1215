"""A call of a function on Spark columns, as the native forms see it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Array, Map, Struct, Type
from orion.process.format import spark_type
from orion.sql import Resolved

Lambda = Callable[..., Column]
Argument = Column | Lambda


@dataclass(frozen=True)
class Call:
    """A function with its arguments.

    Args:
        resolved: The variant that the plan chose.
        arguments: Columns in the types of the parameters, and lambdas.
        types: Their types; of a lambda, that of its body.
        constants: The values of the arguments that are the same in every row, by position.
    """

    resolved: Resolved
    arguments: tuple[Any, ...]
    types: tuple[Type | None, ...]
    constants: Mapping[int, Any] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of arguments."""
        return len(self.arguments)

    @property
    def returns(self) -> Type:
        """The type of the result."""
        return self.resolved.returns

    def __getitem__(self, position: int) -> Any:
        return self.arguments[position]

    def null(self) -> Column:
        """Return the NULL of the result's type."""
        return F.lit(None).cast(spark_type(self.returns))

    def has_maps(self) -> bool:
        """Tell whether an argument holds maps, which Spark cannot compare."""
        return any(holds_map(kind) for kind in self.types)


Native = Callable[[Call], Column | None]


def holds_map(kind: Type | None) -> bool:
    """Tell whether values of a type hold maps."""
    match kind:
        case Map():
            return True
        case Array(element):
            return holds_map(element)
        case Struct(fields):
            return any(holds_map(part.type) for part in fields)
    return False
