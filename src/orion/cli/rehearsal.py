"""Starts that are rehearsed once, so that later ones find the classes that they need."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orion.cli.output import errors, say
from orion.config import KafkaSettings, Settings

if TYPE_CHECKING:
    from orion.app import App

_TIMEOUT_S = 120.0


def rehearse(settings: Settings) -> None:
    """Start what has not been rehearsed, in a project of its own; all of it works without."""
    from orion.app import App
    from orion.supervise import free_ports

    with tempfile.TemporaryDirectory(prefix="orion-") as folder:
        broker, controller = free_ports(2)
        kafka = KafkaSettings(ports=(broker,), controller_ports=(controller,))
        alone = Settings(Path(folder), kafka=kafka, jars=settings.jars)
        for name, start in _missing(App(alone)):
            try:
                with errors.status(f"Rehearsing {name}'s start, so that later ones are quick …"):
                    start()
            except Exception as error:  # noqa: BLE001  whatever it is, it starts without
                say(f"{name}'s start could not be rehearsed, and takes longer: {error}")
            else:
                say(f"{name}'s start is rehearsed.")


def _missing(app: "App") -> Iterator[tuple[str, Callable[[], None]]]:
    if not app.kafka_classes.is_there():
        yield "Kafka", lambda: _start_broker(app)
    if not app.spark_classes.is_there():
        yield "Spark", lambda: _start_spark(app)


def _start_broker(app: "App") -> None:
    app.local_kafka.prepare()
    (node,) = app.local_kafka.processes()
    with app.kafka_classes.making() as java_options:
        java, *words = node.argv
        quiet = subprocess.DEVNULL
        process = subprocess.Popen([java, *java_options, *words], stdout=quiet, stderr=quiet)
        try:
            app.connection.wait(timeout_s=_TIMEOUT_S)
        finally:
            process.terminate()
            process.wait(timeout=_TIMEOUT_S)


def _start_spark(app: "App") -> None:
    from orion.process import end_session, rehearse_queries

    with app.spark_classes.making() as java_options:
        session = app.start_spark("rehearsal", java_options=java_options)
        try:
            rehearse_queries(session, app.settings.data_dir / "rehearsal")
        finally:
            end_session(session, timeout_s=_TIMEOUT_S)
