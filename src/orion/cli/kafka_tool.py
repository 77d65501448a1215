"""Kafka's tools as commands of their own: `kafka-topics` and its siblings, named by argv[0]."""

import os
import sys
from pathlib import Path

from orion.model import OrionError


def main() -> None:
    """Become the tool: signals, standard input and the exit code are its own."""
    from orion.app import App, load_settings
    from orion.cli.address import with_known_addresses
    from orion.cluster import plan_tool

    try:
        app = App(load_settings())
        java_path = app.java.path
        if app.jars.missing(("kafka",)):
            _note("fetching Kafka's jars, once (44 MB)")
            app.jars.fetch(app.java, bundles=("kafka",), progress=lambda *_: None)
        command, notes = plan_tool(
            Path(sys.argv[0]).name,
            list(with_known_addresses(app, sys.argv[1:])),
            java_path=java_path,
            class_path=app.jars.class_path("kafka"),
            environ=os.environ,
            java_options=app.kafka_classes.options(),
        )
    except OrionError as error:
        from orion.cli.output import fail

        fail(error)
        sys.exit(error.exit_code)
    for note in notes:
        _note(note)
    sys.stderr.flush()
    os.execv(command[0], command)


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")
