"""Types of numbers: which takes the values of others, within the 38 digits of a DECIMAL."""

from orion.model import Decimal, Scalar, Type

MAX_PRECISION = 38
_WHOLE = {Scalar.INTEGER: Decimal(10, 0), Scalar.BIGINT: Decimal(19, 0)}
_WIDTH: dict[object, int] = {Scalar.INTEGER: 0, Scalar.BIGINT: 1, Decimal: 2, Scalar.DOUBLE: 3}


def number_width(kind: Type | None) -> int | None:
    """Return the place of a type among those of numbers, wider ones behind; None: it is no number.

    >>> number_width(Scalar.BIGINT) < number_width(Decimal(4, 2))
    True
    """
    return _WIDTH.get(Decimal if isinstance(kind, Decimal) else kind)


def to_decimal(kind: Type | None) -> Decimal | None:
    """Return a whole number's type, or a decimal, as a decimal."""
    if isinstance(kind, Decimal):
        return kind
    return _WHOLE.get(kind) if isinstance(kind, Scalar) else None


def wider_number(left: Type, right: Type) -> Type:
    """Return the number type that takes the values of both."""
    if not (isinstance(left, Decimal) or isinstance(right, Decimal)):
        return max(left, right, key=_WIDTH.__getitem__)
    one, other = to_decimal(left), to_decimal(right)
    if one is None or other is None:
        return Scalar.DOUBLE
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    return bounded(whole + scale, scale)


def bounded(precision: int, scale: int) -> Decimal:
    """Return a decimal type that the engine can hold; digits after the point give way first."""
    if precision <= MAX_PRECISION:
        return Decimal(max(precision, 1), scale)
    whole = precision - scale
    return Decimal(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, 6)))
