"""A running pipeline as every room speaks of it: its mode, its state, its promise."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Mode(StrEnum):
    """How a query moves records, and what it promises."""

    EXACTLY_ONCE = "exactly_once"
    AT_LEAST_ONCE = "at_least_once"
    REALTIME = "realtime"


class State(StrEnum):
    """Where a query is in its life."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    LOST = "LOST"

    @property
    def is_active(self) -> bool:
        """Whether the query reads, or will again by itself."""
        return self in (State.STARTING, State.RUNNING, State.RESTARTING)


@dataclass(frozen=True)
class QueryStatus:
    """What one query last said of itself.

    Args:
        guarantee: The promise of the whole path, its weakest link named.
        updated_ms: When it last spoke; silence means it is lost.
        state_entries: Keys, and windows of keys, that it remembers between batches.
        late_records: How many came after their window had closed.
        late_topic: Where those go; empty: they are only counted.
        watermark_ms: The event time that its windows have come to; None: it has none.
    """

    name: str
    app: str
    state: State
    mode: Mode
    sources: tuple[str, ...] = ()
    sink: str = ""
    guarantee: str = ""
    error: str = ""
    restarts: int = 0
    batch: int = -1
    dead_letters: int = 0
    records_per_second: float = 0.0
    started_ms: int = 0
    updated_ms: int = 0
    checkpoint: str = ""
    pid: int = 0
    state_entries: int = 0
    state_bytes: int = 0
    late_records: int = 0
    late_topic: str = ""
    watermark_ms: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the status as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "QueryStatus":
        """Read what `to_dict` wrote; later versions may have written more."""
        known = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        known["state"], known["mode"] = State(known["state"]), Mode(known["mode"])
        known["sources"] = tuple(known.get("sources", ()))
        return cls(**known)
