"""Find a Java that is new enough."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orion.model import UnavailableError

OLDEST = 17
_FIX = (
    "Install it with your system's packages (apt install openjdk-17-jre-headless, "
    "brew install openjdk@17) or set JAVA_HOME."
)


@dataclass(frozen=True)
class Java:
    """A java executable and its major version."""

    path: str
    major: int
    version: str


class JavaMissingError(UnavailableError):
    """Raised when no java can be run."""

    def __init__(self, looked_at: str) -> None:
        self.looked_at = looked_at
        super().__init__(
            f"Java {OLDEST} or newer is needed, and none was found at {looked_at}.", fix=_FIX
        )


class JavaTooOldError(UnavailableError):
    """Raised when the java found is too old."""

    def __init__(self, path: str, version: str) -> None:
        self.path, self.version = path, version
        super().__init__(
            f"Java {OLDEST} or newer is needed, {path} is version {version}.", fix=_FIX
        )


def find_java(environ: Mapping[str, str]) -> Java:
    """Return the java of JAVA_HOME, else of PATH."""
    home = environ.get("JAVA_HOME")
    found = (
        str(Path(home) / "bin" / "java") if home else shutil.which("java", path=environ.get("PATH"))
    )
    if not found or not Path(found).exists():
        raise JavaMissingError(f"JAVA_HOME ({home})" if home else "PATH")
    output = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "((\d+)[^"]*)"', output)
    if match is None:
        raise JavaMissingError(found)
    if int(match[2]) < OLDEST:
        raise JavaTooOldError(found, match[1])
    return Java(found, int(match[2]), match[1])
