"""Named points where a test can kill this process, to prove that nothing is lost or doubled there.

`ORION_STRIKE=in_transaction:3` kills the process with SIGKILL when it passes that point for the
third time; `in_table_commit:2:150` 150 ms after the second. Unset, a point costs one comparison.
"""

import os
import signal
import threading
from collections import Counter

POINTS = (
    "after_offset_log",
    "in_transaction",
    "after_transaction",
    "in_table_commit",
    "after_table_commit",
)

_point, _count, _delay_ms, *_ = [*os.environ.get("ORION_STRIKE", "").split(":"), "1", "0"]
_passed: Counter[str] = Counter()


def pass_point(name: str) -> None:
    """Mark that this process has come to a named point."""
    if name != _point:
        return
    _passed[name] += 1
    if _passed[name] == int(_count):
        if int(_delay_ms) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Timer(int(_delay_ms) / 1000, os.kill, (os.getpid(), signal.SIGKILL)).start()
