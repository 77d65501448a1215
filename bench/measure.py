"""CPU time of a process tree, wall time, percentiles: the yardsticks."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Cost:
    wall_s: float
    cpu_s: float


def tree_cpu_s(root: int | None = None) -> float:
    """User and system seconds of a process and everything it started, the dead ones included."""
    total = 0.0
    process = psutil.Process(root or os.getpid())
    for each in [process, *process.children(recursive=True)]:
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def tree_rss(root: int) -> int:
    process = psutil.Process(root)
    return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])


def cost_of(action: Callable[[], object]) -> Cost:
    cpu, wall = tree_cpu_s(), time.monotonic()
    action()
    return Cost(time.monotonic() - wall, tree_cpu_s() - cpu)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {f"p{p}": ordered[min(len(ordered) - 1, len(ordered) * p // 100)] for p in (50, 95, 99)}


def spread(values: Sequence[float]) -> float:
    """Inter-quartile range over the median."""
    if len(values) < 4:
        return 0.0
    first, _, third = statistics.quantiles(values, n=4)
    return (third - first) / statistics.median(values)
