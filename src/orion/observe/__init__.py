"""OBSERVE: look at the rooms and at the machine; changes nothing.

In:  settings, the jar cache, the run folder; how queries are.
Out: findings, each with the way to mend it; metrics as text.
Never: a change to anything it looks at.
"""

from orion.observe.doctor import Finding, Level, examine
from orion.observe.metrics import METRICS_TYPE, write_metrics

__all__ = ["METRICS_TYPE", "Finding", "Level", "examine", "write_metrics"]
