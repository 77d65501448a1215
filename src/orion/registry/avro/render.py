"""An Avro tree as text: compact JSON, attributes in Avro's own order.

Two texts of one schema that differ in blanks or in the order of attributes give the same text.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from orion.registry.avro.tree import (
    Array,
    Definition,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Union,
    namespace_of,
    unqualified,
)

if TYPE_CHECKING:
    from orion.registry.avro.parse import AvroSchema


def render_avro(root: Node, *, normalize: bool = False) -> str:
    """Return the text of a schema.

    Args:
        normalize: Write every name in full and sort attributes and aliases, so that texts which
            mean the same are the same.
    """
    body = _Writer(normalize=normalize).write(root, "")
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def render_resolved(schema: "AvroSchema") -> str:
    """Return the text of a schema with every type that its references define written out."""
    body = _Writer(normalize=False, types=schema.types).write(schema.root, "")
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


class _Writer:
    """Turns nodes into JSON values.

    Args:
        types: Types to write out where they are first used; none: uses stay names.
    """

    def __init__(self, *, normalize: bool, types: Mapping[str, Definition] | None = None) -> None:
        self._normalize = normalize
        self._types = types or {}
        self._written: set[str] = set()

    def write(self, node: Node, namespace: str) -> Any:
        if isinstance(node, Primitive):
            rest = self._rest(node.attributes)
            return {"type": node.name, **rest} if rest else node.name
        if isinstance(node, Named):
            if node.fullname in self._types and node.fullname not in self._written:
                return self._definition(self._types[node.fullname], namespace)
            return self._name(node.fullname, namespace)
        if isinstance(node, Union):
            return [self.write(branch, namespace) for branch in node.branches]
        if isinstance(node, Array):
            items = self.write(node.items, namespace)
            return {"type": "array", "items": items, **self._rest(node.attributes)}
        if isinstance(node, Map):
            values = self.write(node.values, namespace)
            return {"type": "map", "values": values, **self._rest(node.attributes)}
        return self._definition(node, namespace)

    def _definition(self, node: Definition, namespace: str) -> dict[str, Any]:
        self._written.add(node.fullname)
        kind = node.kind if isinstance(node, Record) else type(node).__name__.lower()
        body: dict[str, Any] = {"type": kind, **self._header(node, namespace)}
        if isinstance(node, Enum):
            body["symbols"] = list(node.symbols)
            if node.default is not None:
                body["default"] = node.default
        elif isinstance(node, Fixed):
            body["size"] = node.size
        else:
            inner = namespace_of(node.fullname)
            body["fields"] = [self._field(item, inner) for item in node.fields]
        if node.aliases:
            own = namespace_of(node.fullname)
            body["aliases"] = self._sorted(self._name(name, own) for name in node.aliases)
        return {**body, **self._rest(node.attributes)}

    def _header(self, node: Definition, namespace: str) -> dict[str, Any]:
        own = namespace_of(node.fullname)
        if self._normalize:
            header: dict[str, Any] = {"name": node.fullname}
        else:
            header = {"name": unqualified(node.fullname)}
            if own != namespace:
                header["namespace"] = own
        if node.doc is not None:
            header["doc"] = node.doc
        return header

    def _field(self, item: Field, namespace: str) -> dict[str, Any]:
        body: dict[str, Any] = {"name": item.name, "type": self.write(item.type, namespace)}
        if item.doc is not None:
            body["doc"] = item.doc
        if item.has_default:
            body["default"] = item.default
        if item.order is not None and item.order != "ascending":
            body["order"] = item.order
        if item.aliases:
            body["aliases"] = self._sorted(item.aliases)
        return {**body, **self._rest(item.attributes)}

    def _name(self, fullname: str, namespace: str) -> str:
        short = not self._normalize and namespace_of(fullname) == namespace
        return unqualified(fullname) if short else fullname

    def _sorted(self, names: Iterable[str]) -> list[str]:
        return sorted(names) if self._normalize else list(names)

    def _rest(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        return dict(sorted(attributes.items())) if self._normalize else dict(attributes)
