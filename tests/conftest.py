"""What every test may use: a real Kafka, fresh topics, projects of their own."""

import os
import signal
from typing import Any

import pytest

from tests.spread import Spread, rank

pytest_plugins = ["orion.testing.kafka", "orion.testing.project", "orion.testing.server"]

# A process that lives for seconds does not earn back the JVM's second compiler. With one compiler
# the JVM would leave room for a fifth of the code; a session's Spark fills that in minutes.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m")

# Shells start what they put into the background with interrupts ignored, and that is inherited:
# no process of a test could be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long."""
    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Spread | None:
    """Spread files over workers; other ways of pytest-xdist stay as they are."""
    return Spread(config, log) if config.getvalue("dist") == "loadfile" else None
