"""A checked plan becomes a DataFrame: rows of its sources in, records of its sink out.

The same for a live stream and for the records of a test: nothing here starts a job.
"""

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Array
from orion.process.sql.expression import compile_expression, quoted
from orion.process.sql.group import group_rows, group_source
from orion.process.sql.join import join_rows
from orion.process.sql.rank import rank_rows
from orion.process.sql.read import Surroundings, read_source
from orion.process.sql.rows import in_batches
from orion.process.sql.watch import watch
from orion.process.sql.write import RecordColumns
from orion.sql import Source, step, typed
from orion.state import ABSENT, FACTS, HAD_OLD, OLD, ORIGIN, SEQUENCE


def compile_query(project: step.Project, sink: Source, around: Surroundings) -> DataFrame:
    """Return the records that a query writes: key, value, timestamp_ms, headers, `$seq`."""
    record = RecordColumns.of(project, sink, around)
    unasked = {ORIGIN}
    if project.having is None:
        unasked.add(HAD_OLD)
    if not (around.tells_places or record.can_fail):
        unasked.add(SEQUENCE)
    rows = project_rows(project, replace(around, unasked=frozenset(unasked)))
    return record.encode(rows, around)


def project_rows(project: step.Project, around: Surroundings) -> DataFrame:
    """Return the columns that a query selects, with the facts of their rows."""
    rows = compile_step(project.input, around)
    if project.having is not None:
        rows = _having(rows, project.having)
    rows = watch(rows, [named.expression for named in (*project.key, *project.value)])
    columns = [
        *(_key_column(named, project) for named in project.key),
        *(_column(named, named.name) for named in project.value),
    ]
    bounds = [quoted(name) for name in ("WINDOWSTART", "WINDOWEND") if name in rows.columns]
    kept = [c.alias(f"$window.{n}") for c, n in zip(bounds, ("start", "end"), strict=False)]
    return rows.select(*columns, *kept, *(F.col(name) for name in FACTS))


def _column(named: step.Named, name: str) -> Column:
    return compile_expression(named.expression).alias(name)


def _key_column(named: step.Named, project: step.Project) -> Column:
    """Return a column of the key; what is computed from a value that is absent is null."""
    found = compile_expression(named.expression)
    reads = [read for read in step.reads_of(project.input) if not read.qualified]
    own = {column.name for read in reads for column in read.source.key}
    if project.is_keyed_anew and reads and not typed.inputs_of(named.expression) <= own:
        found = F.when(~F.col(ABSENT), found)
    return found.alias(f"$key.{named.name}")


def compile_step(node: step.Step, around: Surroundings) -> DataFrame:
    """Return the rows of a step."""
    match node:
        case step.Read():
            return read_source(node, around)
        case step.Filter():
            rows = compile_step(node.input, around)
            return _keep(rows, node.condition, is_table=step.is_table(node))
        case step.Flatten():
            return _flatten(compile_step(node.input, around), node)
        case step.Aggregate():
            found = group_source(node, around)
            if found is not None:
                return found
            return group_rows(compile_step(node.input, around.within), node, around)
        case step.Rank():
            return rank_rows(compile_step(node.input.input, around.within), node, around)
        case step.JoinStep():
            left = compile_step(node.left, around.within)
            return join_rows(left, compile_step(node.right, around.within), node, around)
        case step.Project():
            return project_rows(node, around)


def _keep(rows: DataFrame, condition: typed.Typed, *, is_table: bool) -> DataFrame:
    """Return the rows for which a condition holds; a table's others become tombstones."""
    rows = watch(rows, [condition])
    holds = F.coalesce(compile_expression(condition), F.lit(False)) & ~F.col(ABSENT)
    if is_table:
        return rows.withColumn(ABSENT, ~holds)
    return rows.where(holds)


def _having(rows: DataFrame, condition: typed.Typed) -> DataFrame:
    """Return groups for which a condition holds; one for which it no longer does is taken back."""
    rows = watch(rows, [condition])
    old = {name.removeprefix(OLD): name for name in rows.columns if name.startswith(OLD)}
    holds = F.coalesce(compile_expression(condition), F.lit(False)) & ~F.col(ABSENT)
    held = F.coalesce(compile_expression(typed.renamed(condition, old)), F.lit(False))
    held = held & F.col(HAD_OLD)
    rows = rows.withColumns({"$holds": holds, "$held": held})
    return rows.where(F.col("$holds") | F.col("$held")).withColumn(ABSENT, ~F.col("$holds"))


def _flatten(rows: DataFrame, node: step.Flatten) -> DataFrame:
    """Return a row for each place of the lists that table functions give, the longest deciding."""
    lists = {named.name: _list(named.expression) for named in node.columns}
    rows = watch(rows, [named.expression for named in node.columns])
    rows = rows.where(~F.col(ABSENT)).withColumns(lists)
    sizes = [F.coalesce(F.size(F.col(name)), F.lit(0)) for name in lists]
    longest = F.greatest(*sizes) if len(sizes) > 1 else sizes[0]
    # `size` of null is -1 with ANSI mode off.
    places = F.when(longest > 0, F.sequence(F.lit(0), longest - 1))
    rows = rows.withColumn("$place", F.explode(places))
    return rows.withColumns({name: F.get(F.col(name), F.col("$place")) for name in lists})


def _list(call: typed.Typed) -> Column:
    """Return all that a table function gives for a row, as an array."""
    assert isinstance(call, typed.Applied)
    if call.function.name == "EXPLODE":
        return compile_expression(call.arguments[0])
    return in_batches(replace(call, type=Array(call.type)))
