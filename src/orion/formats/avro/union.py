"""Unions of several types: a struct with a field for each, of which one has a value.

The names of the fields are those of the branches: `long`, `string`, or the record's own name.
"""

from collections.abc import Mapping
from typing import Any

from orion.formats.avro.column import branch_name, kind_of, resolve, without_null

# What a value of each primitive branch looks like when it is read.
_PYTHON: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (float,),
    "double": (float,),
    "string": (str,),
    "bytes": (bytes,),
    "array": (list,),
    "map": (dict,),
}


def has_union(tree: Any, named: Mapping[str, Any], seen: frozenset[str] = frozenset()) -> bool:
    """Tell whether a schema has a union of several types besides null."""
    tree = resolve(tree, named)
    if isinstance(tree, list):
        other = without_null(tree)
        return isinstance(other, list) or has_union(other, named, seen)
    kind = kind_of(tree)
    if kind == "array":
        return has_union(tree["items"], named, seen)
    if kind == "map":
        return has_union(tree["values"], named, seen)
    if kind != "record" or tree["name"] in seen:
        return False
    inner = seen | {tree["name"]}
    return any(has_union(field["type"], named, inner) for field in tree["fields"])


def spread(value: Any, tree: Any, named: Mapping[str, Any]) -> Any:
    """Return a value that was read with the names of its branches, its unions as structs."""
    if value is None:
        return None
    tree = resolve(tree, named)
    if isinstance(tree, list):
        return _spread_union(value, tree, named)
    kind = kind_of(tree)
    if kind == "array":
        return [spread(item, tree["items"], named) for item in value]
    if kind == "map":
        return {key: spread(item, tree["values"], named) for key, item in value.items()}
    if kind == "record":
        return {
            field["name"]: spread(value[field["name"]], field["type"], named)
            for field in tree["fields"]
        }
    return value


def _spread_union(value: Any, tree: list[Any], named: Mapping[str, Any]) -> Any:
    branch = _branch_of(value, tree, named)
    bare = value[1] if isinstance(value, tuple) else value
    inner = spread(bare, branch, named)
    is_several = isinstance(without_null(tree), list)
    return {branch_name(resolve(branch, named)): inner} if is_several else inner


def _branch_of(value: Any, tree: list[Any], named: Mapping[str, Any]) -> Any:
    """Return the branch that a value is of; named types say so themselves."""
    if isinstance(value, tuple):
        for branch in tree:
            found = resolve(branch, named)
            if isinstance(found, dict) and found.get("name") == value[0]:
                return branch
    for branch in tree:
        kinds = _PYTHON.get(kind_of(resolve(branch, named)), ())
        if type(value) in kinds:
            return branch
    return next(branch for branch in tree if kind_of(resolve(branch, named)) != "null")
