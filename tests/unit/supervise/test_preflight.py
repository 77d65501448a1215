import errno
from pathlib import Path

import pytest

from orion.supervise import DiskError, DiskFullError, check_disk, open_log, read_tail
from orion.supervise.logfile import LARGEST_BYTES
from orion.supervise.preflight import disk_error


def test_a_usable_disk_is_left_as_it_was(tmp_path: Path) -> None:
    check_disk(tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="file/data"):
        check_disk(tmp_path / "file" / "data")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission is denied"),
    ],
)
def test_the_systems_refusal_is_put_into_words(number: int, words: str) -> None:
    error = disk_error(Path("/data"), OSError(number, "x"))
    assert words in error.text
    assert "ORION_DATA" in (error.fix or "")
    assert isinstance(error, DiskFullError) == (number in (errno.ENOSPC, errno.EDQUOT))


def test_a_large_log_is_turned_over_at_the_next_start(tmp_path: Path) -> None:
    with open_log(tmp_path, "one") as log:
        log.truncate(LARGEST_BYTES + 1)
    with open_log(tmp_path, "one") as log:
        log.write(b"new\n")
    assert (tmp_path / "one.log").read_text() == "new\n"
    assert (tmp_path / "one.log.1").stat().st_size == LARGEST_BYTES + 1


def test_the_end_of_a_log_is_read_over_block_borders(tmp_path: Path) -> None:
    path = tmp_path / "one.log"
    path.write_text("".join(f"line {n} {'x' * 100}\n" for n in range(5_000)))
    assert [line.split()[1] for line in read_tail(path, 1_500)] == [
        str(n) for n in range(3_500, 5_000)
    ]
    assert read_tail(path, 0) == []
    assert read_tail(tmp_path / "none.log", 5) == []
