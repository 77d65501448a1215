"""Queries as metrics in Prometheus' text format: what `orion queries describe` tells."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from orion.model import QueryStatus, State

# Version 0.0.4 of the text format.
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Read = Callable[[QueryStatus], float | None]


@dataclass(frozen=True)
class _Metric:
    """One number of every query; None: the query has no such number."""

    name: str
    kind: str
    text: str
    read: Read


_METRICS = (
    _Metric("up", "gauge", "1 while the query reads.", lambda s: float(s.state.is_active)),
    _Metric("restarts", "gauge", "Restarts since it last ran stably.", lambda s: s.restarts),
    _Metric("batch", "gauge", "The number of its last batch.", lambda s: s.batch),
    _Metric(
        "records_per_second",
        "gauge",
        "Records a second of its last batch.",
        lambda s: s.records_per_second,
    ),
    _Metric(
        "dead_letters_total",
        "counter",
        "Records it could not read, since its process began.",
        lambda s: s.dead_letters,
    ),
    _Metric(
        "state_entries",
        "gauge",
        "Keys, and windows of keys, that it remembers.",
        lambda s: s.state_entries,
    ),
    _Metric("state_bytes", "gauge", "What its state takes on disk.", lambda s: s.state_bytes),
    _Metric(
        "late_records_total",
        "counter",
        "Records that came after their window had closed, since its state was begun.",
        lambda s: s.late_records,
    ),
    _Metric(
        "watermark_seconds",
        "gauge",
        "The event time that its windows have come to, since 1970.",
        lambda s: None if s.watermark_ms is None else s.watermark_ms / 1000,
    ),
    _Metric(
        "updated_seconds",
        "gauge",
        "When it last spoke, since 1970.",
        lambda s: s.updated_ms / 1000,
    ),
)


def write_metrics(statuses: Iterable[QueryStatus], lags: Mapping[str, int | None]) -> str:
    """Return the metrics of queries as text.

    Args:
        lags: How many records each query still has to read, by its name; None: not known.
    """
    found = sorted(statuses, key=lambda status: status.name)
    lag = _Metric("lag_records", "gauge", "Records still to be read.", lambda s: lags.get(s.name))
    lines = [line for metric in (*_METRICS, lag) for line in _lines(metric, found)]
    return "\n".join([*lines, *_states(found), ""])


def _lines(metric: _Metric, statuses: Iterable[QueryStatus]) -> Iterator[str]:
    name = f"orion_query_{metric.name}"
    yield f"# HELP {name} {metric.text}"
    yield f"# TYPE {name} {metric.kind}"
    for status in statuses:
        value = metric.read(status)
        if value is not None:
            yield f"{name}{{{_labels(status)}}} {value:.17g}"


def _states(statuses: Iterable[QueryStatus]) -> Iterator[str]:
    """Yield a line for each state, so that a query's own can be selected by its label."""
    name = "orion_query_state"
    yield f"# HELP {name} 1 for the state that the query is in."
    yield f"# TYPE {name} gauge"
    for status in statuses:
        for state in State:
            here = int(status.state is state)
            yield f'{name}{{{_labels(status)},state="{state.value}"}} {here}'


def _labels(status: QueryStatus) -> str:
    return f'query="{_escaped(status.name)}",app="{_escaped(status.app)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
