from pathlib import Path

import pytest

from orion.config import describe, find_project, read_settings
from orion.model import InvalidInputError


def write(project: Path, text: str) -> Path:
    (project / "orion.toml").write_text(text)
    return project


def test_a_flag_wins_over_a_variable_over_the_file_over_the_default(tmp_path: Path) -> None:
    write(tmp_path, '[kafka]\nheap = "2g"\nports = [9192]\ncontroller_ports = [9193]\n')
    environ = {"ORION_KAFKA_PORTS": "9292", "ORION_KAFKA_CONTROLLER_PORTS": "9293", "HOME": "/"}
    settings = read_settings(tmp_path, environ=environ, flags={"kafka.ports": 9392})
    assert settings.kafka.ports == (9392,)
    assert settings.kafka.controller_ports == (9293,)
    assert settings.kafka.heap == "2g"
    assert settings.spark.memory == "1g"
    assert settings.origins == {
        "kafka.heap": "orion.toml",
        "kafka.ports": "flag",
        "kafka.controller_ports": "ORION_KAFKA_CONTROLLER_PORTS",
    }


def test_a_flag_that_was_not_given_changes_nothing(tmp_path: Path) -> None:
    assert read_settings(tmp_path, environ={}, flags={"kafka.brokers": None}).kafka.brokers == 1


@pytest.mark.parametrize(
    ("text", "environ", "hint"),
    [
        ("[kafka]\nport = 1\n", {}, "kafka.ports"),
        ("[kakfa]\nports = [1]\n", {}, "kafka.ports"),
        ("dat = 'x'\n", {}, "data"),
        ("", {"ORION_KAFKA_BROKER": "3"}, "kafka.brokers"),
    ],
)
def test_an_unknown_key_names_the_nearest(
    tmp_path: Path, text: str, environ: dict[str, str], hint: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"Did you mean '{hint}'"):
        read_settings(write(tmp_path, text), environ=environ)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[kafka]\nbrokers = 2\n", "1 or 3"),
        ("[kafka]\nbrokers = 'many'\n", "a whole number"),
        ("[kafka]\nbrokers = 3\nports = [1]\n", "3 ports"),
        ("[kafka]\noptions = 5\n", "a table"),
        ("[engine]\nmode = 'perhaps_once'\n", "exactly_once"),
        ("[kafka\n", "not valid TOML"),
    ],
)
def test_a_wrong_value_says_what_was_expected(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InvalidInputError, match=expected):
        read_settings(write(tmp_path, text), environ={})


def test_options_pass_through_under_their_own_names(tmp_path: Path) -> None:
    text = '[kafka.options]\n"sasl.password" = "hunter2"\n"socket.nagle.disable" = true\n'
    settings = read_settings(write(tmp_path, text), environ={})
    assert settings.kafka.options["socket.nagle.disable"] == "true"
    assert settings.kafka.options["sasl.password"] == "hunter2"


def test_secrets_print_as_stars(tmp_path: Path) -> None:
    text = '[kafka.options]\n"sasl.password" = "hunter2"\n"client.id" = "me"\n'
    shown = {d.key: d.value for d in describe(read_settings(write(tmp_path, text), environ={}))}
    assert shown["kafka.options.sasl.password"] == "***"
    assert shown["kafka.options.client.id"] == "me"
    assert not any("hunter2" in value for value in shown.values())


def test_the_project_is_the_nearest_folder_with_a_file(tmp_path: Path) -> None:
    inner = write(tmp_path, "") / "a" / "b"
    inner.mkdir(parents=True)
    assert find_project(inner) == tmp_path


def test_addresses_follow_the_shape(tmp_path: Path) -> None:
    one = read_settings(tmp_path, environ={}, flags={"kafka.ports": "9500"}).kafka
    three = read_settings(tmp_path, environ={}, flags={"kafka.brokers": 3}).kafka
    far = read_settings(tmp_path, environ={"ORION_KAFKA_BOOTSTRAP_SERVERS": "k:1"}).kafka
    assert (one.addresses, one.quorum_ports) == ("127.0.0.1:9500", (9501,))
    assert three.addresses == "127.0.0.1:19092,127.0.0.1:29092,127.0.0.1:39092"
    assert (far.addresses, far.is_local) == ("k:1", False)


def test_state_is_a_folder_of_its_own_where_one_is_named(tmp_path: Path) -> None:
    def path(state: str) -> Path:
        return read_settings(tmp_path, environ={}, flags={"engine.state": state}).state_path

    assert path("") == tmp_path / ".orion" / "state"
    assert path("/mnt/shared") == Path("/mnt/shared")
    with pytest.raises(InvalidInputError, match="not at an address"):
        path("s3a://bucket/state")
