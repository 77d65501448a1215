"""Look at this machine: can Orion run here, and if not, what to do about it."""

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from orion.config import Settings
from orion.jvm import JarStore, Java
from orion.model import OrionError, format_bytes
from orion.supervise import RunFolder, is_free, port_holder

_PACKAGES = ("pyspark", "confluent-kafka", "pyarrow", "pandas", "duckdb", "deltalake")
_OLDEST_PYTHON = (3, 11)
_GIB = 1 << 30


class Level(StrEnum):
    """How much a finding matters."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    check: str
    level: Level
    text: str
    fix: str = ""


def examine(
    settings: Settings, *, find_java: Callable[[], Java], jars: JarStore
) -> Iterator[Finding]:
    """Yield a finding for each check, the quick ones first."""
    yield _check_python()
    yield _check_java(find_java)
    yield _check_packages()
    yield _check_memory()
    yield _check_disk(settings.data_dir)
    yield from _check_ports(settings)
    yield _check_jars(jars)


def _check_python() -> Finding:
    text = f"Python {platform.python_version()} at {sys.executable}"
    if sys.version_info < _OLDEST_PYTHON:
        return Finding("python", Level.FAIL, text, "Install Python 3.11 or newer.")
    return Finding("python", Level.OK, text)


def _check_java(find_java: Callable[[], Java]) -> Finding:
    try:
        java = find_java()
    except OrionError as error:
        return Finding("java", Level.FAIL, error.text, error.fix or "")
    return Finding("java", Level.OK, f"Java {java.version} at {java.path}")


def _check_packages() -> Finding:
    found, missing = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        text = f"not installed: {', '.join(missing)}"
        return Finding("packages", Level.FAIL, text, "Run: pip install orion-streams")
    return Finding("packages", Level.OK, ", ".join(found))


def _check_memory() -> Finding:
    memory = psutil.virtual_memory()
    free = f"{format_bytes(memory.available)} of {format_bytes(memory.total)} free"
    if memory.available < _GIB:
        fix = "Close other programs: brokers and Spark need about 2 GiB."
        return Finding("memory", Level.FAIL, free, fix)
    if memory.available < 2 * _GIB:
        fix = "It may get tight: lower kafka.heap and spark.memory in orion.toml."
        return Finding("memory", Level.WARN, free, fix)
    return Finding("memory", Level.OK, free)


def _check_disk(folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    text = f"{format_bytes(free)} free in {folder}"
    fix = "Free some space, or move the data with the setting data (ORION_DATA)."
    if free < _GIB:
        return Finding("disk", Level.FAIL, text, fix)
    return Finding("disk", Level.WARN if free < 5 * _GIB else Level.OK, text, fix)


def _check_ports(settings: Settings) -> Iterator[Finding]:
    kafka, server = settings.kafka, settings.server
    doors = settings.door_ports if server.enabled else ()
    ports = (*kafka.broker_ports, *kafka.quorum_ports, *doors) if kafka.is_local else doors
    if not ports:
        yield Finding("ports", Level.OK, f"none needed: Kafka is at {kafka.bootstrap_servers}")
        return
    words = " ".join(str(port) for port in ports)
    if RunFolder(settings.data_dir).is_running():
        yield Finding("ports", Level.OK, f"{words} in use by this project's Orion")
        return
    taken = [port for port in ports if not is_free(port)]
    for port in taken:
        fix = "Stop that process, or take other ports; see: orion up --help"
        yield Finding("ports", Level.FAIL, f"{port} is taken by {port_holder(port)}", fix)
    if not taken:
        yield Finding("ports", Level.OK, f"{words} free")


def _check_jars(jars: JarStore) -> Finding:
    missing, damaged = jars.missing(), jars.damaged()
    if damaged:
        names = ", ".join(pin.file_name for pin in damaged[:3])
        fix = f"Delete them from {jars.folder} and run: orion jars fetch"
        return Finding("jars", Level.FAIL, f"checksum differs: {names}", fix)
    if missing:
        text = f"{len(missing)} not downloaded yet"
        return Finding("jars", Level.WARN, text, "Run: orion jars fetch")
    return Finding("jars", Level.OK, f"all present, checksums match, in {jars.folder}")
