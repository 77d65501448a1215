"""Numbers as Java spells them, and exact decimals."""

import math
from decimal import Context, Decimal, InvalidOperation

# Wide enough for any DECIMAL; the default context of 28 digits would round.
_WIDE = Context(prec=200)
_PLAIN_FROM, _PLAIN_UNTIL = 1e-3, 1e7


def spell_double(value: float) -> str:
    """Return a double as Java prints it.

    >>> spell_double(1.0), spell_double(1e10), spell_double(0.00012), spell_double(123456.789)
    ('1.0', '1.0E10', '1.2E-4', '123456.789')
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if value == 0:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent
    minus = "-" if sign else ""
    if not _PLAIN_FROM <= abs(value) < _PLAIN_UNTIL:
        return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    whole = text[:point].ljust(point, "0")
    return f"{minus}{whole}.{text[point:] or '0'}"


def spell_decimal(value: Decimal) -> str:
    """Return a decimal with all digits of its scale and no exponent."""
    return format(value, "f")


def shift_decimal(value: Decimal, places: int) -> Decimal:
    """Return a decimal with its point moved, all digits kept."""
    return value.scaleb(places, _WIDE)


def fit_decimal(value: Decimal, precision: int, scale: int) -> Decimal | None:
    """Return a decimal at a scale; None if digits would be lost."""
    try:
        fitted = value.quantize(Decimal(1).scaleb(-scale), context=_WIDE)
    except InvalidOperation:
        return None
    if fitted != value or (fitted and len(fitted.as_tuple().digits) > precision):
        return None
    return fitted
