"""The cache of jars: what is missing is downloaded by Ivy (inside pyspark), then checked."""

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import quoteattr

from orion.jvm.java import Java
from orion.jvm.pin import BUNDLES, Pin, read_pins
from orion.model import UnavailableError

Progress = Callable[[int, int, str], None]
_PATTERN = "[artifact]-[revision].[ext]"


class JarDownloadError(UnavailableError):
    """Raised when a pinned jar could not be had."""

    def __init__(self, names: list[str], detail: str) -> None:
        self.names = names
        super().__init__(
            f"{len(names)} jar(s) were not downloaded: {', '.join(names[:3])}. {detail}".strip(),
            fix="Check the network, or set jars.mirror to a Maven mirror you can reach.",
        )


class JarChecksumError(UnavailableError):
    """Raised when a jar is not the one that was pinned."""

    def __init__(self, name: str, expected: str, found: str) -> None:
        self.name, self.expected, self.found = name, expected, found
        super().__init__(
            f"Jar {name} has SHA-256 {found[:16]}…, expected {expected[:16]}….",
            fix="It was not used. Remove it from the cache and try again, or check the mirror.",
        )


def pyspark_home() -> Path:
    """Return the folder of the installed pyspark without importing it."""
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise UnavailableError(
            "The package pyspark is not installed.", fix="Run: pip install orion-streams"
        )
    return Path(spec.submodule_search_locations[0])


class JarStore:
    """A folder of jars shared by projects."""

    def __init__(self, folder: Path, *, mirror: str = "") -> None:
        self.folder = folder
        self._mirror = mirror

    def path(self, pin: Pin) -> Path:
        """Return where a jar is kept, whether it is there or not."""
        return self.folder / pin.file_name

    def paths(self, bundle: str) -> list[Path]:
        """Return the jars of a bundle in their pinned order."""
        return [self.path(pin) for pin in read_pins() if pin.bundle == bundle]

    def class_path(self, bundle: str) -> str:
        """Return a bundle as a java class path."""
        return ":".join(str(path) for path in self.paths(bundle))

    def missing(self, bundles: Iterable[str] = BUNDLES) -> list[Pin]:
        """Return the pins with no file in the cache."""
        wanted = set(bundles)
        return [p for p in read_pins() if p.bundle in wanted and not self.path(p).is_file()]

    def damaged(self) -> list[Pin]:
        """Return the cached jars whose checksum is wrong; reads every byte."""
        return [
            p for p in read_pins() if self.path(p).is_file() and _sha256(self.path(p)) != p.sha256
        ]

    def fetch(self, java: Java, *, bundles: Iterable[str] = BUNDLES, progress: Progress) -> None:
        """Download what is missing, check it, and put it in place; safe to run twice at once."""
        bundles = tuple(bundles)
        if not self.missing(bundles):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._exclusive():
            missing = self.missing(bundles)
            done = 0
            for bundle in bundles:
                pins = [pin for pin in missing if pin.bundle == bundle]
                if pins:
                    self._download(
                        java, pins, lambda n, name: progress(n, len(missing), name), done
                    )
                    done += len(pins)

    def _download(
        self, java: Java, pins: list[Pin], progress: Callable[[int, str], None], done: int
    ) -> None:
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            tail = ""
            for line in _run_ivy(java, pins, Path(scratch), self._mirror):
                tail = line if "FAILED" in line or "Server access" in line else tail
                if "[SUCCESSFUL ]" in line:
                    done += 1
                    progress(done, line.split("!")[-1].split(" ")[0])
            absent = [p.file_name for p in pins if not (Path(scratch) / p.file_name).is_file()]
            if absent:
                raise JarDownloadError(absent, tail.strip())
            for pin in pins:
                found = _sha256(Path(scratch) / pin.file_name)
                if found != pin.sha256:
                    raise JarChecksumError(pin.file_name, pin.sha256, found)
            for pin in pins:
                shutil.move(Path(scratch) / pin.file_name, self.path(pin))

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _run_ivy(java: Java, pins: list[Pin], scratch: Path, mirror: str) -> Iterator[str]:
    """Run Ivy over exact pins; it reads no pom and no other local repository."""
    root = f" root={quoteattr(mirror)}" if mirror else ""
    (scratch / "settings.xml").write_text(
        '<ivysettings><settings defaultResolver="central"/>'
        '<property name="ivy.checksums" value="" override="true"/>'
        f"<caches defaultCacheDir={quoteattr(str(scratch / 'ivy'))}/><resolvers>"
        f'<ibiblio name="central" m2compatible="true" usepoms="false"{root}/>'
        "</resolvers></ivysettings>"
    )
    wanted = "".join(
        f'<dependency org="{p.group}" name="{p.artifact}" rev="{p.version}" transitive="false"/>'
        for p in pins
    )
    (scratch / "ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="orion" module="jars"/>'
        f"<dependencies>{wanted}</dependencies></ivy-module>"
    )
    ivy = next((pyspark_home() / "jars").glob("ivy-*.jar"))
    command = [java.path, "-cp", str(ivy), "org.apache.ivy.Main"]
    command += ["-settings", "settings.xml", "-ivy", "ivy.xml", "-retrieve", _PATTERN]
    with subprocess.Popen(
        command, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        yield from process.stdout or ()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
