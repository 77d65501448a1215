"""Topics, their configurations, partitions and replicas."""

from typing import Any

from orion.log import Config, Partition, Topic
from orion.serve.rest_proxy.call import Call, text, whole
from orion.serve.rest_proxy.errors import (
    BadFieldError,
    NoSuchResourceError,
    NoSuchTopicPartitionError,
)
from orion.serve.rest_proxy.proxy import Proxy
from orion.serve.rest_proxy.v3.change import changes, configs_of, new_value
from orion.serve.rest_proxy.v3.clusters import config_fields
from orion.serve.rest_proxy.v3.resource import cluster_of, listing, related, resource

_MAX_PARTITIONS = 100_000
_MAX_REPLICATION = 32_767


def list_topics(proxy: Proxy, call: Call) -> Any:
    """Return all topics."""
    cluster = cluster_of(proxy, call)
    found = [_topic(call, cluster, topic) for topic in proxy.topics.list(internal=True)]
    return listing(call, "KafkaTopicList", (cluster, "topics"), found)


def create_topic(proxy: Proxy, call: Call) -> Any:
    """Create a topic; what is left out is the brokers' default."""
    cluster, fields = cluster_of(proxy, call), call.fields()
    name = text(fields.get("topic_name"), "topic_name")
    partitions = _count(fields, "partitions_count", _MAX_PARTITIONS)
    replication = _count(fields, "replication_factor", _MAX_REPLICATION)
    configs = configs_of(fields.get("configs"))
    if fields.get("validate_only"):
        return resource(call, "KafkaTopic", (cluster, "topics", name), {"topic_name": name})
    proxy.topics.create(name, partitions=partitions, replication=replication, configs=configs)
    return _topic(call, cluster, proxy.topics.get(name))


def get_topic(proxy: Proxy, call: Call) -> Any:
    """Return one topic."""
    return _topic(call, cluster_of(proxy, call), proxy.topics.get(call.word("topic")))


def grow_topic(proxy: Proxy, call: Call) -> Any:
    """Give a topic more partitions."""
    cluster, topic = cluster_of(proxy, call), proxy.topics.get(call.word("topic"))
    total = _count(call.fields(), "partitions_count", _MAX_PARTITIONS)
    if total is None:
        raise BadFieldError("partitions_count", "a number of partitions")
    if total != len(topic.partitions):
        proxy.topics.add_partitions(topic.name, total)
    return _topic(call, cluster, proxy.topics.get(topic.name))


def delete_topic(proxy: Proxy, call: Call) -> Any:
    """Delete a topic and its records."""
    cluster_of(proxy, call)
    proxy.topics.delete(call.word("topic"))
    proxy.forget_topic(call.word("topic"))


def list_configs(proxy: Proxy, call: Call) -> Any:
    """Return the configurations of a topic."""
    cluster, topic = cluster_of(proxy, call), proxy.topics.get(call.word("topic")).name
    rows = _configs(proxy, call, cluster, topic)
    return listing(call, "KafkaTopicConfigList", (cluster, "topics", topic, "configs"), rows)


def list_all_configs(proxy: Proxy, call: Call) -> Any:
    """Return the configurations of all topics."""
    cluster = cluster_of(proxy, call)
    names = proxy.topics.names(internal=True)
    rows = [row for name in names for row in _configs(proxy, call, cluster, name)]
    return listing(call, "KafkaTopicConfigList", (cluster, "topics", "-", "configs"), rows)


def get_config(proxy: Proxy, call: Call) -> Any:
    """Return one configuration of a topic."""
    cluster, topic = cluster_of(proxy, call), proxy.topics.get(call.word("topic")).name
    found = proxy.brokers.topic_configs(topic)
    if call.word("name") not in found:
        raise NoSuchResourceError("Config", call.word("name"))
    return _config(call, cluster, topic, found[call.word("name")])


def set_config(proxy: Proxy, call: Call) -> Any:
    """Set one configuration of a topic."""
    _alter(proxy, call, {call.word("name"): new_value(call)})


def reset_config(proxy: Proxy, call: Call) -> Any:
    """Reset one configuration of a topic."""
    _alter(proxy, call, {call.word("name"): None})


def alter_configs(proxy: Proxy, call: Call) -> Any:
    """Set and reset configurations of a topic in one step."""
    _alter(proxy, call, changes(call))


def list_partitions(proxy: Proxy, call: Call) -> Any:
    """Return the partitions of a topic."""
    cluster, topic = cluster_of(proxy, call), proxy.topics.get(call.word("topic"))
    rows = [_partition(call, cluster, topic.name, each) for each in topic.partitions]
    path = (cluster, "topics", topic.name, "partitions")
    return listing(call, "KafkaPartitionList", path, rows)


def get_partition(proxy: Proxy, call: Call) -> Any:
    """Return one partition of a topic."""
    cluster, topic = cluster_of(proxy, call), proxy.topics.get(call.word("topic"))
    return _partition(call, cluster, topic.name, _found(topic, call))


def list_replicas(proxy: Proxy, call: Call) -> Any:
    """Return the replicas of a partition."""
    cluster, topic = cluster_of(proxy, call), proxy.topics.get(call.word("topic"))
    found = _found(topic, call)
    rows = [_replica(call, cluster, topic.name, found, broker) for broker in found.replicas]
    path = (cluster, "topics", topic.name, "partitions", found.number, "replicas")
    return listing(call, "KafkaReplicaList", path, rows)


def get_replica(proxy: Proxy, call: Call) -> Any:
    """Return one replica of a partition."""
    cluster, topic = cluster_of(proxy, call), proxy.topics.get(call.word("topic"))
    found, broker = _found(topic, call), call.number("broker")
    if broker not in found.replicas:
        raise NoSuchResourceError("Replica", str(broker), [str(each) for each in found.replicas])
    return _replica(call, cluster, topic.name, found, broker)


def list_broker_replicas(proxy: Proxy, call: Call) -> Any:
    """Return the replicas that a broker holds."""
    cluster, broker = cluster_of(proxy, call), proxy.brokers.get(call.number("broker")).id
    rows = [
        _replica(call, cluster, topic.name, partition, broker)
        for topic in proxy.topics.list(internal=True)
        for partition in topic.partitions
        if broker in partition.replicas
    ]
    path = (cluster, "brokers", broker, "partition-replicas")
    return listing(call, "KafkaReplicaList", path, rows)


def list_reassignments(proxy: Proxy, call: Call) -> Any:
    """Return partitions that are being moved: none, since nothing here moves any."""
    cluster = cluster_of(proxy, call)
    path = (cluster, "topics", "-", "partitions", "-", "reassignment")
    return listing(call, "KafkaReassignmentList", path, [])


def _count(fields: Any, name: str, most: int) -> int | None:
    given = fields.get(name)
    if given is None:
        return None
    found = whole(given, name)
    if not 0 < found <= most:
        raise BadFieldError(name, f"a number from 1 to {most}")
    return found


def _alter(proxy: Proxy, call: Call, values: dict[str, str | None]) -> None:
    cluster_of(proxy, call)
    if not values:
        return
    given = {name: value for name, value in values.items() if value is not None}
    reset = [name for name, value in values.items() if value is None]
    proxy.topics.set_configs(call.word("topic"), given, unset=reset)


def _found(topic: Topic, call: Call) -> Partition:
    number = call.number("partition")
    if number >= len(topic.partitions):
        raise NoSuchTopicPartitionError(f"Topic '{topic.name}' has no partition {number}.")
    return topic.partitions[number]


def _topic(call: Call, cluster: str, topic: Topic) -> dict[str, Any]:
    path = (cluster, "topics", topic.name)
    fields = {
        "cluster_id": cluster,
        "topic_name": topic.name,
        "is_internal": topic.is_internal,
        "replication_factor": topic.replication,
        "partitions_count": len(topic.partitions),
        "partitions": related(call, *path, "partitions"),
        "configs": related(call, *path, "configs"),
        "partition_reassignments": related(call, *path, "partitions", "-", "reassignment"),
        "authorized_operations": [],
    }
    return resource(call, "KafkaTopic", path, fields)


def _configs(proxy: Proxy, call: Call, cluster: str, topic: str) -> list[Any]:
    found = proxy.brokers.topic_configs(topic)
    return [_config(call, cluster, topic, config) for config in found.values()]


def _config(call: Call, cluster: str, topic: str, config: Config) -> dict[str, Any]:
    path = (cluster, "topics", topic, "configs", config.name)
    fields = {"cluster_id": cluster, "topic_name": topic, **config_fields(config)}
    return resource(call, "KafkaTopicConfig", path, fields)


def _partition(call: Call, cluster: str, topic: str, found: Partition) -> dict[str, Any]:
    path = (cluster, "topics", topic, "partitions", found.number)
    fields: dict[str, Any] = {
        "cluster_id": cluster,
        "topic_name": topic,
        "partition_id": found.number,
        "replicas": related(call, *path, "replicas"),
        "reassignment": related(call, *path, "reassignment"),
    }
    if found.leader is not None:
        fields["leader"] = related(call, *path, "replicas", found.leader)
    return resource(call, "KafkaPartition", path, fields)


def _replica(call: Call, cluster: str, topic: str, found: Partition, broker: int) -> dict[str, Any]:
    path = (cluster, "topics", topic, "partitions", found.number, "replicas", broker)
    fields = {
        "cluster_id": cluster,
        "topic_name": topic,
        "partition_id": found.number,
        "broker_id": broker,
        "is_leader": broker == found.leader,
        "is_in_sync": broker in found.in_sync,
        "broker": related(call, cluster, "brokers", broker),
    }
    return resource(call, "KafkaReplica", path, fields)
