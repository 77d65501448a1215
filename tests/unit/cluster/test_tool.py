import tomllib
from pathlib import Path

import pytest

from orion.cluster import TOOL_CLASSES, UnknownToolError, plan_tool, translate


def planned(name: str, *arguments: str, environ: dict[str, str] | None = None) -> list[str]:
    command, _ = plan_tool(
        name, arguments, java_path="java", class_path="a.jar:b.jar", environ=environ or {}
    )
    return command


def test_a_tool_is_its_class_with_the_users_arguments() -> None:
    command = planned("kafka-topics.sh", "--list")
    assert command[0] == "java"
    assert command[-4:] == ["-cp", "a.jar:b.jar", "org.apache.kafka.tools.TopicCommand", "--list"]


def test_the_variables_of_kafkas_own_scripts_count() -> None:
    environ = {"KAFKA_HEAP_OPTS": "-Xmx2g -Xms1g", "KAFKA_OPTS": "-Da=b"}
    command = planned("kafka-topics", environ=environ)
    assert {"-Xmx2g", "-Xms1g", "-Da=b"} <= set(command)


def test_an_unknown_tool_names_the_nearest() -> None:
    with pytest.raises(UnknownToolError, match="kafka-topics"):
        planned("kafka-topic")


def test_every_tool_is_a_command_with_and_without_sh() -> None:
    pyproject = Path(__file__).parents[3] / "pyproject.toml"
    scripts = tomllib.loads(pyproject.read_text())["project"]["scripts"]
    assert {f"{name}{end}" for name in TOOL_CLASSES for end in ("", ".sh")} <= set(scripts)


@pytest.mark.parametrize("tool", ["kafka-console-producer", "kafka-get-offsets"])
@pytest.mark.parametrize("glue", [" ", "="])
def test_a_broker_list_becomes_bootstrap_servers(tool: str, glue: str) -> None:
    words, notes = translate(tool, f"--broker-list{glue}h:1,h:2 --topic t".split())
    assert words == f"--bootstrap-server{glue}h:1,h:2 --topic t".split()
    assert len(notes) == 1


def test_properties_get_their_new_name_with_one_note() -> None:
    given = ["--property", "parse.key=true", "--property", "key.separator=:"]
    words, notes = translate("kafka-console-producer", given)
    assert words[::2] == ["--reader-property", "--reader-property"]
    assert words[1::2] == given[1::2]
    assert len(notes) == 1
    assert translate("kafka-console-consumer", given)[0][0] == "--formatter-property"


@pytest.mark.parametrize("tool", ["kafka-reassign-partitions", "kafka-log-dirs"])
def test_a_list_of_broker_ids_stays(tool: str) -> None:
    given = ["--broker-list", "1,2"]
    assert translate(tool, given) == (given, [])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("segment.bytes=256", "segment.ms=1000"),
        ("cleanup.policy=compact,segment.bytes=256", "cleanup.policy=compact,segment.ms=1000"),
        ("segment.bytes=1048576", "segment.bytes=1048576"),
        ("internal.segment.bytes=256", "internal.segment.bytes=256"),
    ],
)
def test_a_segment_too_small_for_kafka_4_is_closed_by_time(given: str, expected: str) -> None:
    words, notes = translate("kafka-configs", ["--alter", "--add-config", given])
    assert words == ["--alter", "--add-config", expected]
    assert bool(notes) == (given != expected)
    assert all("1048576" in note and "segment.ms" in note for note in notes)


def test_records_that_look_like_settings_are_left_alone() -> None:
    given = ["--topic", "segment.bytes=1"]
    assert translate("kafka-topics", given) == (given, [])
