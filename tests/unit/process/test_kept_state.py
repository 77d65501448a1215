"""The state of an SQL query on disk: lost, and made anew."""

import shutil
from pathlib import Path

import pytest

from orion.process.query import first_line, is_final
from orion.process.sql.keep import KeptState, StateLostError
from orion.state import StateMismatchError


def kept(folder: Path) -> KeptState:
    return KeptState("q", folder / "state" / "q", str(folder / "checkpoints" / "q"))


def commit(folder: Path, batch: int) -> None:
    kept(folder).note(batch)
    commits = folder / "checkpoints" / "q" / "commits"
    commits.mkdir(parents=True, exist_ok=True)
    (commits / str(batch)).touch()


def test_a_query_that_begins_gets_its_folders(tmp_path: Path) -> None:
    kept(tmp_path).require(2)
    commit(tmp_path, 0)
    kept(tmp_path).require(2)
    folders = [path.name for path in (tmp_path / "state" / "q").iterdir() if path.is_dir()]
    assert sorted(folders) == ["0", "1"]


def test_a_state_that_is_gone_is_named_once_a_batch_was_delivered(tmp_path: Path) -> None:
    kept(tmp_path).require(2)
    commit(tmp_path, 0)
    Path(kept(tmp_path).place(1)).rmdir()
    with pytest.raises(StateLostError, match="orion queries rebuild q") as error:
        kept(tmp_path).require(2)
    assert error.value.path == kept(tmp_path).place(1)


def test_a_state_that_was_put_back_as_a_whole_is_named(tmp_path: Path) -> None:
    state = kept(tmp_path)
    state.require(1)
    commit(tmp_path, 6)
    shutil.copytree(state.folder, tmp_path / "copy")
    commit(tmp_path, 7)
    shutil.rmtree(state.folder)
    shutil.copytree(tmp_path / "copy", state.folder)
    with pytest.raises(StateMismatchError, match="of batch 6, but batch 8 is to run") as error:
        state.require(1)
    assert is_final(error.value)
    assert "orion queries rebuild q" in str(error.value)
    # One that has run a batch more than Spark knows of was killed before Spark noted it.
    state.note(8)
    state.require(1)


def test_what_was_done_is_remembered_when_state_is_dropped(tmp_path: Path) -> None:
    state = kept(tmp_path)
    state.require(1)
    state.begin_anew({"t": {0: 50, 1: 7}})
    assert not Path(state.place(0)).exists()
    # A rebuild that is begun again while the first one runs has committed less than was done.
    state.begin_anew({"t": {0: 20, 1: 9}, "u": {0: 1}})
    assert state.done_before() == {"t": {0: 50, 1: 9}, "u": {0: 1}}


def test_a_damaged_state_that_a_task_finds_ends_the_query_at_once() -> None:
    trace = "\n".join(
        [
            "An exception was thrown from the Python worker.",
            "Traceback (most recent call last):",
            *(f'  File "x.py", line {n}, in f' for n in range(20)),
            "orion.state.store.StateDamagedError: The state at /s/0.db cannot be read: it is cut.",
            "",
        ]
    )
    assert is_final(RuntimeError(trace))
    assert first_line(RuntimeError(trace)) == "The state at /s/0.db cannot be read: it is cut."
    assert not is_final(RuntimeError("Connection refused"))
