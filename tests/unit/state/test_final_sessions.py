"""Sessions that are told once: each when no record can reach it any more, however late it began."""

import random
from pathlib import Path
from typing import Any

import pytest

from orion.model import Field, Scalar
from orion.sql import built_in_functions, step, typed
from orion.state import GroupLayout, SessionOperator, SessionWindows
from orion.state.store import StateStore

Row = tuple[Any, ...]
GAP_MS, GRACE_MS = 30, 60
COUNT = step.AggregateCall(
    "C",
    built_in_functions().resolve("COUNT", [Scalar.BIGINT]),
    (typed.Input(Scalar.BIGINT, "N"),),
)
OPERATOR = SessionOperator(
    GroupLayout((Field("ID", Scalar.STRING),), (COUNT,)),
    SessionWindows(GAP_MS, GRACE_MS),
    final=True,
)


def wanted(events: list[tuple[str, int]]) -> list[Row]:
    """Return key, count, start and end of sessions by looking at all of them after every event."""
    told: list[Row] = []
    opened: dict[str, list[list[int]]] = {}
    now = 0
    for key, time in events:
        now = max(now, time)
        over = now - GAP_MS - GRACE_MS
        runs = opened.setdefault(key, [])
        near = [r for r in runs if r[1] - GAP_MS <= time <= r[2] + GAP_MS and r[2] >= over]
        merged = [
            1 + sum(r[0] for r in near),
            min([time, *(r[1] for r in near)]),
            max([time, *(r[2] for r in near)]),
        ]
        if merged[2] >= over:
            opened[key] = [r for r in runs if r not in near] + [merged]
        ended = [(k, r) for k, rs in opened.items() for r in rs if r[2] < over]
        told += [(k, *r) for k, r in sorted(ended, key=lambda item: item[1][2])]
        opened = {k: [r for r in rs if r[2] >= over] for k, rs in opened.items()}
    return told


@pytest.mark.parametrize("seed", range(60))
def test_each_session_is_told_once_when_it_is_over(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    events = [
        (rng.choice("abcd"), max(0, place * 8 + rng.randint(-90, 20))) for place in range(120)
    ]
    rows = [
        (key, 1, 1, time, [place], False, None, "t/0") for place, (key, time) in enumerate(events)
    ]
    given: list[Row] = []
    number = 0
    while rows:
        size = rng.randint(1, 20)
        batch, rows = rows[:size], rows[size:]
        for _ in range(rng.choice([1, 2])):
            state = StateStore(tmp_path / "state.db", number)
            found = list(OPERATOR.run(batch, state))
            state.commit()
        given += found
        number += 1
    assert sorted((r[0], r[1], r[4], r[5]) for r in given) == sorted(wanted(events))
    assert [r[5] for r in given] == [row[3] for row in wanted(events)]
