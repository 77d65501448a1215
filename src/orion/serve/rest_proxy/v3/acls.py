"""Access control lists: search, create, delete."""

from collections.abc import Mapping
from typing import Any

from orion.log import Acl
from orion.serve.rest_proxy.call import Call, text
from orion.serve.rest_proxy.errors import BadFieldError
from orion.serve.rest_proxy.proxy import Proxy
from orion.serve.rest_proxy.v3.resource import cluster_of, listing, resource

_FIELDS = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission",
)
_ANY = ("resource_type", "pattern_type", "operation", "permission")


def search(proxy: Proxy, call: Call) -> Any:
    """Return the ACLs that match."""
    cluster = cluster_of(proxy, call)
    found = [_acl(call, cluster, acl) for acl in proxy.acls.find(_filter(call))]
    return listing(call, "KafkaAclList", (cluster, "acls"), found)


def create(proxy: Proxy, call: Call) -> Any:
    """Create one ACL."""
    cluster_of(proxy, call)
    proxy.acls.create([_binding(call.fields())])


def create_batch(proxy: Proxy, call: Call) -> Any:
    """Create several ACLs."""
    cluster_of(proxy, call)
    proxy.acls.create([_binding(each) for each in call.objects("data")])


def delete(proxy: Proxy, call: Call) -> Any:
    """Delete the ACLs that match and return them."""
    cluster = cluster_of(proxy, call)
    for name in ("resource_type", "pattern_type", "operation", "permission"):
        if name not in call.query:
            raise BadFieldError(name, "given: what is deleted must be named")
    deleted = proxy.acls.delete(_filter(call))
    return {"data": [_acl(call, cluster, acl) for acl in deleted]}


def _filter(call: Call) -> Acl:
    words = {name: call.query.get(name, "ANY" if name in _ANY else "") for name in _FIELDS}
    return Acl(**words)


def _binding(fields: Mapping[str, Any]) -> Acl:
    return Acl(**{name: text(fields.get(name), name) for name in _FIELDS})


def _acl(call: Call, cluster: str, acl: Acl) -> dict[str, Any]:
    fields = {"cluster_id": cluster, **{name: getattr(acl, name) for name in _FIELDS}}
    return resource(call, "KafkaAcl", (cluster, "acls"), fields)
