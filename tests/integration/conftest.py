"""One Spark for all tests of a session: starting it costs more than most of them."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from orion import pipeline
from orion.app import App, load_settings
from orion.testing.kafka import KafkaServer
from tests.integration.bench import Bench


@pytest.fixture(scope="session")
def app(kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory) -> App:
    """Give a project on the session's Kafka."""
    flags = {
        "kafka.bootstrap_servers": kafka.addresses,
        "engine.backoff": "100ms",
        "engine.max_restarts": 2,
    }
    return App(load_settings(flags, project=tmp_path_factory.mktemp("project")))


@pytest.fixture(scope="session")
def spark_app(app: App) -> Iterator[pipeline.Pipeline]:
    """Give a pipeline whose Spark lives as long as the session."""
    own = pipeline.Pipeline(app, "tests")
    pipeline.begin(own)
    yield own
    own.stop()
    own.runtime.spark.stop()


@pytest.fixture
def live(spark_app: pipeline.Pipeline) -> pipeline.Pipeline:
    """Run queries until they are stopped."""
    spark_app.once = False
    return spark_app


@pytest.fixture
def once(spark_app: pipeline.Pipeline) -> pipeline.Pipeline:
    """Run queries over what is there, then end."""
    spark_app.once = True
    return spark_app


@pytest.fixture
def bench(app: App, live: pipeline.Pipeline, tmp_path: Path) -> Iterator[Bench]:
    """Give a catalogue of its own; its queries end with the test."""
    own = Bench(app, live.runtime, tmp_path)
    yield own
    own.stop()


@pytest.fixture
def name() -> str:
    """Give a query name that no other test uses."""
    return f"query-{uuid.uuid4().hex[:8]}"
