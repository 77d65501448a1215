"""The options of a Spark application."""

from dataclasses import replace
from pathlib import Path

from orion.config import SparkSettings
from orion.process import Shipment, session_options

_SHIPMENT = Shipment(
    [Path("/jars/kafka.jar")], [Path("/jars/disk.jar")], java_options=["-XX:Archive=/a b"]
)
_DRIVER, _DISK = "spark.driver.extraClassPath", "spark.hadoop.fs.file.impl"


def _options(**given: object) -> dict[str, str]:
    settings = SparkSettings(**given)  # type: ignore[arg-type]
    return session_options(settings, _SHIPMENT, scratch=Path("/scratch"), name="test")


def test_files_on_this_machine_are_written_without_starting_a_process() -> None:
    options = _options()
    assert "Bare" in options[_DISK]
    assert options[_DRIVER] == "/jars/disk.jar:/jars/kafka.jar"
    assert "spark.jars" not in options


def test_the_driver_gets_what_its_jvm_is_told_in_quotes() -> None:
    assert '"-XX:Archive=/a b"' in _options()["spark.driver.extraJavaOptions"]


def test_a_cluster_on_this_machine_gets_its_jars_from_spark() -> None:
    options = _options(master="spark://127.0.0.1:7077")
    assert options["spark.jars"] == "/jars/kafka.jar"
    assert options[_DRIVER] == "/jars/disk.jar"


def test_a_folder_with_a_space_holds_what_is_shipped() -> None:
    shipment = replace(_SHIPMENT, python=Path("/a b/python.tar"))
    settings = SparkSettings(master="spark://far.example:7077")
    options = session_options(settings, shipment, scratch=Path("/scratch"), name="test")
    assert options["spark.archives"].startswith("file:///a%20b/python.tar#")


def test_a_cluster_elsewhere_keeps_its_own_file_system() -> None:
    options = _options(master="spark://far.example:7077")
    assert not {_DISK, _DRIVER} & {*options}
    assert options["spark.jars"] == "/jars/kafka.jar"


def test_a_users_option_wins_and_a_users_class_path_is_added() -> None:
    options = _options(options={"spark.ui.enabled": "true", _DRIVER: "/mine.jar"})
    assert options["spark.ui.enabled"] == "true"
    assert options[_DRIVER] == "/mine.jar:/jars/disk.jar:/jars/kafka.jar"


def test_errors_name_lines_of_python_unless_nobody_wrote_them() -> None:
    debugging = "spark.python.sql.dataFrameDebugging.enabled"
    assert _options()[debugging] == "true"
    settings = SparkSettings(options={})
    scratch = Path("/scratch")
    own = session_options(settings, _SHIPMENT, scratch=scratch, name="engine", tells_lines=False)
    assert own[debugging] == "false"


def test_arrow_asks_nothing_of_each_value_in_drivers_and_executors() -> None:
    options = _options(master="spark://far.example:7077")
    for whose in ("driver", "executor"):
        told = options[f"spark.{whose}.extraJavaOptions"]
        assert "-Darrow.enable_unsafe_memory_access=true" in told
