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
from orion.sql.function.registry import Functions, Resolved, describe_variant
from orion.sql.function.scalar.encoding import read_base64
from orion.sql.function.user import SignatureError, joined, udaf, udf, udtf, user_functions

__all__ = [
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
    "built_in_functions",
    "describe_parameter",
    "describe_variant",
    "joined",
    "limit_functions",
    "parameters_of",
    "read_base64",
    "udaf",
    "udf",
    "udtf",
    "user_functions",
    "variant",
]
