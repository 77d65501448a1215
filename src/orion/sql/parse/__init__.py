"""Text to tree: tokens, statements, expressions, types, and the tree written out again.

In:  the text of statements, session variables.
Out: frozen trees with their places, or an error that shows the place.
Never: a catalogue, types of columns, Kafka or Spark.
"""

from orion.sql.parse.depth import children
from orion.sql.parse.errors import (
    DuplicateFieldError,
    SqlSyntaxError,
    SqlTooDeepError,
    SqlTooLongError,
    UnknownTypeError,
    UnknownVariableError,
    VariableValueError,
    show_place,
)
from orion.sql.parse.read.type import resolve_type
from orion.sql.parse.script import (
    parse_expression,
    parse_statement,
    parse_statements,
    parse_type,
    place_statements,
    split_statements,
)
from orion.sql.parse.write.expression import (
    format_expression,
    format_name,
    format_query,
    format_string,
    format_type,
)
from orion.sql.parse.write.statement import format_statement

__all__ = [
    "DuplicateFieldError",
    "SqlSyntaxError",
    "SqlTooDeepError",
    "SqlTooLongError",
    "UnknownTypeError",
    "UnknownVariableError",
    "VariableValueError",
    "children",
    "format_expression",
    "format_name",
    "format_query",
    "format_statement",
    "format_string",
    "format_type",
    "parse_expression",
    "parse_statement",
    "parse_statements",
    "parse_type",
    "place_statements",
    "resolve_type",
    "show_place",
    "split_statements",
]
