"""GROUP BY over rows: keys and arguments are computed by Spark, the groups by their operator."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Field, Scalar
from orion.process.sql.expression import compile_expression, quoted
from orion.process.sql.operate import apply_operator, fact_columns, map_batches
from orion.process.sql.parts import read_parts
from orion.process.sql.read import Surroundings
from orion.process.sql.watch import watch
from orion.sql import step, tree, typed
from orion.state import (
    ABSENT,
    DEFAULT_GRACE_MS,
    HAD_OLD,
    ORIGIN,
    SEQUENCE,
    SIGN,
    ChangeOperator,
    CollapsedOperator,
    GroupLayout,
    GroupOperator,
    Operator,
    Parts,
    SessionOperator,
    SessionWindows,
    Slots,
    TimeWindows,
    WindowOperator,
    merged_layout,
)


def group_source(node: step.Aggregate, around: Surroundings) -> DataFrame | None:
    """Return changes of groups straight from the records of a source, where that is possible."""
    parts = _parts(node, around)
    rows = None if parts is None else read_parts(node, parts, around)
    return None if parts is None or rows is None else _merge(rows, node, parts, around)


def group_rows(rows: DataFrame, node: step.Aggregate, around: Surroundings) -> DataFrame:
    """Return one change of a group for every row."""
    layout = _layout(node)
    arguments = [argument for call in node.calls for argument in call.arguments]
    rows = watch(rows, [*(key.expression for key in node.keys), *arguments])
    if node.window is None:
        # Where a row came from is asked by clocks alone, and a text a row is dear to carry.
        rows = rows.withColumn(ORIGIN, F.lit(None).cast("string"))
    if step.is_table(node.input):
        rows = _changes(rows, node, layout, around)
    else:
        chosen = [column.alias(name) for name, column in _columns(node).items()]
        rows = rows.where(~F.col(ABSENT))
        rows = rows.select(*chosen, F.lit(1).alias(SIGN), *fact_columns())
        for key in layout.keys:
            rows = rows.where(quoted(key.name).isNotNull())
    parts = _parts(node, around)
    if parts is not None:
        made = map_batches(rows, parts.task, parts.inputs, parts.outputs)
        return _merge(made, node, parts, around)
    own = _operator(node, layout)
    operator = CollapsedOperator(own) if _collapses(node, around) else own
    return _apply(rows, operator, layout, around)


def _layout(node: step.Aggregate) -> GroupLayout:
    keys = tuple(Field(key.name, key.type or Scalar.STRING) for key in node.keys)
    return GroupLayout(keys, node.calls)


def _collapses(node: step.Aggregate, around: Surroundings) -> bool:
    return around.collapses and node.emit is not tree.Emit.FINAL


def _parts(node: step.Aggregate, around: Surroundings) -> Parts | None:
    """Return what makes parts of the groups, if they may be made of parts."""
    if step.is_table(node.input) or not _collapses(node, around):
        return None
    slots = None if node.window is None or around.notes_late else _slots(node)
    if node.window is not None and slots is None:
        return None
    layout = _layout(node)
    merged = merged_layout(layout, around.functions)
    return None if merged is None else Parts(layout, merged, slots)


def _slots(node: step.Aggregate) -> Slots | None:
    """Return which rows of windows may become one part; None: no two of them."""
    rows = node.input
    while isinstance(rows, step.Filter | step.Flatten):
        rows = rows.input
    operator = _operator(node, _layout(node))
    if not isinstance(rows, step.Read) or not isinstance(operator, WindowOperator):
        return None
    return Slots.of(rows.source.topic, operator.windows)


def _merge(rows: DataFrame, node: step.Aggregate, parts: Parts, around: Surroundings) -> DataFrame:
    """Return changes of groups by parts of them."""
    merged = CollapsedOperator(_operator(node, parts.merged))
    return _apply(rows, merged, parts.layout, around)


def _apply(
    rows: DataFrame, operator: Operator, layout: GroupLayout, around: Surroundings
) -> DataFrame:
    spread = [quoted(key.name) for key in layout.keys]
    unasked = set(around.unasked)
    if HAD_OLD in unasked:
        unasked.update(field.name for field in layout.old_results)
    place = next(around.places)
    return apply_operator(rows, operator, spread, place, SEQUENCE, unasked=unasked)


def _columns(node: step.Aggregate) -> dict[str, Column]:
    """Return the keys and the arguments of aggregates, by the names that the layout gives them."""
    found = {key.name: _one_zero(key.expression) for key in node.keys}
    for call in node.calls:
        for number, argument in enumerate(call.arguments):
            found[f"{call.name}.{number}"] = compile_expression(argument)
    return found


def _one_zero(key: typed.Typed) -> Column:
    """Return what rows are grouped by: zeros of both signs are equal, and have the same key."""
    made = compile_expression(key)
    return made + F.lit(0.0) if key.type is Scalar.DOUBLE else made


def _operator(
    node: step.Aggregate, layout: GroupLayout
) -> GroupOperator | WindowOperator | SessionOperator:
    window, final = node.window, node.emit is tree.Emit.FINAL
    if window is None:
        return GroupOperator(layout)
    # A final result that no statement asks to wait for comes when its window ends.
    grace = 0 if final else DEFAULT_GRACE_MS
    grace = grace if window.grace is None else window.grace.ms
    if window.kind is tree.WindowKind.SESSION:
        return SessionOperator(layout, SessionWindows(window.size.ms, grace), final)
    advance = window.size.ms if window.advance is None else window.advance.ms
    return WindowOperator(layout, TimeWindows(window.size.ms, advance, grace), final)


def _changes(
    rows: DataFrame, node: step.Aggregate, layout: GroupLayout, around: Surroundings
) -> DataFrame:
    """Return what groups lose and gain when rows of a table change."""
    chosen = [column.alias(name) for name, column in _columns(node).items()]
    return change_rows(rows, node.input, (len(layout.keys), layout.columns), chosen, around)


def change_rows(
    rows: DataFrame,
    table: step.Step,
    layout: tuple[int, tuple[Field, ...]],
    chosen: Sequence[Column],
    around: Surroundings,
) -> DataFrame:
    """Return what partitions of a table's rows lose and gain when these change.

    Args:
        table: Gives the rows.
        layout: The columns that are chosen, and how many of them rows are partitioned by.
    """
    identity = identity_of(table)
    names = [f"$id.{number}" for number in range(len(identity))]
    ids = tuple(
        Field(name, part.type or Scalar.STRING) for name, part in zip(names, identity, strict=True)
    )
    operator = ChangeOperator(ids, *layout)
    own = [compile_expression(part).alias(name) for part, name in zip(identity, names, strict=True)]
    rows = rows.select(*own, *chosen, *fact_columns())
    spread = [quoted(name) for name in names]
    return apply_operator(rows, operator, spread, next(around.places), SEQUENCE)


def identity_of(node: step.Step) -> list[typed.Typed]:
    """Return what tells the rows of a table apart."""
    match node:
        case step.Read():
            names = [(c.name, c.type) for c in node.source.key]
            if node.source.windowed:
                names += [("WINDOWSTART", Scalar.BIGINT), ("WINDOWEND", Scalar.BIGINT)]
            return [typed.Input(kind, node.column(name)) for name, kind in names]
        case step.JoinStep():
            own = identity_of(node.left)[0].type if node.is_foreign_key else None
            kind = own or node.match.left.type
            assert kind is not None
            return [typed.Input(kind, node.key_name)]
        case step.Aggregate():
            return [typed.Input(key.type, key.name) for key in node.keys if key.type]
    return identity_of(node.input)
