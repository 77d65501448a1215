"""A classroom's first hour with streaming SQL, typed at the shell: watch, filter, split, join."""

import json
import sys
from pathlib import Path

import pytest

from orion.log import Topics
from tests.e2e.platform import Platform
from tests.terminal import END, INTERRUPT, Terminal

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]
BIN = Path(sys.executable).parent
ROWS = 6


@pytest.fixture
def house(platform: Platform) -> Platform:
    """Give a platform whose topic holds what probes and pumps of a greenhouse said."""
    probes = (
        f'{{"sensor_id":"probe","datetime":{at},"value":{{"long":{at * 10}}}}}'
        for at in range(ROWS)
    )
    pumps = (
        f'{{"sensor_id":"pump","datetime":{at},"value":{{"string":"step {at}"}}}}'
        for at in range(ROWS)
    )
    platform.produce("greenhouse", *probes, *pumps)
    return platform


def test_an_hour_at_the_shell(house: Platform) -> None:
    project = house.project
    command = [str(BIN / "orion"), "sql"]
    with Terminal(command, folder=project.folder, env=project.env) as shell:
        shell.wait_for("orion>")
        _look(shell)
        _declare(shell)
        _split(shell)
        _write_units(house)
        _join(shell)
        shell.wait_for("orion>")
        shell.type(END)
        assert shell.process.wait(timeout=15) == 0


def _look(shell: Terminal) -> None:
    shell.enter("SHOW TOPICS;")
    shell.wait_for("greenhouse")
    shell.enter("SHOW TABLES;")
    shell.enter("SHOW STREAMS;")
    shell.enter("PRINT greenhouse FROM BEGINNING;")
    shell.wait_for('"step 5"')
    shell.type(INTERRUPT)
    shell.wait_for("Query terminated.")


def _declare(shell: Terminal) -> None:
    shell.enter("CREATE STREAM greenhouse(sensor_id varchar, datetime bigint,")
    shell.enter("  value STRUCT<STRING VARCHAR, LONG BIGINT>)")
    shell.enter("WITH (KAFKA_TOPIC = 'greenhouse', value_format='AVRO');")
    shell.wait_for("Stream created")
    shell.enter("DESCRIBE greenhouse;")
    shell.wait_for("STRUCT<STRING STRING, LONG BIGINT>")
    # Without more words a query shows what comes from now on: nothing here.
    shell.enter("SELECT * FROM greenhouse emit changes;")
    shell.wait_for("SENSOR_ID")
    shell.type(INTERRUPT)
    assert "probe" not in shell.wait_for("Query terminated.")
    shell.enter("SET 'auto.offset.reset' = 'earliest';")
    shell.wait_for("is set to 'earliest'")
    shell.enter("SELECT * FROM greenhouse emit changes;")
    shell.wait_for("step 5")
    shell.type(INTERRUPT)
    shell.wait_for("Query terminated.")


def _split(shell: Terminal) -> None:
    shell.enter("CREATE STREAM probes AS SELECT sensor_id, datetime, value->long AS value")
    shell.enter("FROM greenhouse WHERE sensor_id = 'probe';")
    shell.wait_for("CSAS_PROBES")
    shell.enter("CREATE STREAM pumps AS SELECT sensor_id, datetime, value->string AS value")
    shell.enter("FROM greenhouse WHERE sensor_id = 'pump';")
    shell.wait_for("CSAS_PUMPS")
    shell.enter("SHOW STREAMS;")
    shell.wait_for("PUMPS")
    shell.enter("SELECT * FROM probes emit changes limit 5;")
    shell.wait_for("40")
    shell.wait_for("orion>")
    shell.enter("CREATE STREAM warm_probes AS SELECT * FROM probes WHERE value >= 40;")
    shell.wait_for("CSAS_WARM_PROBES")
    shell.enter("SELECT * FROM warm_probes EMIT CHANGES LIMIT 2;")
    shell.wait_for("50")
    shell.wait_for("orion>")


def _write_units(house: Platform) -> None:
    """Say what is measured, and then measure: a stream meets a table as it was at that time."""
    Topics(house.project.connection).create("units", partitions=1)
    producer = house.project.connection.producer()
    for sensor, kind in (("probe", "degrees"), ("pump", "state")):
        value = json.dumps({"sensor_id": sensor, "type": kind}).encode()
        producer.produce("units", value, key=sensor.encode())
    assert producer.flush(20) == 0
    house.produce("greenhouse", '{"sensor_id":"probe","datetime":9,"value":{"long":77}}')


def _join(shell: Terminal) -> None:
    shell.enter("CREATE TABLE units(sensor_id VARCHAR PRIMARY KEY, type VARCHAR)")
    shell.enter("WITH (KAFKA_TOPIC = 'units', value_format='JSON');")
    shell.wait_for("Table created")
    shell.enter("SELECT p.sensor_id, p.value, u.type FROM probes p")
    shell.enter("JOIN units u ON p.sensor_id = u.sensor_id EMIT CHANGES;")
    shell.wait_for("degrees")
    shell.type(INTERRUPT)
    shell.wait_for("Query terminated.")
