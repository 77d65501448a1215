"""Every command teaches by an example; the ones that need no platform answer."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from orion.cli.main import app


def commands(tree: typer.Typer, path: str = "orion") -> Iterator[tuple[str, str]]:
    for command in tree.registered_commands:
        if command.callback is not None and not command.hidden:
            name = command.name or command.callback.__name__.strip("_").replace("_", "-")
            yield f"{path} {name}", f"{command.callback.__doc__} {command.epilog or ''}"
    for group in tree.registered_groups:
        inner = group.typer_instance
        if inner is not None:
            yield from commands(inner, f"{path} {group.name}" if group.name else path)


@pytest.mark.parametrize(("name", "words"), sorted(commands(app)))
def test_every_command_has_an_example(name: str, words: str) -> None:
    assert "Example" in words, name


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "orion.cli.main", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_config_shows_value_origin_and_meaning(tmp_path: Path) -> None:
    (tmp_path / "orion.toml").write_text(
        '[spark]\nmemory = "3g"\n[kafka.options]\n"sasl.password" = "planted"\n'
    )
    done = run(tmp_path, "config", "show", "--json")
    found = {row["key"]: row for row in json.loads(done.stdout)}
    memory = found["spark.memory"]
    assert (memory["value"], memory["origin"]) == ("3g", "orion.toml")
    assert memory["meaning"]
    assert "planted" not in done.stdout + done.stderr


def test_an_unknown_setting_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "orion.toml").write_text('[spark]\nmemroy = "3g"\n')
    done = run(tmp_path, "config", "show")
    assert done.returncode == 2
    assert "Did you mean 'spark.memory'?" in " ".join(done.stderr.split())


def test_doctor_checks_each_part(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode in (0, 1)
    names = " ".join(str(check).lower() for check in found)
    for part in ("java", "memory", "disk", "port", "jars"):
        assert part in names


def test_commands_say_that_no_platform_runs(tmp_path: Path) -> None:
    assert run(tmp_path, "status").returncode == 3
    done = run(tmp_path, "run", "nowhere.py")
    assert done.returncode == 3
    assert "does not exist" in done.stderr
