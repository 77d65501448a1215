"""Resources of version 3: each tells its kind, its address and those of its relatives."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from orion.serve.rest_proxy.call import Call
from orion.serve.rest_proxy.errors import NoSuchClusterError
from orion.serve.rest_proxy.proxy import Proxy

# How resource names write the parts of a path.
_NAMES = {
    "topics": "topic",
    "partitions": "partition",
    "replicas": "replica",
    "brokers": "broker",
    "configs": "config",
    "consumer-groups": "consumer-group",
    "consumers": "consumer",
    "assignments": "assignment",
    "lags": "lag",
    "acls": "acl",
}


def cluster_of(proxy: Proxy, call: Call) -> str:
    """Return the id of the path's cluster, which must be this one."""
    known = proxy.topics.cluster_id()
    if call.word("cluster") != known:
        raise NoSuchClusterError(call.word("cluster"), known)
    return known


def address(call: Call, *parts: object) -> str:
    """Return the address of a resource."""
    return "/".join([f"{call.base}/v3/clusters", *(quote(str(part), safe="") for part in parts)])


def resource(
    call: Call, kind: str, path: tuple[object, ...], fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a resource.

    Args:
        path: The cluster's id, then what follows it in the address.
    """
    words = [f"crn:///kafka={path[0]}"]
    for name, value in zip(path[1::2], path[2::2], strict=False):
        words.append(f"{_NAMES.get(str(name), name)}={value}")
    if len(path) % 2 == 0:
        words.append(str(path[-1]))
    metadata = {"self": address(call, *path), "resource_name": "/".join(words)}
    return {"kind": kind, "metadata": metadata, **fields}


def related(call: Call, *path: object) -> dict[str, str]:
    """Return a link to other resources."""
    return {"related": address(call, *path)}


def listing(call: Call, kind: str, path: tuple[object, ...], found: list[Any]) -> dict[str, Any]:
    """Return a list of resources, all on one page."""
    metadata = {"self": address(call, *path), "next": None}
    return {"kind": kind, "metadata": metadata, "data": found}
