"""A state more than ten times as large as the memory that its store may use, in one partition."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from bench.operators import SUBJECTS, make_batch, run_batch
from orion.state import summarize_state
from orion.state.file import CACHE_KIB

_ROWS, _KEYS = 100_000, 7_500_000
_NAME = "stream-table join"


def run_large_state() -> dict[str, Any]:
    """Fill a table, then join events of random keys with it; tell size, memory and pace."""
    rng = np.random.default_rng(1)
    subject, process = SUBJECTS[_NAME], psutil.Process(os.getpid())
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        path, number, most = Path(folder) / "0" / "0.db", 0, 0
        paces: dict[str, list[float]] = {"filling": [], "joining": []}
        filling = [np.arange(at, at + _ROWS) for at in range(0, _KEYS, _ROWS)]
        joining = [rng.integers(0, _KEYS, _ROWS) for _ in range(5)]
        for name, batches in (("filling", filling), ("joining", joining)):
            for keys in batches:
                batch = make_batch(subject, keys, number, rng, is_filling=name == "filling")
                cpu = time.process_time()
                run_batch(subject.operator, batch, path, number)
                paces[name].append(_ROWS / (time.process_time() - cpu))
                most, number = max(most, process.memory_info().rss), number + 1
        found = summarize_state(folder)
    return {
        _NAME: {
            "entries": found.entries,
            "state MiB": found.size_bytes >> 20,
            "times the store's cache": round(found.size_bytes / (CACHE_KIB << 10), 1),
            "process MiB": most >> 20,
            "rows/s filling, first": round(paces["filling"][1]),
            "rows/s filling, last": round(paces["filling"][-1]),
            "rows/s joining": round(max(paces["joining"])),
        }
    }
