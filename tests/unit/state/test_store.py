"""The store of a partition: repeated batches, moments that come due, files that cannot be used."""

import json
import random
import sqlite3
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orion.state import (
    LateRow,
    StateDamagedError,
    StateMismatchError,
    read_late_rows,
    summarize_state,
)
from orion.state.clock import Clock
from orion.state.fact import Facts
from orion.state.store import StateStore, store_key


def test_a_repeated_batch_begins_where_the_first_run_did(tmp_path: Path) -> None:
    for number, value in enumerate([1, 2]):
        store = StateStore(tmp_path / "0.db", number)
        store.put("k", value)
        store.commit()
    for _ in range(3):
        store = StateStore(tmp_path / "0.db", 1)
        assert store.get("k") == 1
        store.put("k", 2)
        store.put("l", 1)
        store.commit()
    store = StateStore(tmp_path / "0.db", 2)
    assert store.get_all(["k", "l", "m"]) == [2, 1, None]
    store.abandon()


@given(st.lists(st.integers() | st.text() | st.booleans() | st.none(), min_size=2).map(tuple))
def test_keys_of_several_values_are_json(parts: tuple[object, ...]) -> None:
    assert store_key(parts) == json.dumps(parts, separators=(",", ":"), ensure_ascii=False)


@dataclass
class Entries:
    """What a store should hold."""

    values: dict[int, int] = field(default_factory=dict)
    dues: dict[int, int] = field(default_factory=dict)

    def put(self, key: int, value: int | None, due: int | None) -> None:
        if value is None:
            self.values.pop(key, None)
        else:
            self.values[key] = value
        if due is None or value is None:
            self.dues.pop(key, None)
        else:
            self.dues[key] = min(due, self.dues.get(key, due))

    def due_keys(self, now: int) -> list[int]:
        over = sorted((due, key) for key, due in self.dues.items() if due <= now)
        for _, key in over:
            del self.dues[key]
        return [key for _, key in over]


@pytest.mark.parametrize("seed", range(40))
def test_a_store_is_what_its_committed_batches_made_of_it(tmp_path: Path, seed: int) -> None:
    """Batches that change the same keys again, others, or few; some have moments; some repeat."""
    chance = random.Random(seed)
    path, kept, now = tmp_path / "0" / "0.db", Entries(), 0
    timed = chance.random() < 0.6
    for batch in range(25):
        choice = chance.choice([range(40), range(30, 80), range(0, 200, 7), range(3), range(0)])
        now += chance.randrange(4)
        for is_last in (*[False] * chance.randrange(3), True):
            store, entries = StateStore(path, batch), deepcopy(kept)
            for key in chance.sample(choice, chance.randint(len(choice) // 2, len(choice))):
                assert store.get(key) == entries.values.get(key)
                value = None if chance.random() < 0.1 else chance.randrange(100)
                due = now + chance.randrange(1, 12) if timed and chance.random() < 0.7 else None
                store.put(key, value, due)
                entries.put(key, value, due)
            if timed and chance.random() < 0.5:
                many = chance.sample(choice, len(choice) // 2)
                dues = [now + chance.randrange(1, 12) for _ in many]
                store.put_all(many, many, dues)
                for key, due in zip(many, dues, strict=True):
                    entries.put(key, key, due)
            moment = now + chance.randrange(8)
            if timed and chance.random() < 0.7:
                found = entries.due_keys(moment)
                assert store.due_keys(moment) == found
                for key in found:
                    value = chance.choice([None, 1])
                    store.put(key, value)
                    entries.put(key, value, None)
            if is_last or chance.random() < 0.5:
                store.commit()
            else:
                store.abandon()
        kept, now = entries, moment
        assert summarize_state(str(tmp_path)).entries == len(kept.values)
    store = StateStore(path, 25)
    assert store.get_all(range(200)) == [kept.values.get(key) for key in range(200)]
    assert store.due_keys(1000) == kept.due_keys(1000)
    store.abandon()


def test_entries_come_due_once_and_in_order(tmp_path: Path) -> None:
    store = StateStore(tmp_path / "0.db", 0)
    for key, due in {"c": 30, "a": 10, "b": 10, "never": None}.items():
        store.put(key, key, due)
    assert store.due_keys(9) == []
    assert store.due_keys(10) == ["a", "b"]
    store.put("a", "again", 50)
    store.commit()
    store = StateStore(tmp_path / "0.db", 1)
    store.put("new", 1, 40)
    # A later moment does not replace an earlier one.
    store.put("c", 2, 99)
    assert store.due_keys(45) == ["c", "new"]
    assert store.due_keys(45) == []
    assert store.due_keys(1000) == ["a"]
    store.abandon()


def test_an_entry_that_is_changed_stays_due_when_it_was(tmp_path: Path) -> None:
    store = StateStore(tmp_path / "0.db", 0)
    store.put_all(["a", "b", "c"], [1, 1, 1], [10, 20, 30])
    store.commit()
    store = StateStore(tmp_path / "0.db", 1)
    store.put_all(["a", "b", "d"], [2, 2, 2], [10, 5, 15])
    store.put("c", None)
    assert store.due_keys(12) == ["b", "a"]
    store.put("b", 3, 40)
    assert store.due_keys(39) == ["d"]
    store.commit()
    store = StateStore(tmp_path / "0.db", 2)
    assert store.due_keys(100) == ["b"]
    store.abandon()


def test_a_file_that_is_no_state_is_named(tmp_path: Path) -> None:
    path = tmp_path / "0.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StateDamagedError, match=r"0\.db cannot be read: file is not a database"):
        StateStore(path, 3)


def test_a_state_that_was_cut_off_is_named_with_its_query(tmp_path: Path) -> None:
    path = tmp_path / "CTAS_TOTALS_3" / "0" / "0.db"
    store = StateStore(path, 0)
    for number in range(5000):
        store.put(f"k{number}", "x" * 100)
    store.commit()
    StateStore(path, 1).commit()
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(StateDamagedError, match=r"orion queries rebuild CTAS_TOTALS_3$") as error:
        StateStore(path, 2)
    assert error.value.path == str(path)


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "0.db"
    StateStore(path, 0).commit()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateDamagedError, match="it has format 99"):
        StateStore(path, 1)


def test_a_state_that_is_ahead_or_lost_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "0.db"
    StateStore(path, 4).commit()
    with pytest.raises(StateMismatchError, match="of batch 4, but batch 2 is to run"):
        StateStore(path, 2)
    path.unlink()
    with pytest.raises(StateMismatchError, match="is empty, but batch 5 is to run"):
        StateStore(path, 5)


def test_a_state_that_was_put_back_as_it_once_was_is_refused(tmp_path: Path) -> None:
    path, copy = tmp_path / "0.db", tmp_path / "copy"
    StateStore(path, 0).commit()
    copy.write_bytes(path.read_bytes())
    # Batches without rows for this partition are not run there.
    StateStore(path, 3).commit()
    path.write_bytes(copy.read_bytes())
    with pytest.raises(StateMismatchError, match="of batch 0, but batch 5 is to run"):
        StateStore(path, 5)


def test_a_mark_that_is_damaged_is_named(tmp_path: Path) -> None:
    StateStore(tmp_path / "0.db", 0).commit()
    (tmp_path / "0.mark").write_bytes(b"\0" * 20)
    with pytest.raises(StateDamagedError, match=r"0\.mark cannot be read"):
        StateStore(tmp_path / "0.db", 1)


def test_a_state_tells_how_much_it_holds(tmp_path: Path) -> None:
    folder = tmp_path / "0"
    for batch in (0, 0, 1, 2):
        store = StateStore(folder / "0.db", batch, notes_late=batch > 0)
        clock = Clock(store)
        clock.advance("t/0", 1000 + batch)
        for offset in (4, 9):
            row = Facts(7, [7, 0, 0, offset, 0], False, None, "a/b/0")
            clock.drop(row, closed_ms=100, now_ms=clock.now_ms)
        store.put(f"k{batch}", 1)
        if batch == 2:
            store.put("k0", None)
        clock.keep()
        store.commit()
    # Keys that no record has come for know no time, and hold none up.
    quiet = StateStore(folder / "1.db", 0)
    Clock(quiet).keep()
    quiet.commit()
    found = summarize_state(str(tmp_path))
    # Two keys and the clocks.
    assert (found.entries, found.late_records, found.watermark_ms) == (4, 6, 1002)
    assert found.size_bytes > 0
    # Those of the last batch alone; the ones before are delivered.
    late = [LateRow("a/b", 0, offset, 7, 100, 1002) for offset in (4, 9)]
    assert read_late_rows(str(tmp_path), 2) == late
    assert read_late_rows(str(tmp_path), 1) == []
    assert summarize_state(str(tmp_path / "nothing")).entries == 0
