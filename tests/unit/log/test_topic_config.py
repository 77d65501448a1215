"""Configurations in human units."""

import pytest

from orion.log.topic_config import ConfigSyntaxError, TopicConfig, format_config, parse_config
from orion.model import InvalidInputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retention.ms=7d", ("retention.ms", "604800000")),
        ("retention.ms=1h30m", ("retention.ms", "5400000")),
        ("retention.ms=-1", ("retention.ms", "-1")),
        ("retention.ms=1000", ("retention.ms", "1000")),
        ("segment.bytes=64m", ("segment.bytes", "67108864")),
        (" cleanup.policy = compact,delete ", ("cleanup.policy", "compact,delete")),
        ("cleanup.policy=", ("cleanup.policy", "")),
    ],
)
def test_values_are_read_in_human_units(text: str, expected: tuple[str, str]) -> None:
    assert parse_config(text) == expected


@pytest.mark.parametrize("text", ["", "retention.ms", "=7d"])
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ConfigSyntaxError, match="name=value"):
        parse_config(text)


def test_a_bad_duration_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="Duration 'soon'"):
        parse_config("retention.ms=soon")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("retention.ms", "604800000", "7d"),
        ("retention.bytes", "-1", "unlimited"),
        ("flush.ms", "9223372036854775807", "unlimited"),
        ("segment.bytes", "1073741824", "1.0 GiB"),
        ("min.insync.replicas", "2", "2"),
        ("cleanup.policy", "compact", "compact"),
        ("cleanup.policy", None, "-"),
    ],
)
def test_values_are_shown_in_human_units(name: str, value: str | None, expected: str) -> None:
    assert format_config(name, value) == expected


def test_a_config_knows_whether_the_topic_sets_it() -> None:
    assert TopicConfig("retention.ms", "1", "topic").is_overridden
    assert not TopicConfig("retention.ms", "1", "broker").is_overridden
