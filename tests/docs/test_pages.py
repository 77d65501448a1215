"""The commands of the docs, run in their order on a platform of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orion.supervise import free_ports
from orion.testing.project import Project

DOCS = Path(__file__).parent.parent.parent / "docs"
# A page and the name its first Python block is saved under.
PAGES = [
    ("topics.md", ""),
    ("groups.md", ""),
    ("schemas.md", ""),
    ("sql-api.md", ""),
    ("rest-proxy.md", ""),
    ("pipelines.md", "pipeline.py"),
]
# Pages that also need the HTTP server.
SERVED = {"schemas.md", "rest-proxy.md", "sql-api.md"}
# The ports that pages name, and the flags that move them.
PORTS = {
    9092: "--port",
    8081: "--registry-port",
    8082: "--rest-port",
    8088: "--sql-port",
}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [body for kind, body in _BLOCK.findall((DOCS / page).read_text()) if kind == language]


def commands(page: str) -> Iterator[str]:
    for body in blocks(page, "console"):
        for line in body.splitlines():
            if line.startswith("$ "):
                yield line.removeprefix("$ ")


def _links(page: Path) -> list[str]:
    """Return what a page links to in this repository."""
    found = re.findall(r"\]\(([^)#]+)", page.read_text())
    return [target for target in found if "://" not in target]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "file"), PAGES)
def test_the_commands_of_a_page_work(page: str, file: str, project: Project) -> None:
    if page in SERVED:
        project = replace(project, env={**project.env, "ORION_SERVER_ENABLED": "true"})
    controller, *found = free_ports(1 + len(PORTS))
    ports = dict(zip(PORTS, found, strict=True))
    flags = [f"{flag}={ports[named]}" for named, flag in PORTS.items()]
    project.succeed("up", "--detach", f"--controller-ports={controller}", *flags)
    if file:
        (project.folder / file).write_text(blocks(page, "python")[0])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    wanted = list(commands(page))
    assert wanted, "a page without commands teaches nothing"
    for command in wanted:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", _moved(command, ports)],
            cwd=project.folder,
            env={**os.environ, **project.env, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"


def _moved(command: str, ports: dict[int, int]) -> str:
    for named, port in ports.items():
        command = command.replace(f"localhost:{named}", f"localhost:{port}")
    return command


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_links_lead_somewhere(page: str) -> None:
    for target in _links(DOCS / page):
        assert (DOCS / target).exists(), target


def test_the_readme_leads_somewhere() -> None:
    root = DOCS.parent
    for target in _links(root / "README.md"):
        assert (root / target).exists(), target
