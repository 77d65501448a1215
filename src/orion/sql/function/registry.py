"""The functions there are: built-in ones, and those that users add."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal as Number
from typing import Any

from orion.model import Decimal, Type
from orion.sql.function.errors import (
    AmbiguousCallError,
    FunctionExistsError,
    FunctionFailure,
    UnknownFunctionError,
    WrongArgumentsError,
)
from orion.sql.function.function import Aggregation, Function, Kind, Matched, Variant
from orion.sql.function.match import Given, LambdaArgument, MismatchError

# They answer whatever they are asked; of all others a call may fail, and its column is NULL.
_NEVER_FAIL = frozenset(
    (
        *("ABS", "ACOS", "ASIN", "ATAN", "ATAN2", "CBRT", "COS", "COSH", "COT", "DEGREES", "EXP"),
        *("GREATEST", "LEAST", "LN", "LOG", "PI", "POWER", "RADIANS", "RANDOM", "SIGN", "SIN"),
        *("SINH", "SQRT", "TAN", "TANH", "CONCAT", "CONCAT_WS", "FIELD", "INITCAP"),
        *("LCASE", "UCASE", "LEN", "MD5", "REPLACE", "SPLIT", "SPLIT_TO_MAP", "SUBSTRING", "TRIM"),
        *("UUID", "ARRAY_CONCAT", "ARRAY_CONTAINS", "ARRAY_DISTINCT", "ARRAY_EXCEPT"),
        *("ARRAY_INTERSECT", "ARRAY_UNION", "ARRAY_LENGTH", "ARRAY_REMOVE", "SLICE", "MAP_KEYS"),
        *("MAP_VALUES", "MAP_UNION", "COALESCE", "IFNULL", "NULLIF", "AS_VALUE"),
        *("IS_JSON_STRING", "URL_ENCODE_PARAM", "UNIX_DATE", "UNIX_TIMESTAMP"),
    )
)


@dataclass(frozen=True)
class Resolved:
    """A call whose variant is found.

    Args:
        function: The function.
        variant: The variant that fits best.
        parameters: The type each argument must have; None: it is taken as it is (lambdas too).
        returns: The type of the result.
    """

    function: Function
    variant: Variant = field(repr=False)
    parameters: tuple[Type | None, ...]
    returns: Type

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.name

    @property
    def can_fail(self) -> bool:
        """Whether a call may have no result; inside of a lambda that fails the call around it."""
        return self.function.name not in _NEVER_FAIL

    def apply(self, *arguments: Any) -> Any:
        """Return the function's value; raises what its meaning raises."""
        variant = self.variant
        if not variant.takes_nulls and any(argument is None for argument in arguments):
            return None
        if variant.typed:
            return variant.meaning(*arguments, types=(*self.parameters, self.returns))
        found = variant.meaning(*arguments)
        return self._fitted(found) if isinstance(found, Number) else found

    def _fitted(self, number: Number) -> Number:
        """Return a decimal that its type can hold; ROUND(9.99) has no room for 10."""
        kind = self.returns
        room = kind.precision - kind.scale if isinstance(kind, Decimal) else number.adjusted() + 1
        if number and number.adjusted() >= room:
            raise FunctionFailure(f"{number} does not fit {kind}.")
        return number

    def aggregation(self, *constants: Any) -> Aggregation:
        """Return the steps of an aggregate for the arguments that are constants."""
        types = {"types": (*self.parameters, self.returns)} if self.variant.typed else {}
        made = self.variant.meaning(*constants, **types)
        assert isinstance(made, Aggregation)
        return made


class Functions:
    """A set of functions, found by name without case."""

    def __init__(self, functions: Iterable[Function] = ()) -> None:
        self._functions: dict[str, Function] = {}
        for function in functions:
            self.add(function)

    def add(self, function: Function) -> None:
        """Add a function; its name must be free."""
        name = function.name.upper()
        if name in self._functions:
            raise FunctionExistsError(name)
        self._functions[name] = function

    def __iter__(self) -> Iterator[Function]:
        return iter(sorted(self._functions.values(), key=lambda function: function.name))

    def __len__(self) -> int:
        return len(self._functions)

    def __contains__(self, name: str) -> bool:
        return name.upper() in self._functions

    def get(self, name: str) -> Function:
        """Return a function by its name."""
        found = self._functions.get(name.upper())
        if found is None:
            raise UnknownFunctionError(name, list(self._functions))
        return found

    def is_aggregate(self, name: str) -> bool:
        """Tell whether a name is that of an aggregate."""
        found = self._functions.get(name.upper())
        return found is not None and found.kind is Kind.AGGREGATE

    def is_table_function(self, name: str) -> bool:
        """Tell whether a name is that of a table function."""
        found = self._functions.get(name.upper())
        return found is not None and found.kind is Kind.TABLE

    def resolve(self, name: str, given: Sequence[Given]) -> Resolved:
        """Return the variant of a function that fits the arguments best.

        Args:
            name: The function's name, in any case.
            given: The type of each argument; None for a bare NULL, a LambdaArgument for a lambda.
        """
        function = self.get(name)
        fitting = [found for one in function.variants if (found := _match(one, given)) is not None]
        if not fitting:
            shown = [describe_variant(function.name, one) for one in function.variants]
            raise WrongArgumentsError(function.name, [_shown(one) for one in given], shown)
        # A variant that takes the arguments as they are wins over all that widen them.
        exact = [found for found in fitting if not found[0].widened] or fitting
        least = min(matched.cost for matched, _ in exact)
        best = [variant for matched, variant in exact if matched.cost == least]
        if len(best) > 1:
            shown = [describe_variant(function.name, one) for one in best]
            raise AmbiguousCallError(function.name, [_shown(one) for one in given], shown)
        # Another variant may have typed a lambda's body since: the chosen one does it last.
        matched = best[0].match(given)
        return Resolved(function, best[0], matched.parameters, matched.returns)


def _match(variant: Variant, given: Sequence[Given]) -> tuple[Matched, Variant] | None:
    try:
        return variant.match(given), variant
    except MismatchError:
        return None


def describe_variant(name: str, variant: Variant) -> str:
    """Return the signature of a variant, as people write it."""
    parts = [
        f"{parameter}..." if at == variant.repeated else str(parameter)
        for at, parameter in enumerate(variant.parameters)
    ]
    return f"{name}({', '.join(parts)})"


def _shown(given: Given) -> str:
    if isinstance(given, LambdaArgument):
        return "LAMBDA"
    return "NULL" if given is None else str(given)
