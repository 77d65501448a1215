"""Kill -9 of the broker, and of the app, under a supervised platform: the books still balance."""

import pytest

from orion.lake import Lake
from orion.log import Groups, Topics
from orion.supervise import SupervisorClient, free_ports
from orion.testing import wait_until
from orion.testing.project import Project
from tests.integration.ledger import Ledger, check_dead_letters, check_table, check_topic

APP = """
import orion
rows = orion.stream("numbers", "id BIGINT")
orion.to_topic(rows, "copied", name="copy")
orion.to_table(rows.select("id", "_offset"), "kept", name="keep")
"""


@pytest.mark.slow
def test_a_killed_broker_and_a_killed_app_lose_and_double_nothing(project: Project) -> None:
    port, controller = free_ports(2)
    project.succeed("up", "--detach", "--port", str(port), "--controller-ports", str(controller))
    ledger = Ledger(project.connection, "numbers")
    Topics(project.connection).create("numbers", partitions=2)
    ledger.write(1_000)
    (project.folder / "app.py").write_text(APP)
    project.succeed("run", "app.py", "--detach")
    wait_until(lambda: _committed(project, "copy") > 0, timeout_s=90, what="The first batch")
    for victim in ("broker-1", "app", "broker-1"):
        ledger.write(500)
        SupervisorClient(project.run).kill(victim)
        project.connection.wait(timeout_s=60)
        ledger.write(500)
    end = len(ledger.acknowledged) + ledger.bad
    for query in ("copy", "keep"):
        wait_until(lambda q=query: _committed(project, q) == end, timeout_s=120, what=query)  # type: ignore[misc]
    check_topic(ledger, "copied")
    check_table(ledger, Lake(str(project.folder / ".orion" / "lake")), "kept")
    check_dead_letters(ledger, "copy.dlq")
    check_dead_letters(ledger, "keep.dlq")


def _committed(project: Project, group: str) -> int:
    groups = Groups(project.connection)
    if group not in groups.names():
        return 0
    return sum(part.committed or 0 for part in groups.get(group).partitions)
