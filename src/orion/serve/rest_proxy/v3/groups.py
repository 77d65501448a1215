"""Consumer groups, their members, assignments and lags."""

from typing import Any

from orion.log import Group, GroupNotFoundError, GroupPartition, Member
from orion.serve.rest_proxy.call import Call
from orion.serve.rest_proxy.errors import NoSuchResourceError
from orion.serve.rest_proxy.proxy import Proxy
from orion.serve.rest_proxy.v3.resource import cluster_of, listing, related, resource

_STATES = {
    "STABLE": "STABLE",
    "EMPTY": "EMPTY",
    "DEAD": "DEAD",
    "PREPARING_REBALANCING": "PREPARING_REBALANCE",
    "COMPLETING_REBALANCING": "COMPLETING_REBALANCE",
}


def list_groups(proxy: Proxy, call: Call) -> Any:
    """Return all consumer groups."""
    cluster = cluster_of(proxy, call)
    found = [_group(call, cluster, group) for group in proxy.groups.list()]
    return listing(call, "KafkaConsumerGroupList", (cluster, "consumer-groups"), found)


def get_group(proxy: Proxy, call: Call) -> Any:
    """Return one consumer group."""
    cluster, group = _found(proxy, call)
    return _group(call, cluster, group)


def list_members(proxy: Proxy, call: Call) -> Any:
    """Return the members of a group."""
    cluster, group = _found(proxy, call)
    rows = [_member(call, cluster, group.name, member) for member in group.members]
    path = (cluster, "consumer-groups", group.name, "consumers")
    return listing(call, "KafkaConsumerList", path, rows)


def get_member(proxy: Proxy, call: Call) -> Any:
    """Return one member of a group."""
    cluster, group = _found(proxy, call)
    return _member(call, cluster, group.name, _found_member(group, call))


def list_assignments(proxy: Proxy, call: Call) -> Any:
    """Return the partitions that a member reads."""
    cluster, group = _found(proxy, call)
    member = _found_member(group, call)
    rows = [_assignment(call, cluster, group.name, member, each) for each in member.partitions]
    path = (cluster, "consumer-groups", group.name, "consumers", member.id, "assignments")
    return listing(call, "KafkaConsumerAssignmentList", path, rows)


def get_assignment(proxy: Proxy, call: Call) -> Any:
    """Return one partition that a member reads."""
    cluster, group = _found(proxy, call)
    member = _found_member(group, call)
    wanted = (call.word("topic"), call.number("partition"))
    if wanted not in member.partitions:
        raise NoSuchResourceError("Assignment", f"{wanted[0]}-{wanted[1]}")
    return _assignment(call, cluster, group.name, member, wanted)


def get_lag_summary(proxy: Proxy, call: Call) -> Any:
    """Return the largest lag of a group, and all of it."""
    cluster, group = _found(proxy, call)
    path = (cluster, "consumer-groups", group.name, "lag-summary")
    known = [each for each in group.partitions if each.lag_records is not None]
    worst = max(known, key=lambda each: each.lag_records or 0, default=None)
    fields: dict[str, Any] = {"cluster_id": cluster, "consumer_group_id": group.name}
    member = worst.member if worst else None
    fields |= {
        "max_lag_consumer_id": member.id if member else "",
        "max_lag_instance_id": None,
        "max_lag_client_id": member.client_id if member else "",
        "max_lag_topic_name": worst.topic if worst else "",
        "max_lag_partition_id": worst.partition if worst else 0,
        "max_lag": (worst.lag_records or 0) if worst else 0,
        "total_lag": sum(each.lag_records or 0 for each in known),
    }
    return resource(call, "KafkaConsumerGroupLagSummary", path, fields)


def list_lags(proxy: Proxy, call: Call) -> Any:
    """Return the lag of a group in each partition."""
    cluster, group = _found(proxy, call)
    rows = [_lag(call, cluster, group.name, each) for each in group.partitions]
    path = (cluster, "consumer-groups", group.name, "lags")
    return listing(call, "KafkaConsumerLagList", path, rows)


def get_lag(proxy: Proxy, call: Call) -> Any:
    """Return the lag of a group in one partition."""
    cluster, group = _found(proxy, call)
    topic, partition = call.word("topic"), call.number("partition")
    for each in group.partitions:
        if (each.topic, each.partition) == (topic, partition):
            return _lag(call, cluster, group.name, each)
    raise NoSuchResourceError("Lag", f"{topic}-{partition}")


def _found(proxy: Proxy, call: Call) -> tuple[str, Group]:
    cluster = cluster_of(proxy, call)
    try:
        return cluster, proxy.groups.get(call.word("group"))
    except GroupNotFoundError as error:
        raise NoSuchResourceError("Consumer group", error.group) from error


def _found_member(group: Group, call: Call) -> Member:
    for member in group.members:
        if member.id == call.word("consumer"):
            return member
    raise NoSuchResourceError("Consumer", call.word("consumer"))


def _group(call: Call, cluster: str, group: Group) -> dict[str, Any]:
    path = (cluster, "consumer-groups", group.name)
    coordinator = group.coordinator.partition(" ")[0]
    fields: dict[str, Any] = {
        "cluster_id": cluster,
        "consumer_group_id": group.name,
        "is_simple": not group.protocol and not group.members,
        "partition_assignor": group.protocol,
        "state": _STATES.get(group.state.upper().replace(" ", "_"), group.state.upper()),
        "consumers": related(call, *path, "consumers"),
        "lag_summary": related(call, *path, "lag-summary"),
    }
    if coordinator.isdigit():
        fields["coordinator"] = related(call, cluster, "brokers", coordinator)
    return resource(call, "KafkaConsumerGroup", path, fields)


def _member(call: Call, cluster: str, group: str, member: Member) -> dict[str, Any]:
    path = (cluster, "consumer-groups", group, "consumers", member.id)
    fields = {
        "cluster_id": cluster,
        "consumer_group_id": group,
        "consumer_id": member.id,
        "instance_id": None,
        "client_id": member.client_id,
        "assignments": related(call, *path, "assignments"),
    }
    return resource(call, "KafkaConsumer", path, fields)


def _assignment(
    call: Call, cluster: str, group: str, member: Member, partition: tuple[str, int]
) -> dict[str, Any]:
    topic, number = partition
    path = (cluster, "consumer-groups", group, "consumers", member.id, "assignments", topic)
    fields = {
        "cluster_id": cluster,
        "consumer_group_id": group,
        "consumer_id": member.id,
        "topic_name": topic,
        "partition_id": number,
        "partition": related(call, cluster, "topics", topic, "partitions", number),
        "lag": related(call, cluster, "consumer-groups", group, "lags", topic),
    }
    return resource(call, "KafkaConsumerAssignment", (*path, "partitions", number), fields)


def _lag(call: Call, cluster: str, group: str, found: GroupPartition) -> dict[str, Any]:
    path = (cluster, "consumer-groups", group, "lags", found.topic, "partitions", found.partition)
    member = found.member
    fields = {
        "cluster_id": cluster,
        "consumer_group_id": group,
        "topic_name": found.topic,
        "partition_id": found.partition,
        "current_offset": found.committed or 0,
        "log_end_offset": found.end_offset or 0,
        "lag": found.lag_records or 0,
        "consumer_id": member.id if member else "",
        "instance_id": None,
        "client_id": member.client_id if member else "",
    }
    return resource(call, "KafkaConsumerLag", path, fields)
