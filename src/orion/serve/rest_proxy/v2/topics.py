"""Topics, partitions and brokers, as version 2 tells them."""

from typing import Any

from orion.log import Partition, Topic
from orion.serve.rest_proxy.call import Call
from orion.serve.rest_proxy.errors import NoSuchPartitionError
from orion.serve.rest_proxy.proxy import Proxy


def list_topics(proxy: Proxy, _call: Call) -> Any:
    """Return the names of all topics."""
    return proxy.topics.names(internal=True)


def get_topic(proxy: Proxy, call: Call) -> Any:
    """Return a topic with its configuration and partitions."""
    topic = proxy.topics.get(call.word("topic"))
    configs = proxy.topics.configs(topic.name)
    return {
        "name": topic.name,
        "configs": {name: config.value for name, config in configs.items()},
        "partitions": [_partition(each) for each in topic.partitions],
    }


def list_partitions(proxy: Proxy, call: Call) -> Any:
    """Return the partitions of a topic."""
    return [_partition(each) for each in proxy.topics.get(call.word("topic")).partitions]


def get_partition(proxy: Proxy, call: Call) -> Any:
    """Return one partition of a topic."""
    return _partition(_found(proxy, call))


def get_offsets(proxy: Proxy, call: Call) -> Any:
    """Return the first offset of a partition and the one after the last."""
    found = _found(proxy, call)
    return {"beginning_offset": found.start_offset, "end_offset": found.end_offset}


def list_brokers(proxy: Proxy, _call: Call) -> Any:
    """Return the ids of the brokers."""
    return {"brokers": [broker.id for broker in proxy.brokers.cluster().brokers]}


def _found(proxy: Proxy, call: Call) -> Partition:
    topic: Topic = proxy.topics.get(call.word("topic"))
    number = call.number("partition")
    if number >= len(topic.partitions):
        raise NoSuchPartitionError(topic.name, number)
    return topic.partitions[number]


def _partition(found: Partition) -> dict[str, Any]:
    return {
        "partition": found.number,
        "leader": -1 if found.leader is None else found.leader,
        "replicas": [
            {
                "broker": broker,
                "leader": broker == found.leader,
                "in_sync": broker in found.in_sync,
            }
            for broker in found.replicas
        ],
    }
