"""The decodings in a caller's own plan: any schema is read, until a query plans for the known ones.

A DataFrame that left our hands may be used in any way, so it reads records of every schema by
itself. A query of ours can be planned anew, and does with Spark's own reader for the schemas that
are known: the decoding is exchanged in the analysed plan, all else stays as it is.
"""

import logging
from collections.abc import Callable, Set
from dataclasses import dataclass
from itertools import count
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from orion.formats import Format, FormatSpec, SchemaSource
from orion.model import UnavailableError
from orion.process.format import decode_column
from orion.process.planning import BuildRows, Planning

logger = logging.getLogger(__name__)

_numbers = count()
_CATALYST = "org.apache.spark.sql.catalyst"


@dataclass(frozen=True)
class _Decoding:
    """What a column of a plan was decoded from."""

    spec: FormatSpec
    schemas: SchemaSource | None


# By the names of the columns, which are found again in any plan made of them.
_decodings: dict[str, _Decoding] = {}


def add_decoded(
    rows: DataFrame, column: str, spec: FormatSpec, schemas: SchemaSource | None
) -> tuple[DataFrame, str]:
    """Add what a binary column decodes to, as `struct<row, reason>`; return its name too."""
    name = f"_decoded_{next(_numbers)}"
    if spec.format is Format.AVRO:
        _decodings[name] = _Decoding(spec, schemas)
    return rows.withColumn(name, decode_column(F.col(column), spec, schemas)), name


def plan_for_known(df: DataFrame) -> BuildRows:
    """Return what builds the rows again, decoding at Spark's speed the schemas known by then."""

    def build(planning: Planning) -> DataFrame:
        if not _decodings:
            return df
        try:
            return _Exchange(df.sparkSession, planning.schema_ids).apply(df)
        except (UnavailableError, Py4JError) as error:
            # The plan as it is reads the same.
            logger.warning("planned for any schema, which is slower: %s", error)
            return df

    return build


class _Exchange:
    """One walk over a plan. Nodes are Spark's, and never changed: changed ones are copies."""

    def __init__(self, spark: SparkSession, schema_ids: Set[int]) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm  # noqa: SLF001
        self._schema_ids = schema_ids

    def apply(self, df: DataFrame) -> DataFrame:
        before = df._jdf.queryExecution().analyzed()  # noqa: SLF001
        after = self._plan(before)
        if after is before:
            return df
        session = self._spark._jsparkSession  # noqa: SLF001
        made = self._jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, after)
        return DataFrame(made, self._spark)

    def _plan(self, node: Any) -> Any:
        node = self._with_children(node, self._plan)
        return self._project(node) if node.nodeName() == "Project" else node

    def _with_children(self, node: Any, change: Callable[[Any], Any]) -> Any:
        before = _listed(node.children())
        after = [change(child) for child in before]
        if all(old is new for old, new in zip(before, after, strict=True)):
            return node
        return node.withNewChildren(self._seq(after))

    def _project(self, node: Any) -> Any:
        before = _listed(node.projectList())
        after = [self._column(column) for column in before]
        if all(old is new for old, new in zip(before, after, strict=True)):
            return node
        project = getattr(self._jvm, f"{_CATALYST}.plans.logical.Project")
        return project(self._seq(after), node.child())

    def _column(self, column: Any) -> Any:
        """Return a column, decoded by another expression under the same name and identity."""
        decoding = _decodings.get(column.name())
        if decoding is None or not _is_a(column, "Alias"):
            return column
        sources = _listed(column.references().toSeq())
        if len(sources) != 1:
            return column
        made = self._expression(decoding, sources[0])
        if not made.dataType().equals(column.dataType()):
            return column
        return column.withNewChildren(self._seq([made]))

    def _expression(self, decoding: _Decoding, source: Any) -> Any:
        found = decode_column(
            F.col("value"), decoding.spec, decoding.schemas, expected=self._schema_ids
        )
        rows = self._spark.createDataFrame([], "value binary").select(found.alias("found"))
        plan = rows._jdf.queryExecution().analyzed()  # noqa: SLF001
        return self._read_from(source, plan.projectList().head().child())

    def _read_from(self, source: Any, expression: Any) -> Any:
        if _is_a(expression, "AttributeReference"):
            return source
        return self._with_children(expression, lambda each: self._read_from(source, each))

    def _seq(self, items: list[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(items)


def _listed(seq: Any) -> list[Any]:
    return [seq.apply(position) for position in range(seq.length())]


def _is_a(expression: Any, name: str) -> bool:
    return bool(expression.getClass().getSimpleName() == name)
