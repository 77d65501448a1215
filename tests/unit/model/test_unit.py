import pytest
from hypothesis import given
from hypothesis import strategies as st

from orion.model import (
    InvalidInputError,
    format_bytes,
    format_duration,
    nearest,
    parse_bytes,
    parse_duration_ms,
    parse_instant_ms,
)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("250ms", 250),
        ("30s", 30_000),
        ("1h30m", 5_400_000),
        ("7d", 604_800_000),
        ("2w", 1_209_600_000),
    ],
)
def test_durations_read_as_written(text: str, ms: int) -> None:
    assert parse_duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "10", "ten minutes", "5 m", "-1s", "1.5h"])
def test_other_durations_are_refused_with_examples(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_duration_ms(text)
    assert "1h30m" in (caught.value.fix or "")


@given(st.integers(min_value=1, max_value=10**7))
def test_a_written_duration_of_whole_seconds_reads_back(seconds: int) -> None:
    text = format_duration(seconds * 1_000).replace(" ", "")
    # Two units are shown, so what is lost is smaller than the second unit.
    assert 0 <= seconds * 1_000 - parse_duration_ms(text) < 3_600_000


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("64k", 65_536), ("2g", 2 << 30), ("1 MiB", 1 << 20), ("3GB", 3 << 30)],
)
def test_sizes_read_as_written(text: str, size: int) -> None:
    assert parse_bytes(text) == size


def test_a_size_of_unknown_unit_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="512m or 2g"):
        parse_bytes("5 parsecs")


@pytest.mark.parametrize(
    ("size", "text"),
    [(12, "12 B"), (1_536, "1.5 KiB"), (1 << 40, "1.0 TiB"), (5 << 50, "5120.0 TiB")],
)
def test_sizes_write_with_a_unit(size: int, text: str) -> None:
    assert format_bytes(size) == text


def test_an_instant_is_a_time_ago_or_a_date() -> None:
    assert parse_instant_ms("10m", now_ms=1_000_000) == 400_000
    assert parse_instant_ms("1970-01-01T00:00:01+00:00", now_ms=0) == 1_000
    with pytest.raises(InvalidInputError, match="2026-01-31"):
        parse_instant_ms("yesterday", now_ms=0)


def test_the_nearest_word_is_named_only_when_it_is_near() -> None:
    assert nearest("brokes", ["brokers", "ports"]) == "Did you mean 'brokers'?"
    assert nearest("zzz", ["brokers", "ports"]) == ""
