"""Records take turns by time, but none before a record ahead of it in its partition."""

import random
from itertools import accumulate

import pyarrow as pa

from orion.state import turns_of_task
from orion.state.turn import Turns


def test_turns_go_on_from_batch_to_batch() -> None:
    rng = random.Random(1)
    times = [rng.randrange(1_000) for _ in range(200)]
    take = turns_of_task()
    found: list[int] = []
    while len(found) < len(times):
        count = rng.randrange(30)
        batch = times[len(found) : len(found) + count]
        found += take(pa.array(batch, pa.int64())).to_pylist()
    assert found == list(accumulate(times, max))


def test_a_record_without_a_time_holds_nobody_up() -> None:
    take = turns_of_task()
    assert take(pa.array([None, 5, None, 3, 7], pa.int64())).to_pylist()[1:] == [5, 5, 5, 7]
    assert take(pa.array([None, 6], pa.int64())).to_pylist() == [7, 7]


def test_places_keep_all_but_their_time() -> None:
    turns = Turns()
    kind = pa.list_(pa.int64())
    first = turns.take_places(pa.array([[9, 1, 2, 30], [4, 1, 2, 31]], kind))
    assert first.to_pylist() == [[9, 1, 2, 30], [9, 1, 2, 31]]
    # As a piece of something larger, which begins anywhere in its values.
    rest = pa.array([[0, 1, 2, 0], [8, 1, 2, 32], [11, 1, 2, 33]], kind).slice(1)
    assert turns.take_places(rest).to_pylist() == [[9, 1, 2, 32], [11, 1, 2, 33]]
