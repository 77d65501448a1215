"""AVRO by Spark's own reader and writer, where the schemas are known when the plan is made.

Records of other schemas, which may come later, go to the codec: only their bytes leave the JVM.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.avro.functions import from_avro, to_avro

from orion.formats import (
    HEADER_BYTES,
    REASON_FIELD,
    ROW_FIELD,
    FormatSpec,
    NativeSchemas,
    RegisteredSchema,
    SchemaSource,
    header,
    native_schemas,
    schema_of,
    writes_native,
)
from orion.process.format.batch import decode_in_batches, encode_in_batches
from orion.process.format.type import spark_columns

# Each known schema is a branch of the plan; older ones go to the codec.
_MAX_KNOWN = 8


def decode_avro(bytes: Column, spec: FormatSpec, schemas: SchemaSource) -> Column:
    """Return the rows of Avro records, as `struct<row, reason>`."""
    known = _known(spec, schemas)
    if not known:
        return decode_in_batches(bytes, spec, schemas)
    head = F.substring(bytes, 1, HEADER_BYTES)
    body = F.substring(bytes, HEADER_BYTES + 1, F.length(bytes))
    headers = [F.lit(header(schema_id)) for schema_id in known]
    is_known = F.coalesce(head.isin(headers), F.lit(False))
    rest = decode_in_batches(F.when(~is_known, bytes), spec, schemas, repeatable=True)
    row = rest.getField(ROW_FIELD)
    for schema_id, native in known.items():
        is_this = head == F.lit(header(schema_id))
        row = F.when(is_this, _read(body, native, spec)).otherwise(row)
    # A part that the planner takes for random keeps it from decoding anew in each filter; the
    # rest is the same expression in both fields, which one task evaluates once.
    broken = row.isNull() & is_known & (F.spark_partition_id() >= 0)
    reason = F.when(broken, "the body does not follow its schema").otherwise(
        rest.getField(REASON_FIELD)
    )
    return F.struct(row.alias(ROW_FIELD), reason.alias(REASON_FIELD))


def _read(body: Column, native: NativeSchemas, spec: FormatSpec) -> Column:
    options = {"avroSchema": native.reader, "mode": "PERMISSIVE"}
    found = from_avro(body, native.writer, options).getField("row")
    return found.cast(spark_columns(spec.columns))


def _known(spec: FormatSpec, schemas: SchemaSource) -> dict[int, NativeSchemas]:
    found: list[RegisteredSchema] = []
    if spec.subject:
        found += schemas.versions(spec.subject)[-_MAX_KNOWN:]
    if spec.schema_id is not None:
        found.append(RegisteredSchema(spec.schema_id, schemas.schema(spec.schema_id)))
    natives = {each.id: native_schemas(spec, each.schema, schemas) for each in found}
    return {schema_id: native for schema_id, native in natives.items() if native is not None}


def encode_avro(row: Column, spec: FormatSpec, schemas: SchemaSource) -> Column:
    """Return rows as Avro records, by a schema that is registered now if it is new."""
    made = schema_of(spec)
    if spec.schema_id is not None or not writes_native(spec, made):
        return encode_in_batches(row, spec, schemas)
    schema_id = schemas.register(spec.subject, made)
    fields = [row.getField(field.name).alias(field.name) for field in spec.columns]
    body = to_avro(F.struct(*fields), made.text)
    return F.when(row.isNotNull(), F.concat(F.lit(header(schema_id)), body))
