"""Texts and bytes, where Spark's functions mean the same or can be made to."""

import re
from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Scalar
from orion.process.function.call import Call, Native

_BLANKS = "".join(map(chr, range(33)))
_LONGEST = 2**31 - 1
_LONGEST_PADDED = 1_000_000
_MASKS = ((r"[^\p{Lu}\p{Ll}\p{Nd}]", "-"), (r"\p{Lu}", "X"), (r"\p{Ll}", "x"), (r"\p{Nd}", "n"))
# What Python takes and Java does not, or in another way.
_PYTHON_ONLY = re.compile(
    r"\(\?P|\(\?\(|\\Z|\(\?[a-zA-Z-]*[aL]|\(\?<\w*_|(?<!\\)\{(?!\d+(?:,\d*)?\})|\[[^\]]*\["
)


def _concat(call: Call) -> Column:
    if call.types[0] is Scalar.BYTES:
        return F.concat(*(F.coalesce(part, F.lit(bytearray())) for part in call.arguments))
    return F.concat_ws("", *call.arguments)


def _concat_ws(call: Call) -> Column | None:
    if call.types[0] is Scalar.BYTES:
        return None
    return F.call_function("concat_ws", *call.arguments)


def _elt(call: Call) -> Column | None:
    return F.elt(*call.arguments) if call.count > 1 else None


def _field(call: Call) -> Column:
    found = F.lit(0)
    for position in range(call.count - 1, 0, -1):
        found = F.when(call[0] == call[position], F.lit(position)).otherwise(found)
    return found


def _instr(call: Call) -> Column | None:
    if call.count > 2:
        return None
    return F.coalesce(F.when(F.length(call[0]) > 0, F.instr(call[0], call[1])), F.lit(0))


def _length(call: Call) -> Column:
    return F.length(call[0])


def _pad(name: str) -> Native:
    def native(call: Call) -> Column:
        possible = call[1].between(0, _LONGEST_PADDED) & (F.length(call[2]) > 0)
        return F.when(possible, F.call_function(name, *call.arguments))

    return native


def _replace(call: Call) -> Column:
    text, part, new = call.arguments
    between = F.concat(new, F.call_function("array_join", F.split(text, ""), new), new)
    everywhere = F.when(F.length(text) == 0, new).otherwise(between)
    return F.when(F.length(part) > 0, F.replace(text, part, new)).otherwise(
        F.when(part.isNotNull(), everywhere)
    )


def _split(call: Call) -> Column | None:
    if call.types[0] is Scalar.BYTES:
        return None
    text, delimiter = call.arguments
    # Quoted, the delimiter is no regular expression; its own end of quotes is quoted apart.
    inside = F.replace(delimiter, F.lit("\\E"), F.lit("\\E\\\\E\\Q"))
    pattern = F.concat(F.lit("\\Q"), inside, F.lit("\\E"))
    parts = F.call_function("split", text, pattern, F.lit(-1))
    letters = F.when(F.length(text) == 0, F.array(F.lit(""))).otherwise(F.split(text, ""))
    return F.when(F.length(delimiter) > 0, parts).otherwise(
        F.when(delimiter.isNotNull() & text.isNotNull(), letters)
    )


def _substring(call: Call) -> Column:
    value, position = call[0], call[1]
    start = F.when(position < 0, F.greatest(F.length(value) + position, F.lit(0)) + 1).otherwise(
        position
    )
    length = call[2] if call.count > 2 else F.lit(_LONGEST)
    return F.call_function("substring", value, start, length)


def _uuid(call: Call) -> Column:
    if call.count == 0:
        return F.call_function("uuid")
    groups = "(.{8})(.{4})(.{4})(.{4})(.{12})"
    written = F.regexp_replace(F.lower(F.hex(call[0])), groups, "$1-$2-$3-$4-$5")
    return F.when(F.length(call[0]) == 16, written)


# -- masks


def _mask(value: Column) -> Column:
    # Each step leaves what the earlier ones wrote: a dash is no letter, an X not lower case.
    for pattern, mark in _MASKS:
        value = F.regexp_replace(value, pattern, mark)
    return value


def _mask_all(call: Call) -> Column | None:
    return _mask(call[0]) if call.count == 1 else None


def _mask_part(cut: Callable[[Column, Column], tuple[Column, Column]]) -> Native:
    def native(call: Call) -> Column | None:
        if call.count > 2:
            return None
        text, count = call.arguments
        begin, end = cut(F.length(text), count)
        parts = (
            F.call_function("substring", text, F.lit(1), begin),
            _mask(F.call_function("substring", text, begin + 1, end - begin)),
            F.call_function("substring", text, end + 1, F.lit(_LONGEST)),
        )
        return F.when(count >= 0, F.concat(*parts))

    return native


# -- bytes and numbers


def _to_bytes(call: Call) -> Column | None:
    if str(call.constants.get(1)).lower() == "utf8":
        column: Column = call[0].cast("binary")
        return column
    return None


def _from_bytes(call: Call) -> Column | None:
    encoding = str(call.constants.get(1)).lower()
    if encoding == "hex":
        return F.hex(call[0])
    if encoding == "base64":
        return F.base64(call[0])
    return None


def _whole_from_bytes(size: int) -> Native:
    def native(call: Call) -> Column | None:
        if call.count > 1:
            return None
        digits = F.conv(F.hex(call[0]), 16, -10).cast("bigint")
        # Four bytes make an unsigned number: the upper half is negative.
        number = F.when(digits >= 2**31, digits - 2**32).otherwise(digits) if size == 4 else digits
        kind = "int" if size == 4 else "bigint"
        return F.when(F.length(call[0]) == size, number.cast(kind))

    return native


# -- regular expressions: only those known beforehand, for Spark stops at one it cannot read


def _known_pattern(call: Call, position: int) -> str | None:
    pattern = call.constants.get(position)
    if not isinstance(pattern, str) or _PYTHON_ONLY.search(pattern):
        return None
    try:
        re.compile(re.sub(r"\(\?<([A-Za-z])", r"(?P<\1", pattern))
    except (re.error, RecursionError, OverflowError):
        return None
    return pattern


def _extract(call: Call) -> Column | None:
    if call.count > 2 or _known_pattern(call, 0) is None:
        return None
    pattern, text = call.arguments
    return F.when(
        F.rlike(text, pattern), F.call_function("regexp_extract", text, pattern, F.lit(0))
    )


def _extract_all(call: Call) -> Column | None:
    if call.count > 2 or _known_pattern(call, 0) is None:
        return None
    return F.regexp_extract_all(call[1], call[0], F.lit(0))


def _replace_matches(call: Call) -> Column | None:
    new = call.constants.get(2)
    if _known_pattern(call, 1) is None or not isinstance(new, str) or set(new) & set("$\\"):
        return None
    return F.regexp_replace(*call.arguments)


def _split_matches(call: Call) -> Column | None:
    pattern = _known_pattern(call, 1)
    if pattern is None or re.fullmatch(re.sub(r"\(\?<([A-Za-z])", r"(?P<\1", pattern), ""):
        return None
    return F.call_function("split", call[0], call[1], F.lit(-1))


NATIVE: dict[str, Native] = {
    "CONCAT": _concat,
    "CONCAT_WS": _concat_ws,
    "ELT": _elt,
    "FIELD": _field,
    "INSTR": _instr,
    "LCASE": lambda call: F.lower(call[0]),
    "UCASE": lambda call: F.upper(call[0]),
    "LEN": _length,
    "LPAD": _pad("lpad"),
    "RPAD": _pad("rpad"),
    "MD5": lambda call: F.md5(call[0].cast("binary")),
    "REPLACE": _replace,
    "SPLIT": _split,
    "SUBSTRING": _substring,
    "TRIM": lambda call: F.call_function("btrim", call[0], F.lit(_BLANKS)),
    "UUID": _uuid,
    "MASK": _mask_all,
    "MASK_LEFT": _mask_part(lambda size, n: (F.lit(0), F.least(n, size))),
    "MASK_RIGHT": _mask_part(lambda size, n: (F.greatest(size - n, F.lit(0)), size)),
    "MASK_KEEP_LEFT": _mask_part(lambda size, n: (F.least(n, size), size)),
    "MASK_KEEP_RIGHT": _mask_part(lambda size, n: (F.lit(0), F.greatest(size - n, F.lit(0)))),
    "TO_BYTES": _to_bytes,
    "FROM_BYTES": _from_bytes,
    "INT_FROM_BYTES": _whole_from_bytes(4),
    "BIGINT_FROM_BYTES": _whole_from_bytes(8),
    "REGEXP_EXTRACT": _extract,
    "REGEXP_EXTRACT_ALL": _extract_all,
    "REGEXP_REPLACE": _replace_matches,
    "REGEXP_SPLIT_TO_ARRAY": _split_matches,
    "URL_ENCODE_PARAM": lambda call: F.url_encode(call[0]),
    "URL_DECODE_PARAM": lambda call: F.try_url_decode(call[0]),
    "JSON_ARRAY_LENGTH": lambda call: F.json_array_length(call[0]),
}
