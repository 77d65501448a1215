"""Functions of streaming SQL on Spark columns.

In:  a resolved function, its arguments as columns and lambdas.
Out: a native column, or None: then the function's meaning runs over Arrow batches.
Never: a native form that means something else than the function does.
"""

from orion.process.function.native import native, native_names, null_is_failure
from orion.process.function.number import can_negate

__all__ = ["can_negate", "native", "native_names", "null_is_failure"]
