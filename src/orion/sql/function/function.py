"""What a function is: variants with their types, a meaning in plain Python, words that explain it.

Values are Python's: None, bool, int, float, decimal.Decimal, str, bytes, list, and dict for maps
and structs. A DATE is its days since 1970, a TIME its milliseconds of the day, a TIMESTAMP its
milliseconds since 1970. Lambdas are callables. A meaning that raises gives NULL for its column.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from orion.model import Scalar, Type
from orion.sql.function.match import Binding, Given, LambdaArgument, MismatchError
from orion.sql.function.pattern import Anything, LambdaOf, Pattern, read_pattern, split_top

_AUTHOR = "Orion"
Meaning = Callable[..., Any]
ReturnType = Callable[[Sequence[Type]], Type]


class Kind(enum.Enum):
    """How a function is used: per row, per row with many results, or over rows."""

    SCALAR = "SCALAR"
    TABLE = "TABLE"
    AGGREGATE = "AGGREGATE"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a variant.

    Args:
        is_constant: Whether a call gives a literal for it, which shapes an aggregate.
    """

    name: str
    pattern: Pattern
    description: str = ""
    is_constant: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.pattern}"


@dataclass(frozen=True)
class Aggregation:
    """The meaning of an aggregate, step by step; the state is a plain value.

    A step may change the state it is given: only the one it returns is the state from then on.

    Args:
        initial: Makes the state of a group without rows.
        add: Takes state and arguments, gives the next state.
        result: Gives the value of a state.
        merge: Joins the states of two sessions that meet.
        undo: Takes a row out again; None where that cannot be done.
    """

    initial: Callable[[], Any]
    add: Callable[..., Any]
    result: Callable[[Any], Any]
    merge: Callable[[Any, Any], Any]
    undo: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Variant:
    """One way to call a function.

    Args:
        parameters: What it takes, in order.
        returns: The pattern of its result, or a function of the parameters' types.
        meaning: The function itself; for aggregates, makes an Aggregation of constant arguments.
        repeated: Which parameter may stand any number of times, also none; None: no one.
        takes_nulls: Whether the meaning is asked about NULL; otherwise NULL in is NULL out.
        typed: Whether the meaning also takes `types`, the types of its arguments and result.
        description: What this variant does, where that differs.
    """

    parameters: tuple[Parameter, ...]
    returns: Pattern | ReturnType
    meaning: Meaning
    repeated: int | None = None
    takes_nulls: bool = False
    typed: bool = False
    description: str = ""

    def match(self, given: Sequence[Given]) -> "Matched":
        """Fit arguments to the parameters, or raise MismatchError."""
        parameters = self.spread(len(given))
        binding = Binding()
        for parameter, argument in zip(parameters, given, strict=True):
            if not isinstance(argument, LambdaArgument):
                if isinstance(parameter.pattern, LambdaOf):
                    raise MismatchError
                binding.bind(parameter.pattern, argument)
        # Lambdas come last: what they are given is known only after the other arguments.
        for parameter, argument in zip(parameters, given, strict=True):
            if isinstance(argument, LambdaArgument):
                binding.bind_lambda(parameter.pattern, argument)
        types = tuple(
            None if isinstance(argument, LambdaArgument) else _filled(binding, parameter, argument)
            for parameter, argument in zip(parameters, given, strict=True)
        )
        cost = binding.cost + (1 if self.repeated is not None else 0)
        return Matched(binding.widened, cost, types, self._result(binding, types))

    def _result(self, binding: Binding, types: Sequence[Type | None]) -> Type:
        if callable(self.returns):
            return self.returns([kind or Scalar.STRING for kind in types])
        return binding.fill_null(self.returns) or Scalar.STRING

    def spread(self, count: int) -> list[Parameter]:
        """Return the parameter that each of so many arguments is for, or raise MismatchError."""
        extra = count - len(self.parameters)
        if self.repeated is None:
            if extra:
                raise MismatchError
            return list(self.parameters)
        if extra < -1:
            raise MismatchError
        before, after = self.parameters[: self.repeated], self.parameters[self.repeated + 1 :]
        return [*before, *[self.parameters[self.repeated]] * (extra + 1), *after]


@dataclass(frozen=True)
class Matched:
    """How arguments fit a variant: without widening is closer, then the more exactly written."""

    widened: int
    cost: int
    parameters: tuple[Type | None, ...]
    returns: Type


@dataclass(frozen=True)
class Example:
    """A call and what it gives, for people to read and for a test to run."""

    call: str
    result: Any = field(hash=False)


@dataclass(frozen=True)
class Function:
    """A function by its name, with every variant."""

    name: str
    category: str
    description: str
    variants: tuple[Variant, ...] = field(repr=False)
    examples: tuple[Example, ...] = field(default=(), repr=False)
    kind: Kind = Kind.SCALAR
    author: str = _AUTHOR

    @property
    def is_built_in(self) -> bool:
        """Whether it is one of ours, which do not fail on what their types allow."""
        return self.author == _AUTHOR


def _filled(binding: Binding, parameter: Parameter, given: Type | None) -> Type | None:
    if isinstance(parameter.pattern, Anything):
        return given
    if given is None:
        return binding.fill_null(parameter.pattern)
    return binding.fill(parameter.pattern, given) or given


def variant(
    parameters: str,
    returns: str | ReturnType,
    meaning: Meaning,
    *,
    takes_nulls: bool = False,
    typed: bool = False,
    description: str = "",
) -> Variant:
    """Return a variant from the words of its signature.

    Args:
        parameters: Names and patterns, such as `text STRING, more STRING...`; the three points
            mark the one that may be repeated, as `n INT CONSTANT` does one that takes literals.
        returns: A pattern, or a function of the parameters' types.
        meaning: The function itself.
        takes_nulls: Whether NULL is given to the meaning.
        typed: Whether the meaning also takes types.
        description: What this variant does, where that differs.
    """
    made: list[Parameter] = []
    repeated = None
    for at, part in enumerate(split_top(parameters)):
        name, _, kind = part.partition(" ")
        if kind.endswith("..."):
            repeated, kind = at, kind.removesuffix("...")
        plain = kind.removesuffix(" CONSTANT")
        made.append(Parameter(name, read_pattern(plain), is_constant=plain != kind))
    result = read_pattern(returns) if isinstance(returns, str) else returns
    return Variant(tuple(made), result, meaning, repeated, takes_nulls, typed, description)
