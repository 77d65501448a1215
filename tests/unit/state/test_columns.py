"""Operators over whole columns give what they give row by row, and leave the same state."""

import math
import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal as Number
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from orion.model import Array, Decimal, Field, Scalar, Struct, Type
from orion.sql import built_in_functions, step, typed
from orion.state import (
    LEFT,
    RIGHT,
    SEQUENCE,
    ChangeOperator,
    CollapsedOperator,
    GroupLayout,
    GroupOperator,
    IntervalOperator,
    JoinLayout,
    Operator,
    Parts,
    SessionOperator,
    SessionWindows,
    Slots,
    StreamTableOperator,
    TimeWindows,
    WindowOperator,
    merged_layout,
    read_late_rows,
)
from orion.state.columns import sorted_table
from orion.state.store import StateStore
from orion.state.value import read_rows, write_rows

Row = tuple[Any, ...]
SEEDS = range(25)
FUNCTIONS = built_in_functions()
MONEY = Decimal(6, 2)
PAIR = Struct((Field("X", Scalar.STRING), Field("Y", Scalar.BIGINT)))
# Values that are hard to order or to add up.
VALUES: dict[Type, Callable[[random.Random], Any]] = {
    Scalar.INTEGER: lambda rng: rng.randint(-(2**31), 2**31 - 1),
    Scalar.BIGINT: lambda rng: rng.choice([rng.randint(-5, 5), rng.randint(-(2**62), 2**62)]),
    Scalar.DOUBLE: lambda rng: rng.choice(
        [0.1, -0.0, 0.0, 1e300, -1e300, 3.5, math.inf, rng.random()]
    ),
    Scalar.STRING: lambda rng: rng.choice(["", "a", "ä", "Z", "\U0001f600", "\uffff", "ab"]),
    Scalar.BYTES: lambda rng: rng.choice([b"", b"\x00", b"\xff", b"a"]),
    Scalar.BOOLEAN: lambda rng: rng.random() < 0.5,
    Scalar.DATE: lambda rng: rng.randint(-9, 9),
    Scalar.TIMESTAMP: lambda rng: rng.randint(-(10**12), 10**12),
    MONEY: lambda rng: Number(rng.randint(-9999, 9999)).scaleb(-2),
    PAIR: lambda rng: {"X": rng.choice("ab"), "Y": rng.randint(0, 3)},
}
ORDERED = [kind for kind in VALUES if kind not in (Scalar.BOOLEAN, PAIR)]
NUMBERS: list[Type] = [Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE]


def value(rng: random.Random, kind: Type) -> Any:
    return None if rng.random() < 0.2 else VALUES[kind](rng)


def call(function: str, kind: Type, *constants: object) -> step.AggregateCall:
    types = [kind, *(Scalar.BOOLEAN for _ in constants)]
    resolved = FUNCTIONS.resolve(function, types)
    name = f"{function}_{kind}_{len(constants)}"
    return step.AggregateCall(name, resolved, (typed.Input(kind, "N"),), constants)


def random_layout(rng: random.Random) -> GroupLayout:
    second: list[Type] = [Scalar.INTEGER, MONEY, PAIR]
    keys = [Field("A", Scalar.STRING), Field("B", rng.choice(second))]
    every = [
        *(call(name, kind) for name in ("SUM", "AVG") for kind in NUMBERS),
        *(call(name, kind) for name in ("MIN", "MAX") for kind in ORDERED),
        *(call("LATEST_BY_OFFSET", kind) for kind in VALUES),
        *(call("EARLIEST_BY_OFFSET", kind) for kind in VALUES),
        call("LATEST_BY_OFFSET", Scalar.STRING, False),
        call("EARLIEST_BY_OFFSET", Scalar.BIGINT, False),
        call("COUNT", Scalar.STRING),
    ]
    return GroupLayout(tuple(keys[: rng.choice([1, 2])]), tuple(rng.sample(every, 5)))


def facts(rng: random.Random, place: int, *, absent: bool = False) -> Row:
    time = max(0, place * 10 + rng.randint(-150, 30))
    return time, [rng.randrange(2), 0, 0, place], absent, None, f"t/{rng.randrange(2)}"


def key_of(rng: random.Random, field: Field) -> Any:
    return f"k{rng.randrange(4)}" if field.name == "A" else VALUES[field.type](rng)


def group_rows(layout: GroupLayout, rng: random.Random, first: int) -> list[Row]:
    return [
        (
            *(key_of(rng, key) for key in layout.keys),
            *(value(rng, field.type) for field in layout.columns[len(layout.keys) :]),
            1,
            *facts(rng, place),
        )
        for place in range(first, first + rng.randint(1, 90))
    ]


def agree(
    operator: Operator,
    batches: list[list[Row]],
    folder: Path,
    *,
    may_decline: bool = False,
    compare_state: bool = True,
) -> None:
    """Run batches both ways, each on a state of its own."""
    names = [field.name for field in operator.inputs]
    order = names.index(SEQUENCE)
    for number, rows in enumerate(batches):
        given = pa.Table.from_batches([write_rows(rows, operator.inputs)])
        table = sorted_table(given, order)
        by_column = StateStore(folder / "columns" / "0" / "0.db", number, notes_late=True)
        found = operator.run_table(table, by_column)  # type: ignore[attr-defined]
        by_row = StateStore(folder / "rows" / "0" / "0.db", number, notes_late=True)
        ordered = sorted(read_rows(given.to_batches(), operator.inputs), key=itemgetter(order))
        wanted = list(operator.run(ordered, by_row))
        if found is None:
            assert may_decline
            list(operator.run(ordered, by_column))
        else:
            tables = [found] if isinstance(found, pa.Table) else list(found)
            made = [batch for table in tables for batch in table.to_batches()]
            assert spelled(read_rows(made, operator.outputs)) == spelled(wanted)
        if compare_state:
            assert spelled(by_column.changes()) == spelled(by_row.changes())
        by_column.commit()
        by_row.commit()
        late = [read_late_rows(str(folder / way), number) for way in ("columns", "rows")]
        assert late[0] == late[1]


def spelled(found: Any) -> str:
    """Return values so that -0.0 differs from 0.0 and NaN equals itself."""
    if isinstance(found, list):
        return "\n".join(map(str, found))
    return "\n".join(f"{key}: {value}" for key, value in sorted(found.items(), key=str))


@pytest.mark.parametrize("seed", SEEDS)
def test_groups(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    layout = random_layout(rng)
    batches = [group_rows(layout, rng, first) for first in (0, 100, 200)]
    agree(GroupOperator(layout), batches, tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("final", [False, True])
def test_windows(seed: int, final: bool, tmp_path: Path) -> None:
    rng = random.Random(seed)
    layout = random_layout(rng)
    windows = TimeWindows(60, rng.choice([60, 20, 25]), rng.choice([100, 400, 10**6]))
    batches = [group_rows(layout, rng, first) for first in (0, 100, 200)]
    # Time goes back where a partition shows itself, and windows that were closed are open again.
    agree(WindowOperator(layout, windows, final), batches, tmp_path, may_decline=True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("final", [False, True])
def test_sessions(seed: int, final: bool, tmp_path: Path) -> None:
    rng = random.Random(seed)
    layout = random_layout(rng)
    windows = SessionWindows(rng.choice([10, 40]), rng.choice([50, 300, 10**6]))
    batches = [group_rows(layout, rng, first) for first in (0, 100, 200)]
    agree(SessionOperator(layout, windows, final), batches, tmp_path, may_decline=True)


@pytest.mark.parametrize("seed", SEEDS[:8])
def test_groups_that_tell_of_a_batch_once(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    layout = random_layout(rng)
    operators: dict[str, GroupOperator | WindowOperator | SessionOperator] = {
        "group": GroupOperator(layout),
        "window": WindowOperator(layout, TimeWindows(60, 25, 400)),
        "session": SessionOperator(layout, SessionWindows(40, 300)),
    }
    batches = [group_rows(layout, rng, first) for first in (0, 100, 200)]
    for name, operator in operators.items():
        collapsed = CollapsedOperator(operator)
        (tmp_path / name).mkdir()
        agree(collapsed, batches, tmp_path / name, may_decline=True)
        every, once = (StateStore(None, 0) for _ in range(2))
        before: dict[str, Row] = {}
        for rows in batches:
            ordered = sorted(rows, key=itemgetter(-4))
            after = {**before, **by_group(operator, list(operator.run(ordered, every)))}
            told = list(collapsed.run(ordered, once))
            changed = by_group(operator, told)
            assert len(changed) == len(told)
            assert lasting({**before, **changed}) == lasting(after)
            before = after


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_made_of_parts(seed: int, tmp_path: Path) -> None:
    """What tasks make of their rows comes to the same as the rows, and leaves the same state."""
    rng = random.Random(seed)
    every = [call(name, kind) for name in ("SUM", "MIN", "MAX") for kind in NUMBERS[:2]]
    every += [call("COUNT", kind) for kind in (Scalar.STRING, Scalar.DOUBLE)]
    keys = [Field("A", Scalar.STRING), Field("B", rng.choice([Scalar.INTEGER, Scalar.DATE]))]
    layout = GroupLayout(tuple(keys[: rng.choice([1, 2])]), tuple(rng.sample(every, 4)))
    merged = merged_layout(layout, FUNCTIONS)
    assert merged is not None
    maker = Parts(layout, merged)
    batches = [group_rows(layout, rng, first) for first in (0, 100, 200)]
    agree_in_parts(GroupOperator(layout), GroupOperator(merged), maker, batches, rng, tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_made_of_parts(seed: int, tmp_path: Path) -> None:
    """Rows come to the same in parts, late ones included.

    Which of two partitions comes first at the same time may differ, and with it what is late.
    """
    rng = random.Random(seed)
    calls = (call("COUNT", Scalar.STRING), call("SUM", Scalar.BIGINT), call("MAX", Scalar.INTEGER))
    layout = GroupLayout((Field("A", Scalar.STRING),), calls)
    merged = merged_layout(layout, FUNCTIONS)
    partitions = rng.choice([1, 3])
    grace = rng.choice([0, 30, 200]) if partitions == 1 else 10**6
    windows = TimeWindows(60, rng.choice([60, 20]), grace)
    slots = Slots.of("t", windows)
    assert merged is not None
    assert slots is not None

    latest: Counter[int] = Counter()

    def row(place: int) -> Row:
        own = [value(rng, field.type) for field in layout.columns[1:]]
        time = max(0, place * 10 + (rng.randint(-400, 30) if rng.random() < 0.2 else 0))
        partition = rng.randrange(partitions)
        latest[partition] = max(time, latest[partition])
        where = [latest[partition], 7, partition, place]
        return f"k{rng.randrange(2)}", *own, 1, time, where, False, None, f"t/{partition}"

    batches = [[row(n) for n in range(at, at + 80)] for at in range(0, 400, 80)]
    by_rows, by_parts = (WindowOperator(each, windows) for each in (layout, merged))
    maker = Parts(layout, merged, slots)
    late = agree_in_parts(by_rows, by_parts, maker, batches, rng, tmp_path)
    assert (late > 0) == (partitions == 1)


def agree_in_parts(
    by_rows: GroupOperator | WindowOperator,
    by_parts: GroupOperator | WindowOperator,
    maker: Parts,
    batches: list[list[Row]],
    rng: random.Random,
    folder: Path,
) -> int:
    """Run batches by rows and by parts, each on a state of its own; return how many were late."""
    whole, merged = CollapsedOperator(by_rows), CollapsedOperator(by_parts)
    names = [field.name for field in by_rows.inputs]
    order = names.index(SEQUENCE)
    asked = [names.index(field.name) for field in maker.inputs]
    late = 0
    for number, rows in enumerate(batches):
        stores = [StateStore(folder / way / "0" / "0.db", number) for way in ("rows", "parts")]
        wanted = list(whole.run(sorted(rows, key=itemgetter(order)), stores[0]))
        cut = rng.randint(0, len(rows))
        narrow = [tuple(row[at] for at in asked) for row in rows]
        given = [[write_rows(some, maker.inputs)] for some in (narrow[:cut], narrow[cut:])]
        made = pa.Table.from_batches([part for some in given for part in maker.task(some)])
        table = sorted_table(made, order)
        assert table is not None
        found = merged.run_table(table, stores[1])
        assert found is not None
        told = read_rows(found.to_batches(), merged.outputs)
        assert by_group(by_rows, told) == by_group(by_rows, wanted)
        assert stores[0].changes() == stores[1].changes()
        clock = stores[0].get("$clock")
        late = clock["late"] if clock else 0
        for store in stores:
            store.commit()
    return late


def test_windows_of_uneven_steps_are_not_made_of_parts() -> None:
    assert Slots.of("t", TimeWindows(60, 25)) is None


def test_what_cannot_be_added_up_is_not_made_of_parts() -> None:
    for function, kind in (("SUM", Scalar.DOUBLE), ("MAX", Scalar.STRING), ("AVG", Scalar.BIGINT)):
        layout = GroupLayout((Field("A", Scalar.STRING),), (call(function, kind),))
        assert merged_layout(layout, FUNCTIONS) is None
    layout = GroupLayout((Field("A", Scalar.DOUBLE),), (call("COUNT", Scalar.STRING),))
    assert merged_layout(layout, FUNCTIONS) is None


def by_group(
    operator: GroupOperator | WindowOperator | SessionOperator, rows: list[Row]
) -> dict[str, Row]:
    """Return the results of each group and whether it is gone, by its key and window."""
    names = [field.name for field in operator.outputs]
    keys, results = operator.layout.keys, operator.layout.results
    bounds = [names.index(name) for name in ("WINDOWSTART", "WINDOWEND") if name in names]
    width, absent = len(keys), names.index("$absent")
    return {
        str((*row[:width], *(row[at] for at in bounds))): (
            str(row[width : width + len(results)]),
            row[absent],
        )
        for row in rows
    }


def lasting(groups: dict[str, Row]) -> dict[str, Row]:
    return {group: row for group, row in groups.items() if not row[-1]}


def test_windows_and_sessions_of_one_partition_go_by_columns(tmp_path: Path) -> None:
    rng = random.Random(1)
    layout = random_layout(rng)
    batches = [[(*row[:-1], "t/0") for row in group_rows(layout, rng, first)] for first in (0, 100)]
    operators: dict[str, Operator] = {
        "window": WindowOperator(layout, TimeWindows(60, 60, 200)),
        "final": WindowOperator(layout, TimeWindows(60, 60, 200), final=True),
        "session": SessionOperator(layout, SessionWindows(20, 100)),
    }
    for name, operator in operators.items():
        (tmp_path / name).mkdir()
        agree(operator, batches, tmp_path / name)


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_of_a_table(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    calls = (call("COUNT", Scalar.STRING), call("SUM", Scalar.DOUBLE), call("AVG", Scalar.BIGINT))
    layout = GroupLayout((Field("A", Scalar.STRING),), calls)
    change = ChangeOperator((Field("$id.0", Scalar.BIGINT),), 1, layout.columns)

    def rows(first: int) -> list[Row]:
        return [
            (
                rng.randrange(9),
                None if rng.random() < 0.1 else f"k{rng.randrange(3)}",
                *(value(rng, field.type) for field in layout.columns[1:]),
                *facts(rng, place, absent=rng.random() < 0.2),
            )
            for place in range(first, first + rng.randint(1, 40))
        ]

    batches = [rows(first) for first in (0, 100, 200)]
    for name in ("change", "group"):
        (tmp_path / name).mkdir()
    agree(change, batches, tmp_path / "change")
    store = StateStore(None, 0)
    order = [field.name for field in change.inputs].index(SEQUENCE)
    signed = list(change.run(sorted(batches[0], key=itemgetter(order)), store))
    store.abandon()
    if signed:
        agree(GroupOperator(layout), [signed], tmp_path / "group")


@pytest.mark.parametrize("seed", SEEDS)
def test_events_and_a_table(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    kinds = rng.sample(list(VALUES), 4)
    left = tuple(Field(f"L{n}", kind) for n, kind in enumerate(kinds[:2]))
    right = tuple(Field(f"R{n}", kind) for n, kind in enumerate(kinds[2:]))
    joined: list[Type] = [Scalar.STRING, Scalar.BIGINT, PAIR]
    key = rng.choice(joined)
    pool = [None, *(VALUES[key](rng) for _ in range(4))]
    layout = JoinLayout(key, left, right, keeps_left=rng.random() < 0.5, keeps_right=False)

    def row(place: int) -> Row:
        side = rng.choice([LEFT, RIGHT])
        own = [value(rng, field.type) for field in (left if side == LEFT else right)]
        parts = (*own, None, None) if side == LEFT else (None, None, *own)
        # The first is not null, so that a batch has something to go by columns.
        joined_by = rng.choice(pool[1:] if place % 100 == 0 else pool)
        return side, joined_by, *parts, *facts(rng, place, absent=rng.random() < 0.2)

    batches = [
        [row(place) for place in range(first, first + rng.randint(1, 40))]
        for first in (0, 100, 200)
    ]
    agree(StreamTableOperator(layout), batches, tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_streams(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    layout = JoinLayout(
        Scalar.STRING,
        (Field("L", rng.choice(list(VALUES))),),
        (Field("R", rng.choice(list(VALUES))),),
        keeps_left=rng.random() < 0.5,
        keeps_right=rng.random() < 0.5,
    )

    # Slow events lie in many slots, quick ones in one.
    pace = rng.choice([1, 100])

    def row(place: int) -> Row:
        side = rng.choice([LEFT, RIGHT])
        own = value(rng, (layout.left if side == LEFT else layout.right)[0].type)
        parts = (own, None) if side == LEFT else (None, own)
        key = rng.choice(["a", "b", None])
        time, *others = facts(rng, place, absent=rng.random() < 0.1)
        return side, key, *parts, time * pace, *others

    batches = [
        [row(place) for place in range(first, first + rng.randint(1, 60))]
        for first in (0, 60, 120, 180)
    ]
    outer = layout.keeps_left or layout.keeps_right
    grace = None if outer else rng.choice([None, 20, 200])
    before, after = rng.choice([0, 50]) * pace, rng.choice([10, 100]) * pace
    operator = IntervalOperator(layout, before, after, None if grace is None else grace * pace)
    # What is forgotten when differs by batch and by row; what goes out does not.
    agree(operator, batches, tmp_path, may_decline=True, compare_state=False)


def test_a_key_that_meets_itself_does_so_in_pieces(tmp_path: Path) -> None:
    fields = [Field(name, Scalar.BIGINT) for name in ("L", "R")]
    layout = JoinLayout(Scalar.STRING, (fields[0],), (fields[1],), False, False)
    operator = IntervalOperator(layout, 0, 0, None)
    sides = (n % 2 for n in range(2_000))
    rows = [(side, "a", n, n, 5, [5, 7, 0, n], False, None, "t/0") for n, side in enumerate(sides)]
    state = StateStore(tmp_path / "s.db", 0)
    table = pa.Table.from_batches([write_rows(rows, operator.inputs)])
    found = operator.run_table(table, state)
    assert found is not None
    sizes = [made.num_rows for made in found]
    assert sum(sizes) == 1_000 * 1_000
    assert max(sizes) < 200_000
    state.commit()


@pytest.mark.parametrize("way", ["rows", "columns"])
def test_an_event_takes_from_the_state_only_what_is_near(way: str, tmp_path: Path) -> None:
    """Events are kept for a day and more, most of them for no partner that could still come."""
    fields = [Field(name, Scalar.BIGINT) for name in ("L", "R")]
    layout = JoinLayout(Scalar.STRING, (fields[0],), (fields[1],), False, False)
    operator = IntervalOperator(layout, 1_000, 1_000, None)

    def rows(times: range) -> list[Row]:
        return [(at % 2, "a", at, at, at, [at, 7, 0, at], False, None, "t/0") for at in times]

    state = StateStore(tmp_path / "s.db", 0)
    list(operator.run(rows(range(0, 3_600_000, 1_001)), state))
    state.commit()
    state = StateStore(tmp_path / "s.db", 1)
    given = rows(range(3_600_000, 3_600_010, 3))
    if way == "rows":
        list(operator.run(given, state))
    else:
        table = pa.Table.from_batches([write_rows(given, operator.inputs)])
        assert operator.run_table(table, state) is not None
    (kept,) = (value for name, value in state.changes().items() if name != "$clock")
    assert 4 <= len(kept[1]) + len(kept[2]) <= 8
    state.commit()


@pytest.mark.parametrize("rows", [3, 70, 200])
def test_doubles_are_added_one_by_one(rows: int, tmp_path: Path) -> None:
    layout = GroupLayout((Field("A", Scalar.STRING),), (call("SUM", Scalar.DOUBLE),))
    rng = random.Random(rows)
    given = [("a", rng.random() * 10 ** rng.randint(0, 9), 1, *facts(rng, n)) for n in range(rows)]
    agree(GroupOperator(layout), [given, given], tmp_path)


def test_what_has_no_way_over_columns_is_left_to_rows(tmp_path: Path) -> None:
    state = StateStore(tmp_path / "s.db", 0)
    counted = (call("COUNT", Scalar.STRING),)
    for key, calls, row in (
        (Array(Scalar.STRING), counted, (["a"], "x")),
        (Scalar.DOUBLE, counted, (0.5, "x")),
        (Scalar.STRING, (call("COLLECT_LIST", Scalar.STRING),), ("a", "x")),
    ):
        operator = GroupOperator(GroupLayout((Field("A", key),), calls))
        rows = [(*row, 1, 5, [0], False, None, "t/0")]
        table = pa.Table.from_batches([write_rows(rows, operator.inputs)])
        assert operator.run_table(table, state) is None
