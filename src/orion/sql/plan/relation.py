"""The sources of a query: one, or several joined; what the joined rows are keyed by."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeGuard

from orion.model import Type
from orion.sql.function import Functions
from orion.sql.parse import tree
from orion.sql.plan import step as steps
from orion.sql.plan.catalogue import Catalogue
from orion.sql.plan.errors import StatementError
from orion.sql.plan.match import Joining, plan_condition
from orion.sql.plan.resolve import Resolver
from orion.sql.plan.scope import SourceScope
from orion.sql.plan.step import Interval, JoinStep, Match, Read, Step
from orion.sql.plan.typed import Input, Typed

_SYNTHETIC_KEY = "ROWKEY"


@dataclass(frozen=True)
class KeyColumn:
    """A column of the key.

    Args:
        name: What it is called.
        candidates: The expressions that are it when they are selected.
        written: How the statement spells it, where it does.
    """

    name: str
    candidates: tuple[Typed, ...]
    written: str = ""

    @property
    def selected(self) -> str:
        """What a query writes to select it."""
        first = self.candidates[0]
        return self.written or (first.name if isinstance(first, Input) else self.name)


@dataclass(frozen=True)
class Relation:
    """The rows that a query starts from."""

    step: Step
    scope: SourceScope
    keys: tuple[KeyColumn, ...]

    @property
    def is_join(self) -> bool:
        """Whether several sources meet."""
        return isinstance(self.step, JoinStep)


def plan_relation(relation: tree.Relation, catalogue: Catalogue, functions: Functions) -> Relation:
    """Return the rows of a FROM clause."""
    reads = _reads(relation, catalogue)
    scope = SourceScope(reads)
    if not isinstance(relation, tree.Join):
        (read,) = reads
        keys = tuple(
            KeyColumn(column.name, (Input(column.type, column.name),)) for column in read.source.key
        )
        return Relation(read, scope, keys)
    return _Joins(reads, functions, catalogue.types).plan(relation)


def _reads(relation: tree.Relation, catalogue: Catalogue) -> list[Read]:
    found: list[tree.AliasedSource] = []
    is_join = isinstance(relation, tree.Join)
    while isinstance(relation, tree.Join):
        found.insert(0, _named(relation.right))
        relation = relation.left
    found.insert(0, _named(relation))
    reads = [
        Read(catalogue.source(item.name), item.alias.text, qualified=is_join) for item in found
    ]
    _check_aliases(found, is_join=is_join)
    return reads


def _named(relation: tree.Relation) -> tree.AliasedSource:
    if not isinstance(relation, tree.AliasedSource):
        raise StatementError("Only a stream or table can stand here.", node=relation)
    return relation


def _check_aliases(found: list[tree.AliasedSource], *, is_join: bool) -> None:
    seen: set[str] = set()
    for item in found:
        if item.alias.text in seen:
            raise StatementError(
                f"'{item.alias.text}' is named twice: each side of a join needs a name of its own.",
                node=item,
                fix="A stream or table can be joined with itself through another stream or table.",
            )
        seen.add(item.alias.text)
    names = [item.name.text for item in found]
    if is_join and len(set(names)) != len(names):
        raise StatementError("A source cannot be joined with itself.", node=found[-1])


class _Joins:
    """Plans joins, from the left to the right."""

    def __init__(self, reads: list[Read], functions: Functions, custom: Mapping[str, Type]) -> None:
        self._reads = {read.alias: read for read in reads}
        self._functions = functions
        self._custom = custom

    def plan(self, relation: tree.Join) -> Relation:
        step, key = self._plan(relation)
        keys = () if key is None else (key,)
        made = {c.name: c.type for key in keys for c in key.candidates if _is_made(c)}
        return Relation(step, SourceScope(list(self._reads.values()), made), keys)

    def _plan(self, relation: tree.Relation) -> tuple[Step, KeyColumn | None]:
        if not isinstance(relation, tree.Join):
            return self._reads[relation.alias.text], None
        left, left_key = self._plan(relation.left)
        right = self._reads[relation.right.alias.text]
        resolver = Resolver(
            SourceScope([*steps.reads_of(left), right]), self._functions, self._custom
        )
        is_streams = not steps.is_table(left) and not right.source.is_table
        joining = plan_condition(relation.on, right, resolver, is_streams=is_streams)
        match = joining.match
        _check_windows(left, right, relation)
        _check_windowed_keys(left, right, match, relation)
        is_foreign = self._check_kinds(relation, left, right, match, left_key)
        interval = _interval(relation, left, right)
        names = {c.name for read in self._reads.values() for c in read.source.columns}
        numbered = (f"{_SYNTHETIC_KEY}_{n}" if n else _SYNTHETIC_KEY for n in count())
        name = next(name for name in numbered if name not in names)
        by: Typed = match.left
        if isinstance(left, JoinStep) and left_key and by in left_key.candidates and by.type:
            by = Input(by.type, left.key_name)
        step = JoinStep(relation.kind, left, right, match, interval, is_foreign, name, by)
        _check_condition(joining, step, relation)
        step = replace(step, condition=joining.condition)
        return step, None if joining.is_any else self._key(step, left_key)

    def _check_kinds(
        self,
        relation: tree.Join,
        left: Step,
        right: Read,
        match: Match,
        left_key: KeyColumn | None,
    ) -> bool:
        """Refuse joins that no table can answer; tell whether this is one by a foreign key."""
        left_is_table = steps.is_table(left)
        if left_is_table and not right.source.is_table:
            raise StatementError(
                "A table cannot be joined with a stream on its right.",
                node=relation.right,
                fix="Put the stream on the left.",
            )
        if not right.source.is_table:
            return False
        if not left_is_table and relation.kind in (tree.JoinKind.RIGHT, tree.JoinKind.FULL):
            raise StatementError(
                f"A stream and a table cannot be joined {relation.kind.value}: the table's rows"
                " alone are no events.",
                node=relation,
            )
        keys = [Input(c.type, right.column(c.name)) for c in right.source.key]
        if len(keys) != 1 or match.right != keys[0]:
            raise StatementError(
                f"The join must compare with the primary key of table '{right.alias}'.",
                node=relation.on,
            )
        is_foreign = left_is_table and not self._is_key(match.left, left, left_key)
        if is_foreign:
            _check_foreign(relation, left, right)
        return is_foreign

    def _is_key(self, part: Typed, left: Step, left_key: KeyColumn | None) -> bool:
        if left_key is not None:
            return part in left_key.candidates
        assert isinstance(left, Read)
        keys = [Input(c.type, left.column(c.name)) for c in left.source.key]
        return [part] == keys

    def _key(self, step: JoinStep, left_key: KeyColumn | None) -> KeyColumn | None:
        left, right = step.match.left, step.match.right
        if step.is_foreign_key:
            return left_key or self._primary(step.left)
        same = left_key.candidates if left_key and left in left_key.candidates else ()
        columns = [p for p in dict.fromkeys((*same, left, right)) if isinstance(p, Input)]
        if step.kind is tree.JoinKind.FULL or not columns:
            kind = left.type
            assert kind is not None
            return KeyColumn(step.key_name, (Input(kind, step.key_name),))
        first = columns[0]
        return KeyColumn(first.name.replace(".", "_"), tuple(columns))

    def _primary(self, left: Step) -> KeyColumn | None:
        assert isinstance(left, Read)
        (column,) = left.source.key
        return KeyColumn(column.name, (Input(column.type, left.column(column.name)),))


def _check_foreign(relation: tree.Join, left: Step, right: Read) -> None:
    """Refuse joins by a foreign key whose rows would have no key, or several."""
    if isinstance(left, JoinStep):
        raise StatementError(
            "A join by a foreign key can only be the first of several.",
            node=relation.on,
            fix="Make a table of the joins before it, and join that.",
        )
    assert isinstance(left, Read)
    if len(left.source.key) != 1:
        names = ", ".join(column.name for column in left.source.key)
        raise StatementError(
            f"Table '{left.alias}' has the key {names}: a join by a foreign key needs one of a"
            " single column.",
            node=relation,
            fix="Key the table by one column, a STRUCT for instance.",
        )
    if relation.kind in (tree.JoinKind.RIGHT, tree.JoinKind.FULL):
        raise StatementError(
            f"A join by a foreign key cannot be {relation.kind.value}: rows of '{right.alias}'"
            " alone have no key.",
            node=relation,
            fix="Use INNER or LEFT.",
        )


def _check_condition(joining: Joining, step: JoinStep, node: tree.Join) -> None:
    """Refuse a pair that fails its condition where both of its rows would have to stay, apart."""
    if joining.condition is None or step.interval is not None:
        return
    if step.kind is tree.JoinKind.FULL:
        raise StatementError(
            "A FULL join of tables takes no condition beside its equality: two rows that do not"
            " meet would share one key.",
            node=node,
            fix="Use LEFT or RIGHT, or compare in WHERE.",
        )


def _is_made(candidate: Typed) -> TypeGuard[Input]:
    return isinstance(candidate, Input) and "." not in candidate.name


def _check_windows(left: Step, right: Read, node: tree.Join) -> None:
    sources = [read.source for read in (*steps.reads_of(left), right)]
    windows = {source.windowed and source.windowed.shape for source in sources}
    if len(windows) > 1:
        raise StatementError(
            "A windowed source joins only with sources of the same windows.", node=node
        )


def _check_windowed_keys(left: Step, right: Read, match: Match, node: tree.Join) -> None:
    """Refuse to join windowed sources by anything but their keys, which hold the windows."""
    reads = [*steps.reads_of(left), right]
    if right.source.windowed is None:
        return
    keys = {Input(c.type, read.column(c.name)) for read in reads for c in read.source.key}
    if match.left not in keys or match.right not in keys:
        raise StatementError("Windowed sources are joined by their keys.", node=node)


def _interval(relation: tree.Join, left: Step, right: Read) -> Interval | None:
    streams = not steps.is_table(left) and not right.source.is_table
    within = relation.within
    if streams and within is None:
        raise StatementError(
            "Two streams meet within a time.",
            node=relation,
            fix="Add WITHIN 1 HOUR (or another duration) before ON.",
        )
    if not streams and within is not None:
        raise StatementError("WITHIN is for joins of two streams.", node=within)
    if within is None:
        return None
    grace = None if within.grace is None else within.grace.ms
    return Interval(within.before.ms, within.after.ms, grace)
