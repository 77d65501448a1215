"""Differences between the ledger and what was found, in words."""

from pathlib import Path

import pytest

from orion.demo.books import Books, Intake, Result
from orion.demo.project import DemoProject, FolderTakenError, clean_environ
from orion.demo.recount import Found, Key, compare
from orion.model import ConflictError

EXPECTED: dict[Key, Key] = {("a",): (1,), ("b",): (2,)}


def _words(found: dict[Key, Key]) -> list[str]:
    return list(compare("topic t", EXPECTED, found, show=lambda key: str(key[0])))


def test_equal_rows_give_no_words() -> None:
    assert _words(dict(EXPECTED)) == []


def test_every_kind_of_difference_is_named_with_its_first_key() -> None:
    assert _words({("b",): (3,), ("c",): (1,)}) == [
        "1 missing from topic t, first a",
        "1 not expected in topic t, first c",
        "1 wrong in topic t, first b: (3,) instead of (2,)",
    ]


def test_a_repeated_key_is_counted_and_the_last_value_kept() -> None:
    found = Found()
    found.add(("a",), (1,))
    found.add(("a",), (2,))
    assert (found.count, found.repeated, found.rows) == (2, 1, {("a",): (2,)})


def test_books_balance_only_without_differences() -> None:
    good = Intake("plays", 10, 10, 9, 0, 1, ())
    bad = Result("sessions", 2, 1, 2, ("1 missing from topic sessions",))
    assert Books((good,), ()).to_json()["balanced"]
    assert not Books((good,), (bad,)).to_json()["balanced"]
    assert Books((good,), (bad,)).differences == ("1 missing from topic sessions",)


def test_settings_of_the_user_do_not_reach_the_demo() -> None:
    environ = {
        "ORION_KAFKA_BOOTSTRAP_SERVERS": "company:9092",
        "ORION_JARS_CACHE": "/jars",
        "PATH": "/bin",
    }
    assert clean_environ(environ) == {"ORION_JARS_CACHE": "/jars", "PATH": "/bin"}


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FolderTakenError) as caught:
        DemoProject.create(tmp_path)
    assert isinstance(caught.value, ConflictError)
    assert caught.value.fix


def test_a_project_has_ports_of_its_own_and_what_runs_to_read(tmp_path: Path) -> None:
    project = DemoProject.create(tmp_path / "music")
    kafka = project.app.settings.kafka
    assert kafka.is_local
    assert 9092 not in (*kafka.broker_ports, *kafka.quorum_ports)
    assert project.app.settings.lake_path == str(tmp_path / "music" / "lake")
    ports = project.app.settings.door_ports
    assert not {8081, 8082, 8088} & set(ports)
    assert "orion.to_table" in (tmp_path / "music" / "lake.py").read_text()
    assert "WINDOW SESSION" in (tmp_path / "music" / "music.sql").read_text()
