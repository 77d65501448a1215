"""Why data written with one schema cannot be read with another."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Conflict:
    """One rule that a pair of schemas breaks.

    Args:
        rule: The rule's name, as Confluent's registry spells it.
        path: Where in the reader's schema, like `/fields/1/type`.
        text: What changed, in words that call the two `the reader` and `the writer`.
        field: The field it is about, like `customer.name`, where the text does not say.
    """

    rule: str
    path: str
    text: str
    field: str = ""
