"""CAST as native columns, where Spark's answer is the same."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Array, Decimal, Map, Scalar, Struct, Type
from orion.process.format import spark_type

_NUMBERS = (Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE)
_WHOLE_TEXT = r"^\s*[+-]?\d+\s*$"
_NUMBER_TEXT = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def cast_column(value: Column, source: Type, target: Type) -> Column | None:
    """Return the value in another type; None where Spark has no such cast."""
    if source == target:
        return value
    if _is_number(source) and _is_number(target):
        return value.cast(spark_type(target))
    if source is Scalar.STRING:
        return _from_text(value, target)
    if target is Scalar.STRING:
        return _to_text(value, source)
    if isinstance(source, Scalar):
        return _cast_moment(value, source, target)
    return _cast_nested(value, source, target)


def _is_number(kind: Type) -> bool:
    return isinstance(kind, Decimal) or kind in _NUMBERS


def _from_text(value: Column, target: Type) -> Column | None:
    if target in (Scalar.INTEGER, Scalar.BIGINT):
        return F.when(value.rlike(_WHOLE_TEXT), F.trim(value).cast(spark_type(target)))
    if isinstance(target, Decimal) or target is Scalar.DOUBLE:
        number = F.when(value.rlike(_NUMBER_TEXT), F.trim(value).cast(spark_type(target)))
        # A text may spell more than a double can hold.
        return F.when(F.abs(number) < float("inf"), number) if target is Scalar.DOUBLE else number
    return None


def _to_text(value: Column, source: Type) -> Column | None:
    if source in (Scalar.BOOLEAN, Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE, Scalar.DATE):
        return value.cast("string")
    if source is Scalar.TIMESTAMP:
        return F.date_format(value, "yyyy-MM-dd'T'HH:mm:ss.SSS")
    return None


def _cast_moment(value: Column, source: Type, target: Type) -> Column | None:
    if source is Scalar.DATE and target is Scalar.TIMESTAMP:
        return value.cast("timestamp")
    if source is Scalar.TIMESTAMP and target is Scalar.DATE:
        return value.cast("date")
    if source is Scalar.TIMESTAMP and target is Scalar.TIME:
        return F.pmod(F.unix_millis(value), F.lit(86_400_000)).cast("int")
    return None


def _cast_nested(value: Column, source: Type, target: Type) -> Column | None:
    if isinstance(source, Array) and isinstance(target, Array):
        if not _always_fits(source.element, target.element):
            return None
        return F.transform(value, lambda item: _cast(item, source.element, target.element))
    if isinstance(source, Map) and isinstance(target, Map):
        if source.key != target.key or not _always_fits(source.value, target.value):
            return None
        return F.transform_values(value, lambda _, item: _cast(item, source.value, target.value))
    if isinstance(source, Struct) and isinstance(target, Struct):
        return _cast_struct(value, source, target)
    return None


def _cast_struct(value: Column, source: Struct, target: Struct) -> Column | None:
    fields = []
    for field in target.fields:
        own = source.get(field.name)
        if own is None:
            found = F.lit(None).cast(spark_type(field.type))
        elif _always_fits(own.type, field.type):
            found = _cast(value.getField(field.name), own.type, field.type)
        else:
            return None
        fields.append(found.alias(field.name))
    return F.when(value.isNotNull(), F.struct(*fields))


def _always_fits(source: Type, target: Type) -> bool:
    """Tell whether Spark casts each part of a value: with one that fails, all of it is null."""
    if source != target and (source is Scalar.STRING or isinstance(target, Decimal)):
        return False
    return cast_column(F.lit(None), source, target) is not None


def _cast(value: Column, source: Type, target: Type) -> Column:
    found = cast_column(value, source, target)
    assert found is not None
    return found
