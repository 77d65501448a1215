"""A query that is started again and again leaves nothing of its earlier runs in either process."""

import gc
import threading
from typing import Any

from orion.pipeline import Pipeline
from orion.testing import wait_until
from tests.integration.bench import Bench

RUNS = 6


def test_runs_that_have_ended_are_forgotten(bench: Bench, live: Pipeline, topic: str) -> None:
    name = topic.replace("-", "_")
    bench.plan(f"""
        CREATE STREAM {name} (k STRING KEY, n INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);
    """)
    bench.write(topic, [("a", b'{"n": 1}')])
    gateway: Any = live.runtime.spark.sparkContext._gateway
    # What Java may call is kept until Java has let go of it: all runs, if they hold each other.
    called = gateway.gateway_property.pool.dict
    before = set(called)
    bench.sql(f"CREATE TABLE {name}_t AS SELECT k, COUNT(*) AS c FROM {name} GROUP BY k;")
    bench.settle()
    threads = threading.active_count()
    for _ in range(RUNS):
        bench.order("stop")
        bench.order("restart")
        bench.write(topic, [("a", b'{"n": 1}')])
        bench.settle()
    assert bench.read(f"{name}_T".upper())[-1][1] == {"C": RUNS + 1}

    def are_forgotten() -> bool:
        gc.collect()
        gateway.jvm.System.gc()
        # The one that runs, and the one that Spark looked at last.
        return len(set(called) - before) <= 2

    wait_until(are_forgotten, timeout_s=30, what="The end of earlier runs in the JVM")
    assert threading.active_count() <= threads + 2
