"""The music demo as a stranger runs it: its books balance after a kill; nothing is left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from orion.supervise import RunFolder
from orion.testing import wait_until

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow]
ORION = str(Path(sys.executable).parent / "orion")


def _processes(folder: Path) -> list[str]:
    """Return the command lines of what runs for the demo's project."""
    found = []
    for process in psutil.process_iter(["pid", "environ", "cmdline"]):
        environ = process.info["environ"] or {}
        words = " ".join(process.info["cmdline"] or ())
        if environ.get("ORION_PROJECT") == str(folder) or str(folder) in words:
            found.append(f"{process.info['pid']}: {words}")
    return found


def _demo(folder: Path, *words: str) -> dict[str, Any]:
    """Run a small demo and return its report; its books must balance and nothing may be left."""
    done = subprocess.run(
        [ORION, "demo", "music", "--plays", "5000", "--json", "--project", str(folder), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    wait_until(lambda: not _processes(folder), what="The end of every process")
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["balanced"]
    assert report["differences"] == []
    return report


def test_the_books_balance_after_a_kill(tmp_path: Path) -> None:
    report = _demo(tmp_path / "music", "--kill")
    plays = report["intakes"][2]
    assert plays["topic"] == "plays"
    assert plays["produced"] == plays["in_table"] + plays["dead_letters"]
    assert plays["dead_letters"] > 0
    enriched = report["results"][0]
    assert enriched["ledger"] == enriched["in_topic"] == enriched["in_table"] == 5_001
    assert report["strikes"] == 1
    assert report["restarts"] >= 1


def test_an_interrupt_stops_everything(tmp_path: Path) -> None:
    folder = tmp_path / "music"
    demo = subprocess.Popen(
        [ORION, "demo", "music", "--plays", "5000", "--project", str(folder)],
        env={**os.environ, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = RunFolder(folder / ".orion")
    wait_until(
        lambda: run.is_running() and (run.logs / "music.log").is_file(),
        timeout_s=120,
        what="The start of the pipeline",
    )
    demo.send_signal(signal.SIGINT)
    output, complaint = demo.communicate(timeout=120)
    assert demo.returncode == 130, output + complaint
    assert "Traceback" not in output + complaint
    wait_until(lambda: not _processes(folder), what="The end of every process")
