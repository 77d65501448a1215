"""The functions over rows, a module a subject; each lists its own as `FUNCTIONS`.

The meaning of an aggregate makes an `Aggregation` of the arguments that are constants, such as the
number of values that TOPK keeps. States are plain values: numbers, lists and dicts.
"""
