"""AVRO by Spark's own reader and writer, where the schemas are known when the plan is made.

Records of other schemas, which may come later, go to the codec: only their bytes leave the JVM.
"""

import re
from collections.abc import Set

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.avro.functions import from_avro, to_avro

from orion.formats import (
    HEADER_BYTES,
    REASON_FIELD,
    ROW_FIELD,
    FormatSpec,
    NativeSchemas,
    Schema,
    SchemaSource,
    header,
    native_schemas,
    schema_of,
    writes_native,
)
from orion.process.format.batch import decode_in_batches, transcode_in_batches
from orion.process.format.type import spark_columns

# Each known schema is a branch of the plan; older ones go to the codec.
_MAX_KNOWN = 8
BROKEN = "the body does not follow its schema"
_UNPLANNED = "this plan knows no schema id "


def decode_avro(
    bytes: Column, spec: FormatSpec, schemas: SchemaSource, *, expected: Set[int] | None = None
) -> Column:
    """Return the rows of Avro records, as `struct<row, reason>`.

    Args:
        expected: The codec is left out of the plan, if all of these ids and the registered ones
            can do without: a record of any other id fails its task, with an error by which
            `unplanned_schema_id` knows it. None: records of any id are read, which costs more.
    """
    registered = _registered(spec, schemas)
    known = _known(spec, schemas, registered)
    if not known:
        return decode_in_batches(bytes, spec, schemas)
    head = F.substring(bytes, 1, HEADER_BYTES)
    body = F.substring(bytes, HEADER_BYTES + 1, F.length(bytes))
    is_known = F.coalesce(head.isin([F.lit(header(each)) for each in known]), F.lit(False))
    rows = [
        _read(F.when(head == F.lit(header(schema_id)), body), native, spec)
        for schema_id, native in known.items()
    ]
    if expected is not None and known.keys() >= registered.keys() | expected:
        why_not = _refuse(bytes, head)
    else:
        others = transcode_in_batches(F.when(~is_known, bytes), spec, schemas)
        others_body = F.substring(others, 2, F.length(others))
        is_body = F.substring(others, 1, 1) == F.lit(b"\0")
        rows.append(_read(F.when(is_body, others_body), _own(spec), spec))
        why_not = F.when(~is_body, others_body.cast("string"))
    row = F.coalesce(*rows)
    # A part that the planner takes for random keeps it from decoding anew in each filter; the
    # row is the same expression in both fields, which one task evaluates once.
    lacks = row.isNull() & (F.spark_partition_id() >= 0)
    reason = F.when(lacks & is_known, BROKEN).when(lacks, why_not)
    return F.struct(row.alias(ROW_FIELD), reason.alias(REASON_FIELD))


def _refuse(bytes: Column, head: Column) -> Column:
    """Return why a body has no schema id; fail where it has one, which a later plan may know."""
    number = F.conv(F.hex(F.substring(head, 2, 4)), 16, 10)
    unplanned = F.raise_error(F.concat(F.lit(_UNPLANNED), number))
    magic = F.substring(head, 1, 1)
    no_magic = F.concat(
        F.lit("the body begins with byte "),
        F.conv(F.hex(magic), 16, 10),
        F.lit(", not with the 0 before a schema id"),
    )
    too_short = F.concat_ws(
        "", F.lit("the body has "), F.length(bytes), F.lit(" bytes, too few for a schema id")
    )
    return (
        F.when(bytes.isNull(), F.lit(None))
        .when(F.length(head) < HEADER_BYTES, too_short)
        .when(magic != F.lit(b"\0"), no_magic)
        .otherwise(unplanned.cast("string"))
    )


def unplanned_schema_id(error: BaseException) -> int | None:
    """Return the id that a task failed on and that a plan made now may know, if it was that."""
    found = re.search(rf"{_UNPLANNED}(\d+)", str(error))
    return int(found[1]) if found else None


def _own(spec: FormatSpec) -> NativeSchemas:
    found = native_schemas(spec, schema_of(spec))
    assert found is not None
    return found


def _read(body: Column, native: NativeSchemas, spec: FormatSpec) -> Column:
    options = {"avroSchema": native.reader, "mode": "PERMISSIVE"}
    found = from_avro(body, native.writer, options).getField("row")
    return found.cast(spark_columns(spec.columns))


def _registered(spec: FormatSpec, schemas: SchemaSource) -> dict[int, Schema]:
    """Return the schemas that records are likely to have, by id."""
    versions = schemas.versions(spec.subject)[-_MAX_KNOWN:] if spec.subject else ()
    found = {each.id: each.schema for each in versions}
    if spec.schema_id is not None:
        found[spec.schema_id] = schemas.schema(spec.schema_id)
    return found


def _known(
    spec: FormatSpec, schemas: SchemaSource, registered: dict[int, Schema]
) -> dict[int, NativeSchemas]:
    """Return those of the schemas that Spark reads as the codec does."""
    natives = {i: native_schemas(spec, schema, schemas) for i, schema in registered.items()}
    return {schema_id: native for schema_id, native in natives.items() if native is not None}


def encode_avro(row: Column, spec: FormatSpec, schemas: SchemaSource) -> Column | None:
    """Return rows as Avro records of the spec's schema id; None if only the codec can."""
    made = schema_of(spec)
    assert spec.schema_id is not None
    if schemas.schema(spec.schema_id) != made or not writes_native(spec, made):
        return None
    fields = [row.getField(field.name).alias(field.name) for field in spec.columns]
    body = to_avro(F.struct(*fields), made.text)
    return F.when(row.isNotNull(), F.concat(F.lit(header(spec.schema_id)), body))
