"""Metrics of queries as text."""

from orion.model import Mode, QueryStatus, State
from orion.observe import write_metrics


def test_every_query_has_its_numbers() -> None:
    windows = QueryStatus(
        "CTAS_A_1",
        "engine",
        State.RUNNING,
        Mode.EXACTLY_ONCE,
        state_entries=12,
        state_bytes=1 << 40,
        late_records=3,
        watermark_ms=1_700_000_000_500,
    )
    plain = QueryStatus('odd"name', "a\\b", State.FAILED, Mode.REALTIME, restarts=2)
    lines = write_metrics([plain, windows], {"CTAS_A_1": 7, "other": 1}).splitlines()
    own = 'query="CTAS_A_1",app="engine"'
    assert f"orion_query_up{{{own}}} 1" in lines
    assert f"orion_query_lag_records{{{own}}} 7" in lines
    assert f"orion_query_state_entries{{{own}}} 12" in lines
    assert f"orion_query_state_bytes{{{own}}} 1099511627776" in lines
    assert f"orion_query_late_records_total{{{own}}} 3" in lines
    assert f"orion_query_watermark_seconds{{{own}}} 1700000000.5" in lines
    assert f'orion_query_state{{{own},state="RUNNING"}} 1' in lines
    assert f'orion_query_state{{{own},state="FAILED"}} 0' in lines
    other = r'query="odd\"name",app="a\\b"'
    assert f"orion_query_up{{{other}}} 0" in lines
    assert f"orion_query_restarts{{{other}}} 2" in lines
    # What is not known is left out, not guessed.
    assert not [line for line in lines if "odd" in line and ("lag" in line or "watermark" in line)]


def test_each_metric_says_what_it_is_once() -> None:
    lines = write_metrics([], {}).splitlines()
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)) == len(lines) // 2
    assert all(line.split()[3] in ("gauge", "counter") for line in lines if "# TYPE" in line)
