"""GROUP BY: the keys, the aggregates over the rows of a group, and what may stand beside them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from orion.model import Scalar
from orion.sql.function import Functions
from orion.sql.parse import tree
from orion.sql.plan import typed
from orion.sql.plan.errors import StatementError
from orion.sql.plan.resolve import Extension, Resolver
from orion.sql.plan.source import WINDOW_BOUNDS
from orion.sql.plan.step import AggregateCall, Named
from orion.sql.plan.typed import Input, Typed


class FlatteningResolver(Resolver):
    """Checks a projection whose table functions are computed by a step before it."""

    def __init__(self, plain: Resolver, functions: Functions) -> None:
        super().__init__(_Plain(plain), functions, plain.custom)
        self._plain = plain
        self._functions_of = functions
        self.columns: list[Named] = []

    def intercept(self, node: tree.Call) -> Typed | None:
        """Return the column that a table function's elements come in."""
        if not self._functions_of.is_table_function(node.name.text):
            return super().intercept(node)
        call = self._plain.apply(node)
        name = f"_flat_{len(self.columns)}"
        self.columns.append(Named(name, call))
        return Input(call.type, name)

    def _case(self, node: tree.Case) -> Typed:
        if _calls(node, self._functions_of.is_table_function):
            raise StatementError(
                "A table function cannot stand in CASE: it makes rows whichever branch is taken.",
                node=node,
                fix="Give it the CASE as its argument.",
            )
        return super()._case(node)


class _Plain:
    """The columns that another resolver sees."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def find(self, reference: tree.ColumnRef) -> Typed:
        return self._resolver.resolve(reference)


class GroupResolver(Resolver):
    """Checks what is selected from groups: keys, aggregates, and expressions of these.

    Args:
        plain: Resolves in the rows before they are grouped.
        keys: What is grouped by.
    """

    def __init__(
        self,
        plain: Resolver,
        functions: Functions,
        keys: Sequence[Named],
        *,
        windowed: bool = False,
        extension: Extension | None = None,
    ) -> None:
        super().__init__(_Grouped(windowed=windowed), functions, extension=extension)
        self._plain = plain
        self._functions_of = functions
        self._windowed = windowed
        self._keys = {key.expression: key for key in keys}
        self.calls: list[AggregateCall] = []

    def resolve(self, node: tree.Argument) -> Typed:
        """Return the typed form of an expression over groups."""
        key = self._key(node)
        return super().resolve(node) if key is None else key

    def _key(self, node: tree.Argument) -> Typed | None:
        """Return the key that an expression is, if it is one."""
        if self._windowed and isinstance(node, tree.ColumnRef) and node.name.text in WINDOW_BOUNDS:
            return None
        if calls_aggregate(node, self._functions_of):
            return None
        try:
            found = self._plain.resolve(node)
        except StatementError:
            return None
        key = self._keys.get(found)
        if key is None or key.type is None:
            return None
        return Input(key.type, key.name)

    def intercept(self, node: tree.Call) -> Typed | None:
        """Return the column that holds an aggregate's result."""
        if not self._functions_of.is_aggregate(node.name.text):
            return super().intercept(node)
        for argument in node.arguments:
            if not isinstance(argument, tree.Star) and calls_aggregate(
                argument, self._functions_of
            ):
                raise StatementError("An aggregate cannot be taken of an aggregate.", node=node)
        applied = self._plain.apply(node)
        call = call_of(applied, f"_agg_{len(self.calls)}", node)
        same = next(
            (c for c in self.calls if replace(c, name=call.name) == call),
            None,
        )
        if same is None:
            same = call
            self.calls.append(same)
        return Input(applied.type, same.name)


def call_of(applied: typed.Applied, name: str, node: tree.Node) -> AggregateCall:
    """Return the call of an aggregate, the constants that shape it apart from its arguments."""
    found, given = applied.function, applied.arguments
    parameters = found.variant.spread(len(given))
    constants: list[object] = []
    arguments: list[Typed] = []
    for at, (parameter, part) in enumerate(zip(parameters, given, strict=True)):
        is_literal = isinstance(part, typed.Constant) and part.value is not None
        if parameter.is_constant and not is_literal:
            raise StatementError(
                f"{parameter.name} of {found.name} must be a literal: it is the same for all rows.",
                node=node,
            )
        # Aggregates of users are made of whatever literals they are given behind the first.
        shapes = parameter.is_constant or (at > 0 and not found.function.is_built_in)
        if shapes and isinstance(part, typed.Constant):
            constants.append(part.value)
        else:
            arguments.append(part)
    call = AggregateCall(
        name, found, tuple(arguments) or (typed.Constant(Scalar.INTEGER, 1),), tuple(constants)
    )
    if found.function.is_built_in:
        _check_shape(call, node)
    return call


def _check_shape(call: AggregateCall, node: tree.Node) -> None:
    try:
        call.aggregation()
    except ValueError as error:
        raise StatementError(str(error), node=node) from error


class _Grouped:
    """Outside of keys and aggregates, groups have no columns but their windows' bounds."""

    def __init__(self, *, windowed: bool) -> None:
        self._windowed = windowed

    def find(self, reference: tree.ColumnRef) -> Typed:
        name = reference.name.text
        if self._windowed and name in WINDOW_BOUNDS:
            return Input(WINDOW_BOUNDS[name], name)
        raise StatementError(
            f"Column '{name}' is neither grouped by nor in an aggregate.",
            node=reference,
            fix=f"Add it to GROUP BY, or use LATEST_BY_OFFSET({name}).",
        )


def calls_aggregate(node: object, functions: Functions) -> bool:
    """Tell whether an expression holds a call of an aggregate."""
    return _calls(node, functions.is_aggregate)


def _calls(node: object, is_wanted: Callable[[str], bool]) -> bool:
    if isinstance(node, tree.Call) and is_wanted(node.name.text):
        return True
    if isinstance(node, tree.Over):
        # The call itself looks at rows beside its own; what it is given may be an aggregate.
        node = (node.call.arguments, node.partition_by, node.order_by)
    if isinstance(node, tuple):
        return any(_calls(part, is_wanted) for part in node)
    if isinstance(node, tree.Query):
        return False
    if not isinstance(node, tree.Node) or isinstance(node, tree.Name):
        return False
    return any(_calls(part, is_wanted) for part in vars(node).values())
