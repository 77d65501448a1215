"""Patterns of types: what a parameter takes, with letters for types that a call decides.

Written as in `ARRAY<T>`, `MAP<K, V>`, `DECIMAL`, `DECIMAL(10, 2)`, `ANY` or `LAMBDA<T, U>` (the
last is the result).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from orion.model import Array, Decimal, Map, Scalar, Struct, Type


@dataclass(frozen=True)
class Exactly:
    """One type, or a number that widens to it."""

    type: Scalar | Decimal

    def __str__(self) -> str:
        return str(self.type)


@dataclass(frozen=True)
class AnyDecimal:
    """A DECIMAL of any precision and scale."""

    def __str__(self) -> str:
        return "DECIMAL"


@dataclass(frozen=True)
class AnyStruct:
    """A STRUCT of any fields."""

    def __str__(self) -> str:
        return "STRUCT"


@dataclass(frozen=True)
class Anything:
    """Every type; the argument is taken as it is."""

    def __str__(self) -> str:
        return "ANY"


@dataclass(frozen=True)
class Letter:
    """A type that is the same wherever the letter stands."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class ArrayOf:
    """An array."""

    element: "Pattern"

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True)
class MapOf:
    """A map."""

    key: "Pattern"
    value: "Pattern"

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True)
class StructOf:
    """A struct of these fields."""

    fields: tuple[tuple[str, "Pattern"], ...]

    def __str__(self) -> str:
        inner = ", ".join(f"{name} {pattern}" for name, pattern in self.fields)
        return f"STRUCT<{inner}>"


@dataclass(frozen=True)
class LambdaOf:
    """A lambda of these parameters."""

    parameters: tuple["Pattern", ...]
    result: "Pattern"

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) => {self.result}"


Pattern = (
    Exactly | AnyDecimal | AnyStruct | Anything | Letter | ArrayOf | MapOf | StructOf | LambdaOf
)

_SCALARS = {scalar.value: scalar for scalar in Scalar} | {"INT": Scalar.INTEGER}
_LOOSE: dict[str, Pattern] = {
    "DECIMAL": AnyDecimal(),
    "STRUCT": AnyStruct(),
    "ANY": Anything(),
}


def read_pattern(text: str) -> Pattern:
    """Return the pattern that a text spells.

    >>> str(read_pattern("MAP<STRING, ARRAY<T>>"))
    'MAP<STRING, ARRAY<T>>'
    """
    head, angle, rest = text.strip().partition("<")
    if not angle:
        return _read_name(head.strip())
    inner = split_top(rest.rstrip().removesuffix(">"))
    parts = [] if head == "STRUCT" else [read_pattern(part) for part in inner]
    match head:
        case "ARRAY":
            return ArrayOf(parts[0])
        case "MAP":
            return MapOf(parts[0], parts[1])
        case "LAMBDA":
            return LambdaOf(tuple(parts[:-1]), parts[-1])
        case "STRUCT":
            pairs = (part.strip().partition(" ") for part in inner)
            return StructOf(tuple((name, read_pattern(kind)) for name, _, kind in pairs))
    raise ValueError(f"'{text}' is no pattern of types")


def split_top(text: str) -> list[str]:
    """Return the parts of a list between the commas outside of brackets."""
    return list(_parts(text)) if text.strip() else []


def _parts(text: str) -> Iterator[str]:
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:].strip()


def _read_name(name: str) -> Pattern:
    if name in _LOOSE:
        return _LOOSE[name]
    if name in _SCALARS:
        return Exactly(_SCALARS[name])
    if len(name) == 1 and name.isupper():
        return Letter(name)
    head, _, digits = name.removesuffix(")").partition("(")
    if head.strip() == "DECIMAL":
        precision, scale = (int(part) for part in digits.split(","))
        return Exactly(Decimal(precision, scale))
    raise ValueError(f"'{name}' is no type")


def is_definite(pattern: Pattern) -> bool:
    """Tell whether a pattern says what a result is, once the letters are known."""
    match pattern:
        case ArrayOf(element):
            return is_definite(element)
        case MapOf(key, value):
            return is_definite(key) and is_definite(value)
        case StructOf(fields):
            return all(is_definite(inner) for _, inner in fields)
    return isinstance(pattern, Exactly | Letter)


def pattern_of(kind: Type) -> Pattern:
    """Return the pattern that takes exactly a type; decimals lose their digits."""
    match kind:
        case Scalar():
            return Exactly(kind)
        case Decimal():
            return AnyDecimal()
        case Array(element):
            return ArrayOf(pattern_of(element))
        case Map(key, value):
            return MapOf(pattern_of(key), pattern_of(value))
        case Struct(fields):
            return StructOf(tuple((field.name, pattern_of(field.type)) for field in fields))
