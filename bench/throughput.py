"""Throughput and CPU of J1: every contender in turn, several rounds, ratios of the same round."""

import statistics
from collections.abc import Callable
from typing import Any

from rich.progress import track

import orion
from bench.bids import bad_among, bids, load
from bench.contender import orion_run, spark_run
from bench.measure import Cost, cost_of, spread

BASELINES = ("spark default", "spark tuned")
# One record in so many cannot be read.
BAD_EVERY = 100


def run_throughput(addresses: str, *, records: int, rounds: int) -> dict[str, Any]:
    source = "bids"
    load(addresses, source, records)
    poisoned = f"{source}-bad"
    load(addresses, poisoned, records, values=bad_among(bids(records), every=BAD_EVERY))
    contenders: dict[str, Callable[[], None]] = {
        "orion exactly_once": orion_run(source, "exactly_once"),
        "exactly_once, 1 % bad": orion_run(poisoned, "exactly_once"),
        "spark default": spark_run(addresses, source, tuned=False),
        "orion at_least_once": orion_run(source, "at_least_once"),
        "spark tuned": spark_run(addresses, source, tuned=True),
    }
    # Twice: the JVM compiles what it has seen often.
    for warm_up in (*contenders.values(), *contenders.values()):
        warm_up()
    costs: dict[str, list[Cost]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in track(range(rounds), "throughput", transient=True):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            costs[name].append(cost_of(contenders[name]))
    orion.spark.catalog.clearCache()
    summaries = {name: _summary(name, costs, records) for name in contenders}
    pairs = zip(costs["orion exactly_once"], costs["exactly_once, 1 % bad"], strict=True)
    ratio = statistics.median(clean.wall_s / bad.wall_s for clean, bad in pairs)
    summaries["exactly_once, 1 % bad"]["speed vs clean"] = round(ratio, 2)
    return summaries


def _summary(name: str, costs: dict[str, list[Cost]], records: int) -> dict[str, Any]:
    own = costs[name]
    millions = records / 1_000_000
    summary: dict[str, Any] = {
        "records_per_s": round(records / statistics.median(c.wall_s for c in own)),
        "cpu_s_per_million": round(statistics.median(c.cpu_s for c in own) / millions, 2),
        "cpu_spread": round(spread([c.cpu_s for c in own]), 3),
    }
    for baseline in BASELINES:
        pairs = list(zip(own, costs[baseline], strict=True))
        speed = statistics.median(other.wall_s / mine.wall_s for mine, other in pairs)
        cpu = statistics.median(mine.cpu_s / other.cpu_s for mine, other in pairs)
        summary[f"speed vs {baseline}"] = round(speed, 2)
        summary[f"cpu vs {baseline}"] = round(cpu, 2)
    return summary
