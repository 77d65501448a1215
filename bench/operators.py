"""Operators with state, alone: rows of one partition of keys through one core, without Spark."""

import gc
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.progress import track

from orion.formats import arrow_type
from orion.model import Field, Scalar
from orion.sql import built_in_functions, step, typed
from orion.state import (
    ABSENT,
    LEFT,
    ORIGIN,
    OWN_KEY,
    RIGHT,
    SEQUENCE,
    SIDE,
    SIGN,
    TIME,
    ChangeOperator,
    ForeignKeyOperator,
    GroupLayout,
    GroupOperator,
    IntervalOperator,
    JoinLayout,
    Operator,
    SessionOperator,
    SessionWindows,
    StreamTableOperator,
    TimeWindows,
    WindowOperator,
)
from orion.state.store import StateStore
from orion.state.task import run_partition

KEYS = (10_000, 1_000_000)
_ROWS, _ROUNDS = 100_000, 3
# Records of one batch span this much time.
_BATCH_MS = 10_000
_FUNCTIONS = built_in_functions()
_KEY = Field("K", Scalar.STRING)
_LAYOUT_LEFT = (Field("L", Scalar.BIGINT), Field("LS", Scalar.STRING))
_LAYOUT_RIGHT = (Field("R", Scalar.BIGINT), Field("RS", Scalar.STRING))

Columns = dict[str, Any]


def _call(function: str, kind: Scalar = Scalar.BIGINT) -> step.AggregateCall:
    resolved = _FUNCTIONS.resolve(function, [kind])
    name = f"{function}_{kind.name}"
    return step.AggregateCall(name, resolved, (typed.Input(kind, "N"),))


def _groups(*calls: step.AggregateCall) -> GroupLayout:
    return GroupLayout((_KEY,), calls)


_PLAIN = _groups(_call("COUNT"), _call("SUM"))
_MIXED = _groups(_call("MIN"), _call("MAX"), _call("SUM", Scalar.DOUBLE), _call("LATEST_BY_OFFSET"))
_JOIN = JoinLayout(Scalar.STRING, _LAYOUT_LEFT, _LAYOUT_RIGHT, keeps_left=True, keeps_right=False)


@dataclass(frozen=True)
class Subject:
    """An operator and what its rows hold, beside the columns that all rows have."""

    operator: Operator
    shape: Callable[[Columns, np.random.Generator, bool], Columns] = lambda c, _r, _f: c


def _join_sides(columns: Columns, rng: np.random.Generator, is_filling: bool) -> Columns:
    count = len(columns["K"])
    side = np.full(count, RIGHT) if is_filling else np.where(rng.random(count) < 0.9, LEFT, RIGHT)
    return columns | {SIDE: side, "$join_key": columns["K"]}


def _table_rows(columns: Columns, rng: np.random.Generator, _: bool) -> Columns:
    """Return rows of a table whose groups are a tenth as many as its keys."""
    groups = [f"g{key[1:-1]}" for key in columns["K"].tolist()]
    return columns | {"$id.0": columns["K"], "K": np.array(groups)}


def _signed(columns: Columns, rng: np.random.Generator, is_filling: bool) -> Columns:
    """Return every second row as one that takes the row before it out, as tables do."""
    if is_filling:
        return columns
    sign = np.tile([1, -2], len(columns["K"]) // 2)
    return columns | {"K": np.repeat(columns["K"][::2], 2), SIGN: np.roll(sign, 1)}


def _streams(columns: Columns, rng: np.random.Generator, _: bool) -> Columns:
    side = rng.integers(LEFT, RIGHT + 1, len(columns["K"]))
    return columns | {SIDE: side, "$join_key": columns["K"]}


def _foreign(columns: Columns, rng: np.random.Generator, is_filling: bool) -> Columns:
    """Return rows of a million keys that name others, which are there first."""
    count = len(columns["K"])
    own = np.char.add("o", rng.integers(0, 1_000_000, count).astype(str))
    side = np.full(count, RIGHT if is_filling else LEFT)
    named = {SIDE: side, "$join_key": columns["K"], OWN_KEY: own}
    return columns | named | {"$silent": np.zeros(count, bool)}


SUBJECTS = {
    "group: COUNT, SUM": Subject(GroupOperator(_PLAIN)),
    "group: MIN, MAX, SUM of doubles, LATEST": Subject(GroupOperator(_MIXED)),
    "group of a table": Subject(GroupOperator(_PLAIN), _signed),
    "changes of a table": Subject(
        ChangeOperator((Field("$id.0", Scalar.STRING),), 1, _PLAIN.columns), _table_rows
    ),
    "tumbling window": Subject(WindowOperator(_PLAIN, TimeWindows(60_000, 60_000))),
    "hopping window": Subject(WindowOperator(_PLAIN, TimeWindows(60_000, 30_000))),
    "tumbling window, final": Subject(
        WindowOperator(_PLAIN, TimeWindows(60_000, 60_000, 1_000), final=True)
    ),
    "session window": Subject(SessionOperator(_PLAIN, SessionWindows(30_000))),
    "stream-table join": Subject(StreamTableOperator(_JOIN), _join_sides),
    # A key with nine tenths of the rows meets itself millions of times in ten milliseconds.
    "stream-stream join": Subject(IntervalOperator(_JOIN, 10, 10, None), _streams),
    "foreign-key join": Subject(ForeignKeyOperator(_JOIN, Scalar.STRING), _foreign),
}


def run_operators(*, rows: int = _ROWS, rounds: int = _ROUNDS, only: str = "") -> dict[str, Any]:
    """Return rows a second and core of each operator, with few and with many keys."""
    results: dict[str, Any] = {}
    for name, subject in track(SUBJECTS.items(), "operators", transient=True):
        if only in name:
            results[name] = {
                f"rows/s, {keys:,} keys": _rate(subject, keys, rows, rounds) for keys in KEYS
            } | {f"90 % of one of {KEYS[0]:,}": _rate(subject, KEYS[0], rows, rounds, skew=0.9)}
    return results


def _rate(subject: Subject, keys: int, rows: int, rounds: int, *, skew: float = 0.0) -> int:
    """Fill the state with all keys, then take the best of some batches of random ones."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        path, best = Path(folder) / "0.db", float("inf")
        filling = [np.arange(at, min(at + rows, keys)) for at in range(0, keys, rows)]
        measured = [
            np.where(rng.random(rows) < skew, 0, rng.integers(0, keys, rows)) for _ in range(rounds)
        ]
        for number, numbers in enumerate([*filling, *measured]):
            is_filling = number < len(filling)
            batch = make_batch(subject, numbers, number, rng, is_filling=is_filling)
            cpu = time.process_time()
            run_batch(subject.operator, batch, path, number)
            if not is_filling:
                best = min(best, time.process_time() - cpu)
    return round(rows / best)


def run_batch(operator: Operator, batch: pa.RecordBatch, path: Path, number: int) -> None:
    order = [field.name for field in operator.inputs].index(SEQUENCE)
    # As tasks do.
    gc.disable()
    state = StateStore(path, number)
    for _ in run_partition(operator, [batch], order, state):
        pass
    state.commit()
    gc.enable()


def make_batch(
    subject: Subject, numbers: Any, place: int, rng: np.random.Generator, *, is_filling: bool
) -> pa.RecordBatch:
    count = len(numbers)
    times = place * _BATCH_MS + np.sort(rng.integers(0, _BATCH_MS, count))
    columns: Columns = {
        "K": np.char.add("k", numbers.astype(str)),
        SIGN: np.ones(count, int),
        TIME: times,
        ABSENT: np.zeros(count, bool),
        ORIGIN: np.where(rng.random(count) < 0.5, "t/0", "t/1"),
    }
    columns = subject.shape(columns, rng, is_filling)
    columns[SEQUENCE] = [[int(t), 7, 0, n] for n, t in enumerate(times)]
    arrays = [_column(field, columns, rng, count) for field in subject.operator.inputs]
    return pa.RecordBatch.from_arrays(arrays, names=[f"c{n}" for n in range(len(arrays))])


def _column(field: Field, columns: Columns, rng: np.random.Generator, count: int) -> pa.Array:
    kind = arrow_type(field.type)
    if field.name in columns:
        return pa.array(columns[field.name]).cast(kind)
    if field.type is Scalar.DOUBLE:
        return pa.array(rng.random(count))
    if field.type is Scalar.BIGINT:
        return pa.array(rng.integers(0, 1000, count))
    if field.type is Scalar.STRING:
        return pa.array(np.char.add("text ", rng.integers(0, 1000, count).astype(str)))
    return pa.nulls(count, kind)
