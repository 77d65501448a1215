"""Typed expressions as Spark columns: native ones, and batches of Python for the rest.

A failing expression is null, so the session runs with ANSI mode off and time zone UTC.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Array, Decimal, Map, Scalar, Struct, Type
from orion.process.format import spark_type
from orion.process.function import can_negate, native
from orion.process.sql.cast import cast_column
from orion.process.sql.rows import NotNativeError, in_batches
from orion.sql import tree, typed


def compile_expression(node: typed.Typed) -> Column:
    """Return the column of an expression, null where it cannot be computed."""
    try:
        return _Compiler({}).compile(node)
    except NotNativeError:
        return in_batches(node)


def compile_native(node: typed.Typed) -> Column | None:
    """Return the column of an expression that Spark computes by itself; None: it needs Python."""
    try:
        return _Compiler({}, can_batch=False).compile(node)
    except NotNativeError:
        return None


def quoted(name: str) -> Column:
    """Return a column by its exact name."""
    return F.col("`" + name.replace("`", "``") + "`")


class _Compiler:
    """Compiles expressions; inside of a lambda only natively."""

    def __init__(self, variables: Mapping[str, Column], *, can_batch: bool = True) -> None:
        self._variables = variables
        self._can_batch = can_batch and not variables
        self._by_node: dict[type, Callable[[Any], Column]] = {
            typed.Constant: _constant,
            typed.Input: lambda node: quoted(node.name),
            typed.Variable: lambda node: self._variables[node.name],
            typed.FieldOf: lambda node: self.compile(node.value).getField(node.field),
            typed.ElementOf: self._element,
            typed.Arithmetic: self._arithmetic,
            typed.Negative: self._negative,
            typed.Joined: lambda node: F.concat(self.compile(node.left), self.compile(node.right)),
            typed.Compared: self._compared,
            typed.Distinct: self._distinct,
            typed.Logic: self._logic,
            typed.Negated: lambda node: ~self.compile(node.value),
            typed.Missing: lambda node: self.compile(node.value).isNull(),
            typed.Matches: self._matches,
            typed.Choice: self._choice,
            typed.Converted: self._converted,
            typed.Made: self._made,
            typed.Applied: self._applied,
        }

    def compile(self, node: typed.Typed) -> Column:
        return self._by_node[type(node)](node)

    def _element(self, node: typed.ElementOf) -> Column:
        value, index = self.compile(node.value), self.compile(node.index)
        if isinstance(node.value.type, Map):
            return F.element_at(value, index)
        if node.index.type is Scalar.BIGINT:
            # No array is as long; cast, the number would be another one.
            index = F.when(index.between(-_LONGEST, _LONGEST), index).cast("int")
        position = F.when(index > 0, index - 1).when(index < 0, F.size(value) + index)
        # An index below the first element would count from the end again.
        return F.get(value, F.when(position >= 0, position).otherwise(F.lit(-1)))

    def _arithmetic(self, node: typed.Arithmetic) -> Column:
        left, right = self.compile(node.left), self.compile(node.right)
        found = _ARITHMETIC[node.operator](left, right, node.type)
        return found.cast(spark_type(node.type)) if node.type is not Scalar.DOUBLE else found

    def _negative(self, node: typed.Negative) -> Column:
        return -self.compile(node.value) if can_negate(node.type) else self._or_batches(node)

    def _compared(self, node: typed.Compared) -> Column:
        left = _comparable(self.compile(node.left), node.left.type)
        right = _comparable(self.compile(node.right), node.right.type)
        return F.coalesce(_COMPARE[node.operator](left, right), F.lit(False))

    def _distinct(self, node: typed.Distinct) -> Column:
        left = _comparable(self.compile(node.left), node.left.type)
        return ~left.eqNullSafe(_comparable(self.compile(node.right), node.right.type))

    def _logic(self, node: typed.Logic) -> Column:
        left, right = self.compile(node.left), self.compile(node.right)
        return left & right if node.operator is tree.LogicalOperator.AND else left | right

    def _matches(self, node: typed.Matches) -> Column:
        if node.escape is None:
            raise NotNativeError
        return F.like(self.compile(node.value), self.compile(node.pattern), F.lit(node.escape))

    def _choice(self, node: typed.Choice) -> Column:
        found: Any = F
        for condition, result in node.branches:
            found = found.when(self.compile(condition), self.compile(result))
        column: Column = found.otherwise(self.compile(node.default))
        return column

    def _converted(self, node: typed.Converted) -> Column:
        if node.value.type is None:
            return F.lit(None).cast(spark_type(node.type))
        value = self.compile(node.value)
        found = cast_column(value, node.value.type, node.type)
        return self._or_batches(node) if found is None else found

    def _made(self, node: typed.Made) -> Column:
        parts = [self.compile(part) for part in node.parts]
        match node.shape:
            case typed.Shape.ARRAY:
                return F.array(*parts)
            case typed.Shape.MAP:
                # Spark ends the query over a key that is null.
                keys = [parts[2 * n] for n in open_keys(node)]
                made = F.create_map(*parts)
                return F.when(all_present(keys), made) if keys else made
            case typed.Shape.STRUCT:
                assert isinstance(node.type, Struct)
                names = [field.name for field in node.type.fields]
                return F.struct(*(p.alias(n) for p, n in zip(parts, names, strict=True)))

    def _applied(self, node: typed.Applied) -> Column:
        arguments: list[Any] = []
        try:
            for part in node.arguments:
                is_lambda = isinstance(part, typed.LambdaOf)
                arguments.append(self._lambda(part) if is_lambda else self.compile(part))
            types = [part.type for part in node.arguments]
            constants = {
                at: part.value
                for at, part in enumerate(node.arguments)
                if isinstance(part, typed.Constant)
            }
            found = native(node.function, arguments, types, constants)
        except NotNativeError:
            found = None
        return self._or_batches(node) if found is None else found

    def _lambda(self, node: Any) -> Callable[..., Column]:
        if any(_may_fail(part) for part in typed.walk(node)):
            # What fails in a lambda fails the call around it; Spark would go on with null.
            raise NotNativeError
        names = [parameter.name for parameter in node.parameters]

        def call(*values: Column) -> Column:
            inner = _Compiler({**self._variables, **dict(zip(names, values, strict=False))})
            return inner.compile(node.body)

        return call

    def _or_batches(self, node: typed.Typed) -> Column:
        if not self._can_batch:
            # Spark runs no Python inside of its own lambdas: the whole call goes to batches.
            raise NotNativeError
        return in_batches(node)


def open_keys(node: typed.Made) -> list[int]:
    """Return which keys of a map may be null: all but constants."""
    keys = node.parts[::2] if node.shape is typed.Shape.MAP else ()
    return [n for n, key in enumerate(keys) if not _is_given(key)]


def _is_given(node: typed.Typed) -> bool:
    return isinstance(node, typed.Constant) and node.value is not None


def all_present(columns: Sequence[Column]) -> Column:
    """Return the condition that none of the columns is null."""
    return reduce(and_, (column.isNotNull() for column in columns))


def _may_fail(node: typed.Typed) -> bool:
    match node:
        case typed.Made():
            return bool(open_keys(node))
        case typed.Arithmetic() | typed.Negative():
            return True
        case typed.Converted():
            return node.value.type is Scalar.STRING
        case typed.Applied():
            return node.function.can_fail
    return False


def _constant(node: typed.Constant) -> Column:
    if node.value is None:
        return F.lit(None).cast(spark_type(node.type or Scalar.STRING))
    match node.type:
        case Scalar.DATE:
            return F.date_from_unix_date(F.lit(node.value))
        case Scalar.TIMESTAMP:
            return F.timestamp_millis(F.lit(node.value))
        case Scalar.BYTES:
            return F.lit(bytearray(node.value))
        case None | Scalar.BOOLEAN | Scalar.STRING:
            return F.lit(node.value)
    return F.lit(node.value).cast(spark_type(node.type))


def _comparable(value: Column, kind: Type | None) -> Column:
    """Return a value that Spark can compare; maps as their sorted entries."""
    if isinstance(kind, Map):
        return F.array_sort(F.map_entries(value))
    if _holds_map(kind):
        raise NotNativeError
    return value


def _holds_map(kind: Type | None) -> bool:
    match kind:
        case Map():
            return True
        case Array(element):
            return _holds_map(element)
        case Struct(fields):
            return any(_holds_map(field.type) for field in fields)
    return False


def _divide(left: Column, right: Column, kind: Type) -> Column:
    if isinstance(kind, Decimal):
        return left / right
    if kind is not Scalar.DOUBLE:
        return F.call_function("div", left, right)
    # Spark's quotient by zero is null; a double's is infinite or not a number.
    is_below = right.cast("string") == F.lit("-0.0")
    zero = (
        F.when((left == 0) | F.isnan(left), F.lit(float("nan")))
        .when((left > 0) != is_below, F.lit(float("inf")))
        .otherwise(F.lit(float("-inf")))
    )
    return F.when(right == 0, F.when(left.isNotNull(), zero)).otherwise(left / right)


def _modulus(left: Column, right: Column, kind: Type) -> Column:
    if kind is not Scalar.DOUBLE:
        return left % right
    return F.when(right == 0, F.when(left.isNotNull(), F.lit(float("nan")))).otherwise(left % right)


_LONGEST = 2**31 - 1
_ARITHMETIC: Mapping[tree.ArithmeticOperator, Callable[[Column, Column, Type], Column]] = {
    tree.ArithmeticOperator.ADD: lambda left, right, _: left + right,
    tree.ArithmeticOperator.SUBTRACT: lambda left, right, _: left - right,
    tree.ArithmeticOperator.MULTIPLY: lambda left, right, _: left * right,
    tree.ArithmeticOperator.DIVIDE: _divide,
    tree.ArithmeticOperator.MODULUS: _modulus,
}
_COMPARE: Mapping[tree.ComparisonOperator, Callable[[Column, Column], Column]] = {
    tree.ComparisonOperator.EQUAL: lambda left, right: left == right,
    tree.ComparisonOperator.NOT_EQUAL: lambda left, right: left != right,
    tree.ComparisonOperator.LESS: lambda left, right: left < right,
    tree.ComparisonOperator.LESS_OR_EQUAL: lambda left, right: left <= right,
    tree.ComparisonOperator.GREATER: lambda left, right: left > right,
    tree.ComparisonOperator.GREATER_OR_EQUAL: lambda left, right: left >= right,
}
