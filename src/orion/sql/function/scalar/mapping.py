"""Maps, and the lambdas that go through arrays and maps."""

from collections.abc import Callable
from typing import Any

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, variant
from orion.sql.function.value.hash_order import hash_order

_MAP, _LAMBDA = "MAP", "LAMBDA"
Entries = dict[Any, Any]


def _as_map(keys: list[str], values: list[Any]) -> Entries:
    if None in keys:
        raise FunctionFailure("A map has no NULL among its keys.")
    return {key: values[at] if at < len(values) else None for at, key in enumerate(keys)}


def _entries(entries: Entries, sort: bool) -> list[Entries]:
    keys = sorted(entries) if sort else list(entries)
    return [{"K": key, "V": entries[key]} for key in keys]


def _union(left: Entries | None, right: Entries | None) -> Entries | None:
    if left is None and right is None:
        return None
    return {**(left or {}), **(right or {})}


def _transform(array: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    return [change(value) for value in array]


def _transform_map(
    entries: Entries, key: Callable[[Any, Any], Any], value: Callable[[Any, Any], Any]
) -> Entries:
    changed: Entries = {}
    for old_key, old_value in entries.items():
        new_key, new_value = key(old_key, old_value), value(old_key, old_value)
        if new_key in changed or new_key is None or new_value is None:
            raise FunctionFailure("TRANSFORM made a key twice, or a NULL in a map.")
        changed[new_key] = new_value
    return changed


def _kept(verdict: Any) -> bool:
    if verdict is None:
        raise FunctionFailure("FILTER asked, and the answer was neither TRUE nor FALSE.")
    return bool(verdict)


def _filter(array: list[Any], keep: Callable[[Any], Any]) -> list[Any]:
    return [value for value in array if _kept(keep(value))]


def _filter_map(entries: Entries, keep: Callable[[Any, Any], Any]) -> Entries:
    kept = {key: value for key, value in entries.items() if _kept(keep(key, value))}
    if None in kept.values():
        raise FunctionFailure("FILTER kept a NULL in a map.")
    return kept


def _reduce(array: list[Any] | None, state: Any, step: Callable[[Any, Any], Any]) -> Any:
    if state is not None:
        for value in array or []:
            state = step(state, value)
    return state


def _reduce_map(entries: Entries | None, state: Any, step: Callable[[Any, Any, Any], Any]) -> Any:
    if state is not None and entries is not None:
        for key in hash_order(entries):
            state = step(state, key, entries[key])
    return state


FUNCTIONS = (
    Function(
        "AS_MAP",
        _MAP,
        "A map of keys and values; where values are missing they are NULL.",
        (variant("keys ARRAY<STRING>, values ARRAY<V>", "MAP<STRING, V>", _as_map),),
        (Example("AS_MAP(ARRAY['a', 'b'], ARRAY[1])", {"a": 1, "b": None}),),
    ),
    Function(
        "ENTRIES",
        _MAP,
        "The entries of a map as structs of K and V, in the order of the keys if asked for.",
        (variant("map MAP<STRING, V>, sorted BOOLEAN", "ARRAY<STRUCT<K STRING, V V>>", _entries),),
        (Example("ENTRIES(MAP('b' := 2, 'a' := 1), TRUE)[1]->K", "a"),),
    ),
    Function(
        "MAP_KEYS",
        _MAP,
        "The keys of a map, in any order.",
        (variant("map MAP<K, V>", "ARRAY<K>", list),),
        (Example("MAP_KEYS(MAP('a' := 1))", ["a"]),),
    ),
    Function(
        "MAP_VALUES",
        _MAP,
        "The values of a map, in any order.",
        (variant("map MAP<K, V>", "ARRAY<V>", lambda entries: list(entries.values())),),
        (Example("MAP_VALUES(MAP('a' := 1))", [1]),),
    ),
    Function(
        "MAP_UNION",
        _MAP,
        "The entries of both maps; where both have a key, the second one's value.",
        (variant("left MAP<K, V>, right MAP<K, V>", "MAP<K, V>", _union, takes_nulls=True),),
        (Example("MAP_UNION(MAP('a' := 1, 'b' := 2), MAP('b' := 3))", {"a": 1, "b": 3}),),
    ),
    Function(
        "TRANSFORM",
        _LAMBDA,
        "Every element of an array put through a lambda; of a map, every key and every value, each "
        "through a lambda of its own.",
        (
            variant("array ARRAY<T>, change LAMBDA<T, U>", "ARRAY<U>", _transform),
            variant(
                "map MAP<K, V>, key LAMBDA<K, V, L>, value LAMBDA<K, V, W>",
                "MAP<L, W>",
                _transform_map,
            ),
        ),
        (
            Example("TRANSFORM(ARRAY[1, 2], x => ABS(x))", [1, 2]),
            Example("TRANSFORM(MAP('a' := 1), (k, v) => UCASE(k), (k, v) => v)", {"A": 1}),
        ),
    ),
    Function(
        "FILTER",
        _LAMBDA,
        "The elements of an array, or the entries of a map, for which a lambda is TRUE.",
        (
            variant("array ARRAY<T>, keep LAMBDA<T, BOOLEAN>", "ARRAY<T>", _filter),
            variant("map MAP<K, V>, keep LAMBDA<K, V, BOOLEAN>", "MAP<K, V>", _filter_map),
        ),
        (Example("FILTER(ARRAY['a', 'b'], x => ARRAY_CONTAINS(ARRAY['b'], x))", ["b"]),),
    ),
    Function(
        "REDUCE",
        _LAMBDA,
        "What a lambda makes of a first state and each element of an array, or each key and value "
        "of a map, one after the other.",
        (
            variant(
                "array ARRAY<T>, state S, step LAMBDA<S, T, S>", "S", _reduce, takes_nulls=True
            ),
            variant(
                "map MAP<K, V>, state S, step LAMBDA<S, K, V, S>",
                "S",
                _reduce_map,
                takes_nulls=True,
            ),
        ),
        (Example("REDUCE(ARRAY['b', 'c'], 'a', (s, x) => CONCAT(s, x))", "abc"),),
    ),
)
