"""SQL types as Spark types."""

from collections.abc import Iterable

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

_SCALARS: dict[Scalar, DataType] = {
    Scalar.BOOLEAN: BooleanType(),
    Scalar.INTEGER: IntegerType(),
    Scalar.BIGINT: LongType(),
    Scalar.DOUBLE: DoubleType(),
    Scalar.STRING: StringType(),
    Scalar.BYTES: BinaryType(),
    Scalar.TIME: IntegerType(),
    Scalar.DATE: DateType(),
    Scalar.TIMESTAMP: TimestampType(),
}


def spark_type(kind: Type) -> DataType:
    """Return the Spark type that carries a SQL type."""
    match kind:
        case Scalar():
            return _SCALARS[kind]
        case Decimal(precision, scale):
            return DecimalType(precision, scale)
        case Array(element):
            return ArrayType(spark_type(element))
        case Map(key, value):
            return MapType(spark_type(key), spark_type(value))
        case Struct(fields):
            return spark_columns(fields)


def spark_columns(columns: Iterable[Field]) -> StructType:
    """Return the Spark struct of a row."""
    return StructType([StructField(field.name, spark_type(field.type)) for field in columns])
