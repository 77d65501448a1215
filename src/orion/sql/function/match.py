"""Whether arguments fit parameters: letters are bound, numbers widen, and closeness is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.sql.function import pattern as p
from orion.sql.function.number_type import number_width, to_decimal, wider_number

# Exact types beat letters, and letters beat ANY.
_LETTER_COST, _ANY_COST = 1, 3


@dataclass(frozen=True)
class LambdaArgument:
    """A lambda among arguments.

    Args:
        arity: The number of its parameters.
        infer: Gives the type of its body, once the types of its parameters are known.
    """

    arity: int
    infer: Callable[[Sequence[Type]], Type]


Given = Type | LambdaArgument | None


class MismatchError(Exception):
    """Arguments do not fit; never leaves this room."""


@dataclass
class Binding:
    """The types that letters stand for in one call.

    Args:
        letters: What each stands for so far.
        cost: How loosely the parameters are written.
        widened: How many arguments had to become wider.
    """

    letters: dict[str, Type] = field(default_factory=dict)
    cost: int = 0
    widened: int = 0

    def bind(self, pattern: p.Pattern, given: Type | None) -> None:
        """Fit an argument to a pattern; None is a bare NULL and fits everything."""
        if given is None:
            return
        match pattern:
            case p.Anything():
                self.cost += _ANY_COST
            case p.Letter(name):
                self._bind_letter(name, given)
            case p.Exactly(kind):
                self._bind_exactly(kind, given)
            case p.AnyDecimal():
                self._bind_decimal(given)
            case p.AnyStruct():
                _require(isinstance(given, Struct))
            case _:
                self._bind_nested(pattern, given)

    def bind_lambda(self, pattern: p.Pattern, given: LambdaArgument) -> None:
        """Type a lambda by the parameters known so far; its result may bind a letter."""
        _require(isinstance(pattern, p.LambdaOf) and len(pattern.parameters) == given.arity)
        assert isinstance(pattern, p.LambdaOf)
        types = [self.fill(parameter) or Scalar.STRING for parameter in pattern.parameters]
        result = given.infer(types)
        before = dict(self.letters)
        self.bind(pattern.result, result)
        if self.letters != before and any(
            isinstance(part, p.Letter) and before.get(part.name) != self.letters.get(part.name)
            for part in pattern.parameters
        ):
            # The result widened a parameter's own type, as in REDUCE: the body is typed again.
            given.infer([self.fill(parameter) or Scalar.STRING for parameter in pattern.parameters])

    def fill(self, pattern: p.Pattern, given: Type | None = None) -> Type | None:
        """Return the type that a pattern means in this call; None: the argument's own."""
        match pattern:
            case p.Exactly(kind):
                return kind
            case p.Letter(name):
                return self.letters.get(name)
            case p.AnyDecimal():
                return to_decimal(given)
            case p.ArrayOf(element):
                inner = self.fill(element, given.element if isinstance(given, Array) else None)
                return None if inner is None else Array(inner)
            case p.MapOf(key, value):
                return self._fill_map(key, value, given)
            case p.StructOf(fields):
                return self._fill_struct(fields)
        return None

    def _fill_map(self, key: p.Pattern, value: p.Pattern, given: Type | None) -> Type | None:
        own = given if isinstance(given, Map) else None
        new_key = self.fill(key, own.key if own else None)
        new_value = self.fill(value, own.value if own else None)
        return None if new_key is None or new_value is None else Map(new_key, new_value)

    def _fill_struct(self, fields: tuple[tuple[str, p.Pattern], ...]) -> Type | None:
        filled = [(name, self.fill(pattern)) for name, pattern in fields]
        return Struct(tuple(Field(name, kind or Scalar.STRING) for name, kind in filled))

    def fill_null(self, pattern: p.Pattern) -> Type | None:
        """Return the type that a bare NULL has in this call; None: any will do.

        A letter that no other argument binds is a STRING then, as it is in the result.
        """
        match pattern:
            case p.Letter(name):
                return self.letters.get(name, Scalar.STRING)
            case p.AnyDecimal():
                return to_decimal(Scalar.BIGINT)
            case p.ArrayOf(element):
                inner = self.fill_null(element)
                return None if inner is None else Array(inner)
            case p.MapOf(key, value):
                both = self.fill_null(key), self.fill_null(value)
                return None if both[0] is None or both[1] is None else Map(both[0], both[1])
        return self.fill(pattern)

    def _bind_letter(self, name: str, given: Type) -> None:
        self.cost += _LETTER_COST
        known = self.letters.get(name)
        if known is None or known == given:
            self.letters[name] = given
            return
        wide = widest(known, given)
        _require(wide is not None)
        assert wide is not None
        self.letters[name] = wide
        self.widened += 1

    def _bind_exactly(self, kind: Scalar | Decimal, given: Type) -> None:
        if kind == given:
            return
        if isinstance(kind, Decimal):
            _require(widest(given, kind) == kind)
            self.widened += 1
            return
        own, wanted = number_width(given), number_width(kind)
        _require(own is not None and wanted is not None and own < wanted)
        self.widened += 1

    def _bind_decimal(self, given: Type) -> None:
        if not isinstance(given, Decimal):
            _require(to_decimal(given) is not None)
            self.widened += 1

    def _bind_nested(self, pattern: p.Pattern, given: Type) -> None:
        match pattern, given:
            case p.ArrayOf(element), Array(inner):
                self.bind(element, inner)
            case p.MapOf(key, value), Map(own_key, own_value):
                self.bind(key, own_key)
                self.bind(value, own_value)
            case p.StructOf(fields), Struct(own):
                _require([name for name, _ in fields] == [field.name for field in own])
                for (_, inner_pattern), own_field in zip(fields, own, strict=True):
                    self.bind(inner_pattern, own_field.type)
            case _:
                raise MismatchError


def widest(left: Type, right: Type) -> Type | None:
    """Return the type that takes the values of both; None if there is none."""
    if left == right:
        return left
    if number_width(left) is not None and number_width(right) is not None:
        return wider_number(left, right)
    if isinstance(left, Array) and isinstance(right, Array):
        element = widest(left.element, right.element)
        return None if element is None else Array(element)
    if isinstance(left, Map) and isinstance(right, Map):
        key, value = widest(left.key, right.key), widest(left.value, right.value)
        return None if key is None or value is None else Map(key, value)
    return None


def _require(fits: bool) -> None:
    if not fits:
        raise MismatchError
