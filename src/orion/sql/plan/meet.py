"""Values that must share a type: numbers widen, literal texts are read as their neighbours."""

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, InvalidOperation
from decimal import Decimal as Number
from functools import partial, reduce

from orion.model import Array, Decimal, Map, Scalar, Struct, Type
from orion.sql.function import bounded, rescale
from orion.sql.parse import tree
from orion.sql.plan import coercion, typed
from orion.sql.plan.errors import TypeMismatchError
from orion.sql.plan.instant import parse_date_days, parse_time_ms, parse_timestamp_ms
from orion.sql.plan.typed import Shape, Typed

_ENDS = {Scalar.INTEGER: 1 << 31, Scalar.BIGINT: 1 << 63}


def meet(values: Sequence[Typed], node: tree.Node) -> list[Typed]:
    """Return the values in the one type that all can be read as.

    A literal text gives way to the type of its neighbours, which reads it: `ARRAY[1, '2']`.
    """
    firm = [value for value in values if not _is_soft(value)]
    kinds = [value.type for value in (firm if _has_type(firm) else values)]
    target = reduce(lambda left, right: _common(left, right, node), kinds, None)
    if coercion.is_number(target):
        # A text may spell a number that its neighbours' type is too narrow for.
        spelled = (_spelled_type(value) for value in values)
        target = reduce(lambda left, right: _common(left, right, node), spelled, target)
    if target is Scalar.STRING or target is None:
        target = Scalar.STRING if any(v.type for v in values) else None
    return list(values) if target is None else [convert(v, target, node) for v in values]


def _has_type(values: Sequence[Typed]) -> bool:
    return any(value.type is not None for value in values)


def _is_soft(value: Typed) -> bool:
    """Tell whether a value is a literal text, or is made of some."""
    if isinstance(value, typed.Made):
        return any(_is_soft(part) for part in value.parts)
    return isinstance(value, typed.Constant) and value.type is Scalar.STRING


def _spelled_type(value: Typed) -> Type | None:
    """Return the type of the number that a literal text spells; None: it spells none."""
    if not (isinstance(value, typed.Constant) and value.type is Scalar.STRING):
        return None
    try:
        number = _read_number(value.value)
    except ValueError:
        return None
    if number != number.to_integral_value():
        return None
    for kind, end in _ENDS.items():
        if -end <= number < end:
            return kind
    return bounded(len(number.as_tuple().digits), 0)


def _common(left: Type | None, right: Type | None, node: tree.Node) -> Type | None:
    found = _shared(left, right)
    if found is None and left is not None and right is not None:
        raise TypeMismatchError(
            f"{left} and {right} have no common type.", node=node, fix="CAST one of them."
        )
    return found


def _shared(left: Type | None, right: Type | None) -> Type | None:
    """Return the common type; texts inside of arrays and maps give way as literals do."""
    if isinstance(left, Array) and isinstance(right, Array):
        element = _shared(left.element, right.element)
        return None if element is None else Array(element)
    if isinstance(left, Map) and isinstance(right, Map):
        key, value = _shared(left.key, right.key), _shared(left.value, right.value)
        return None if key is None or value is None else Map(key, value)
    return coercion.common(left, right)


def convert(value: Typed, target: Type, node: tree.Node) -> Typed:
    """Return a value in a wider type, a literal in the type that its text spells."""
    if value.type == target:
        return value
    if isinstance(value, typed.Constant):
        return _convert_constant(value, target, node)
    if isinstance(value, typed.Made):
        return _convert_made(value, target, node)
    if value.type is not None and not coercion.can_widen(value.type, target):
        raise TypeMismatchError(
            f"{target} is needed here, found {value.type}.", node=node, fix=f"CAST(… AS {target})."
        )
    return typed.Converted(target, value)


def _convert_made(value: typed.Made, target: Type, node: tree.Node) -> Typed:
    if value.shape is Shape.ARRAY and isinstance(target, Array):
        kinds: Sequence[Type] = [target.element] * len(value.parts)
    elif value.shape is Shape.MAP and isinstance(target, Map):
        kinds = [target.key, target.value] * (len(value.parts) // 2)
    elif value.shape is Shape.STRUCT and isinstance(target, Struct):
        return _convert_struct(value, target, node)
    else:
        raise TypeMismatchError(f"{target} is needed here, found {value.type}.", node=node)
    parts = tuple(convert(p, kind, node) for p, kind in zip(value.parts, kinds, strict=True))
    return typed.Made(target, value.shape, parts)


def _convert_struct(value: typed.Made, target: Struct, node: tree.Node) -> Typed:
    assert isinstance(value.type, Struct)
    given = dict(zip((f.name for f in value.type.fields), value.parts, strict=True))
    unknown = [name for name in given if target.get(name) is None]
    if unknown:
        raise TypeMismatchError(f"{target} has no field '{unknown[0]}'.", node=node)
    parts = tuple(
        convert(given.get(f.name, typed.Constant(None, None)), f.type, node) for f in target.fields
    )
    return typed.Made(target, Shape.STRUCT, parts)


def _convert_constant(value: typed.Constant, target: Type, node: tree.Node) -> Typed:
    if value.value is None:
        return typed.Constant(target, None)
    is_text = value.type is Scalar.STRING and target is not Scalar.STRING
    if not is_text and not coercion.can_widen(value.type, target):
        raise TypeMismatchError(f"{target} is needed here, found {value.type}.", node=node)
    try:
        if is_text:
            return typed.Constant(target, read_text(value.value, target))
        if isinstance(target, Decimal):
            return typed.Constant(target, scaled(Number(value.value), target))
    except (ValueError, KeyError) as error:
        raise TypeMismatchError(f"'{value.value}' is no {target}.", node=node) from error
    return typed.Constant(target, float(value.value) if target is Scalar.DOUBLE else value.value)


def scaled(number: Number, target: Decimal) -> Number:
    """Return a number with the digits after the point that its type has; halves go up."""
    has_room = number.is_finite() and (number == 0 or number.adjusted() < target.precision)
    if has_room:
        found = rescale(number, target.scale, ROUND_HALF_UP)
        if len(found.as_tuple().digits) <= target.precision:
            return found
    raise ValueError(f"{number} does not fit {target}")


def read_text(text: str, target: Type) -> object:
    """Return the value that a text spells in a type; raises where it spells none."""
    if isinstance(target, Decimal):
        return scaled(_read_number(text), target)
    reader = _READERS.get(target) if isinstance(target, Scalar) else None
    if reader is None:
        raise ValueError(f"a text is no {target}")
    return reader(text)


def _read_boolean(text: str) -> bool:
    """Return what a word, or the beginning of one, says."""
    word = text.strip().lower()
    if word and ("true".startswith(word) or "yes".startswith(word)):
        return True
    if word and ("false".startswith(word) or "no".startswith(word)):
        return False
    raise ValueError(f"'{text}' is neither true nor false")


def _read_number(text: str) -> Number:
    """Return the number that a text spells; Python's own reading takes more than digits."""
    try:
        number = Number(text.strip())
    except InvalidOperation as error:
        raise ValueError(f"'{text}' is no number") from error
    if not number.is_finite() or "_" in text:
        raise ValueError(f"'{text}' is no number")
    return number


def _read_whole(target: Scalar, text: str) -> int:
    number, end = _read_number(text), _ENDS[target]
    # Compared ahead of int(), which would write the zeros of 1e999999999 out.
    if not -end <= number < end:
        raise ValueError(f"{text.strip()} does not fit {target}")
    if number != number.to_integral_value():
        raise ValueError(f"'{text}' is no whole number")
    return int(number)


def _read_double(text: str) -> float:
    if "_" in text:
        raise ValueError(f"'{text}' is no number")
    return float(text.strip())


_READERS: Mapping[Scalar, Callable[[str], object]] = {
    Scalar.BOOLEAN: _read_boolean,
    Scalar.INTEGER: partial(_read_whole, Scalar.INTEGER),
    Scalar.BIGINT: partial(_read_whole, Scalar.BIGINT),
    Scalar.DOUBLE: _read_double,
    Scalar.STRING: str,
    Scalar.DATE: parse_date_days,
    Scalar.TIME: parse_time_ms,
    Scalar.TIMESTAMP: parse_timestamp_ms,
}
