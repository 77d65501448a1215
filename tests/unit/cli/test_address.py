"""Addresses that only a sheet knows mean the platform that runs, and only then."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orion.app import App, load_settings
from orion.cli.address import with_known_addresses

# Names under `invalid` never resolve.
UNKNOWN = "broker.invalid:9092"


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(load_settings({"kafka.ports": (19999,)}, project=tmp_path))


@pytest.fixture
def running(app: App) -> Iterator[App]:
    """Hold the project as a supervisor does."""
    with app.run_folder.acquire():
        yield app


def test_nothing_changes_without_a_platform(app: App) -> None:
    words = ["--list", "--bootstrap-server", UNKNOWN]
    assert list(with_known_addresses(app, words)) == words


def test_unknown_hosts_become_the_platforms_own(
    running: App, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--bootstrap-server", UNKNOWN, f"--broker-list={UNKNOWN}", "--topic", UNKNOWN]
    own = running.settings.kafka.addresses
    found = list(with_known_addresses(running, words))
    assert found == ["--bootstrap-server", own, f"--broker-list={own}", "--topic", UNKNOWN]
    assert "host 'broker.invalid' is not known here" in capsys.readouterr().err


def test_known_hosts_stay(running: App) -> None:
    words = ["--bootstrap-server", "127.0.0.1:1,127.0.0.1:2"]
    assert list(with_known_addresses(running, words)) == words
