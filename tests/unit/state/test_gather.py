"""Times that columns give to records, read for whole columns."""

import pyarrow as pa

from orion.model import LAST_MS
from orion.state import OwnTime


def test_times_that_no_record_can_have_are_named() -> None:
    rows = [{"T": moment} for moment in (0, -1, LAST_MS, LAST_MS + 1, None)]
    times, why_not = OwnTime("T", "missing", "early", "far").read(pa.array([*rows, None]))
    assert times.to_pylist()[:4] == [0, -1, LAST_MS, LAST_MS + 1]
    assert why_not.to_pylist() == [None, "early", None, "far", "missing", None]
