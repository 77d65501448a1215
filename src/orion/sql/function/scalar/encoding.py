"""Bytes and texts: encodings, and numbers in their bytes."""

import base64
import binascii
import re
import struct
from collections.abc import Callable
from typing import Any

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, Variant, variant

_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")


def _from_hex(text: str) -> bytes:
    """Read hexadecimal digits, also written `0xAB` or `X'AB'`."""
    if text.startswith("0x"):
        digits = text[2:]
        digits = "0" + digits if len(digits) % 2 else digits
    elif text[:2] in ("x'", "X'") and text.endswith("'") and len(text) > 2:
        digits = text[2:-1]
    else:
        digits = text
    return binascii.unhexlify(digits)


def read_base64(text: str) -> bytes:
    """Return the bytes of digits in base64; what fills them up may be missing as a whole."""
    filled = text if text.endswith("=") else text + "=" * (-len(text) % 4)
    return base64.b64decode(filled, validate=True)


def _from_any_base64(text: str) -> bytes:
    """Read base64 as loosely as ENCODE does: what is no digit of it is passed over."""
    digits = _NOT_BASE64.sub("", text.replace("-", "+").replace("_", "/").split("=")[0])
    digits = digits[:-1] if len(digits) % 4 == 1 else digits
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def _to_ascii(text: str) -> bytes:
    return text.encode("ascii", "replace")


def _ascii_text(value: bytes) -> str:
    return value.decode("ascii", "replace")


def _utf8_text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


_READERS: dict[str, Callable[[str], bytes]] = {
    "hex": binascii.unhexlify,
    "utf8": str.encode,
    "ascii": _to_ascii,
    "base64": read_base64,
}
_WRITERS: dict[str, Callable[[bytes], str]] = {
    "hex": lambda value: value.hex().upper(),
    "utf8": _utf8_text,
    "ascii": _ascii_text,
    "base64": lambda value: base64.b64encode(value).decode(),
}
_ENCODE_READERS = {**_READERS, "hex": _from_hex, "base64": _from_any_base64}
_ENCODE_WRITERS = {**_WRITERS, "hex": bytes.hex}


def _pick(table: dict[str, Any], name: str) -> Any:
    found = table.get(name.lower())
    if found is None:
        raise FunctionFailure(f"Encoding '{name}' is none of: {', '.join(table)}.")
    return found


def _encode(text: str, source: str, target: str) -> str:
    if source.lower() == target.lower():
        raise FunctionFailure("A text is encoded from one encoding into another.")
    read, write = _pick(_ENCODE_READERS, source), _pick(_ENCODE_WRITERS, target)
    encoded: str = write(read(text))
    return encoded


def _to_bytes(text: str, encoding: str) -> bytes:
    read: Callable[[str], bytes] = _pick(_READERS, encoding)
    return read(text)


def _from_bytes(value: bytes, encoding: str) -> str:
    write: Callable[[bytes], str] = _pick(_WRITERS, encoding)
    return write(value)


_ORDERS = {"big_endian": ">", "little_endian": "<"}


def _number(code: str) -> Callable[..., Any]:
    def read(value: bytes, order: str = "BIG_ENDIAN") -> Any:
        return struct.unpack(_pick(_ORDERS, order) + code, value)[0]

    return read


def _variants(code: str, returns: str) -> tuple[Variant, ...]:
    return (
        variant("bytes BYTES", returns, _number(code)),
        variant("bytes BYTES, order STRING", returns, _number(code)),
    )


def _numeric(name: str, code: str, returns: str, digits: str, result: Any) -> Function:
    size = struct.calcsize(f">{code}")
    return Function(
        f"{name}_FROM_BYTES",
        "CONVERSIONS",
        f"The {returns} that {size} bytes hold, in the order BIG_ENDIAN or LITTLE_ENDIAN.",
        _variants(code, returns),
        (Example(f"{name}_FROM_BYTES(TO_BYTES('{digits}', 'hex'))", result),),
    )


FUNCTIONS = (
    _numeric("INT", "i", "INT", "000007E5", 2021),
    _numeric("BIGINT", "q", "BIGINT", "00000000000007E5", 2021),
    _numeric("DOUBLE", "d", "DOUBLE", "3FF8000000000000", 1.5),
    Function(
        "ENCODE",
        "STRING",
        "The text in another encoding: hex, utf8, ascii or base64, from one to another.",
        (variant("text STRING, source STRING, target STRING", "STRING", _encode),),
        (Example("ENCODE('4b61', 'hex', 'utf8')", "Ka"),),
    ),
    Function(
        "TO_BYTES",
        "STRING",
        "The bytes of a text that is written in hex, utf8, ascii or base64.",
        (variant("text STRING, encoding STRING", "BYTES", _to_bytes),),
        (Example("TO_BYTES('4B61', 'hex')", b"Ka"),),
    ),
    Function(
        "FROM_BYTES",
        "STRING",
        "The bytes as a text in hex, utf8, ascii or base64.",
        (variant("bytes BYTES, encoding STRING", "STRING", _from_bytes),),
        (Example("FROM_BYTES(TO_BYTES('Ka', 'utf8'), 'hex')", "4B61"),),
    ),
)
