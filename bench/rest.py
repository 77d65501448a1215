"""The REST proxy under load: many clients, JSON batches through version 2, nothing lost."""

import http.client
import json
import statistics
import threading
import time
from typing import Any

from bench.measure import percentiles, tree_cpu_s
from orion.log import Connection, Selection, Topics, consume

CLIENTS, BATCH = 32, 100
_MEDIA = {"Content-Type": "application/vnd.kafka.json.v2+json"}


def run_rest(connection: Connection, port: int, *, records: int, server: int) -> dict[str, Any]:
    topic = "rest-bench"
    Topics(connection).create(topic, partitions=4)
    each = records // CLIENTS // BATCH
    latencies: list[float] = []
    failures: list[str] = []

    def send(client: int) -> None:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for batch in range(each):
            start = time.monotonic()
            link.request("POST", f"/topics/{topic}", _body(client, batch), _MEDIA)
            answer = link.getresponse()
            found = json.loads(answer.read())
            latencies.append(time.monotonic() - start)
            if answer.status != 200 or any(o["error_code"] for o in found["offsets"]):
                failures.append(str(found))
        link.close()

    threads = [threading.Thread(target=send, args=(n,)) for n in range(CLIENTS)]
    cpu, wall = tree_cpu_s(server), time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall_s, cpu_s = time.monotonic() - wall, tree_cpu_s(server) - cpu
    sent = each * CLIENTS * BATCH
    found = {r.value for r in consume(connection, Selection(topic))}
    return {
        "json batches": {
            "records_per_s": round(sent / wall_s),
            "server_cpu_s_per_million": round(cpu_s / sent * 1_000_000, 1),
            "lost": sent - len(found),
            "failed_requests": len(failures),
            **{f"{name}_ms": round(s * 1_000) for name, s in percentiles(latencies).items()},
            "mean_ms": round(statistics.mean(latencies) * 1_000),
        }
    }


def _body(client: int, batch: int) -> str:
    values = [
        {
            "key": f"user-{n}",
            "value": {"id": [client, batch, n], "amount": n * 1.5, "text": "x" * 60},
        }
        for n in range(BATCH)
    ]
    return json.dumps({"records": values})
