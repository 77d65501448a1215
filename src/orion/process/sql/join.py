"""Joins over rows: both sides are brought to one shape, spread by the key, and joined in order."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Field, Scalar, Struct, Type
from orion.process.format import spark_type
from orion.process.sql.expression import compile_expression, quoted
from orion.process.sql.group import identity_of
from orion.process.sql.operate import apply_operator, bring_together, fact_columns
from orion.process.sql.read import Surroundings
from orion.process.sql.watch import watch
from orion.sql import step, tree, typed
from orion.state import (
    ABSENT,
    JOIN_KEY,
    LEFT,
    OWN_KEY,
    RIGHT,
    SEQUENCE,
    SIDE,
    FollowOperator,
    ForeignKeyOperator,
    IntervalOperator,
    JoinLayout,
    Operator,
    StreamTableOperator,
    TableTableOperator,
)


def join_rows(
    left: DataFrame, right: DataFrame, node: step.JoinStep, around: Surroundings
) -> DataFrame:
    """Return the rows of two sides that match."""
    layout = _layout(node)
    left = watch(left, [node.left_key or node.match.left])
    right = watch(right, [node.match.right])
    if node.is_foreign_key:
        joined = _foreign_key(left, right, node, layout, around)
    else:
        (first, *_) = step.reads_of(node.left)
        both = _side(left, LEFT, _key(node.left_key or node.match.left, first), layout).unionByName(
            _side(right, RIGHT, _key(node.match.right, node.right), layout)
        )
        operator = _operator(node, layout)
        spread = [quoted(JOIN_KEY)]
        place = next(around.places)
        joined = apply_operator(both, operator, spread, place, SEQUENCE, unasked=around.unasked)
    joined = _fulfilling(joined, node, layout)
    if not _is_windowed(node):
        return joined.withColumn(node.key_name, quoted(JOIN_KEY))
    key = quoted(JOIN_KEY)
    parts = {node.key_name: "KEY", "WINDOWSTART": "START", "WINDOWEND": "END"}
    return joined.withColumns({name: key.getField(part) for name, part in parts.items()})


def _fulfilling(joined: DataFrame, node: step.JoinStep, layout: JoinLayout) -> DataFrame:
    """Return the pairs for which the join's condition holds; of the others, who stays alone."""
    if node.condition is None or _decides(node):
        return joined
    joined = watch(joined, [node.condition])
    holds = F.coalesce(compile_expression(node.condition), F.lit(False)) & ~F.col(ABSENT)
    if node.kind is tree.JoinKind.INNER:
        if step.is_table(node):
            return joined.withColumn(ABSENT, ~holds)
        return joined.where(holds)
    lost = layout.right if node.kind is tree.JoinKind.LEFT else layout.left
    # All at once: the condition must see the columns as they were.
    return joined.withColumns({f.name: F.when(holds, quoted(f.name)) for f in lost})


def _decides(node: step.JoinStep) -> bool:
    """Tell whether the operator itself must know the condition: who is alone depends on it."""
    return node.interval is not None and node.kind is not tree.JoinKind.INNER


def _is_windowed(node: step.JoinStep) -> bool:
    return node.right.source.windowed is not None


def _layout(node: step.JoinStep) -> JoinLayout:
    kinds = (tree.JoinKind.LEFT, tree.JoinKind.FULL), (tree.JoinKind.RIGHT, tree.JoinKind.FULL)
    return JoinLayout(
        _key_type(node),
        columns_of_step(node.left),
        columns_of_step(node.right),
        keeps_left=node.kind in kinds[0],
        keeps_right=node.kind in kinds[1],
    )


def _key_type(node: step.JoinStep) -> Type:
    kind = node.match.left.type
    assert kind is not None
    if not _is_windowed(node):
        return kind
    bounds = Field("START", Scalar.BIGINT), Field("END", Scalar.BIGINT)
    return Struct((Field("KEY", kind), *bounds))


def columns_of_step(node: step.Step) -> tuple[Field, ...]:
    """Return the columns that a side of a join brings along."""
    match node:
        case step.Read():
            source = node.source
            declared = [Field(node.column(c.name), c.type) for c in source.columns]
            pseudo = [Field(node.column(name), kind) for name, kind in source.pseudo.items()]
            return (*declared, *pseudo)
        case step.JoinStep():
            return (*columns_of_step(node.left), *columns_of_step(node.right))
        case step.Filter() | step.Flatten():
            return columns_of_step(node.input)
    raise TypeError(f"{type(node).__name__} cannot be a side of a join")


def _key(part: typed.Typed, read: step.Read) -> Column:
    """Return what a side is joined by; of windowed sources with the window."""
    key = compile_expression(part)
    if read.source.windowed is None:
        return key
    bounds = [quoted(read.column(name)) for name in ("WINDOWSTART", "WINDOWEND")]
    return F.struct(key.alias("KEY"), bounds[0].alias("START"), bounds[1].alias("END"))


def _side(rows: DataFrame, side: int, key: Column, layout: JoinLayout) -> DataFrame:
    """Return one side's rows with the other side's columns null."""
    own, other = (layout.left, layout.right) if side == LEFT else (layout.right, layout.left)
    mine = {field.name: quoted(field.name) for field in own}
    theirs = {field.name: F.lit(None).cast(spark_type(field.type)) for field in other}
    columns = {**mine, **theirs}
    ordered = [columns[f.name].alias(f.name) for f in (*layout.left, *layout.right)]
    joined_by = key.cast(spark_type(layout.key)).alias(JOIN_KEY)
    return rows.select(F.lit(side).alias(SIDE), joined_by, *ordered, *fact_columns())


def _operator(node: step.JoinStep, layout: JoinLayout) -> Operator:
    if node.interval is not None:
        within = node.interval
        condition = node.condition if _decides(node) else None
        return IntervalOperator(
            layout, within.before_ms, within.after_ms, within.grace_ms, condition
        )
    if step.is_table(node.left):
        return TableTableOperator(layout)
    return StreamTableOperator(layout)


def _foreign_key(
    left: DataFrame,
    right: DataFrame,
    node: step.JoinStep,
    layout: JoinLayout,
    around: Surroundings,
) -> DataFrame:
    (identity,) = identity_of(node.left)
    own_type = identity.type or Scalar.STRING
    follow = FollowOperator(layout.key, own_type, layout.left)
    key = compile_expression(node.match.left).cast(spark_type(layout.key))
    rows = left.select(
        compile_expression(identity).alias(OWN_KEY),
        key.alias(JOIN_KEY),
        *(quoted(field.name) for field in layout.left),
        *fact_columns(),
    )
    told = apply_operator(rows, follow, [quoted(OWN_KEY)], next(around.places), SEQUENCE)
    told = told.select(F.lit(LEFT).alias(SIDE), "*", *_nulls(layout.right))
    answers = _side(right, RIGHT, _key(node.match.right, node.right), layout).withColumns(
        {OWN_KEY: F.lit(None).cast(spark_type(own_type)), "$silent": F.lit(False)}
    )
    operator = ForeignKeyOperator(layout, own_type)
    both, place = told.unionByName(answers), next(around.places)
    made = apply_operator(both, operator, [quoted(JOIN_KEY)], place, SEQUENCE)
    # The changes of one row come from all the foreign keys that it had: together again, in order.
    return bring_together(made, operator.outputs, [quoted(JOIN_KEY)], place, SEQUENCE)


def _nulls(fields: Sequence[Field]) -> list[Column]:
    return [F.lit(None).cast(spark_type(field.type)).alias(field.name) for field in fields]
