"""Tables that any Delta writer made: facts, history, time travel, compaction, without a JVM."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from orion.lake import Lake, TableNotFoundError
from orion.lake.table import VersionNotFoundError
from orion.model import InvalidInputError


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


def _append(lake: Lake, name: str, ids: list[int], **options: Any) -> None:
    rows = pa.table({"id": ids, "city": [f"c{n % 2}" for n in ids]})
    path = Path(lake.table_path(name))
    path.mkdir(parents=True, exist_ok=True)
    write_deltalake(path, rows, mode="append", **options)


def _ids(lake: Lake, name: str, **options: Any) -> list[int]:
    return sorted(lake.read(name, **options).column("id").to_pylist())


def test_an_empty_lake_has_no_tables(lake: Lake) -> None:
    assert lake.names() == []


def test_facts_come_from_the_log(lake: Lake) -> None:
    _append(lake, "orders", [1, 2], partition_by=["city"])
    _append(lake, "raw/events", [3])
    assert lake.names() == ["orders", "raw/events"]
    facts = lake.get("orders")
    assert (facts.rows, facts.files, facts.version) == (2, 2, 0)
    assert facts.columns == (("id", "long"), ("city", "string"))
    assert facts.partition_by == ("city",)
    assert facts.size_bytes > 0


def test_a_table_without_rows_is_a_table(lake: Lake) -> None:
    _append(lake, "orders", [1])
    DeltaTable(lake.table_path("orders")).delete()
    assert (lake.get("orders").rows, lake.get("orders").files) == (0, 0)
    assert lake.read("orders", limit=5).num_rows == 0


def test_history_is_newest_first_and_versions_can_be_read(lake: Lake) -> None:
    _append(lake, "orders", [1])
    _append(lake, "orders", [2, 3])
    assert [(v.version, v.rows) for v in lake.history("orders")] == [(1, 2), (0, 1)]
    assert _ids(lake, "orders", version=0) == [1]
    assert _ids(lake, "orders") == [1, 2, 3]
    assert lake.read("orders", limit=2).num_rows == 2
    with pytest.raises(VersionNotFoundError) as caught:
        lake.read("orders", version=7)
    assert (caught.value.version, caught.value.newest) == (7, 1)
    assert caught.value.fix == "See its versions with: orion tables history orders"


def test_compaction_keeps_rows_and_vacuum_removes_old_files(lake: Lake) -> None:
    for number in range(5):
        _append(lake, "orders", [number])
    lake.compact("orders")
    assert (lake.get("orders").files, _ids(lake, "orders")) == (1, [0, 1, 2, 3, 4])
    assert _ids(lake, "orders", version=1) == [0, 1]
    assert lake.compact("orders", keep_hours=0)["filesVacuumed"] == 5
    assert _ids(lake, "orders") == [0, 1, 2, 3, 4]
    with pytest.raises(VersionNotFoundError):
        lake.read("orders", version=1)


def test_a_question_may_join_tables(lake: Lake) -> None:
    _append(lake, "orders", [1, 2])
    _append(lake, "more/orders", [2, 3])
    sql = "SELECT id FROM a JOIN b USING (id)"
    assert lake.query(sql, a="orders", b="more/orders").to_pylist() == [{"id": 2}]


def test_a_missing_table_names_the_nearest(lake: Lake) -> None:
    _append(lake, "orders", [1])
    with pytest.raises(TableNotFoundError, match="Did you mean 'orders'"):
        lake.get("order")
    with pytest.raises(TableNotFoundError, match="orion tables list"):
        lake.get("something")


@pytest.mark.parametrize("name", ["", "../secret", "/etc", ".hidden", "a/../../b"])
def test_a_name_cannot_leave_the_lake(lake: Lake, name: str) -> None:
    with pytest.raises(InvalidInputError, match="not usable"):
        lake.table_path(name)


def test_a_process_that_read_a_few_rows_ends_well(lake: Lake) -> None:
    for number in range(20):
        _append(lake, "orders", list(range(number * 1_000, number * 1_000 + 1_000)))
    code = f"from orion.lake import Lake; Lake({lake.path!r}).read('orders', limit=1)"
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
