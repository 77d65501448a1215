"""The platform's commands against real brokers."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from orion.supervise import free_ports, process_exists
from orion.testing.project import Project
from orion.testing.wait import wait_until

pytestmark = pytest.mark.timeout(180)


def up(project: Project) -> int:
    """Start a broker on free ports; return its port."""
    port, controller = free_ports(2)
    project.succeed("up", "-d", "--port", str(port), "--controller-ports", str(controller))
    return port


def family(project: Project) -> list[int]:
    pid = project.run.supervisor_pid()
    assert pid
    return [p.pid for p in psutil.Process(pid).children(recursive=True)]


def produce(project: Project, topic: str, value: bytes) -> None:
    producer = project.connection.producer(message_max_bytes=12_000_000)
    producer.produce(topic, value)
    assert producer.flush(20) == 0


def first_value(project: Project, topic: str) -> bytes | None:
    consumer = project.connection.consumer("reader", auto_offset_reset="earliest")
    try:
        consumer.subscribe([topic])
        message = wait_until(lambda: consumer.poll(1.0), what="A record")
        return message.value() if message and not message.error() else None
    finally:
        consumer.close()


def test_a_platform_goes_up_survives_its_broker_and_goes_down(project: Project, topic: str) -> None:
    port = up(project)
    # Later commands know the ports without being told.
    shown = json.loads(project.succeed("status", "--json"))
    broker = shown["processes"][0]
    assert (broker["name"], broker["state"], broker["ports"][0]) == ("broker-1", "ready", port)
    assert f"127.0.0.1:{port}" in project.succeed("broker", "list")
    assert "Kafka Server started" in project.succeed("logs", "broker-1", "-n", "5")

    second = project.orion("up", "-d")
    assert second.returncode == 4
    assert str(shown["supervisor_pid"]) in second.stderr

    produce(project, topic, b"x" * 10_000_000)
    os.kill(broker["pid"], signal.SIGKILL)
    wait_until(lambda: project.status("broker-1").restarts == 1)
    wait_until(lambda: project.status("broker-1").state == "ready", timeout_s=60)
    assert first_value(project, topic) == b"x" * 10_000_000
    assert "killed by SIGKILL" in project.succeed("status")

    refused = project.orion("reset", "--yes")
    assert refused.returncode == 4
    assert "orion down" in refused.stderr

    pids = family(project)
    project.succeed("down")
    assert not any(process_exists(pid) for pid in pids)
    assert project.orion("status").returncode == 3

    changed = project.orion("up", "--brokers", "3")
    assert changed.returncode == 4
    assert "orion reset" in changed.stderr
    project.succeed("reset", "--yes")
    assert not (project.folder / ".orion").exists()


def test_nothing_is_left_of_a_killed_supervisor_and_up_works_again(
    project: Project, topic: str
) -> None:
    up(project)
    produce(project, topic, b"kept")
    pids, supervisor = family(project), project.run.supervisor_pid()
    assert supervisor
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: not any(process_exists(pid) for pid in pids), timeout_s=10)
    assert project.orion("status").returncode == 3
    # Ports may change between two starts on the same data.
    up(project)
    assert first_value(project, topic) == b"kept"


def test_two_projects_run_side_by_side(make_project: Callable[[str], Project], topic: str) -> None:
    one, two = make_project("one"), make_project("two")
    assert up(one) != up(two)
    produce(one, topic, b"only in one")
    assert topic not in two.connection.admin().list_topics(timeout=10).topics
    assert topic in one.connection.admin().list_topics(timeout=10).topics
    one.succeed("down")
    assert two.status("broker-1").state == "ready"


def test_the_foreground_stops_in_order_on_ctrl_c(project: Project) -> None:
    port, controller = free_ports(2)
    command = [str(Path(sys.executable).parent / "orion"), "up", "--port", str(port)]
    with subprocess.Popen(
        [*command, "--controller-ports", str(controller)],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if "orion down" in line:
                process.send_signal(signal.SIGINT)
        assert process.wait(timeout=15) == 0
    text = "".join(lines)
    assert f"127.0.0.1:{port}" in text
    assert text.rstrip().endswith("Stopped.")


def test_a_taken_port_is_reported_with_its_holder(
    make_project: Callable[[str], Project],
) -> None:
    one, two = make_project("one"), make_project("two")
    port = up(one)
    refused = two.orion("up", "-d", "--port", str(port))
    assert refused.returncode == 4
    assert (
        f"Port {port} of broker-1 is taken by java (pid {one.status('broker-1').pid})"
        in " ".join(refused.stderr.split())
    )
    assert "--port" in refused.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[kafka.broker_options]\n"num.io.threads" = "none"\n', "num.io.threads"),
        ('[kafka]\nheap = "2k"\n', "heap"),
    ],
)
def test_a_broker_that_cannot_start_says_why(project: Project, text: str, reason: str) -> None:
    (project.folder / "orion.toml").write_text(text)
    port, controller = (str(port) for port in free_ports(2))
    done = project.orion("up", "-d", "--port", port, "--controller-ports", controller)
    assert done.returncode == 5
    assert reason in done.stderr
    assert not project.run.is_running()
