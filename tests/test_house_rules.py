"""Rules of the house that no linter knows: front doors, sizes, words, light start-up."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "orion"
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
MODULES = sorted(SOURCE.rglob("*.py"))
BANNED_NAMES = ("util", "utils", "helper", "helpers", "common", "core", "base", "misc", "manager")


def test_rooms_are_entered_by_their_front_door() -> None:
    graph = grimp.build_graph("orion", cache_dir=None)
    strays = []
    for importer in graph.modules:
        own = importer.split(".")[1] if "." in importer else ""
        for imported in graph.find_modules_directly_imported_by(importer):
            parts = imported.split(".")
            if len(parts) > 2 and parts[1] != own and parts[1] not in ("cli", "testing"):
                strays.append(f"{importer} imports {imported}")
    assert strays == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_modules_stay_small_and_say_what_they_are(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    assert ast.get_docstring(ast.parse(text)), "a module begins with what it is"
    assert path.stem not in BANNED_NAMES


@pytest.mark.parametrize("room", ROOMS)
def test_front_doors_hold_no_logic(room: str) -> None:
    tree = ast.parse((SOURCE / room / "__init__.py").read_text())
    allowed = (ast.Import, ast.ImportFrom, ast.Expr, ast.Assign)
    assert all(isinstance(node, allowed) for node in tree.body)


@pytest.mark.parametrize("room", ROOMS)
def test_front_doors_list_what_they_give(room: str) -> None:
    tree = ast.parse((SOURCE / room / "__init__.py").read_text())
    given = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    listed: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            listed = set(ast.literal_eval(node.value))
    assert given == listed


def test_the_command_line_starts_light() -> None:
    code = "import sys, orion.cli.main; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pyspark", "confluent_kafka", "pyarrow", "duckdb", "deltalake", "pandas"}


def test_versions_agree() -> None:
    from orion import __version__

    project = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{__version__}"' in project
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_no_file_names_a_registry_host() -> None:
    hosts = re.compile(r"https?://[^\s\"']*(/simple|/maven2|files\.pythonhosted)")
    for path in [*ROOT.glob("requirements/*"), ROOT / "pyproject.toml", *MODULES]:
        assert not hosts.search(path.read_text()), path
