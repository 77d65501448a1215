"""Ways in which a producer's fault makes a record that no reader can use."""

from random import Random


def damage(value: bytes, number: str, random: Random) -> bytes:
    """Return a value that is no longer a JSON object with the right types.

    Args:
        value: A JSON object.
        number: The field that must hold a number.
        random: Chooses the fault.
    """
    kind = random.choice(("truncated", "wrong type", "not UTF-8", "empty"))
    if kind == "truncated":
        return value[: random.randrange(1, len(value) - 1)]
    if kind == "wrong type":
        return value.replace(
            b'"%s": ' % number.encode(), b'"%s": "long", "was": ' % number.encode()
        )
    if kind == "not UTF-8":
        return value.replace(b": ", b": \xff\xfe", 1)
    return b""
