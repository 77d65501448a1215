"""Kill -9 of the engine in the middle of a change of tables, with records that come too late.

Each strike starts an engine of its own, which is too long for `make test`.
"""

from collections import Counter
from pathlib import Path

import pytest

from orion.app import App, load_settings
from orion.log import Groups, Topics
from orion.model import OrionError
from orion.sql import parse_statements
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer
from tests.integration.test_sql_state_kill import Writer, read_rows, start_engine, strike_engine

SCRIPT = """
CREATE STREAM {t}_events (k STRING KEY, id INT, n BIGINT, happened BIGINT)
  WITH (KAFKA_TOPIC='{t}_events', VALUE_FORMAT='JSON', PARTITIONS=2);
CREATE STREAM {t}_echoes (k STRING KEY, id INT)
  WITH (KAFKA_TOPIC='{t}_echoes', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE STREAM {t}_timed (k STRING KEY, id INT, happened BIGINT)
  WITH (KAFKA_TOPIC='{t}_events', VALUE_FORMAT='JSON', TIMESTAMP='happened');
CREATE TABLE {t}_punctual WITH (LATE_TOPIC='{t}_late') AS SELECT k, COUNT(*) AS c FROM {t}_timed
  WINDOW TUMBLING (SIZE 1 SECOND, GRACE PERIOD 0 SECONDS) GROUP BY k;
CREATE TABLE {t}_made AS SELECT k, COUNT(*) AS c FROM {t}_events GROUP BY k;
CREATE OR REPLACE TABLE {t}_made WITH (REBUILD=true) AS
  SELECT k, SUM(n) AS c FROM {t}_events WHERE k <> 'k3' GROUP BY k;
"""
# When half of the change is done; with the late records' state kept and their transaction not.
STRIKES = ("after_differences", "in_transaction:2")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_one_of_two_tables_is_there_and_late_records_are_told_once(
    kafka: KafkaServer, topic: str, tmp_path: Path
) -> None:
    prefix = "c" + topic.replace("-", "").replace("_", "")[-8:]
    app = App(load_settings({"kafka.bootstrap_servers": kafka.addresses}, project=tmp_path))
    commands = app.open_commands(app.schemas)
    for statement in parse_statements(SCRIPT.format(t=prefix)):
        commands.accept(statement, {})
    mine = [name for name in commands.queries if f"_{prefix.upper()}_" in name]
    writer = Writer(app, prefix)
    try:
        for strike in STRIKES:
            strike_engine(start_engine(tmp_path, kafka.addresses, strike), writer)
        engine = start_engine(tmp_path, kafka.addresses, "")
        try:
            _drain(app, mine, f"{prefix.upper()}_MADE.{mine[-1]}.beside")
        finally:
            engine.terminate()
            engine.wait(timeout=30)
    finally:
        writer.close()
        for name in mine:
            (statement,) = parse_statements(f"TERMINATE {name};")
            commands.accept(statement, {})
    totals: Counter[bytes] = Counter()
    for key, _, number, _ in writer.events:
        totals[key.encode()] += number
    made = dict(read_rows(app, f"{prefix.upper()}_MADE"))
    assert made.pop(b"k3", None) is None
    del totals[b"k3"]
    assert {key: row["C"] for key, row in made.items()} == totals
    late = [row["id"] for _, row in read_rows(app, f"{prefix}_late")]
    assert late
    assert len(set(late)) == len(late)
    assert len(read_rows(app, f"{prefix.upper()}_PUNCTUAL")) + len(late) == len(writer.events)


def _drain(app: App, queries: list[str], beside: str) -> None:
    groups, topics = Groups(app.connection), Topics(app.connection)

    def is_done() -> bool:
        try:
            return not topics.exists(beside) and all(
                groups.get(name).lag_records == 0 for name in queries
            )
        except OrionError:
            return False

    wait_until(is_done, timeout_s=120, what="The end of all topics, in the new table's place")
