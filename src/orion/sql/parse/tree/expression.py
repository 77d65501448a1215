"""The tree of expressions: frozen nodes, from literals to CASE."""

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orion.sql.parse.tree.node import Name, Node, TimeUnit
from orion.sql.parse.tree.written_type import WrittenType

if TYPE_CHECKING:
    from orion.sql.parse.tree.query import Query

# -- literals


@dataclass(frozen=True)
class NullLiteral(Node):
    """`NULL`."""


@dataclass(frozen=True)
class BooleanLiteral(Node):
    """`TRUE` or `FALSE`."""

    value: bool


@dataclass(frozen=True)
class IntegerLiteral(Node):
    """A whole number of 32 bits."""

    value: int


@dataclass(frozen=True)
class LongLiteral(Node):
    """A whole number that needs 64 bits."""

    value: int


@dataclass(frozen=True)
class DecimalLiteral(Node):
    """A number with a point, digit by digit: `1.50` has a scale of 2."""

    text: str


@dataclass(frozen=True)
class DoubleLiteral(Node):
    """A number with an exponent, as it was written."""

    text: str


@dataclass(frozen=True)
class StringLiteral(Node):
    """A text, with the doubled quotes undone."""

    value: str


@dataclass(frozen=True)
class TypedLiteral(Node):
    """A text with the name of its type before it: `DATE '2024-02-29'`."""

    type_name: Name
    value: str


@dataclass(frozen=True)
class IntervalUnit(Node):
    """A unit of time as an argument of a function: `DATEADD(DAYS, 1, d)`."""

    unit: TimeUnit


Literal = (
    NullLiteral
    | BooleanLiteral
    | IntegerLiteral
    | LongLiteral
    | DecimalLiteral
    | DoubleLiteral
    | StringLiteral
)


# -- expressions


class ArithmeticOperator(enum.Enum):
    """The operators of arithmetic; `+` also joins texts."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MODULUS = "%"


class ComparisonOperator(enum.Enum):
    """The operators that compare; `!=` is read as `<>`."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


class LogicalOperator(enum.Enum):
    """AND and OR."""

    AND = "AND"
    OR = "OR"


@dataclass(frozen=True)
class ColumnRef(Node):
    """A column, perhaps of a named source; inside a lambda's body also its parameter."""

    source: Name | None
    name: Name


@dataclass(frozen=True)
class FieldRef(Node):
    """`base->name`: a field of a struct."""

    value: "Expression"
    name: Name


@dataclass(frozen=True)
class Subscript(Node):
    """`value[index]`: an element of an array or map."""

    value: "Expression"
    index: "Expression"


@dataclass(frozen=True)
class Star(Node):
    """The `*` of `COUNT(*)`."""


@dataclass(frozen=True)
class Call(Node):
    """A function with its arguments, lambdas and units of time among them."""

    name: Name
    arguments: tuple["Argument", ...]


@dataclass(frozen=True)
class Lambda(Node):
    """`(a, b) => body`."""

    parameters: tuple[Name, ...]
    body: "Expression"


@dataclass(frozen=True)
class Arithmetic(Node):
    """Two values joined by an operator of arithmetic."""

    operator: ArithmeticOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Sign(Node):
    """A `-` (or a `+`) before a value that is no plain number."""

    negative: bool
    value: "Expression"


@dataclass(frozen=True)
class Concat(Node):
    """`left || right`."""

    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Comparison(Node):
    """Two values compared."""

    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class IsDistinctFrom(Node):
    """`left IS [NOT] DISTINCT FROM right`: a comparison in which NULL equals NULL."""

    left: "Expression"
    right: "Expression"
    negated: bool = False


@dataclass(frozen=True)
class Logical(Node):
    """Two conditions joined by AND or OR."""

    operator: LogicalOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Not(Node):
    """`NOT condition`."""

    value: "Expression"


@dataclass(frozen=True)
class Between(Node):
    """`value [NOT] BETWEEN low AND high`."""

    value: "Expression"
    low: "Expression"
    high: "Expression"
    negated: bool = False


@dataclass(frozen=True)
class In(Node):
    """`value [NOT] IN (items)`."""

    value: "Expression"
    items: tuple["Expression", ...]
    negated: bool = False


@dataclass(frozen=True)
class Like(Node):
    """`value [NOT] LIKE pattern [ESCAPE 'c']`."""

    value: "Expression"
    pattern: "Expression"
    escape: str | None = None
    negated: bool = False


@dataclass(frozen=True)
class IsNull(Node):
    """`value IS [NOT] NULL`."""

    value: "Expression"
    negated: bool = False


@dataclass(frozen=True)
class When(Node):
    """A branch of CASE; in a simple CASE the condition is the value to compare with."""

    condition: "Expression"
    result: "Expression"


@dataclass(frozen=True)
class Case(Node):
    """`CASE [operand] WHEN ... THEN ... [ELSE ...] END`; searched when it has no operand."""

    operand: "Expression | None"
    branches: tuple[When, ...]
    default: "Expression | None" = None


@dataclass(frozen=True)
class Cast(Node):
    """`CAST(value AS type)`."""

    value: "Expression"
    type: WrittenType


@dataclass(frozen=True)
class ArrayLiteral(Node):
    """`ARRAY[items]`."""

    items: tuple["Expression", ...]


@dataclass(frozen=True)
class MapLiteral(Node):
    """`MAP(key := value, ...)`, in the order written."""

    entries: tuple[tuple["Expression", "Expression"], ...]


@dataclass(frozen=True)
class StructLiteral(Node):
    """`STRUCT(name := value, ...)`, in the order written."""

    fields: tuple[tuple[Name, "Expression"], ...]


@dataclass(frozen=True)
class AtTimeZone(Node):
    """`value AT TIME ZONE 'zone'`."""

    value: "Expression"
    zone: str


@dataclass(frozen=True)
class QueryValue(Node):
    """`(SELECT ...)`: the one value that a query gives; NULL if it gives no row."""

    query: "Query"


@dataclass(frozen=True)
class QueryExists(Node):
    """`EXISTS (SELECT ...)`."""

    query: "Query"


@dataclass(frozen=True)
class InQuery(Node):
    """`value [NOT] IN (SELECT ...)`."""

    value: "Expression"
    query: "Query"
    negated: bool = False


@dataclass(frozen=True)
class Ordering(Node):
    """An expression of ORDER BY; nulls come last where nothing is said."""

    expression: "Expression"
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Over(Node):
    """`call OVER (PARTITION BY ... ORDER BY ...)`: a call that looks at rows beside its own."""

    call: Call
    partition_by: tuple["Expression", ...] = ()
    order_by: tuple[Ordering, ...] = ()


Expression = (
    Literal
    | TypedLiteral
    | ColumnRef
    | FieldRef
    | Subscript
    | Call
    | Arithmetic
    | Sign
    | Concat
    | Comparison
    | IsDistinctFrom
    | Logical
    | Not
    | Between
    | In
    | Like
    | IsNull
    | Case
    | Cast
    | ArrayLiteral
    | MapLiteral
    | StructLiteral
    | AtTimeZone
    | QueryValue
    | QueryExists
    | InQuery
    | Over
)
Argument = Expression | Lambda | IntervalUnit | Star
