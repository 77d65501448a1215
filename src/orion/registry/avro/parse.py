"""Avro schema text to a tree, by the rules of Avro 1.12; every fault is named with its place."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orion.registry.avro.default import is_default
from orion.registry.avro.tree import (
    MISSING,
    PRIMITIVES,
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
)
from orion.registry.errors import InvalidSchemaError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ORDERS = ("ascending", "descending", "ignore")
# Attributes with a meaning of their own; all others are kept as they are.
_NAMED_WORDS = {"type", "name", "namespace", "doc", "aliases"}
_WORDS = {
    "record": _NAMED_WORDS | {"fields"},
    "error": _NAMED_WORDS | {"fields"},
    "enum": _NAMED_WORDS | {"symbols", "default"},
    "fixed": _NAMED_WORDS | {"size"},
    "array": {"type", "items"},
    "map": {"type", "values"},
    "field": {"name", "type", "default", "doc", "order", "aliases"},
}
_MAX_DEPTH = 200


@dataclass(frozen=True)
class AvroSchema:
    """A parsed schema: its root and every named type it can use, those of references included."""

    root: Node
    types: Mapping[str, Definition]

    def get(self, node: Node) -> Node:
        """Return the node itself, or the type it names."""
        return self.types[node.fullname] if isinstance(node, Named) else node


def parse_avro(text: str, references: Iterable[str] = ()) -> AvroSchema:
    """Return the tree of a schema.

    Args:
        text: The schema, in JSON.
        references: Texts of the schemas it uses types of, those that others need first.
    """
    reader = _Reader()
    for given in references:
        reader.read_text(given)
    root = reader.read_text(text)
    return AvroSchema(root, reader.types)


def _fault(reason: str, path: str) -> InvalidSchemaError:
    return InvalidSchemaError("AVRO", f"{reason} (at {path or '/'})")


class _Reader:
    """Reads texts into nodes; named types are gathered as they are defined."""

    def __init__(self) -> None:
        self.types: dict[str, Definition] = {}
        self._open: set[str] = set()

    def read_text(self, text: str) -> Node:
        try:
            body = json.loads(text)
        except (ValueError, RecursionError) as error:
            # A bare name of a primitive or of a referenced type is a schema, too.
            if _is_fullname(text.strip()):
                body = text.strip()
            else:
                raise InvalidSchemaError("AVRO", f"it is not JSON ({error})") from error
        return self.read(body, "", "", 0)

    def read(self, body: Any, namespace: str, path: str, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise _fault(f"it is nested more than {_MAX_DEPTH} deep", path)
        if isinstance(body, str):
            return self._read_name(body, namespace, path)
        if isinstance(body, list):
            return self._read_union(body, namespace, path, depth)
        if not isinstance(body, dict):
            raise _fault(f"a type is a name, an object or a list, not {json.dumps(body)}", path)
        kind = body.get("type", MISSING)
        if kind is MISSING:
            raise _fault("an object has no 'type'", path)
        if not isinstance(kind, str):
            # {"type": {"type": …}} and {"type": [ … ]} say no more than their inside.
            return self.read(kind, namespace, f"{path}/type", depth + 1)
        return self._read_object(kind, body, namespace, path, depth)

    def _read_object(
        self, kind: str, body: dict[str, Any], namespace: str, path: str, depth: int
    ) -> Node:
        if kind in PRIMITIVES:
            return Primitive(kind, {k: v for k, v in body.items() if k != "type"})
        if kind == "array":
            items = self._part(body, "items", path)
            return Array(
                self.read(items, namespace, f"{path}/items", depth + 1), _rest(body, "array")
            )
        if kind == "map":
            values = self._part(body, "values", path)
            return Map(
                self.read(values, namespace, f"{path}/values", depth + 1), _rest(body, "map")
            )
        if kind in ("record", "error"):
            return self._read_record(kind, body, namespace, path, depth)
        if kind == "enum":
            return self._define(self._read_enum(body, namespace, path), path)
        if kind == "fixed":
            return self._define(self._read_fixed(body, namespace, path), path)
        return self._read_name(kind, namespace, path)

    def _part(self, body: dict[str, Any], word: str, path: str) -> Any:
        if word not in body:
            raise _fault(f"'{word}' is missing", path)
        return body[word]

    def _read_name(self, name: str, namespace: str, path: str) -> Node:
        if name in PRIMITIVES:
            return Primitive(name)
        for candidate in _candidates(name, namespace):
            if candidate in self.types or candidate in self._open:
                return Named(candidate)
        raise _fault(f"type '{name}' is not defined", path)

    def _read_union(self, body: list[Any], namespace: str, path: str, depth: int) -> Node:
        branches = tuple(
            self.read(part, namespace, f"{path}/{n}", depth + 1) for n, part in enumerate(body)
        )
        seen: set[str] = set()
        for branch in branches:
            if isinstance(branch, Union):
                raise _fault("a union directly holds a union", path)
            label = branch_label(branch)
            if label in seen:
                raise _fault(f"a union holds '{label}' twice", path)
            seen.add(label)
        return Union(branches)

    def _read_record(
        self, kind: str, body: dict[str, Any], namespace: str, path: str, depth: int
    ) -> Node:
        fullname = self._fullname(body, namespace, path)
        if fullname in self.types or fullname in self._open:
            raise _fault(f"type '{fullname}' is defined twice", path)
        parts = self._part(body, "fields", path)
        if not isinstance(parts, list):
            raise _fault("'fields' is not a list", path)
        self._open.add(fullname)
        inner = fullname.rpartition(".")[0]
        fields = tuple(
            self._read_field(part, inner, f"{path}/fields/{n}", depth + 1)
            for n, part in enumerate(parts)
        )
        self._open.discard(fullname)
        names = [item.name for item in fields]
        for name in names:
            if names.count(name) > 1:
                raise _fault(f"field '{name}' of record '{fullname}' is defined twice", path)
        record = Record(
            fullname,
            fields,
            kind,
            doc=_doc(body),
            aliases=_aliases(body, inner, path),
            attributes=_rest(body, kind),
        )
        self._define(record, path)
        self._check_defaults(record, path)
        return record

    def _read_field(self, body: Any, namespace: str, path: str, depth: int) -> Field:
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            raise _fault("a field has no name", path)
        name = body["name"]
        if not _NAME.fullmatch(name):
            raise _fault(f"'{name}' is not a valid field name", path)
        order = body.get("order")
        if order is not None and order not in _ORDERS:
            raise _fault(f"'{order}' is not an order of fields", path)
        aliases = body.get("aliases", [])
        if not isinstance(aliases, list) or not all(isinstance(item, str) for item in aliases):
            raise _fault("'aliases' is not a list of names", path)
        kind = self._part(body, "type", path)
        return Field(
            name,
            self.read(kind, namespace, f"{path}/type", depth),
            default=body.get("default", MISSING),
            doc=_doc(body),
            order=order,
            aliases=tuple(aliases),
            attributes=_rest(body, "field"),
        )

    def _check_defaults(self, record: Record, path: str) -> None:
        for number, item in enumerate(record.fields):
            if item.has_default and not is_default(item.default, item.type, self.types):
                raise _fault(
                    f"the default {json.dumps(item.default)} of field '{item.name}' is not of its"
                    " type",
                    f"{path}/fields/{number}",
                )

    def _read_enum(self, body: dict[str, Any], namespace: str, path: str) -> Enum:
        fullname = self._fullname(body, namespace, path)
        symbols = self._part(body, "symbols", path)
        if not isinstance(symbols, list) or not all(
            isinstance(symbol, str) and _NAME.fullmatch(symbol) for symbol in symbols
        ):
            raise _fault("'symbols' is not a list of names", path)
        if len(set(symbols)) != len(symbols):
            raise _fault(f"enum '{fullname}' has a symbol twice", path)
        default = body.get("default")
        if default is not None and default not in symbols:
            raise _fault(f"the default '{default}' of enum '{fullname}' is not a symbol", path)
        inner = fullname.rpartition(".")[0]
        aliases = _aliases(body, inner, path)
        return Enum(fullname, tuple(symbols), default, _doc(body), aliases, _rest(body, "enum"))

    def _read_fixed(self, body: dict[str, Any], namespace: str, path: str) -> Fixed:
        fullname = self._fullname(body, namespace, path)
        size = self._part(body, "size", path)
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise _fault(f"the size {json.dumps(size)} of fixed '{fullname}' is not a number", path)
        aliases = _aliases(body, fullname.rpartition(".")[0], path)
        return Fixed(fullname, size, _doc(body), aliases, _rest(body, "fixed"))

    def _define(self, definition: Definition, path: str) -> Definition:
        if definition.fullname in self.types:
            raise _fault(f"type '{definition.fullname}' is defined twice", path)
        self.types[definition.fullname] = definition
        return definition

    def _fullname(self, body: dict[str, Any], namespace: str, path: str) -> str:
        name, own = body.get("name"), body.get("namespace", namespace)
        if not isinstance(name, str) or not name:
            raise _fault(f"a {body['type']} has no name", path)
        if not isinstance(own, str):
            raise _fault("'namespace' is not a text", path)
        full = name if "." in name or not own else f"{own}.{name}"
        if not _is_fullname(full):
            raise _fault(f"'{full}' is not a valid name", path)
        if full in PRIMITIVES:
            raise _fault(f"'{full}' is the name of a primitive type", path)
        return full


def branch_label(node: Node) -> str:
    """Return what makes a branch of a union distinct: its name, or its kind."""
    if isinstance(node, Primitive):
        return node.name
    if isinstance(node, Array):
        return "array"
    if isinstance(node, Map):
        return "map"
    return "union" if isinstance(node, Union) else node.fullname


def _candidates(name: str, namespace: str) -> list[str]:
    return [name] if "." in name or not namespace else [f"{namespace}.{name}", name]


def _is_fullname(name: str) -> bool:
    return all(_NAME.fullmatch(part) for part in name.split("."))


def _doc(body: dict[str, Any]) -> str | None:
    doc = body.get("doc")
    return doc if isinstance(doc, str) else None


def _aliases(body: dict[str, Any], namespace: str, path: str) -> tuple[str, ...]:
    given = body.get("aliases", [])
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise _fault("'aliases' is not a list of names", path)
    return tuple(name if "." in name or not namespace else f"{namespace}.{name}" for name in given)


def _rest(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {word: value for word, value in body.items() if word not in _WORDS[kind]}
