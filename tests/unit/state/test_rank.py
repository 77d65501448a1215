"""Rankings over random rows, cut into batches that are run again, against sorting all of them."""

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orion.model import Field, Scalar
from orion.sql import step
from orion.state import ChangeOperator, RankOperator, RankTableOperator
from orion.state.store import StateStore

Row = tuple[Any, ...]
KEY, SCORE, NAME = (
    Field("K", Scalar.STRING),
    Field("$order.0", Scalar.DOUBLE),
    Field("NAME", Scalar.BIGINT),
)


def operator(count: int, *, is_table: bool, descending: bool, nulls_first: bool) -> RankOperator:
    sort = step.Sort("$order.0", descending, nulls_first)
    return RankOperator((KEY,), (SCORE,), (sort,), (NAME,), "RN", count, is_table)


def events(rng: random.Random) -> list[Row]:
    scores = [None, float("nan"), 1.5, 2.0, 7.0, -3.0]
    return [
        (rng.choice("ab"), rng.choice(scores), n, n * 10, [n], False, None, "t/0")
        for n in range(rng.randint(1, 60))
    ]


def run(ranking: RankOperator, rows: Sequence[Row], path: Path, rng: random.Random) -> list[Row]:
    given: list[Row] = []
    for number, first in enumerate(range(0, len(rows), 7)):
        for _ in range(rng.choice([1, 2])):
            state = StateStore(path, number)
            found = list(ranking.run(rows[first : first + 7], state))
            state.commit()
        given += found
    return given


def order_of(row: Row, *, descending: bool, nulls_first: bool) -> tuple[Any, ...]:
    score = row[1]
    if score is None:
        return (0 if nulls_first else 9, 0.0)
    # What is not a number is the greatest of all.
    place = 1e9 if score != score else score
    return (5, -place if descending else place)


@pytest.mark.parametrize("seed", range(40))
def test_a_table_holds_what_sorting_all_rows_gives(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rows, count = events(rng), rng.randint(1, 5)
    how = {"descending": rng.random() < 0.5, "nulls_first": rng.random() < 0.5}
    ranking = operator(count, is_table=True, **how)
    places: dict[str, dict[int, int]] = defaultdict(dict)
    keys = {row[2]: row[0] for row in rows}
    for name, rank, *_ in run(ranking, rows, tmp_path / "0.db", rng):
        places[keys[name]][rank] = name
    for key in "ab":
        own = sorted((row for row in rows if row[0] == key), key=lambda row: order_of(row, **how))
        wanted = {place: row[2] for place, row in enumerate(own[:count], start=1)}
        assert places[key] == wanted


@pytest.mark.parametrize("seed", range(20))
def test_a_stream_gives_each_event_that_takes_a_place_once(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rows, count = events(rng), rng.randint(1, 5)
    ranking = operator(count, is_table=False, descending=True, nulls_first=False)
    wanted = []
    seen: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        own = seen[row[0]]
        own.append(row)
        own.sort(key=lambda each: order_of(each, descending=True, nulls_first=False))
        if own.index(row) < count:
            wanted.append((row[2], own.index(row) + 1, row[3]))
    found = run(ranking, rows, tmp_path / "0.db", rng)
    assert [(name, rank, time) for name, rank, time, *_ in found] == wanted


@pytest.mark.parametrize("seed", range(40))
def test_the_ranking_of_a_table_follows_its_rows(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    count, shown = rng.randint(1, 4), Field("SHOWN", Scalar.STRING)
    ranking = RankOperator(
        (KEY,),
        (SCORE,),
        (step.Sort("$order.0", descending=True),),
        (shown, NAME),
        "RN",
        count,
        True,
    )
    identity = Field("$id.0", Scalar.BIGINT)
    changes = ChangeOperator((identity,), 1, (KEY, SCORE, shown, NAME))
    table: dict[int, tuple[str, float, str, int]] = {}
    places: dict[tuple[str, int], int] = {}
    for batch in range(6):
        rows = []
        for place in range(rng.randint(1, 8)):
            own, is_gone, key = rng.randrange(12), rng.random() < 0.3, rng.choice("ab")
            # Scores differ, so that there is one order.
            row = (key, own + rng.randrange(5) * 100.0, key, own)
            table.pop(own, None)
            if not is_gone:
                table[own] = row
            rows.append((own, *row, place, [batch, place], is_gone, None, "t/0"))
        for _ in range(rng.choice([1, 2])):
            one, two = (StateStore(tmp_path / f"{n}.db", batch) for n in "12")
            given = list(RankTableOperator(ranking).run(list(changes.run(rows, one)), two))
            one.commit()
            two.commit()
        for key, name, rank, _, _, is_absent, *_ in given:
            if is_absent:
                del places[key, rank]
            else:
                assert places.get((key, rank)) != name
                places[key, rank] = name
    for key in "ab":
        best = sorted((row for row in table.values() if row[0] == key), key=lambda row: -row[1])
        wanted = {rank: row[3] for rank, row in enumerate(best[:count], start=1)}
        assert {rank: name for (own, rank), name in places.items() if own == key} == wanted


def test_a_row_whose_column_is_no_number_goes_when_it_changes() -> None:
    value = Field("X", Scalar.DOUBLE)
    sort = step.Sort("$order.0", descending=False, nulls_first=False)
    ranking = RankOperator((KEY,), (SCORE,), (sort,), (value,), "RN", 3, is_table=True)
    facts = [(n, [n, 0], False, None, "t/0") for n in range(2)]
    added = ("a", 1.0, float("nan"), 1, *facts[0])
    taken = ("a", 1.0, float("nan"), -1, *facts[1])
    found = list(RankTableOperator(ranking).run([added, taken], StateStore(None, 0)))
    # Columns, the rank, the time, the place, whether it is gone.
    assert [(row[1], row[4]) for row in found] == [(1, False), (1, True)]


def test_no_more_is_kept_than_there_are_places(tmp_path: Path) -> None:
    ranking = operator(2, is_table=True, descending=True, nulls_first=False)
    state = StateStore(tmp_path / "0.db", 0)
    rows = [("a", float(n), n, n, [n], False, None, "t/0") for n in range(100)]
    assert len(list(ranking.run(rows, state))) == 199
    assert [kept[2] for kept in state.get("a")] == [(99,), (98,)]
    state.abandon()
