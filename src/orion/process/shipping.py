"""The Python packages that executors on other machines need, as one archive that Spark unpacks."""

import hashlib
import tarfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path

# What `orion.worker`, `formats`, `sql` and `state` import; Spark brings its own Python side.
DISTRIBUTIONS = (
    "pyarrow",
    "duckdb",
    "fastavro",
    "protobuf",
    "grpcio",
    "grpcio-tools",
    "setuptools",
    "orjson",
    "jsonschema",
    "jsonschema-specifications",
    "referencing",
    "rpds-py",
    "attrs",
    "typing-extensions",
    "numpy",
    "pandas",
    "python-dateutil",
    "pytz",
    "tzdata",
    "six",
)
_LEFT_OUT = ("/tests/", "pyarrow/include/", "pyarrow/src/", "__pycache__")
FOLDER = "orion_python"


def pack_python(folder: Path) -> Path:
    """Return the archive for this environment, made once for each state of its packages."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"python-{_state()}.tar"
    if not target.exists():
        scratch = target.with_suffix(".new")
        with tarfile.open(scratch, "w") as archive:
            for path, name in _files():
                archive.add(path, arcname=name, recursive=False)
        scratch.replace(target)
        for old in set(folder.glob("python-*.tar")) - {target}:
            old.unlink()
    return target


def _state() -> str:
    """Return a mark that changes with any version and with Orion's own files."""
    mark = hashlib.sha256()
    for name in DISTRIBUTIONS:
        try:
            mark.update(f"{name}={version(name)};".encode())
        except PackageNotFoundError:
            continue
    for path in _own_files():
        mark.update(f"{path.name}:{path.stat().st_mtime_ns};".encode())
    return mark.hexdigest()[:16]


def _files() -> Iterator[tuple[Path, str]]:
    root = _own_root()
    for path in _own_files():
        yield path, f"orion/{path.relative_to(root)}"
    for name in DISTRIBUTIONS:
        try:
            found = distribution(name).files or []
        except PackageNotFoundError:
            continue
        for file in found:
            path = Path(str(file.locate()))
            if not str(file).startswith("..") and path.is_file() and not _is_left_out(str(file)):
                yield path, str(file)


def _own_root() -> Path:
    spec = find_spec("orion")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def _own_files() -> list[Path]:
    return sorted(p for p in _own_root().rglob("*") if p.is_file() and p.suffix != ".pyc")


def _is_left_out(name: str) -> bool:
    return any(part in name for part in _LEFT_OUT)
