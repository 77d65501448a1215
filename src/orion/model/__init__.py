"""The words every room shares: errors, records, durations, sizes.

In:  plain values.
Out: frozen values and errors that carry what they talk about.
Never: Kafka, Spark, files or the network; standard library only.
"""

from orion.model.errors import (
    ConflictError,
    InternalError,
    InvalidInputError,
    NotFoundError,
    OrionError,
    UnavailableError,
    nearest,
)
from orion.model.failure import FailedExpression
from orion.model.login import join_login, split_login
from orion.model.order import Down, double_place
from orion.model.query import Mode, QueryStatus, State
from orion.model.type import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.model.unit import (
    LAST_MS,
    format_bytes,
    format_count,
    format_duration,
    parse_bytes,
    parse_duration_ms,
    parse_instant_ms,
)

__all__ = [
    "LAST_MS",
    "Array",
    "ConflictError",
    "Decimal",
    "Down",
    "FailedExpression",
    "Field",
    "InternalError",
    "InvalidInputError",
    "Map",
    "Mode",
    "NotFoundError",
    "OrionError",
    "QueryStatus",
    "Scalar",
    "State",
    "Struct",
    "Type",
    "UnavailableError",
    "double_place",
    "format_bytes",
    "format_count",
    "format_duration",
    "join_login",
    "nearest",
    "parse_bytes",
    "parse_duration_ms",
    "parse_instant_ms",
    "split_login",
]
