"""Configurations of a topic as people write them (`retention.ms=7d`) and as Kafka keeps them."""

from dataclasses import dataclass

from orion.model import (
    InvalidInputError,
    format_bytes,
    format_duration,
    parse_bytes,
    parse_duration_ms,
)

# Kafka's largest long: what it stores for "never" in several configurations.
_FOREVER = 9223372036854775807


@dataclass(frozen=True)
class TopicConfig:
    """One configuration in force, and where its value comes from: topic, broker or default."""

    name: str
    value: str | None
    source: str
    read_only: bool = False

    @property
    def is_overridden(self) -> bool:
        """Whether the topic itself sets the value."""
        return self.source == "topic"

    @property
    def readable(self) -> str:
        """The value in human units."""
        return format_config(self.name, self.value)


class ConfigSyntaxError(InvalidInputError):
    """Raised when a configuration is not given as name=value."""

    def __init__(self, text: str) -> None:
        self.given = text
        super().__init__(
            f"Configuration '{text}' is not understood.",
            fix="Write it as name=value: retention.ms=7d",
        )


def parse_config(text: str) -> tuple[str, str]:
    """Read `name=value`; milliseconds and bytes may be given in human units.

    >>> parse_config("retention.ms=7d"), parse_config("segment.bytes=64m")
    (('retention.ms', '604800000'), ('segment.bytes', '67108864'))
    """
    name, separator, value = (part.strip() for part in text.partition("="))
    if not name or not separator:
        raise ConfigSyntaxError(text)
    if _is_number(value) or not value:
        return name, value
    if name.endswith(".ms"):
        return name, str(parse_duration_ms(value))
    if name.endswith(".bytes"):
        return name, str(parse_bytes(value))
    return name, value


def format_config(name: str, value: str | None) -> str:
    """Write a value of Kafka in human units.

    >>> format_config("retention.ms", "604800000"), format_config("retention.bytes", "-1")
    ('7d', 'unlimited')
    """
    if value is None or value == "":
        return "-"
    timed, sized = name.endswith(".ms"), name.endswith(".bytes")
    if not _is_number(value) or not (timed or sized):
        return value
    number = int(value)
    if number < 0 or number == _FOREVER:
        return "unlimited"
    return format_duration(number) if timed else format_bytes(number)


def _is_number(value: str) -> bool:
    return value.removeprefix("-").isdigit()
