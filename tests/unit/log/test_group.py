"""Lag in records and seconds, and what retention took away."""

import pytest

from orion.log.group import Group, GroupPartition


def _at(committed: int | None, start: int | None, end: int | None, **more: int) -> GroupPartition:
    return GroupPartition("orders", 0, committed, start, end, age_ms=more.get("age_ms"))


@pytest.mark.parametrize(
    ("partition", "lag", "missed"),
    [
        (_at(3, 0, 10), 7, 0),
        (_at(10, 0, 10), 0, 0),
        (_at(3, 5, 10), 5, 2),
        (_at(12, 0, 10), 0, 0),
        (_at(None, 0, 10), None, 0),
        (_at(3, None, None), None, 0),
    ],
)
def test_lag_counts_what_is_left_to_read(
    partition: GroupPartition, lag: int | None, missed: int
) -> None:
    assert (partition.lag_records, partition.missed_records) == (lag, missed)


def test_seconds_are_the_age_of_the_oldest_unread_record() -> None:
    assert _at(3, 0, 10, age_ms=1500).lag_seconds == 1.5
    assert _at(10, 0, 10).lag_seconds == 0.0
    assert _at(3, 0, 10).lag_seconds is None


def test_a_group_adds_records_and_takes_the_largest_age() -> None:
    partitions = (_at(3, 0, 10, age_ms=1500), _at(0, 0, 1, age_ms=9000), _at(None, 0, 5))
    group = Group("g", "Empty", "", "", (), partitions)
    assert (group.lag_records, group.lag_seconds, group.topics) == (8, 9.0, ("orders",))


def test_a_group_without_offsets_has_no_lag() -> None:
    group = Group("g", "Empty", "", "", (), ())
    assert (group.lag_records, group.lag_seconds) == (None, None)
