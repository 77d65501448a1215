"""Values as Java writes them, which is how the language turns them into texts."""

import math
from decimal import Decimal
from typing import Any


def java_double(value: float) -> str:
    """Return a double as Java's `Double.toString` does.

    >>> java_double(1e7), java_double(0.001), java_double(100.0)
    ('1.0E7', '0.001', '100.0')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if value == 0:
        return f"{sign}0.0"
    _, digit_tuple, exponent = Decimal(repr(abs(value))).as_tuple()
    digits = "".join(map(str, digit_tuple)).rstrip("0") or "0"
    # The power of ten of the first digit.
    power = len(digit_tuple) + int(exponent) - 1
    if -3 <= power < 7:
        if power < 0:
            return f"{sign}0.{'0' * (-power - 1)}{digits}"
        whole = digits[: power + 1].ljust(power + 1, "0")
        return f"{sign}{whole}.{digits[power + 1 :] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def java_text(value: Any) -> str:
    """Return any value as Java's `toString` does; maps in braces, structs are maps here."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return java_double(value)
        case Decimal():
            return java_decimal(value)
        case list():
            return f"[{', '.join(java_text(item) for item in value)}]"
        case dict():
            inner = ", ".join(f"{java_text(k)}={java_text(v)}" for k, v in value.items())
            return f"{{{inner}}}"
    return str(value)


def java_decimal(value: Decimal) -> str:
    """Return a decimal as `BigDecimal.toString` does.

    >>> java_decimal(Decimal("0.0000001")), java_decimal(Decimal("1.50"))
    ('1E-7', '1.50')
    """
    return str(value)
