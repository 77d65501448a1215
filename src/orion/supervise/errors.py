"""What can keep processes from running, each with the way out."""

from pathlib import Path

from orion.model import ConflictError, NotFoundError, UnavailableError, format_bytes, nearest


class AlreadyRunningError(ConflictError):
    """Raised when another supervisor holds the project."""

    def __init__(self, pid: int | None) -> None:
        self.pid = pid
        holder = f" (pid {pid})" if pid else ""
        super().__init__(
            f"Orion is already running in this project{holder}.",
            fix="See it with: orion status, or stop it with: orion down",
        )


class NotRunningError(UnavailableError):
    """Raised when no supervisor runs in the project."""

    exit_code = 3

    def __init__(self, project: Path) -> None:
        self.project = project
        super().__init__(
            f"Orion is not running in {project}.", fix="Start it with: orion up --detach"
        )


class PortTakenError(ConflictError):
    """Raised when a port that a process needs is in use."""

    def __init__(self, name: str, port: int, holder: str, flag: str) -> None:
        self.name, self.port, self.holder = name, port, holder
        other = f", or use another port with {flag}" if flag else ""
        super().__init__(
            f"Port {port} of {name} is taken by {holder}.", fix=f"Stop that process{other}."
        )


class DiskError(UnavailableError):
    """Raised when the data folder cannot be written."""

    def __init__(self, folder: Path, reason: str, fix: str) -> None:
        self.folder, self.reason = folder, reason
        super().__init__(f"Nothing can be written to {folder}: {reason}.", fix=fix)


class DiskFullError(DiskError):
    """Raised when too little space is left to start."""

    def __init__(self, folder: Path, free_bytes: int) -> None:
        self.free_bytes = free_bytes
        super().__init__(
            folder,
            f"the disk is full ({format_bytes(free_bytes)} free)",
            "Free some space, or move the data with the setting data (ORION_DATA).",
        )


class StartError(UnavailableError):
    """Raised when a process did not become ready; keeps the end of its log."""

    def __init__(self, name: str, reason: str, *, log: Path, tail: list[str]) -> None:
        self.name, self.reason, self.log, self.tail = name, reason, log, tail
        super().__init__(
            f"Process '{name}' did not start: {reason}.", fix=f"Its log says why: orion logs {name}"
        )


class UnknownProcessError(NotFoundError):
    """Raised when no supervised process has that name."""

    def __init__(self, name: str, known: list[str]) -> None:
        self.name, self.known = name, known
        super().__init__(
            f"There is no process '{name}'.",
            fix=nearest(name, known) or f"There are: {', '.join(known) or 'none'}",
        )
