"""Windows that are too old to be answered."""

import pytest

from orion.sql import Windowed, tree
from orion.views.retention import Retention

HOUR = 3_600_000


def over(windowed: Windowed | None, windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the windows that are dropped on the way, each of a key of its own."""
    retention, found = Retention(windowed), []
    for number, window in enumerate(windows):
        # Keys need no order among each other.
        retention.add((None if number % 2 else "a", number), window)
        found += [dropped for _, dropped in retention.take_over()]
    return found


def test_windows_go_by_how_far_they_lie_behind_the_newest_one() -> None:
    windowed = Windowed(tree.WindowKind.TUMBLING, HOUR, 2 * HOUR)
    starts = [0, 0, HOUR, 2 * HOUR, 2 * HOUR + 1, 4 * HOUR, HOUR - 1]
    found = over(windowed, [(start, start + HOUR) for start in starts])
    assert [start for start, _ in found] == [0, 0, HOUR, HOUR - 1]


def test_sessions_go_by_their_end() -> None:
    windowed = Windowed(tree.WindowKind.SESSION, None, HOUR)
    assert over(windowed, [(0, 10), (0, HOUR), (HOUR + 11, HOUR + 11)]) == [(0, 10)]


@pytest.mark.parametrize("windowed", [None, Windowed(tree.WindowKind.HOPPING, HOUR)])
def test_without_a_retention_all_are_kept(windowed: Windowed | None) -> None:
    assert over(windowed, [(0, HOUR), (10**15, 10**15 + HOUR)]) == []
