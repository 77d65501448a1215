"""Every operation of the proxy in one table: routes and description are made from it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from orion.serve.rest_proxy.call import Call
from orion.serve.rest_proxy.proxy import Proxy
from orion.serve.rest_proxy.v2 import produce, topics
from orion.serve.rest_proxy.v2.consumers import Consumers
from orion.serve.rest_proxy.v3 import acls, clusters, groups
from orion.serve.rest_proxy.v3 import topics as resources

Act = Callable[[Proxy, Call], Any | Awaitable[Any]]
_CLUSTER = "/v3/clusters/{cluster}"
_TOPIC, _BROKER = f"{_CLUSTER}/topics/{{topic}}", f"{_CLUSTER}/brokers/{{broker}}"
_GROUP = f"{_CLUSTER}/consumer-groups/{{group}}"
_PARTITION = f"{_TOPIC}/partitions/{{partition}}"
_INSTANCE = "/consumers/{group}/instances/{instance}"
_ACL_WORDS = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission",
)
CREATED, EMPTY = 201, 204


@dataclass(frozen=True)
class Operation:
    """One method of one path.

    Args:
        act: What is done; a plain function is called in a thread.
        status: The status of success.
        media: What bodies hold: `records` are of an embedded format, `plain` is JSON.
        query: The names of parameters.
        body: The name of the body's shape in the description.
    """

    method: str
    path: str
    act: Act
    status: int = 200
    media: str = "plain"
    query: tuple[str, ...] = ()
    body: str = ""


def version_2(consumers: Consumers) -> tuple[Operation, ...]:
    """Return the operations of version 2."""
    topic, partition = "/topics/{topic}", "/topics/{topic}/partitions/{partition}"
    positions = f"{_INSTANCE}/positions"
    return (
        Operation("GET", "/topics", topics.list_topics),
        Operation("GET", topic, topics.get_topic),
        Operation("POST", topic, produce.produce, media="records", body="ProduceRequest"),
        Operation("GET", f"{topic}/partitions", topics.list_partitions),
        Operation("GET", partition, topics.get_partition),
        Operation("POST", partition, produce.produce, media="records", body="ProduceRequest"),
        Operation("GET", f"{partition}/offsets", topics.get_offsets),
        Operation("GET", "/brokers", topics.list_brokers),
        Operation("POST", "/consumers/{group}", consumers.create, body="InstanceRequest"),
        Operation("DELETE", _INSTANCE, consumers.delete, EMPTY),
        Operation("POST", f"{_INSTANCE}/subscription", consumers.subscribe, EMPTY, body="Topics"),
        Operation("GET", f"{_INSTANCE}/subscription", consumers.get_subscription),
        Operation("DELETE", f"{_INSTANCE}/subscription", consumers.unsubscribe, EMPTY),
        Operation("POST", f"{_INSTANCE}/assignments", consumers.assign, EMPTY, body="Partitions"),
        Operation("GET", f"{_INSTANCE}/assignments", consumers.get_assignments),
        Operation("POST", positions, consumers.seek, EMPTY, body="Offsets"),
        Operation(
            "POST", f"{positions}/beginning", consumers.seek_to_beginning, EMPTY, body="Partitions"
        ),
        Operation("POST", f"{positions}/end", consumers.seek_to_end, EMPTY, body="Partitions"),
        Operation("POST", f"{_INSTANCE}/offsets", consumers.commit, body="Offsets"),
        Operation("GET", f"{_INSTANCE}/offsets", consumers.get_offsets),
        Operation(
            "GET", f"{_INSTANCE}/records", consumers.read, 200, "records", ("timeout", "max_bytes")
        ),
    )


VERSION_3 = (
    Operation("GET", "/v3/clusters", clusters.list_clusters),
    Operation("GET", _CLUSTER, clusters.get_cluster),
    Operation("GET", f"{_CLUSTER}/topics", resources.list_topics),
    Operation("POST", f"{_CLUSTER}/topics", resources.create_topic, CREATED, body="TopicRequest"),
    Operation("GET", f"{_CLUSTER}/topics/-/configs", resources.list_all_configs),
    Operation(
        "GET", f"{_CLUSTER}/topics/-/partitions/-/reassignment", resources.list_reassignments
    ),
    Operation("GET", _TOPIC, resources.get_topic),
    Operation("PATCH", _TOPIC, resources.grow_topic, body="GrowRequest"),
    Operation("DELETE", _TOPIC, resources.delete_topic, EMPTY),
    Operation("GET", f"{_TOPIC}/configs", resources.list_configs),
    Operation("POST", f"{_TOPIC}/configs:alter", resources.alter_configs, EMPTY, body="Changes"),
    Operation("GET", f"{_TOPIC}/configs/{{name}}", resources.get_config),
    Operation("PUT", f"{_TOPIC}/configs/{{name}}", resources.set_config, EMPTY, body="Value"),
    Operation("DELETE", f"{_TOPIC}/configs/{{name}}", resources.reset_config, EMPTY),
    Operation("GET", f"{_TOPIC}/partitions", resources.list_partitions),
    Operation("GET", _PARTITION, resources.get_partition),
    Operation("GET", f"{_PARTITION}/replicas", resources.list_replicas),
    Operation("GET", f"{_PARTITION}/replicas/{{broker}}", resources.get_replica),
    Operation("GET", f"{_CLUSTER}/brokers", clusters.list_brokers),
    Operation("GET", _BROKER, clusters.get_broker),
    Operation("GET", f"{_BROKER}/partition-replicas", resources.list_broker_replicas),
    Operation("GET", f"{_BROKER}/configs", clusters.list_broker_configs),
    Operation(
        "POST", f"{_BROKER}/configs:alter", clusters.alter_broker_configs, EMPTY, body="Changes"
    ),
    Operation("GET", f"{_BROKER}/configs/{{name}}", clusters.get_broker_config),
    Operation(
        "PUT", f"{_BROKER}/configs/{{name}}", clusters.set_broker_config, EMPTY, body="Value"
    ),
    Operation("DELETE", f"{_BROKER}/configs/{{name}}", clusters.reset_broker_config, EMPTY),
    Operation("GET", f"{_CLUSTER}/broker-configs", clusters.list_cluster_configs),
    Operation(
        "POST",
        f"{_CLUSTER}/broker-configs:alter",
        clusters.alter_cluster_configs,
        EMPTY,
        body="Changes",
    ),
    Operation("GET", f"{_CLUSTER}/broker-configs/{{name}}", clusters.get_cluster_config),
    Operation(
        "PUT",
        f"{_CLUSTER}/broker-configs/{{name}}",
        clusters.set_cluster_config,
        EMPTY,
        body="Value",
    ),
    Operation(
        "DELETE", f"{_CLUSTER}/broker-configs/{{name}}", clusters.reset_cluster_config, EMPTY
    ),
    Operation("GET", f"{_CLUSTER}/consumer-groups", groups.list_groups),
    Operation("GET", _GROUP, groups.get_group),
    Operation("GET", f"{_GROUP}/consumers", groups.list_members),
    Operation("GET", f"{_GROUP}/consumers/{{consumer}}", groups.get_member),
    Operation("GET", f"{_GROUP}/consumers/{{consumer}}/assignments", groups.list_assignments),
    Operation(
        "GET",
        f"{_GROUP}/consumers/{{consumer}}/assignments/{{topic}}/partitions/{{partition}}",
        groups.get_assignment,
    ),
    Operation("GET", f"{_GROUP}/lag-summary", groups.get_lag_summary),
    Operation("GET", f"{_GROUP}/lags", groups.list_lags),
    Operation("GET", f"{_GROUP}/lags/{{topic}}/partitions/{{partition}}", groups.get_lag),
    Operation("GET", f"{_CLUSTER}/acls", acls.search, query=_ACL_WORDS),
    Operation("POST", f"{_CLUSTER}/acls", acls.create, CREATED, body="Acl"),
    Operation("POST", f"{_CLUSTER}/acls:batch", acls.create_batch, CREATED, body="Acls"),
    Operation("DELETE", f"{_CLUSTER}/acls", acls.delete, query=_ACL_WORDS),
)
RECORDS_PATH = f"{_TOPIC}/records"
