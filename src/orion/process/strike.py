"""Named points where a test can kill this process, to prove that nothing is lost or doubled there.

`ORION_STRIKE=in_transaction:3` kills the process with SIGKILL when it passes that point for the
third time; `in_table_commit:2:150` 150 ms after the second. Unset, a point costs one comparison.
"""

import os
import signal
import threading
from collections import Counter

# A missing count is 1, a missing delay 0: each field has its own default.
_fields = dict(enumerate(os.environ.get("ORION_STRIKE", "").split(":")))
_point, _count, _delay_ms = _fields[0], _fields.get(1, "1"), _fields.get(2, "0")
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
