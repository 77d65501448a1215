"""Functions that users write: a decorator makes one of a Python function, or of a class.

@orion.udf
def initials(name: str) -> str:
    return "".join(word[0] for word in name.split())

@orion.udf(parameters="price DECIMAL, rate DOUBLE", returns="DOUBLE")
def taxed(price, rate):
    return float(price) * (1 + rate)

Several that have one name in SQL are its variants; the arguments of a call choose among them.
"""

import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from types import ModuleType
from typing import Any, Protocol, TypeVar, overload

from orion.model import Decimal as DecimalType
from orion.model import InvalidInputError
from orion.sql.function.errors import FunctionExistsError
from orion.sql.function.function import Aggregation, Function, Kind, Meaning, Variant, variant
from orion.sql.function.pattern import Exactly, is_definite, read_pattern, split_top
from orion.sql.function.value.number import rescale

_Made = TypeVar("_Made", bound=Callable[..., Any])
_Inner = TypeVar("_Inner", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type[Any])
_MARK = "__orion_function__"
_CATEGORY = "USER"
_PYTHON: dict[Any, str] = {
    bool: "BOOLEAN",
    int: "BIGINT",
    float: "DOUBLE",
    str: "STRING",
    bytes: "BYTES",
    Decimal: "DECIMAL",
}


class Decorator(Protocol):
    """Takes a function and gives it back, marked."""

    def __call__(self, made: _Inner, /) -> _Inner:
        """Return the function."""


class SignatureError(InvalidInputError):
    """Raised when it cannot be told which types a user's function takes or gives."""

    def __init__(self, name: str, problem: str) -> None:
        self.name, self.problem = name, problem
        super().__init__(
            f"Function '{name}': {problem}.",
            fix="Annotate it with bool, int, float, str, bytes, Decimal, list[...], dict[str, ...] "
            "or a TypedDict, or give parameters='a STRING, b INT' and returns='DECIMAL(10, 2)'.",
        )


class MissingStepError(InvalidInputError):
    """Raised when a class of a user's lacks what makes it an aggregate."""

    def __init__(self, name: str, step: str) -> None:
        self.name, self.step = name, step
        super().__init__(
            f"Aggregate '{name}' has no method '{step}'.",
            fix="It needs initial(self), add(self, state, value), result(self, state) and "
            "merge(self, one, other), which joins sessions; tables need undo(self, state, value).",
        )


@overload
def udf(function: _Made) -> _Made: ...


@overload
def udf(
    *,
    name: str = "",
    parameters: str | None = None,
    returns: str | None = None,
    description: str = "",
    takes_nulls: bool = False,
) -> Decorator: ...


def udf(
    function: _Made | None = None,
    *,
    name: str = "",
    parameters: str | None = None,
    returns: str | None = None,
    description: str = "",
    takes_nulls: bool = False,
) -> _Made | Decorator:
    """Make a Python function a function of streaming SQL.

    Args:
        function: The function; types come from its annotations unless given.
        name: Its name in SQL; its own name otherwise.
        parameters: What it takes, such as `text STRING, more STRING...`.
        returns: What it gives, such as `ARRAY<STRING>`.
        description: What it does; the first line of its docstring otherwise.
        takes_nulls: Whether it is called with None; otherwise NULL in is NULL out.
    """

    def mark(made: _Inner, /) -> _Inner:
        signature = _signature(made, name or made.__name__, parameters, returns)
        one = variant(*signature, _fitted(made, signature[1]), takes_nulls=takes_nulls)
        return _marked(made, name, description, Kind.SCALAR, one)

    return mark if function is None else mark(function)


@overload
def udtf(function: _Made) -> _Made: ...


@overload
def udtf(
    *,
    name: str = "",
    parameters: str | None = None,
    returns: str | None = None,
    description: str = "",
    takes_nulls: bool = False,
) -> Decorator: ...


def udtf(
    function: _Made | None = None,
    *,
    name: str = "",
    parameters: str | None = None,
    returns: str | None = None,
    description: str = "",
    takes_nulls: bool = False,
) -> _Made | Decorator:
    """Make a Python function that returns a list a table function: a row for every element.

    Args:
        function: The function; types come from its annotations unless given.
        name: Its name in SQL; its own name otherwise.
        parameters: What it takes.
        returns: The type of one element.
        description: What it does; the first line of its docstring otherwise.
        takes_nulls: Whether it is called with None; otherwise NULL in is no row out.
    """

    def mark(made: _Inner, /) -> _Inner:
        takes, gives = _signature(made, name or made.__name__, parameters, returns)
        element = gives.removeprefix("ARRAY<").removesuffix(">") if returns is None else gives
        one = variant(takes, element, made, takes_nulls=takes_nulls)
        return _marked(made, name, description, Kind.TABLE, one)

    return mark if function is None else mark(function)


def udaf(
    *, parameters: str, returns: str, name: str = "", description: str = ""
) -> Callable[[_Class], _Class]:
    """Make a class an aggregate: `initial`, `add`, `result`, `merge`, and `undo` if it can.

    An instance is made of the arguments that are constants. States are plain values.

    Args:
        parameters: What it takes, row by row.
        returns: What it gives.
        name: Its name in SQL; the class's own name otherwise.
        description: What it does; the first line of its docstring otherwise.
    """

    def mark(made: _Class) -> _Class:
        def steps(*constants: Any) -> Aggregation:
            own = made(*constants)
            undo = getattr(own, "undo", None)
            result = _fitted(own.result, returns)
            return Aggregation(own.initial, own.add, result, own.merge, undo)

        for step in ("initial", "add", "result", "merge"):
            if not callable(getattr(made, step, None)):
                raise MissingStepError(name or made.__name__, step)
        one = variant(parameters, _definite(name or made.__name__, returns), steps)
        return _marked(made, name, description, Kind.AGGREGATE, one)

    return mark


def user_functions(module: ModuleType) -> Iterator[Function]:
    """Yield the functions that a module's decorators made."""
    for value in vars(module).values():
        made = getattr(value, _MARK, None)
        if isinstance(made, Function):
            yield made


def joined(one: Function, other: Function) -> Function:
    """Return a function with the variants of two; their kind is the same, their arguments not."""
    taken = {_takes(known) for known in one.variants}
    if one.kind is not other.kind or any(_takes(added) in taken for added in other.variants):
        raise FunctionExistsError(other.name)
    words = one.description or other.description
    return replace(one, variants=one.variants + other.variants, description=words)


def _fitted(made: Callable[..., Any], returns: str) -> Callable[..., Any]:
    """Return a function whose decimals have the digits that it promises; others stay as given."""
    pattern = read_pattern(returns)
    if not (isinstance(pattern, Exactly) and isinstance(pattern.type, DecimalType)):
        return made
    kind = pattern.type

    @functools.wraps(made)
    def fitted(*arguments: Any) -> Decimal | None:
        found = made(*arguments)
        if found is None:
            return None
        rounded = rescale(Decimal(found), kind.scale, ROUND_HALF_UP)
        if len(rounded.as_tuple().digits) > kind.precision:
            raise ValueError(f"{found!r} does not fit {kind}")
        return rounded

    return fitted


def _takes(one: Variant) -> tuple[object, ...]:
    return (one.repeated, *(parameter.pattern for parameter in one.parameters))


def _marked(made: _Made, name: str, description: str, kind: Kind, one: Variant) -> _Made:
    words = description or (inspect.getdoc(made) or "").partition("\n")[0]
    title = (name or made.__name__).upper()
    setattr(made, _MARK, Function(title, _CATEGORY, words, (one,), (), kind, author="USER"))
    return made


def _signature(
    made: Meaning, name: str, parameters: str | None, returns: str | None
) -> tuple[str, str]:
    hints = {} if parameters and returns else typing.get_type_hints(made)
    if parameters is None:
        parts = inspect.signature(made).parameters.values()
        parameters = ", ".join(f"{part.name} {_written(name, part, hints)}" for part in parts)
    if returns is None:
        if "return" not in hints:
            raise SignatureError(name, "it has no annotation of what it returns")
        returns = _pattern(name, hints["return"])
    for part in split_top(parameters):
        _checked(name, part.partition(" ")[2].removesuffix("..."))
    return parameters, _definite(name, returns)


def _definite(name: str, returns: str) -> str:
    if not is_definite(read_pattern(_checked(name, returns))):
        raise SignatureError(name, f"'{returns}' leaves open what it returns")
    return returns


def _written(name: str, part: inspect.Parameter, hints: dict[str, Any]) -> str:
    if part.name not in hints:
        raise SignatureError(name, f"parameter '{part.name}' has no annotation")
    more = "..." if part.kind is inspect.Parameter.VAR_POSITIONAL else ""
    return f"{_pattern(name, hints[part.name])}{more}"


def _pattern(name: str, hint: Any) -> str:
    """Return the SQL type of an annotation; `None` in a union is what every type allows."""
    arguments = [one for one in typing.get_args(hint) if one is not type(None)]
    if hint in _PYTHON:
        return _PYTHON[hint]
    if typing.is_typeddict(hint):
        own = typing.get_type_hints(hint).items()
        return f"STRUCT<{', '.join(f'{field} {_pattern(name, kind)}' for field, kind in own)}>"
    if typing.get_origin(hint) is list and len(arguments) == 1:
        return f"ARRAY<{_pattern(name, arguments[0])}>"
    if typing.get_origin(hint) is dict and len(arguments) == 2:
        return f"MAP<{_pattern(name, arguments[0])}, {_pattern(name, arguments[1])}>"
    if type(None) in typing.get_args(hint) and len(arguments) == 1:
        return _pattern(name, arguments[0])
    raise SignatureError(name, f"{hint!r} is no type of SQL")


def _checked(name: str, pattern: str) -> str:
    try:
        read_pattern(pattern)
    except (ValueError, IndexError) as error:
        raise SignatureError(name, f"'{pattern}' is no type of SQL") from error
    return pattern
