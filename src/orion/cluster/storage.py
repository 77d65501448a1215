"""The data of a local Kafka: formatted once, tied to one cluster id and one shape."""

import base64
import json
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orion.model import ConflictError, UnavailableError


class ShapeChangedError(ConflictError):
    """Raised when existing data was made by another number of brokers."""

    def __init__(self, found: int, wanted: int) -> None:
        self.found, self.wanted = found, wanted
        word = "broker" if found == 1 else "brokers"
        super().__init__(
            f"This project's Kafka data was made by {found} {word}; {wanted} cannot use it.",
            fix=f"Run: orion up --brokers {found}, or delete the data first with: orion reset",
        )


class FormatError(UnavailableError):
    """Raised when Kafka's storage tool refuses a folder."""

    def __init__(self, folder: Path, detail: str) -> None:
        self.folder, self.detail = folder, detail
        super().__init__(
            f"Kafka's storage in {folder} could not be formatted: {detail}",
            fix="Check the setting kafka.broker_options, or start over with: orion reset",
        )


@dataclass(frozen=True)
class Storage:
    """The folder that holds every node of one local Kafka."""

    folder: Path

    def cluster_id(self, *, brokers: int) -> str:
        """Return the cluster's id, made at the first start; refuse data of another shape."""
        path = self.folder / "cluster.json"
        if path.is_file():
            body = json.loads(path.read_text())
            if body["brokers"] != brokers:
                raise ShapeChangedError(body["brokers"], brokers)
            return str(body["cluster_id"])
        self.folder.mkdir(parents=True, exist_ok=True)
        made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # Kafka's tools would read a leading dash as an option.
        made = "A" + made[1:]
        path.write_text(json.dumps({"cluster_id": made, "brokers": brokers}))
        return made

    def node_folder(self, name: str) -> Path:
        """Return the folder of one node."""
        return self.folder / name

    def is_formatted(self, name: str) -> bool:
        """Tell whether a node's storage is ready for its first start."""
        return (self.node_folder(name) / "log" / "meta.properties").is_file()

    def format(self, names: Sequence[str], *, storage_tool: Sequence[str], cluster_id: str) -> None:
        """Format the storage of nodes that have none, all at the same time."""
        running = []
        for name in names:
            if self.is_formatted(name):
                continue
            folder = self.node_folder(name)
            command = [*storage_tool, "format", "--cluster-id", cluster_id]
            command += ["--config", str(folder / "server.properties"), "--ignore-formatted"]
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            running.append((folder, process))
        for folder, process in running:
            output, _ = process.communicate()
            if process.returncode:
                raise FormatError(folder, _reason(output))


def _reason(output: str) -> str:
    """Return what a Java program said before its stack trace."""
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("\tat ")]
    return lines[-1].partition("Exception: ")[2] or lines[-1] if lines else "no reason given."
