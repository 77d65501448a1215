"""Every function keeps its own examples, which are what the documentation shows."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal as Number
from typing import Any

import pytest

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.sql.function import (
    Example,
    Function,
    Functions,
    Kind,
    LambdaArgument,
    built_in_functions,
    describe_parameter,
)
from orion.sql.parse import parse_expression, tree

FUNCTIONS = built_in_functions()
EXAMPLES = [(function, example) for function in FUNCTIONS for example in function.examples]
WITHOUT = {"CORRELATION", "RANDOM", "TOPK", "TOPKDISTINCT", "UUID"}

Valued = tuple[Type | None, Any]
Scope = dict[str, Valued]


class Evaluator:
    """Computes examples: literals, constructors, calls, lambdas."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def value(self, node: tree.Argument, scope: Scope) -> Valued:
        match node:
            case tree.NullLiteral():
                return None, None
            case tree.BooleanLiteral(value):
                return Scalar.BOOLEAN, value
            case tree.IntegerLiteral(value):
                return Scalar.INTEGER, value
            case tree.DecimalLiteral(text):
                number = Number(text)
                return Decimal(10, -int(number.as_tuple().exponent)), number
            case tree.DoubleLiteral(text):
                return Scalar.DOUBLE, float(text)
            case tree.StringLiteral(text):
                return Scalar.STRING, text
            case tree.IntervalUnit(unit):
                return Scalar.STRING, unit.name
            case tree.ColumnRef(_, name):
                return scope[name.text]
            case tree.Call():
                return self.call(node, scope)
            case _:
                return self.nested(node, scope)

    def nested(self, node: tree.Argument, scope: Scope) -> Valued:
        kind: Type | None
        match node:
            case tree.ArrayLiteral(items):
                values = [self.value(item, scope) for item in items]
                element = next(kind for kind, _ in values if kind is not None)
                return Array(element), [value for _, value in values]
            case tree.MapLiteral(entries):
                pairs = [(self.value(k, scope), self.value(v, scope)) for k, v in entries]
                key, value = pairs[0][0][0], pairs[0][1][0]
                assert key is not None
                assert value is not None
                return Map(key, value), {k[1]: v[1] for k, v in pairs}
            case tree.StructLiteral(fields):
                parts = [(name.text, self.value(item, scope)) for name, item in fields]
                kind = Struct(tuple(Field(n, p[0] or Scalar.STRING) for n, p in parts))
                return kind, {name: part[1] for name, part in parts}
            case tree.Subscript(inner, index):
                kind, value = self.value(inner, scope)
                assert isinstance(kind, Array)
                return kind.element, value[self.value(index, scope)[1] - 1]
            case tree.FieldRef(inner, name):
                kind, value = self.value(inner, scope)
                assert isinstance(kind, Struct)
                field = kind.get(name.text)
                assert field is not None
                return field.type, value[name.text]
        raise NotImplementedError(node)

    def call(self, node: tree.Call, scope: Scope) -> Valued:
        given: list[Any] = []
        values: list[Any] = []
        for argument in node.arguments:
            if isinstance(argument, tree.Lambda):
                infer, run = self.closure(argument, scope)
                given.append(LambdaArgument(len(argument.parameters), infer))
                values.append(run)
            else:
                kind, value = self.value(argument, scope)
                given.append(kind)
                values.append(value)
        found = self._functions.resolve(node.name.text, given)
        wide = [widened(v, kind) for v, kind in zip(values, found.parameters, strict=True)]
        return found.returns, found.apply(*wide)

    def closure(
        self, node: tree.Lambda, scope: Scope
    ) -> tuple[Callable[[Sequence[Type]], Type], Callable[..., Any]]:
        names = [name.text for name in node.parameters]
        known: list[Type] = []

        def infer(types: Sequence[Type]) -> Type:
            known[:] = types
            samples = {n: (t, sample(t)) for n, t in zip(names, types, strict=True)}
            kind, _ = self.value(node.body, {**scope, **samples})
            assert kind is not None
            return kind

        def run(*values: Any) -> Any:
            inner = {n: (t, v) for n, t, v in zip(names, known, values, strict=True)}
            return self.value(node.body, {**scope, **inner})[1]

        return infer, run


def sample(kind: Type) -> Any:
    return {Scalar.STRING: "", Scalar.INTEGER: 0}.get(kind) if isinstance(kind, Scalar) else None


def widened(value: Any, kind: Type | None) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(kind, Decimal):
        return Number(value)
    if kind is Scalar.DOUBLE and value is not None:
        return float(value)
    return value


def computed(function: Function, example: Example) -> Any:
    evaluator = Evaluator(FUNCTIONS)
    call = parse_expression(example.call)
    if function.kind is not Kind.AGGREGATE:
        return evaluator.value(call, {})[1]
    assert isinstance(call, tree.Call)
    rows = [evaluator.value(argument, {}) for argument in call.arguments]
    kind = next(kind for kind, _ in rows if kind is not None)
    steps = FUNCTIONS.resolve(function.name, [kind]).aggregation()
    state = steps.initial()
    for _, value in rows:
        state = steps.add(state, value)
    return steps.result(state)


@pytest.mark.parametrize(("function", "example"), EXAMPLES, ids=lambda it: getattr(it, "call", ""))
def test_examples_hold(function: Function, example: Example) -> None:
    found = computed(function, example)
    if isinstance(found, float) and isinstance(example.result, float):
        assert found == pytest.approx(example.result, nan_ok=True)
        assert math.isinf(found) == math.isinf(example.result)
    else:
        assert found == example.result
        assert type(found) is type(example.result)
        assert str(found) == str(example.result)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_functions_explain_themselves(function: Function) -> None:
    assert function.name == function.name.upper()
    assert function.description.endswith(".")
    assert function.examples or function.name in WITHOUT
    for variant in function.variants:
        names = [parameter.name for parameter in variant.parameters]
        assert len(set(names)) == len(names)
        assert all(describe_parameter(parameter) for parameter in variant.parameters)


def test_all_functions_are_there() -> None:
    kinds = [function.kind for function in FUNCTIONS]
    assert kinds.count(Kind.SCALAR) == 129
    assert kinds.count(Kind.AGGREGATE) == 18
    assert kinds.count(Kind.TABLE) == 2
