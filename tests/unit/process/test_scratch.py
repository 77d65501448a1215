"""The folders of temporary files."""

import os
import subprocess
import sys
from pathlib import Path

from orion.process import own_scratch
from orion.process.scratch import socket_folder


def test_what_a_killed_process_left_is_removed_and_what_lives_stays(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (str(ended.pid), str(os.getppid()), "warehouse"):
        (tmp_path / name / "blocks").mkdir(parents=True)

    own = own_scratch(tmp_path)

    assert own == tmp_path / str(os.getpid())
    assert {path.name for path in tmp_path.iterdir()} == {
        own.name,
        str(os.getppid()),
        "warehouse",
    }


def test_sockets_go_elsewhere_where_the_path_is_too_long_to_bind() -> None:
    short, long = Path("/project/.orion/run/spark/1"), Path("/project") / ("deep/" * 20)
    assert socket_folder(short) == short
    assert socket_folder(long) != long
