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

from orion.model import Array, Decimal, Field, InvalidInputError, Map, Scalar, Struct, Type

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
_SQL_SCALARS = {spark: sql for sql, spark in _SCALARS.items() if sql is not Scalar.TIME}


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


class UnsupportedColumnTypeError(InvalidInputError):
    """Raised when a column's Spark type is none of streaming SQL."""

    def __init__(self, column: str, found: str) -> None:
        self.column, self.found = column, found
        super().__init__(
            f"Column '{column}' has type {found}, which the format cannot carry.",
            fix="Cast it to BOOLEAN, INT, BIGINT, DOUBLE, DECIMAL, STRING, BINARY, DATE, TIMESTAMP,"
            " ARRAY, MAP or STRUCT.",
        )


def sql_type(kind: DataType, column: str) -> Type:
    """Return the SQL type that a Spark type carries.

    Args:
        column: The column's name, for errors.
    """
    match kind:
        case DecimalType():
            return Decimal(kind.precision, kind.scale)
        case ArrayType():
            return Array(sql_type(kind.elementType, column))
        case MapType():
            return Map(sql_type(kind.keyType, column), sql_type(kind.valueType, column))
        case StructType():
            return Struct(sql_columns(kind))
        case _ if kind in _SQL_SCALARS:
            return _SQL_SCALARS[kind]
        case _:
            raise UnsupportedColumnTypeError(column, kind.simpleString())


def sql_columns(columns: StructType) -> tuple[Field, ...]:
    """Return Spark's columns as SQL columns."""
    return tuple(Field(each.name, sql_type(each.dataType, each.name)) for each in columns.fields)


def spark_columns(columns: Iterable[Field]) -> StructType:
    """Return the Spark struct of a row."""
    return StructType([StructField(field.name, spark_type(field.type)) for field in columns])
