"""The cluster, its brokers and their configurations."""

from typing import Any

from orion.log import Broker, Cluster, Config
from orion.serve.rest_proxy.call import Call
from orion.serve.rest_proxy.errors import NoSuchResourceError
from orion.serve.rest_proxy.proxy import Proxy
from orion.serve.rest_proxy.v3.change import changes, new_value
from orion.serve.rest_proxy.v3.resource import cluster_of, listing, related, resource


def list_clusters(proxy: Proxy, call: Call) -> Any:
    """Return the one cluster that there is."""
    found = proxy.brokers.cluster()
    return listing(call, "KafkaClusterList", (), [_cluster(call, found)])


def get_cluster(proxy: Proxy, call: Call) -> Any:
    """Return the cluster."""
    cluster_of(proxy, call)
    return _cluster(call, proxy.brokers.cluster())


def list_brokers(proxy: Proxy, call: Call) -> Any:
    """Return the brokers."""
    cluster = cluster_of(proxy, call)
    found = [_broker(call, cluster, broker) for broker in proxy.brokers.cluster().brokers]
    return listing(call, "KafkaBrokerList", (cluster, "brokers"), found)


def get_broker(proxy: Proxy, call: Call) -> Any:
    """Return one broker."""
    cluster = cluster_of(proxy, call)
    return _broker(call, cluster, proxy.brokers.get(call.number("broker")))


def list_broker_configs(proxy: Proxy, call: Call) -> Any:
    """Return the configurations of a broker."""
    cluster, broker = cluster_of(proxy, call), proxy.brokers.get(call.number("broker")).id
    found = proxy.brokers.configs(broker).values()
    path = (cluster, "brokers", broker, "configs")
    rows = [_broker_config(call, cluster, broker, config) for config in found]
    return listing(call, "KafkaBrokerConfigList", path, rows)


def get_broker_config(proxy: Proxy, call: Call) -> Any:
    """Return one configuration of a broker."""
    cluster, broker = cluster_of(proxy, call), proxy.brokers.get(call.number("broker")).id
    found = _named(proxy.brokers.configs(broker), call.word("name"))
    return _broker_config(call, cluster, broker, found)


def set_broker_config(proxy: Proxy, call: Call) -> Any:
    """Set one configuration of a broker."""
    _alter(proxy, call, {call.word("name"): new_value(call)})


def reset_broker_config(proxy: Proxy, call: Call) -> Any:
    """Reset one configuration of a broker."""
    _alter(proxy, call, {call.word("name"): None})


def alter_broker_configs(proxy: Proxy, call: Call) -> Any:
    """Set and reset configurations of a broker in one step."""
    _alter(proxy, call, changes(call))


def list_cluster_configs(proxy: Proxy, call: Call) -> Any:
    """Return the configurations set for every broker."""
    cluster = cluster_of(proxy, call)
    found = [_cluster_config(call, cluster, config) for config in _shared(proxy).values()]
    return listing(call, "KafkaClusterConfigList", (cluster, "broker-configs"), found)


def get_cluster_config(proxy: Proxy, call: Call) -> Any:
    """Return one configuration set for every broker."""
    cluster = cluster_of(proxy, call)
    return _cluster_config(call, cluster, _named(_shared(proxy), call.word("name")))


def set_cluster_config(proxy: Proxy, call: Call) -> Any:
    """Set one configuration on every broker."""
    _alter_every(proxy, call, {call.word("name"): new_value(call)})


def reset_cluster_config(proxy: Proxy, call: Call) -> Any:
    """Reset one configuration on every broker."""
    _alter_every(proxy, call, {call.word("name"): None})


def alter_cluster_configs(proxy: Proxy, call: Call) -> Any:
    """Set and reset configurations on every broker in one step each."""
    _alter_every(proxy, call, changes(call))


def _alter(proxy: Proxy, call: Call, values: dict[str, str | None]) -> None:
    cluster_of(proxy, call)
    _alter_one(proxy, proxy.brokers.get(call.number("broker")).id, values)


def _alter_every(proxy: Proxy, call: Call, values: dict[str, str | None]) -> None:
    cluster_of(proxy, call)
    for broker in proxy.brokers.cluster().brokers:
        _alter_one(proxy, broker.id, values)


def _alter_one(proxy: Proxy, broker: int, values: dict[str, str | None]) -> None:
    known = proxy.brokers.configs(broker)
    for name in values:
        _named(known, name)
    proxy.brokers.alter(broker, values)


def _shared(proxy: Proxy) -> dict[str, Config]:
    """Return what was set while brokers run, on every broker alike."""
    of_all = [proxy.brokers.configs(each.id) for each in proxy.brokers.cluster().brokers]
    first = of_all[0] if of_all else {}
    return {
        name: config
        for name, config in first.items()
        if config.source.startswith("DYNAMIC") and all(each.get(name) == config for each in of_all)
    }


def _named(configs: dict[str, Config], name: str) -> Config:
    if name not in configs:
        raise NoSuchResourceError("Config", name)
    return configs[name]


def _cluster(call: Call, cluster: Cluster) -> dict[str, Any]:
    own = cluster.id
    links = {
        name: related(call, own, path)
        for name, path in {
            "acls": "acls",
            "brokers": "brokers",
            "broker_configs": "broker-configs",
            "consumer_groups": "consumer-groups",
            "topics": "topics",
        }.items()
    }
    links["partition_reassignments"] = related(
        call, own, "topics", "-", "partitions", "-", "reassignment"
    )
    if cluster.controller is not None:
        links["controller"] = related(call, own, "brokers", cluster.controller)
    return resource(call, "KafkaCluster", (own,), {"cluster_id": own, **links})


def _broker(call: Call, cluster: str, broker: Broker) -> dict[str, Any]:
    path = (cluster, "brokers", broker.id)
    fields = {
        "cluster_id": cluster,
        "broker_id": broker.id,
        "host": broker.host,
        "port": broker.port,
        "rack": broker.rack,
        "configs": related(call, *path, "configs"),
        "partition_replicas": related(call, *path, "partition-replicas"),
    }
    return resource(call, "KafkaBroker", path, fields)


def _broker_config(call: Call, cluster: str, broker: int, config: Config) -> dict[str, Any]:
    path = (cluster, "brokers", broker, "configs", config.name)
    fields = {"cluster_id": cluster, "broker_id": broker, **config_fields(config)}
    return resource(call, "KafkaBrokerConfig", path, fields)


def _cluster_config(call: Call, cluster: str, config: Config) -> dict[str, Any]:
    path = (cluster, "broker-configs", config.name)
    fields = {"cluster_id": cluster, "config_type": "BROKER", **config_fields(config)}
    return resource(call, "KafkaClusterConfig", path, fields)


def config_fields(config: Config) -> dict[str, Any]:
    """Return what every configuration tells of itself."""
    return {
        "name": config.name,
        "value": config.value,
        "is_default": config.is_default,
        "is_read_only": config.is_read_only,
        "is_sensitive": config.is_sensitive,
        "source": config.source,
        "synonyms": [
            {"name": each.name, "value": each.value, "source": each.source}
            for each in config.synonyms
        ],
    }
