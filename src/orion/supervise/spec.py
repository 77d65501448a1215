"""A process to be kept running, and what is known about it while it runs; plain values."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class State(StrEnum):
    """Where a supervised process is in its life."""

    STARTING = "starting"
    READY = "ready"
    BACKING_OFF = "backing-off"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class RestartPolicy:
    """When and how fast a process that ended is started again.

    Args:
        max_restarts: Restarts without a stable run in between; None: for ever.
        after_success: Whether an exit with code 0 is a reason to start again.

    """

    max_restarts: int | None = None
    first_delay_s: float = 0.5
    longest_delay_s: float = 30.0
    stable_after_s: float = 30.0
    after_success: bool = True

    def delay_s(self, restarts: int) -> float:
        """Return the wait before the next start, doubled for each restart so far."""
        return min(self.first_delay_s * 2.0 ** min(restarts, 16), self.longest_delay_s)


@dataclass(frozen=True)
class ProcessSpec:
    """What to run and how to know that it works.

    Args:
        env: Variables added to the supervisor's own.
        ports: Ports the process listens on; they must be free before the start.
        port_flag: What a user changes to move the ports, for the error message.
        ready: Asked again and again from a thread until true; None: ready once started.
        order: Lower ones are started first and stopped last; equal ones together.
        starts_early: Whether it is started with the order below, which it waits for by itself.
        required: Whether the platform counts as started only when this is ready.

    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    ports: tuple[int, ...] = ()
    port_flag: str = ""
    ready: Callable[[], bool] | None = None
    ready_timeout_s: float = 60.0
    order: int = 0
    starts_early: bool = False
    stop_signal: int = signal.SIGTERM
    required: bool = True
    restart: RestartPolicy = field(default_factory=RestartPolicy)

    @property
    def start_order(self) -> int:
        """When it is started."""
        return self.order - self.starts_early


@dataclass(frozen=True)
class ProcessStatus:
    """A supervised process at one moment."""

    name: str
    state: State
    pid: int | None
    ports: tuple[int, ...]
    uptime_s: float | None
    restarts: int
    last_exit: str | None
    memory_bytes: int | None
    required: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the control socket and `--json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "ProcessStatus":
        """Read what `to_json` wrote."""
        return cls(**{**body, "state": State(body["state"]), "ports": tuple(body["ports"])})
