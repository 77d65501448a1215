"""Which types meet in which: numbers widen, texts stay texts, nothing is converted in silence."""

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.sql.function import bounded, number_width, to_decimal, wider_number
from orion.sql.parse.tree import ArithmeticOperator

TEMPORAL = frozenset((Scalar.DATE, Scalar.TIME, Scalar.TIMESTAMP))

_FROM_NUMBER = {Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE, Decimal, Scalar.STRING}
# What CAST can do, besides leaving a type as it is.
_CASTS: dict[object, set[object]] = {
    Scalar.BOOLEAN: {Scalar.STRING},
    Scalar.INTEGER: _FROM_NUMBER,
    Scalar.BIGINT: _FROM_NUMBER,
    Scalar.DOUBLE: _FROM_NUMBER,
    Decimal: _FROM_NUMBER,
    Scalar.STRING: {*_FROM_NUMBER, Scalar.BOOLEAN, Scalar.BYTES, *TEMPORAL},
    Scalar.TIMESTAMP: {Scalar.STRING, Scalar.DATE, Scalar.TIME},
    Scalar.DATE: {Scalar.STRING, Scalar.TIMESTAMP},
    Scalar.TIME: {Scalar.STRING},
}


def is_number(kind: Type | None) -> bool:
    """Tell whether arithmetic takes the type."""
    return number_width(kind) is not None


def common(left: Type | None, right: Type | None) -> Type | None:
    """Return the type that both values can be read as; None when there is none.

    The type of a bare NULL is None, and gives way to any other.
    """
    if left is None or right is None or left == right:
        return right if left is None else left
    if is_number(left) and is_number(right):
        return wider_number(left, right)
    return _common_nested(left, right)


def _common_nested(left: Type, right: Type) -> Type | None:
    if isinstance(left, Array) and isinstance(right, Array):
        element = common(left.element, right.element)
        return None if element is None else Array(element)
    if isinstance(left, Map) and isinstance(right, Map):
        key, value = common(left.key, right.key), common(left.value, right.value)
        return None if key is None or value is None else Map(key, value)
    if isinstance(left, Struct) and isinstance(right, Struct):
        return _common_struct(left, right)
    return None


def _common_struct(left: Struct, right: Struct) -> Struct | None:
    """Return the struct with the fields of both."""
    fields = []
    for name in dict.fromkeys(field.name for field in (*left.fields, *right.fields)):
        one, other = left.get(name), right.get(name)
        kind = common(one.type if one else None, other.type if other else None)
        if kind is None:
            return None
        fields.append(Field(name, kind))
    return Struct(tuple(fields))


def result_of(operator: ArithmeticOperator, left: Type, right: Type) -> Type:
    """Return the type of arithmetic on two numbers; decimals grow so that nothing is cut."""
    kind = wider_number(left, right)
    if not isinstance(kind, Decimal):
        return kind
    one, other = to_decimal(left), to_decimal(right)
    assert one is not None
    assert other is not None
    return _decimal_result(operator, one, other)


def _decimal_result(operator: ArithmeticOperator, one: Decimal, other: Decimal) -> Decimal:
    p1, s1, p2, s2 = one.precision, one.scale, other.precision, other.scale
    match operator:
        case ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT:
            return bounded(max(s1, s2) + max(p1 - s1, p2 - s2) + 1, max(s1, s2))
        case ArithmeticOperator.MULTIPLY:
            return bounded(p1 + p2 + 1, s1 + s2)
        case ArithmeticOperator.DIVIDE:
            scale = max(6, s1 + p2 + 1)
            return bounded(p1 - s1 + s2 + scale, scale)
        case ArithmeticOperator.MODULUS:
            return bounded(min(p1 - s1, p2 - s2) + max(s1, s2), max(s1, s2))


def can_cast(source: Type, target: Type) -> bool:
    """Tell whether CAST is defined between two types."""
    if source == target:
        return True
    if isinstance(source, Array | Map | Struct):
        return target is Scalar.STRING or _can_cast_nested(source, target)
    kind: object = Decimal if isinstance(source, Decimal) else source
    goal: object = Decimal if isinstance(target, Decimal) else target
    return goal in _CASTS.get(kind, set())


def _can_cast_nested(source: Type, target: Type) -> bool:
    if isinstance(source, Array) and isinstance(target, Array):
        return can_cast(source.element, target.element)
    if isinstance(source, Map) and isinstance(target, Map):
        return can_cast(source.key, target.key) and can_cast(source.value, target.value)
    if isinstance(source, Struct) and isinstance(target, Struct):
        pairs = ((field, target.get(field.name)) for field in source.fields)
        return all(goal is None or can_cast(field.type, goal.type) for field, goal in pairs)
    return False


def can_widen(source: Type | None, target: Type) -> bool:
    """Tell whether a value may be given where the target is wanted, without a CAST."""
    if source is None or source == target:
        return True
    own, wanted = number_width(source), number_width(target)
    if own is not None and wanted is not None:
        if isinstance(source, Decimal) and isinstance(target, Decimal):
            return _fits(source, target)
        return own <= wanted
    if isinstance(source, Array) and isinstance(target, Array):
        return can_widen(source.element, target.element)
    if isinstance(source, Map) and isinstance(target, Map):
        return can_widen(source.key, target.key) and can_widen(source.value, target.value)
    return _can_widen_struct(source, target)


def _can_widen_struct(source: Type, target: Type) -> bool:
    if not (isinstance(source, Struct) and isinstance(target, Struct)):
        return False
    goals = {field.name: field.type for field in target.fields}
    return all(
        field.name in goals and can_widen(field.type, goals[field.name]) for field in source.fields
    )


def _fits(source: Decimal, target: Decimal) -> bool:
    whole = source.precision - source.scale
    return source.scale <= target.scale and whole <= target.precision - target.scale
