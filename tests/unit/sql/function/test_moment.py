"""Java's patterns: what they write, what they read, and what they refuse."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orion.sql.function.moment import (
    PatternError,
    format_date,
    format_time,
    format_timestamp,
    parse_date,
    parse_lenient_date,
    parse_time,
    parse_timestamp,
)
from orion.sql.function.moment.calendar import to_civil, to_days

MOMENT = 1_709_202_605_007  # 2024-02-29T10:30:05.007Z, a Thursday


@pytest.mark.parametrize(
    ("pattern", "zone", "text"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "UTC", "2024-02-29T10:30:05.007"),
        ("yy M d H m s S", "UTC", "24 2 29 10 30 5 0"),
        ("EEE, dd MMM uuuu", "UTC", "Thu, 29 Feb 2024"),
        ("EEEE d MMMM G", "UTC", "Thursday 29 February AD"),
        ("h:mm a 'o''clock'", "UTC", "10:30 AM o'clock"),
        ("K k DDD D Q QQQ", "UTC", "10 10 060 60 1 Q1"),
        ("HH:mm X XX XXX x xxx Z ZZZZZ", "UTC", "10:30 Z Z Z +00 +00:00 +0000 Z"),
        (
            "HH:mm X XX XXX Z O OOOO",
            "Asia/Kolkata",
            "16:00 +0530 +0530 +05:30 +0530 GMT+5:30 GMT+05:30",
        ),
        ("HH:mm z VV", "America/Los_Angeles", "02:30 PST America/Los_Angeles"),
        ("zzzz", "Europe/Paris", "Central European Standard Time"),
        ("HH:mm XXX", "-03:30", "07:00 -03:30"),
        ("z VV", "-0330", "-03:30 -03:30"),
        ("z zzzz", "GMT", "GMT Greenwich Mean Time"),
        ("[yyyy][ VV]", "UTC", "2024 UTC"),
        ("''yyyy''", "UTC", "'2024'"),
        ("A n N", "UTC", "37805007 7000000 37805007000000"),
    ],
)
def test_moments_are_written(pattern: str, zone: str, text: str) -> None:
    assert format_timestamp(MOMENT, pattern, zone) == text


@pytest.mark.parametrize(
    ("text", "pattern", "ms"),
    [
        ("2024-02-29T10:30:05.007Z", "yyyy-MM-dd'T'HH:mm:ss.SSSX", MOMENT),
        ("2024-02-29T11:30:05.007+01:00", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", MOMENT),
        ("20240229103005007", "yyyyMMddHHmmssSSS", MOMENT),
        ("29/feb/2024 10:30:05.007 am", "dd/MMM/yyyy hh:mm:ss.SSS a", MOMENT),
        ("Thursday 29 February 2024", "EEEE d MMMM yyyy", 1_709_164_800_000),
        ("2024-060", "yyyy-DDD", 1_709_164_800_000),
        ("2024-366", "yyyy-DDD", to_days(2024, 12, 31) * 86_400_000),
        ("2024-02-31", "yyyy-MM-dd", 1_709_164_800_000),
        ("1970-01-01 24:00", "yyyy-MM-dd HH:mm", 86_400_000),
        ("10:30", "HH:mm", 37_800_000),
        ("2024", "yyyy[-MM]", 1_704_067_200_000),
        ("2024-07-01 12:00 PST", "yyyy-MM-dd HH:mm z", 1_719_860_400_000),
        ("2024-07-01 12:00 Europe/Paris", "yyyy-MM-dd HH:mm VV", 1_719_828_000_000),
        ("2024-07-01 12:00 GMT+2", "yyyy-MM-dd HH:mm O", 1_719_828_000_000),
        ("0044-03-15 BC", "yyyy-MM-dd G", (to_days(-43, 3, 15)) * 86_400_000),
    ],
)
def test_moments_are_read(text: str, pattern: str, ms: int) -> None:
    assert parse_timestamp(text, pattern) == ms


def test_clocks_that_change_leave_a_gap_and_an_overlap() -> None:
    paris = "yyyy-MM-dd HH:mm"
    # There was no half past two on this night: the clock goes on from there.
    assert parse_timestamp("2024-03-31 02:30", paris, "Europe/Paris") == 1_711_848_600_000
    # Half past two came twice: the first is meant.
    assert parse_timestamp("2024-10-27 02:30", paris, "Europe/Paris") == 1_729_989_000_000


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("2024-13-01", "yyyy-MM-dd"),
        ("2024-02-32", "yyyy-MM-dd"),
        ("24-02-01", "yyyy-MM-dd"),
        ("2024-02-01x", "yyyy-MM-dd"),
        ("Friday 2024-02-29", "EEEE yyyy-MM-dd"),
        ("10:60", "HH:mm"),
        ("13:00 PM", "hh:mm a"),
        ("2024-01-01 Nowhere/Land", "yyyy-MM-dd VV"),
        ("2023-366", "yyyy-D"),
        ("24:01", "HH:mm"),
    ],
)
def test_what_is_no_moment_is_refused(text: str, pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_timestamp(text, pattern)


@pytest.mark.parametrize(
    ("text", "pattern", "date"),
    [
        ("2024-1-5", "yyyy-MM-dd", (2024, 1, 5)),
        ("2024-02-30 and on", "yyyy-MM-dd", (2024, 3, 1)),
        ("2024-13-00", "YYYY-MM-dd", (2024, 12, 31)),
        ("20240229", "yyyyMMdd", (2024, 2, 29)),
        (" 29. FEB  24", "dd. MMMM yy", (2024, 2, 29)),
        ("Wed 29 February 46", "EEE dd MMM yy", (1946, 3, 1)),
        ("45", "yy", (2045, 1, 1)),
        ("124", "yy", (124, 1, 1)),
        ("12", "MM", (1970, 12, 1)),
        ("060/2024", "DDD/yyyy", (2024, 2, 29)),
        ("2024T'", "yyyy'T'''", (2024, 1, 1)),
        ("2024 24:00 am", "yyyy kk:mm a", (2024, 1, 1)),
        ("2024 24:00", "yyyy HH:mm", (2024, 1, 2)),
        ("0044-03-15 BC", "yyyy-MM-dd G", (-43, 3, 15)),
    ],
)
def test_dates_are_read_as_they_come(text: str, pattern: str, date: tuple[int, int, int]) -> None:
    assert to_civil(parse_lenient_date(text, pattern, 2026)) == date


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("2024-02-29 10:30", "yyyy-MM-dd HH:mm"),
        ("2024/02/29", "yyyy-MM-dd"),
        ("-2024", "yyyy"),
        ("29 Fbr", "dd MMM"),
        ("2024", "yyyy-'"),
    ],
)
def test_what_begins_with_no_date_is_refused(text: str, pattern: str) -> None:
    with pytest.raises(PatternError):
        parse_lenient_date(text, pattern, 2026)


@pytest.mark.parametrize(
    "pattern", ["yyyy-bb", "e", "ww", "'open", "]", "{", "hhh", "MMMMMM", "XXXXXX", "V"]
)
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        format_timestamp(0, pattern)


def test_a_date_has_no_time_and_a_time_no_date() -> None:
    for pattern in ("HH", "X"):
        with pytest.raises(PatternError):
            format_date(0, pattern)
    with pytest.raises(PatternError):
        format_time(0, "yyyy")
    with pytest.raises(PatternError):
        parse_date("2024 10", "yyyy HH")
    with pytest.raises(PatternError):
        parse_time("2024 10", "yyyy HH")
    with pytest.raises(PatternError):
        parse_date("02-29", "MM-dd")


def test_a_time_is_read_and_written() -> None:
    assert parse_time("23:59:59.999", "HH:mm:ss.SSS") == 86_399_999
    assert format_time(86_399_999, "K:mm:ss.SSSSSS a") == "11:59:59.999000 PM"
    assert parse_time("24", "k") == 0


@given(st.dates())
def test_days_count_as_the_calendar_does(day: datetime.date) -> None:
    days = (day - datetime.date(1970, 1, 1)).days
    assert to_civil(days) == (day.year, day.month, day.day)
    assert to_days(day.year, day.month, day.day) == days


@given(st.integers(-(10**14), 2 * 10**14), st.sampled_from(["UTC", "Europe/Paris", "+05:30"]))
def test_what_is_written_reads_back(ms: int, zone: str) -> None:
    pattern = "yyyy-MM-dd HH:mm:ss.SSS XXXXX G"
    assert parse_timestamp(format_timestamp(ms, pattern, zone), pattern) == ms


@given(st.text(max_size=20), st.text("yMdHhmsSaEXzVQD'[]:- ", max_size=12))
def test_any_text_and_pattern_are_answered(text: str, pattern: str) -> None:
    try:
        parse_timestamp(text, pattern)
    except ValueError:
        return
