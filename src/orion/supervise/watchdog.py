"""Lead the group of supervised processes; end it when the supervisor is gone.

Standard input is a pipe whose other end only the supervisor holds. However the supervisor dies,
the pipe closes: then the group is asked to stop, and five seconds later killed.
"""

import os
import signal
import sys
import time

GRACE_S = 5.0


def main() -> None:
    """Wait for the supervisor's end, then end every process of this group."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    group = os.getpgrp()
    # A child outside the group can see when the group is empty, and survives its SIGKILL.
    if os.fork():
        return
    os.setpgid(0, 0)
    deadline = time.monotonic() + GRACE_S
    try:
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.05)
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    main()
