"""Expressions of the tree become typed ones: names are found, types checked, conversions written.

In:  an expression of the tree, a scope that knows the columns, the functions.
Out: the same meaning with nothing left to decide.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type, nearest
from orion.sql.function import (
    Functions,
    LambdaArgument,
    Resolved,
    WrongArgumentsError,
    to_decimal,
)
from orion.sql.parse import resolve_type, tree
from orion.sql.plan import coercion, typed
from orion.sql.plan.compare import compare, contains
from orion.sql.plan.errors import StatementError, TypeMismatchError
from orion.sql.plan.literal import literal
from orion.sql.plan.meet import convert, meet
from orion.sql.plan.typed import Shape, Typed

BOOLEAN = Scalar.BOOLEAN
_EXTENDED = tree.QueryValue | tree.QueryExists | tree.InQuery | tree.Over


class Scope(Protocol):
    """Knows the columns that an expression may name."""

    def find(self, reference: tree.ColumnRef) -> Typed:
        """Return the column, or raise an error that names the ones there are."""


class Extension(Protocol):
    """Knows what only queries that answer once hold."""

    def resolve(
        self,
        node: tree.QueryValue | tree.QueryExists | tree.InQuery | tree.Over,
        resolver: "Resolver",
    ) -> Typed:
        """Return what stands for such a node; its parts are resolved by the resolver."""


class Resolver:
    """Checks expressions in one scope.

    Args:
        custom: Types that CREATE TYPE made.
        extension: Given where a query answers once.
    """

    def __init__(
        self,
        scope: Scope,
        functions: Functions,
        custom: Mapping[str, Type] | None = None,
        extension: Extension | None = None,
    ) -> None:
        self.scope = scope
        self._extension = extension
        self._functions = functions
        self.custom = custom or {}
        self._variables: list[dict[str, typed.Variable]] = []
        self._by_node: dict[type, Callable[[Any], Typed]] = {
            tree.ColumnRef: self._column,
            tree.FieldRef: self._field,
            tree.Subscript: self._subscript,
            tree.Call: self._call,
            tree.Arithmetic: self._arithmetic,
            tree.Sign: self._sign,
            tree.Concat: self._concat,
            tree.Comparison: self._comparison,
            tree.IsDistinctFrom: self._distinct,
            tree.Logical: self._logical,
            tree.Not: self._not,
            tree.Between: self._between,
            tree.In: self._in,
            tree.Like: self._like,
            tree.IsNull: self._is_null,
            tree.Case: self._case,
            tree.Cast: self._cast,
            tree.ArrayLiteral: self._array,
            tree.MapLiteral: self._map,
            tree.StructLiteral: self._struct,
            tree.TypedLiteral: self._typed_literal,
        }

    def resolve(self, node: tree.Argument) -> Typed:
        """Return the typed form of an expression."""
        found = self._by_node.get(type(node))
        if found is not None:
            return found(node)
        if self._extension is not None and isinstance(node, _EXTENDED):
            return self._extension.resolve(node, self)
        constant = literal(node)
        if constant is None:
            raise StatementError("This expression cannot stand here.", node=node)
        return constant

    def condition(self, node: tree.Expression, clause: str) -> Typed:
        """Return the typed form of a WHERE or HAVING, which must be true or false."""
        found = self.resolve(node)
        if found.type not in (BOOLEAN, None):
            raise TypeMismatchError(
                f"{clause} needs a condition, but this has type {found.type}.", node=node
            )
        return found

    # -- columns and parts of values

    def _column(self, node: tree.ColumnRef) -> Typed:
        if node.source is None:
            for variables in reversed(self._variables):
                if node.name.text in variables:
                    return variables[node.name.text]
        return self.scope.find(node)

    def _field(self, node: tree.FieldRef) -> Typed:
        value = self.resolve(node.value)
        if not isinstance(value.type, Struct):
            raise TypeMismatchError(f"'->' needs a STRUCT, found {value.type}.", node=node)
        field = value.type.get(node.name.text)
        if field is None:
            names = [field.name for field in value.type.fields]
            raise StatementError(
                f"The struct has no field '{node.name.text}'.",
                node=node.name,
                fix=nearest(node.name.text, names) or f"There are: {', '.join(names)}.",
            )
        return typed.FieldOf(field.type, value, field.name)

    def _subscript(self, node: tree.Subscript) -> Typed:
        value, index = self.resolve(node.value), self.resolve(node.index)
        match value.type:
            case Array(element):
                if index.type not in (Scalar.INTEGER, Scalar.BIGINT):
                    raise TypeMismatchError(
                        f"An array is indexed by whole numbers, not by {index.type}.", node=node
                    )
                return typed.ElementOf(element, value, index)
            case Map(key, element):
                return typed.ElementOf(element, value, convert(index, key, node))
        raise TypeMismatchError(f"{value.type} has no elements.", node=node)

    # -- arithmetic and text

    def _arithmetic(self, node: tree.Arithmetic) -> Typed:
        left, right = self.resolve(node.left), self.resolve(node.right)
        adds = node.operator is tree.ArithmeticOperator.ADD
        if adds and Scalar.STRING in (left.type, right.type):
            return _joined(left, right, node)
        if not (coercion.is_number(left.type) and coercion.is_number(right.type)):
            raise TypeMismatchError(
                f"'{node.operator.value}' is not defined for {_name(left)} and {_name(right)}.",
                node=node,
            )
        assert left.type is not None
        assert right.type is not None
        kind = coercion.result_of(node.operator, left.type, right.type)
        one, other = to_decimal(left.type), to_decimal(right.type)
        if isinstance(kind, Decimal) and one is not None and other is not None:
            left, right = convert(left, one, node), convert(right, other, node)
        else:
            left, right = convert(left, kind, node), convert(right, kind, node)
        return typed.Arithmetic(kind, node.operator, left, right)

    def _sign(self, node: tree.Sign) -> Typed:
        value = self.resolve(node.value)
        if not coercion.is_number(value.type):
            raise TypeMismatchError(f"A sign needs a number, found {_name(value)}.", node=node)
        assert value.type is not None
        return typed.Negative(value.type, value) if node.negative else value

    def _concat(self, node: tree.Concat) -> Typed:
        return _joined(self.resolve(node.left), self.resolve(node.right), node)

    # -- conditions

    def _comparison(self, node: tree.Comparison) -> Typed:
        return compare(node.operator, self.resolve(node.left), self.resolve(node.right), node)

    def _distinct(self, node: tree.IsDistinctFrom) -> Typed:
        left, right = meet([self.resolve(node.left), self.resolve(node.right)], node)
        found = typed.Distinct(BOOLEAN, left, right)
        return typed.Negated(BOOLEAN, found) if node.negated else found

    def _logical(self, node: tree.Logical) -> Typed:
        left = self.condition(node.left, node.operator.value)
        right = self.condition(node.right, node.operator.value)
        return typed.Logic(BOOLEAN, node.operator, left, right)

    def _not(self, node: tree.Not) -> Typed:
        return typed.Negated(BOOLEAN, self.condition(node.value, "NOT"))

    def _between(self, node: tree.Between) -> Typed:
        value = self.resolve(node.value)
        operators = tree.ComparisonOperator
        low = compare(operators.GREATER_OR_EQUAL, value, self.resolve(node.low), node)
        high = compare(operators.LESS_OR_EQUAL, value, self.resolve(node.high), node)
        found = typed.Logic(BOOLEAN, tree.LogicalOperator.AND, low, high)
        return typed.Negated(BOOLEAN, found) if node.negated else found

    def _in(self, node: tree.In) -> Typed:
        found = contains(self.resolve(node.value), [self.resolve(i) for i in node.items], node)
        return typed.Negated(BOOLEAN, found) if node.negated else found

    def _like(self, node: tree.Like) -> Typed:
        value, pattern = self.resolve(node.value), self.resolve(node.pattern)
        for part in (value, pattern):
            if part.type not in (Scalar.STRING, None):
                raise TypeMismatchError(f"LIKE needs texts, found {part.type}.", node=node)
        if node.escape is not None and len(node.escape) != 1:
            raise StatementError("ESCAPE takes a single character.", node=node)
        found = typed.Matches(BOOLEAN, value, pattern, node.escape)
        return typed.Negated(BOOLEAN, found) if node.negated else found

    def _is_null(self, node: tree.IsNull) -> Typed:
        found = typed.Missing(BOOLEAN, self.resolve(node.value))
        return typed.Negated(BOOLEAN, found) if node.negated else found

    def _case(self, node: tree.Case) -> Typed:
        conditions = []
        operand = None if node.operand is None else self.resolve(node.operand)
        for branch in node.branches:
            if operand is None:
                conditions.append(self.condition(branch.condition, "WHEN"))
            else:
                value = self.resolve(branch.condition)
                conditions.append(compare(tree.ComparisonOperator.EQUAL, operand, value, branch))
        results = [self.resolve(branch.result) for branch in node.branches]
        default = self.resolve(node.default) if node.default else typed.Constant(None, None)
        *results, default = meet([*results, default], node)
        return typed.Choice(default.type, tuple(zip(conditions, results, strict=True)), default)

    # -- conversions and constructors

    def _cast(self, node: tree.Cast) -> Typed:
        value, target = self.resolve(node.value), resolve_type(node.type, self.custom)
        if value.type is not None and not coercion.can_cast(value.type, target):
            raise TypeMismatchError(f"{value.type} cannot be cast to {target}.", node=node)
        # What is cast is no longer the column, even in its own type: so a key is copied.
        is_itself = value.type == target and not isinstance(value, typed.Input)
        return value if is_itself else typed.Converted(target, value)

    def _array(self, node: tree.ArrayLiteral) -> Typed:
        parts = meet([self.resolve(item) for item in node.items], node)
        if not parts or parts[0].type is None:
            raise StatementError(
                "An array needs an element that tells its type.",
                node=node,
                fix="Cast one: ARRAY[CAST(NULL AS INT)].",
            )
        return typed.Made(Array(parts[0].type), Shape.ARRAY, tuple(parts))

    def _map(self, node: tree.MapLiteral) -> Typed:
        keys = meet([self.resolve(key) for key, _ in node.entries], node)
        values = meet([self.resolve(value) for _, value in node.entries], node)
        if not keys or keys[0].type is None or values[0].type is None:
            raise StatementError("A map needs an entry that tells its types.", node=node)
        parts = tuple(part for pair in zip(keys, values, strict=True) for part in pair)
        return typed.Made(Map(keys[0].type, values[0].type), Shape.MAP, parts)

    def _struct(self, node: tree.StructLiteral) -> Typed:
        parts = [(name.text, self.resolve(value)) for name, value in node.fields]
        names = [name for name, _ in parts]
        if len(set(names)) != len(names):
            raise StatementError("Each field of a struct needs a name of its own.", node=node)
        fields = tuple(Field(name, part.type or Scalar.STRING) for name, part in parts)
        return typed.Made(Struct(fields), Shape.STRUCT, tuple(part for _, part in parts))

    def _typed_literal(self, node: tree.TypedLiteral) -> Typed:
        target = resolve_type(tree.SimpleType(node.type_name), self.custom)
        return convert(typed.Constant(Scalar.STRING, node.value), target, node)

    # -- functions

    def intercept(self, node: tree.Call) -> Typed | None:
        """Return what stands for a call that another step computes; None: it is a plain one."""
        name = node.name.text
        if self._functions.is_aggregate(name):
            raise StatementError(
                f"{name} looks at a group of rows, so it cannot stand here.",
                node=node,
                fix="Use it in SELECT or HAVING of a query with GROUP BY.",
            )
        if self._functions.is_table_function(name):
            raise StatementError(
                f"{name} makes several rows of one, so it cannot stand here.",
                node=node,
                fix="Use it in the SELECT of a CREATE STREAM … AS without GROUP BY.",
            )
        return None

    def _call(self, node: tree.Call) -> Typed:
        return self.intercept(node) or self.apply(node)

    def apply(self, node: tree.Call) -> typed.Applied:
        """Return a function with its arguments in the types that it takes."""
        arguments: list[Typed | tree.Lambda] = [
            argument if isinstance(argument, tree.Lambda) else self._argument(argument)
            for argument in node.arguments
        ]
        bodies: dict[int, Typed] = {}
        given = [
            LambdaArgument(len(argument.parameters), self._infer(argument, bodies))
            if isinstance(argument, tree.Lambda)
            else argument.type
            for argument in arguments
        ]
        found, arguments = self._resolve_call(node, given, arguments)
        final: list[Typed] = []
        for argument, kind in zip(arguments, found.parameters, strict=True):
            if isinstance(argument, tree.Lambda):
                final.append(bodies[id(argument)])
            else:
                final.append(argument if kind is None else convert(argument, kind, node))
        return typed.Applied(found.returns, found, tuple(final))

    def _resolve_call(
        self,
        node: tree.Call,
        given: list[Type | LambdaArgument | None],
        arguments: list[Typed | tree.Lambda],
    ) -> tuple[Resolved, list[Typed | tree.Lambda]]:
        """Return the function that takes the arguments, as they are or in their common type."""
        try:
            return self._functions.resolve(node.name.text, given), arguments
        except WrongArgumentsError:
            plain = [part for part in arguments if not isinstance(part, tree.Lambda)]
            if len(plain) < len(arguments):
                raise
            try:
                met = meet(plain, node)
            except TypeMismatchError:
                met = plain
            return self._functions.resolve(node.name.text, [part.type for part in met]), [*met]

    def _argument(self, node: tree.Argument) -> Typed:
        if isinstance(node, tree.IntervalUnit):
            return typed.Constant(Scalar.STRING, node.unit.name)
        if isinstance(node, tree.Star):
            return typed.Constant(Scalar.INTEGER, 1)
        return self.resolve(node)

    def _infer(
        self, node: tree.Lambda, bodies: dict[int, Typed]
    ) -> Callable[[Sequence[Type]], Type]:
        """Return the function that types a lambda's body once its parameters' types are known."""

        def infer(types: Sequence[Type]) -> Type:
            names = [name.text for name in node.parameters]
            variables = {n: typed.Variable(t, n) for n, t in zip(names, types, strict=True)}
            self._variables.append(variables)
            try:
                body = self.resolve(node.body)
            finally:
                self._variables.pop()
            kind = body.type or Scalar.STRING
            bodies[id(node)] = typed.LambdaOf(kind, tuple(variables.values()), body)
            return kind

        return infer


def _joined(left: Typed, right: Typed, node: tree.Node) -> Typed:
    for part in (left, right):
        if part.type not in (Scalar.STRING, None):
            raise TypeMismatchError(
                f"Texts are joined with texts, found {_name(left)} and {_name(right)}.",
                node=node,
                fix="Cast the other one: CAST(x AS STRING).",
            )
    return typed.Joined(Scalar.STRING, left, right)


def _name(value: Typed) -> str:
    return "NULL" if value.type is None else str(value.type)
