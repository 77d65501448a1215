"""A person at a terminal: a program with a screen and a keyboard of its own."""

import codecs
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from pathlib import Path

from orion.testing.wait import wait_until

INTERRUPT, END = "\x03", "\x04"
_ROWS, _COLUMNS = 50, 160
# The session's own width would win over the terminal's; and nobody here tells where the cursor is.
_SCREEN = {"TERM": "xterm", "COLUMNS": str(_COLUMNS), "PROMPT_TOOLKIT_NO_CPR": "1"}
# A session's first terminal becomes the one that its Ctrl-C comes from.
_ATTACH = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>()][0-9A-B]?|\r")


class Terminal:
    """Runs a program; what it shows is kept without colours and movements."""

    def __init__(self, command: list[str], *, folder: Path, env: Mapping[str, str]) -> None:
        self._keyboard, screen = pty.openpty()
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ATTACH, *command],
            stdin=screen,
            stdout=screen,
            stderr=screen,
            cwd=folder,
            env={**os.environ, **env, **_SCREEN},
            start_new_session=True,
        )
        os.close(screen)
        self._shown = ""
        self._seen = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                more = os.read(self._keyboard, 65_536)
            except OSError:
                return  # the program has ended, and its side is closed
            self._shown += decoder.decode(more)

    @property
    def text(self) -> str:
        """What was shown since the last line that was waited for."""
        return _CONTROL.sub("", self._shown)[self._seen :]

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._keyboard, keys.encode())

    def enter(self, line: str) -> None:
        """Type a line."""
        self.type(f"{line}\r")

    def wait_for(self, words: str, *, timeout_s: float = 60.0) -> str:
        """Return what is shown up to these words, once they are."""
        try:
            wait_until(lambda: words in self.text, timeout_s=timeout_s, what=f"'{words}'")
        except AssertionError as error:
            raise AssertionError(f"{error} The terminal shows:\n{self.text[-4000:]}") from error
        found = self.text
        end = found.index(words) + len(words)
        self._seen += end
        return found[:end]

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *failure: object) -> None:
        """End the program, however it is."""
        self.process.kill()
        self.process.wait()
        self._reader.join(timeout=20)
        os.close(self._keyboard)
