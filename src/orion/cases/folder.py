"""The cases of a file, or of every file in a folder."""

from collections.abc import Iterator
from pathlib import Path

from orion.cases.case import Case, CaseFileError, read_json_cases
from orion.cases.text import read_text_cases

_JSON, _TEXT = ".json", ".case"


def read_cases(path: Path, *, match: str = "", kind: str = "") -> list[Case]:
    """Return cases whose name holds a text, of one kind or of all."""
    files = sorted(_files(path)) if path.is_dir() else [path]
    if not files:
        raise CaseFileError(path, f"there are no {_TEXT} or {_JSON} files in it")
    found = [case for file in files for case in _read_file(file)]
    return [
        case
        for case in found
        if match.lower() in case.id.lower() and (not kind or case.kind == kind)
    ]


def _files(folder: Path) -> Iterator[Path]:
    for ending in (_JSON, _TEXT):
        yield from folder.glob(f"*{ending}")


def _read_file(path: Path) -> Iterator[Case]:
    return read_json_cases(path) if path.suffix == _JSON else read_text_cases(path)
