"""What could not be computed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FailedExpression:
    """An expression that could not be computed on a row, so that its column is null.

    Args:
        name: The function, or the kind of expression.
        row: The columns that it read, as JSON.
    """

    name: str
    reason: str
    row: str
