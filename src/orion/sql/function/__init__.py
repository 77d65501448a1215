"""Functions of streaming SQL: names, types, words that explain them, and meanings in Python.

In:  a name and the types of arguments.
Out: the variant that fits with the type of its result, and its meaning as a Python function.
Never: Spark; what runs a function over columns decides nothing about what it means.
"""

from orion.sql.function.built_in import built_in_functions
from orion.sql.function.errors import (
    AmbiguousCallError,
    FunctionExistsError,
    FunctionFailure,
    UnknownFunctionError,
    WrongArgumentsError,
)
from orion.sql.function.function import (
    Aggregation,
    Example,
    Function,
    Kind,
    Parameter,
    Variant,
    variant,
)
from orion.sql.function.glossary import describe_parameter, parameters_of
from orion.sql.function.limit import limit_functions
from orion.sql.function.match import LambdaArgument
from orion.sql.function.number_type import (
    MAX_PRECISION,
    bounded,
    number_width,
    to_decimal,
    wider_number,
)
from orion.sql.function.registry import Functions, Resolved, describe_variant
from orion.sql.function.scalar.encoding import read_base64
from orion.sql.function.user import SignatureError, joined, udaf, udf, udtf, user_functions
from orion.sql.function.value.number import rescale

__all__ = [
    "MAX_PRECISION",
    "Aggregation",
    "AmbiguousCallError",
    "Example",
    "Function",
    "FunctionExistsError",
    "FunctionFailure",
    "Functions",
    "Kind",
    "LambdaArgument",
    "Parameter",
    "Resolved",
    "SignatureError",
    "UnknownFunctionError",
    "Variant",
    "WrongArgumentsError",
    "bounded",
    "built_in_functions",
    "describe_parameter",
    "describe_variant",
    "joined",
    "limit_functions",
    "number_width",
    "parameters_of",
    "read_base64",
    "rescale",
    "to_decimal",
    "udaf",
    "udf",
    "udtf",
    "user_functions",
    "variant",
    "wider_number",
]
