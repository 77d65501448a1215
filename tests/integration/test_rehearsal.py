"""Archives of classes that `orion jars fetch` has left: they are there, fit, and are used."""

import subprocess

from orion.app import App
from orion.pipeline import Pipeline


def test_a_broker_finds_the_classes_of_its_rehearsal(app: App) -> None:
    assert app.kafka_classes.is_there()
    # With this option a JVM that cannot use its archive does not start.
    java = [app.java.path, "-Xshare:on", "-XX:+UseSerialGC", *app.kafka_classes.options()]
    command = [*java, "-cp", app.jars.class_path("kafka"), "-version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_spark_starts_from_its_rehearsal(app: App, spark_app: Pipeline) -> None:
    assert app.spark_classes.is_there()
    jvm = spark_app.runtime.spark._jvm
    assert jvm is not None
    given = jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
    assert f"-XX:SharedArchiveFile={app.spark_classes.path}" in list(given)
