"""Functions of users: types from annotations or words, and errors that say what is missing."""

from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest

from orion.model import Array, Map, Scalar, Type
from orion.model import Decimal as Digits
from orion.sql import telling_failures, typed
from orion.sql.function import Functions, Kind, WrongArgumentsError, built_in_functions
from orion.sql.function.user import (
    MissingStepError,
    SignatureError,
    udaf,
    udf,
    udtf,
    user_functions,
)
from orion.sql.plan.step import AggregateCall

STRING, BIGINT, DOUBLE = Scalar.STRING, Scalar.BIGINT, Scalar.DOUBLE


@udf
def initials(name: str) -> str:
    """Return the first letters of words."""
    return "".join(word[0] for word in name.split())


@udf(name="many", takes_nulls=True)
def count_words(first: str | None, *more: str) -> int:
    return sum(len((text or "").split()) for text in (first, *more))


@udf(parameters="price DECIMAL, rate DOUBLE", returns="DOUBLE", description="With tax.")
def taxed(price: Any, rate: Any) -> Any:
    return float(price) * (1 + rate)


@udf
def flipped(entries: dict[str, list[int]]) -> dict[int, str]:
    return {values[0]: key for key, values in entries.items()}


@udtf
def letters(text: str) -> list[str]:
    return list(text)


@udaf(parameters="value DOUBLE", returns="DOUBLE")
class Product:
    """The product of the values."""

    def initial(self) -> float:
        return 1.0

    def add(self, state: float, value: float | None) -> float:
        return state if value is None else state * value

    def result(self, state: float) -> float:
        return state

    def merge(self, one: float, other: float) -> float:
        return one * other


@pytest.fixture
def module() -> ModuleType:
    made = ModuleType("own")
    made.__dict__.update(
        initials=initials,
        count_words=count_words,
        taxed=taxed,
        flipped=flipped,
        letters=letters,
        Product=Product,
        other=3,
    )
    return made


def test_functions_of_a_module_join_the_built_in_ones(module: ModuleType) -> None:
    functions = built_in_functions()
    for function in user_functions(module):
        functions.add(function)
    assert functions.resolve("initials", [STRING]).apply("ada lovelace") == "al"
    assert functions.resolve("MANY", [STRING, STRING]).apply(None, "a b") == 2
    assert functions.resolve("taxed", [Scalar.INTEGER, DOUBLE]).returns is DOUBLE
    found = functions.resolve("flipped", [Map(STRING, Array(BIGINT))])
    assert found.returns == Map(BIGINT, STRING)
    assert functions.is_table_function("letters")
    assert functions.resolve("letters", [STRING]).returns is STRING
    steps = functions.resolve("product", [DOUBLE]).aggregation()
    assert steps.result(steps.add(steps.add(steps.initial(), 2.0), 3.0)) == 6.0
    assert steps.undo is None


def test_a_decimal_has_the_digits_that_were_promised() -> None:
    @udf(parameters="price DECIMAL", returns="DECIMAL(5, 2)")
    def with_tax(price: Decimal) -> Decimal | None:
        return price * Decimal("1.19") if price else None

    module = ModuleType("own")
    module.__dict__["with_tax"] = with_tax
    (function,) = user_functions(module)
    apply = Functions([function]).resolve("with_tax", [Digits(10, 2)]).apply
    assert str(apply(Decimal("2.50"))) == "2.98"
    assert apply(Decimal(0)) is None
    with pytest.raises(ValueError, match=r"does not fit DECIMAL\(5, 2\)"):
        apply(Decimal(1000))


def test_they_explain_themselves(module: ModuleType) -> None:
    found = {function.name: function for function in user_functions(module)}
    assert found["INITIALS"].description == "Return the first letters of words."
    assert found["TAXED"].description == "With tax."
    assert found["PRODUCT"].kind is Kind.AGGREGATE


def test_they_stay_plain_functions() -> None:
    assert initials("grace hopper") == "gh"
    assert taxed(1, 0.5) == 1.5


def test_missing_types_are_said() -> None:
    def untyped(text, more: str) -> str:  # type: ignore[no-untyped-def]
        return str(text) + more

    def endless(text: str):  # type: ignore[no-untyped-def]
        return text

    def strange(text: complex) -> str:
        return str(text)

    for function, words in ((untyped, "'text'"), (endless, "returns"), (strange, "complex")):
        with pytest.raises(SignatureError, match=words):
            udf(function)
    with pytest.raises(SignatureError, match="TEXTS"):
        udf(parameters="a TEXTS", returns="STRING")(untyped)
    with pytest.raises(MissingStepError, match="'add'"):
        udaf(parameters="a INT", returns="INT")(type("Half", (), {"initial": int}))


def test_an_aggregate_that_raises_passes_over_the_row_and_tells() -> None:
    @udaf(parameters="value DOUBLE", returns="DOUBLE")
    class Inverse:
        def initial(self) -> float:
            return 1.0

        def add(self, state: float, value: float) -> float:
            return state / value

        def undo(self, state: float, value: float) -> float:
            return state * value

        def result(self, state: float) -> float:
            return 1 / (state - 2)

        def merge(self, one: float, other: float) -> float:
            return one * other

    (made,) = user_functions(_module(Inverse))
    resolved = Functions([made]).resolve("inverse", [DOUBLE])
    steps = AggregateCall("X", resolved, (typed.Input(DOUBLE, "V"),)).aggregation()
    told: list[tuple[str, str]] = []
    with telling_failures(lambda name, row, error: told.append((name, str(error)))):
        state = steps.add(steps.add(1.0, 0.0), None)
        assert state == 1.0
        assert steps.result(state) == -1.0
        assert steps.result(steps.merge(state, 2.0)) is None
        assert steps.undo is not None
        assert steps.undo(state, 4.0) == 4.0
    assert [name for name, _ in told] == ["INVERSE"] * 3
    assert "division by zero" in told[0][1]


def test_a_result_must_be_told_apart() -> None:
    def rounded(number: Decimal) -> Decimal:
        return number

    with pytest.raises(SignatureError, match="leaves open"):
        udf(rounded)
    made = udf(returns="ARRAY<DECIMAL(10, 2)>")(rounded)
    (found,) = user_functions(_module(made))
    assert str(found.variants[0].returns) == "ARRAY<DECIMAL(10, 2)>"


def test_a_decimal_parameter_with_digits_takes_what_fits() -> None:
    @udf(parameters="price DECIMAL(8, 2)", returns="DOUBLE")
    def as_double(price: Any) -> float:
        return float(price)

    functions = Functions(user_functions(_module(as_double)))
    fitting: list[Type] = [Digits(8, 2), Digits(4, 1), Digits(6, 0)]
    for given in fitting:
        assert functions.resolve("as_double", [given]).parameters == (Digits(8, 2),)
    unfit: list[Type] = [Digits(9, 3), Digits(9, 2), BIGINT, DOUBLE, STRING]
    for given in unfit:
        with pytest.raises(WrongArgumentsError):
            functions.resolve("as_double", [given])


def test_a_table_function_gives_no_row_for_null_unless_it_takes_nulls() -> None:
    taking = udtf(name="all_letters", takes_nulls=True)(all_letters)
    functions = Functions(user_functions(_module(letters, taking)))
    assert functions.resolve("letters", [STRING]).apply(None) is None
    assert functions.resolve("all_letters", [STRING]).apply(None) == ["-"]


def all_letters(text: str | None) -> list[str]:
    return list(text or "-")


def _module(*made: object) -> ModuleType:
    module = ModuleType("own")
    module.__dict__.update({f"f{at}": one for at, one in enumerate(made)})
    return module
