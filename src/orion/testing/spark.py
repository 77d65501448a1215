"""Run pipelines as users do: a file, the real `orion` command, a Kafka that is there already."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Spark starts, reads what is there and ends; slow machines included.
_TIMEOUT_S = 170.0


@dataclass(frozen=True)
class Pipelines:
    """A project folder whose commands speak to a given Kafka."""

    folder: Path
    addresses: str

    @property
    def environment(self) -> dict[str, str]:
        """What its commands are started with."""
        given = {
            "ORION_KAFKA_BOOTSTRAP_SERVERS": self.addresses,
            "ORION_PROJECT": str(self.folder),
            "COLUMNS": "80",
        }
        return {**os.environ, **given}

    def orion(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """Run an orion command here."""
        return subprocess.run(
            [str(Path(sys.executable).parent / "orion"), *words],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )

    def succeed(self, *words: str) -> str:
        """Run a command that must succeed; return what it printed."""
        done = self.orion(*words)
        if done.returncode:
            text = f"orion {' '.join(words)} ended with {done.returncode}"
            raise AssertionError(f"{text}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def read_json(self, *words: str) -> Any:
        """Run a command with --json; return what it said."""
        return json.loads(self.succeed(*words, "--json"))

    def run_once(self, source: str, *, name: str) -> str:
        """Run a pipeline over what its topics hold now."""
        file = self.folder / f"{name}.py"
        file.write_text(source)
        return self.succeed("run", str(file), "--once")

    def start(self, source: str, *, name: str) -> "subprocess.Popen[str]":
        """Start a pipeline that goes on until it is stopped."""
        file = self.folder / f"{name}.py"
        file.write_text(source)
        return subprocess.Popen(
            [str(Path(sys.executable).parent / "orion"), "run", str(file)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
