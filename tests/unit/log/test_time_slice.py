"""Slices of topics by time, over topics that are lists of times."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from orion.log import Slice, slice_topics

Place = tuple[str, int]


@dataclass(frozen=True)
class Times:
    """Topics: the times of the records of each partition; None: a transaction's mark."""

    partitions: Mapping[Place, list[int | None]]

    def times_at(self, places: Mapping[Place, int]) -> dict[Place, int]:
        found: dict[Place, int] = {}
        for place, offset in places.items():
            behind = (time for time in self.partitions[place][offset:] if time is not None)
            first = next(behind, None)
            if first is not None:
                found[place] = first
        return found

    def offsets_at(self, ranges: Mapping[Place, tuple[int, int]], time_ms: int) -> dict[Place, int]:
        found: dict[Place, int] = {}
        for place in ranges:
            for offset, time in enumerate(self.partitions[place]):
                if time is not None and time >= time_ms:
                    found[place] = offset
                    break
        return found

    @property
    def ends(self) -> dict[str, dict[int, int]]:
        return self.at({place: len(times) for place, times in self.partitions.items()})

    def at(self, offsets: Mapping[Place, int]) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {}
        for (topic, number), offset in offsets.items():
            found.setdefault(topic, {})[number] = offset
        return found


def _topics(times: st.SearchStrategy[list[int | None]]) -> st.SearchStrategy[Times]:
    places = st.tuples(st.sampled_from(["events", "rows"]), st.integers(0, 2))
    return st.dictionaries(places, times, min_size=1).map(Times)


_ANY = st.lists(st.one_of(st.none(), st.integers(0, 50)), max_size=40)
_LIMITS = st.fixed_dictionaries({"events": st.integers(3, 20), "rows": st.integers(3, 20)})


@given(_topics(_ANY), _LIMITS)
def test_nothing_is_read_before_what_is_older(topics: Times, limits: dict[str, int]) -> None:
    """A record that is older than one before it in its partition counts as that old."""
    for _, ends in _slices(topics, limits):
        read, left = list[int](), list[int]()
        for (topic, number), times in topics.partitions.items():
            latest = list(accumulate((-1 if time is None else time for time in times), max))
            read += latest[: ends[topic][number]]
            left += [
                late
                for late, time in list(zip(latest, times, strict=True))[ends[topic][number] :]
                if time is not None
            ]
        if read and left:
            assert max(read) <= min(left)


@given(_topics(_ANY), _LIMITS)
def test_every_slice_goes_forward_and_holds_what_it_may(
    topics: Times, limits: dict[str, int]
) -> None:
    """Also where times go back and forth, and where transactions leave marks."""
    for positions, ends in _slices(topics, limits):
        total = 0
        for topic, parts in ends.items():
            counts = [end - positions[topic][number] for number, end in parts.items()]
            assert min(counts) >= 0
            # The share of a partition is one record at least.
            assert sum(counts) <= limits[topic] + len(parts)
            total += sum(counts)
        assert total > 0


def _slices(
    topics: Times, limits: dict[str, int]
) -> Iterable[tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]]]:
    """Yield where each slice begins and ends, but for the last, which takes all that is left."""
    positions = topics.at(dict.fromkeys(topics.partitions, 0))
    found: Slice | None = None
    while True:
        found = slice_topics(positions, topics.ends, limits, topics, after=found)
        if found is None:
            left = sum(sum(parts.values()) for parts in topics.ends.values())
            left -= sum(sum(parts.values()) for parts in positions.values())
            assert left <= sum(limits.values())
            return
        ends = {topic: dict(parts) for topic, parts in found.ends.items()}
        yield positions, ends
        positions = ends
