"""Each operator over random rows, cut into random batches, some of them run twice.

What it gives is compared with an answer computed from all rows at once, by other means.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orion.model import Field, Scalar
from orion.sql import built_in_functions, step, tree, typed
from orion.state import (
    LEFT,
    RIGHT,
    SEQUENCE,
    SIGN,
    ChangeOperator,
    FollowOperator,
    ForeignKeyOperator,
    GroupLayout,
    GroupOperator,
    IntervalOperator,
    JoinLayout,
    Operator,
    SessionOperator,
    SessionWindows,
    StreamTableOperator,
    TableTableOperator,
    TimeWindows,
    WindowOperator,
)
from orion.state.store import StateStore
from orion.state.task import run_partition
from orion.state.value import read_rows, write_rows

Row = tuple[Any, ...]
pytestmark = pytest.mark.slow
SEEDS = range(60)
FUNCTIONS = built_in_functions()
KEYS = ["a", "b", "c", "d"]
ID = Field("ID", Scalar.STRING)
NUMBER = Field("N", Scalar.BIGINT)


def facts(time: int, place: int, *, absent: bool = False, origin: str = "t/0") -> Row:
    return time, [place], absent, None, origin


def call(name: str, function: str) -> step.AggregateCall:
    resolved = FUNCTIONS.resolve(function, [Scalar.BIGINT])
    return step.AggregateCall(name, resolved, (typed.Input(Scalar.BIGINT, "N"),))


LAYOUT = GroupLayout((ID,), (call("C", "COUNT"), call("S", "SUM"), call("M", "MAX")))


def run(operator: Operator, rows: Sequence[Row], folder: Path, rng: random.Random) -> list[Row]:
    """Return what an operator gives over batches of random size; a repeated one gives the same."""
    given: list[Row] = []
    left, number = list(rows), 0
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{type(operator).__name__}.db"
    while left or number == 0:
        size = rng.randint(1, 9)
        batch, left = left[:size], left[size:]
        runs = [_run_once(operator, batch, path, number) for _ in range(rng.choice([1, 1, 2, 3]))]
        assert all(found == runs[0] for found in runs)
        given += runs[0]
        number += 1
    return given


def _run_once(operator: Operator, batch: list[Row], path: Path, number: int) -> list[Row]:
    if random.Random(number).random() < 0.2:
        # A task that dies in the middle leaves nothing behind.
        dying = StateStore(path, number)
        list(operator.run(batch, dying))
        dying.abandon()
    state = StateStore(path, number)
    found = list(operator.run(batch, state))
    assert_columns_agree(operator, batch, path, number, found)
    state.commit()
    return found


def assert_columns_agree(
    operator: Operator, batch: list[Row], path: Path, number: int, wanted: list[Row]
) -> None:
    """Run the way over whole columns beside, on a state of its own."""
    own = StateStore(path.with_stem(f"{path.stem}-columns"), number)
    order = [field.name for field in operator.inputs].index(SEQUENCE)
    batches = run_partition(operator, [write_rows(batch, operator.inputs)], order, own)
    assert read_rows(batches, operator.outputs) == wanted
    own.commit()


def events(rng: random.Random, count: int, origins: int = 1) -> list[tuple[str, int, int, str]]:
    """Return key, number, time and origin of random events, out of order."""
    return [
        (
            rng.choice(KEYS),
            rng.randint(-9, 9),
            max(0, place * 10 + rng.randint(-80, 20)),
            f"t/{rng.randrange(origins)}",
        )
        for place in range(count)
    ]


def group_row(key: str, number: int, time: int, place: int, origin: str = "t/0") -> Row:
    return (key, number, number, number, 1, *facts(time, place, origin=origin))


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_change_with_every_row(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rows = events(rng, 60)
    given = run(
        GroupOperator(LAYOUT),
        [group_row(k, n, t, p) for p, (k, n, t, _) in enumerate(rows)],
        tmp_path,
        rng,
    )
    seen: dict[str, list[int]] = defaultdict(list)
    for row, (key, number, _, _) in zip(given, rows, strict=True):
        seen[key].append(number)
        assert row[:4] == (key, len(seen[key]), sum(seen[key]), max(seen[key]))


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_close_by_the_slowest_partition(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    windows = TimeWindows(size_ms=60, advance_ms=rng.choice([60, 20]), grace_ms=50)
    rows = events(rng, 60, origins=2)
    given = run(
        WindowOperator(LAYOUT, windows),
        [group_row(k, n, t, p, o) for p, (k, n, t, o) in enumerate(rows)],
        tmp_path,
        rng,
    )
    latest: dict[str, int] = {}
    counts: Counter[tuple[str, int]] = Counter()
    wanted = []
    for key, _, time, origin in rows:
        latest[origin] = max(time, latest.get(origin, 0))
        now = min(latest.values())
        for start in range(0, time + 1, windows.advance_ms):
            if start <= time < start + 60 and start + 60 > now - 50:
                counts[key, start] += 1
                wanted.append((key, counts[key, start], start))
    at = [field.name for field in WindowOperator(LAYOUT, windows).outputs].index("WINDOWSTART")
    assert [(row[0], row[1], row[at]) for row in given] == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_sessions_end_as_if_all_events_were_known(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gap = rng.choice([5, 25, 60])
    rows = events(rng, 50)
    operator = SessionOperator(LAYOUT, SessionWindows(gap, grace_ms=10**9))
    given = run(
        operator, [group_row(k, n, t, p) for p, (k, n, t, _) in enumerate(rows)], tmp_path, rng
    )
    names = [field.name for field in operator.outputs]
    places = (names.index(n) for n in ("WINDOWSTART", "WINDOWEND", "$absent", "$had_old"))
    start, end, absent, had_old = places
    old = len(LAYOUT.keys) + len(LAYOUT.results)
    table: dict[Row, int] = {}
    for row in given:
        window = (row[0], row[start], row[end])
        # What HAVING asks: was this window there, and what did it hold?
        assert (row[had_old], row[old]) == (window in table, table.get(window))
        if row[absent]:
            del table[window]
        else:
            table[window] = row[1]
    assert table == _sessions([(k, t) for k, _, t, _ in rows], gap)


def _sessions(rows: list[tuple[str, int]], gap: int) -> dict[Row, int]:
    found: dict[Row, int] = {}
    for key in KEYS:
        times = sorted(time for k, time in rows if k == key)
        while times:
            session = [times.pop(0)]
            while times and times[0] - session[-1] <= gap:
                session.append(times.pop(0))
            found[key, session[0], session[-1]] = len(session)
    return found


def table_rows(rng: random.Random, count: int) -> list[tuple[str, str | None, int | None]]:
    """Return changes of a table: its key, a group, a number; None for what is deleted."""
    found: list[tuple[str, str | None, int | None]] = []
    for _ in range(count):
        key = f"k{rng.randrange(6)}"
        gone = rng.random() < 0.25
        found.append((key, None, None) if gone else (key, rng.choice(KEYS), rng.randint(0, 9)))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_of_a_table_follow_its_rows(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    changes = table_rows(rng, 60)
    layout = GroupLayout((ID,), (call("C", "COUNT"), call("S", "SUM")))
    columns = tuple(f for f in layout.inputs if f.name != SIGN and not f.name.startswith("$"))
    split = ChangeOperator((Field("K", Scalar.STRING),), 1, columns)
    rows = [
        (key, group, number, number, *facts(place, place, absent=group is None))
        for place, (key, group, number) in enumerate(changes)
    ]
    signed = run(split, rows, tmp_path / "split", rng)
    given = run(GroupOperator(layout), signed, tmp_path / "group", rng)
    final = {row[0]: row[1:3] for row in given}
    table = {key: (group, number) for key, group, number in changes}
    for group in final:
        numbers = [n for g, n in table.values() if g == group and n is not None]
        assert final[group] == (len(numbers), sum(numbers))


def joining(*, left: bool = False, right: bool = False) -> JoinLayout:
    return JoinLayout(
        Scalar.STRING,
        (Field("L", Scalar.BIGINT),),
        (Field("R", Scalar.BIGINT),),
        keeps_left=left,
        keeps_right=right,
    )


def side_row(side: int, key: str, number: int | None, time: int, place: int) -> Row:
    pair = (number, None) if side == LEFT else (None, number)
    return (side, key, *pair, *facts(time, place, absent=number is None, origin=f"{side}/0"))


@pytest.mark.parametrize("seed", SEEDS)
def test_events_meet_the_table_of_their_moment(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    keeps = rng.random() < 0.5
    rows = [
        (rng.choice([LEFT, RIGHT]), rng.choice(KEYS), None if rng.random() < 0.2 else n)
        for n in range(60)
    ]
    given = run(
        StreamTableOperator(joining(left=keeps)),
        [side_row(s, k, n, p, p) for p, (s, k, n) in enumerate(rows)],
        tmp_path,
        rng,
    )
    table: dict[str, int] = {}
    wanted = []
    for side, key, number in rows:
        if side == RIGHT:
            table.pop(key, None)
            if number is not None:
                table[key] = number
        elif number is not None and (keeps or key in table):
            wanted.append((key, number, table.get(key)))
    assert [row[:3] for row in given] == wanted


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full"])
def test_two_tables_end_as_their_rows_do(kind: str, seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    layout = joining(left=kind in ("left", "full"), right=kind in ("right", "full"))
    rows = [
        (rng.choice([LEFT, RIGHT]), rng.choice(KEYS), None if rng.random() < 0.3 else n)
        for n in range(50)
    ]
    given = run(
        TableTableOperator(layout),
        [side_row(s, k, n, p, p) for p, (s, k, n) in enumerate(rows)],
        tmp_path,
        rng,
    )
    final = {row[0]: row[1:3] for row in given if not row[5]}
    for row in given:
        if row[5]:
            final.pop(row[0], None)
        else:
            final[row[0]] = row[1:3]
    sides: list[dict[str, int | None]] = [{}, {}]
    for side, key, number in rows:
        sides[side][key] = number
    wanted = {}
    for key in KEYS:
        one, other = sides[LEFT].get(key), sides[RIGHT].get(key)
        there = (one is not None or layout.keeps_right) and (other is not None or layout.keeps_left)
        if there and (one is not None or other is not None):
            wanted[key] = (one, other)
    assert final == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_events_that_lie_close_enough_meet_once(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    # Slow events are kept in many slots, quick ones in one.
    pace = rng.choice([1, 100])
    before, after = (pace * far for far in rng.choice([(20, 20), (0, 50), (50, 5)]))
    times = [pace * max(0, n * 10 + rng.randint(-60, 20)) for n in range(50)]
    rows = [(rng.choice([LEFT, RIGHT]), rng.choice(KEYS), n, at) for n, at in enumerate(times)]
    operator = IntervalOperator(joining(), before, after, grace_ms=None)
    given = run(
        operator, [side_row(s, k, n, t, p) for p, (s, k, n, t) in enumerate(rows)], tmp_path, rng
    )
    wanted = Counter(
        (key, left, right)
        for side, key, left, at in rows
        for other, same, right, then in rows
        if (side, other) == (LEFT, RIGHT) and key == same and at - before <= then <= at + after
    )
    assert Counter(row[:3] for row in given) == wanted


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("waits", [False, True])
def test_an_event_is_alone_whose_partners_all_fail_the_condition(
    waits: bool, seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    pace = rng.choice([1, 1_000])
    rows = [
        (rng.choice([LEFT, RIGHT]), rng.choice(KEYS), rng.randrange(9), pace * n) for n in range(50)
    ]
    layout = joining(left=True, right=True)
    left, right = (typed.Input(Scalar.BIGINT, part.name) for part in (*layout.left, *layout.right))
    less = typed.Compared(Scalar.BOOLEAN, tree.ComparisonOperator.LESS, left, right)
    near, grace = 10 * pace, 5 * pace if waits else None
    # Behind all others, so that every one that waits goes out.
    last = (LEFT, "z", 0, 1000 * pace)
    operator = IntervalOperator(layout, near, near, grace_ms=grace, condition=less)
    given = run(
        operator,
        [side_row(s, k, n, t, p) for p, (s, k, n, t) in enumerate([*rows, last])],
        tmp_path,
        rng,
    )
    pairs = Counter(
        (key, number, partner)
        for side, key, number, at in rows
        for other, same, partner, then in rows
        if (side, other) == (LEFT, RIGHT) and key == same and abs(at - then) <= near
        if number < partner
    )
    found = Counter(row[:3] for row in given)
    assert Counter({row: n for row, n in found.items() if None not in row[1:]}) == pairs
    alone = Counter(
        (key, number, None) if side == LEFT else (key, None, number)
        for side, key, number, at in [*rows, last]
        if not any(
            (side != other and key == same and abs(at - then) <= near)
            and (number < partner if side == LEFT else partner < number)
            # Without a grace only those before an event keep it from going out alone.
            and (waits or then <= at)
            for other, same, partner, then in rows
        )
    )
    if waits:
        # The last one still waits.
        alone -= Counter([("z", 0, None)])
    assert Counter({row: n for row, n in found.items() if None in row[1:]}) == alone


@pytest.mark.parametrize("seed", SEEDS)
def test_a_foreign_key_is_followed(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    keeps = rng.random() < 0.5
    layout = joining(left=keeps)
    follow = FollowOperator(Scalar.STRING, Scalar.STRING, layout.left)
    second = ForeignKeyOperator(layout, Scalar.STRING)
    left: dict[str, tuple[str, int] | None] = {}
    right: dict[str, int | None] = {}
    both: list[Row] = []
    for place in range(50):
        gone = rng.random() < 0.25
        if rng.random() < 0.6:
            own, key = f"k{rng.randrange(5)}", rng.choice(KEYS)
            left[own] = None if gone else (key, place)
            tail = facts(place, place, absent=gone)
            told = (own, None if gone else key, None if gone else place, *tail)
            both += [
                (LEFT, *row[:3], *row[3:4], None, *row[4:])
                for row in run_one(follow, told, tmp_path / "follow.db", place)
            ]
        else:
            key = rng.choice(KEYS)
            right[key] = None if gone else place
            number = None if gone else place
            tail = facts(place, place, absent=gone)
            both.append((RIGHT, key, None, False, None, number, *tail))
            run_one(follow, None, tmp_path / "follow.db", place)
    final: dict[str, Row] = {}
    for row in run(second, both, tmp_path / "second", rng):
        if row[5]:
            final.pop(row[0], None)
        else:
            final[row[0]] = row[1:3]
    wanted = {}
    for own, found in left.items():
        if found is not None and (keeps or right.get(found[0]) is not None):
            wanted[own] = (found[1], right.get(found[0]))
    assert final == wanted


def test_many_rows_of_one_foreign_key_are_kept_apart(tmp_path: Path) -> None:
    """A change of one of them does not touch all the others."""
    layout = joining()
    operator = ForeignKeyOperator(layout, Scalar.STRING)

    def left(own: int, at: int, *, gone: bool = False) -> Row:
        number = None if gone else own
        return (LEFT, "f", f"k{own}", False, number, None, *facts(at, at, absent=gone))

    def right(at: int) -> Row:
        return (RIGHT, "f", None, False, None, at, *facts(at, at))

    path = tmp_path / "s.db"
    filled = _run_once(operator, [right(0), *(left(n, n + 1) for n in range(1_000))], path, 0)
    assert [row[1:3] for row in filled] == [(n, 0) for n in range(1_000)]
    gone = [left(n, 2_000 + n, gone=True) for n in range(0, 1_000, 2)]
    assert all(row[5] for row in _run_once(operator, gone, path, 1))
    told = _run_once(operator, [right(5_000)], path, 2)
    assert sorted(row[1:3] for row in told) == [(n, 5_000) for n in range(1, 1_000, 2)]
    state = StateStore(path, 3)
    assert [row[1:3] for row in operator.run([left(7, 6_000)], state)] == [(7, 5_000)]
    (bundle,) = state.changes().values()
    assert 1 <= len(bundle) < 100
    state.commit()
    again = _run_once(operator, [left(n, 7_000, gone=True) for n in range(1_000)], path, 4)
    assert len(again) == 1_000
    assert _run_once(operator, [right(8_000)], path, 5) == []


def run_one(operator: Operator, row: Row | None, path: Path, number: int) -> list[Row]:
    return _run_once(operator, [] if row is None else [row], path, number)


def test_a_partition_without_rows_may_miss_batches(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    _run_once(GroupOperator(LAYOUT), [group_row("a", 1, 1, 1)], path, 3)
    (row,) = _run_once(GroupOperator(LAYOUT), [group_row("a", 1, 1, 1)], path, 9)
    assert row[1] == 2
