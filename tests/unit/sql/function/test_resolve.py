"""Which variant a call means: exact before widened, plain before loose, one or an error."""

import pickle
from collections.abc import Sequence

import pytest

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.sql.function import (
    AmbiguousCallError,
    Function,
    FunctionExistsError,
    Functions,
    LambdaArgument,
    UnknownFunctionError,
    WrongArgumentsError,
    built_in_functions,
    variant,
)

INT, BIGINT, DOUBLE = Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE
STRING, BOOLEAN = Scalar.STRING, Scalar.BOOLEAN
FUNCTIONS = built_in_functions()


@pytest.mark.parametrize(
    ("name", "given", "parameters", "returns"),
    [
        ("abs", [INT], (INT,), INT),
        ("ABS", [Decimal(5, 2)], (Decimal(5, 2),), Decimal(5, 2)),
        ("sqrt", [Decimal(5, 2)], (DOUBLE,), DOUBLE),
        ("power", [INT, DOUBLE], (DOUBLE, DOUBLE), DOUBLE),
        ("from_unixtime", [INT], (BIGINT,), Scalar.TIMESTAMP),
        ("round", [Decimal(12, 7)], (Decimal(12, 7),), Decimal(5, 0)),
        ("round", [Decimal(2, 2)], (Decimal(2, 2),), Decimal(1, 0)),
        ("greatest", [INT, None, INT], (INT, INT, INT), INT),
        ("greatest", [Decimal(4, 2), Decimal(4, 0)], (Decimal(4, 2), Decimal(4, 0)), Decimal(6, 2)),
        ("array_max", [Array(STRING)], (Array(STRING),), STRING),
        ("array_contains", [Array(BIGINT), INT], (Array(BIGINT), BIGINT), BOOLEAN),
        ("coalesce", [None, STRING, None], (STRING, STRING, STRING), STRING),
        ("coalesce", [Decimal(38, 0), Decimal(5, 2)], (Decimal(38, 2),) * 2, Decimal(38, 2)),
        ("as_map", [Array(STRING), Array(INT)], (Array(STRING), Array(INT)), Map(STRING, INT)),
        ("concat", [STRING, STRING], (STRING, STRING), STRING),
        ("topk", [INT, INT], (INT, INT), Array(INT)),
        ("count", [], (), BIGINT),
        ("count", [Array(INT)], (Array(INT),), BIGINT),
        ("latest_by_offset", [STRING, INT], (STRING, INT), Array(STRING)),
        ("latest_by_offset", [STRING, BOOLEAN], (STRING, BOOLEAN), STRING),
        ("explode", [Array(DOUBLE)], (Array(DOUBLE),), DOUBLE),
    ],
)
def test_calls_find_their_variant(
    name: str,
    given: list[Type | None],
    parameters: tuple[Type | None, ...],
    returns: Type,
) -> None:
    found = FUNCTIONS.resolve(name, given)
    assert found.parameters == parameters
    assert found.returns == returns


def test_topk_with_columns_gives_structs() -> None:
    found = FUNCTIONS.resolve("TOPK", [DOUBLE, STRING, BIGINT, INT])
    fields = (Field("sort_col", DOUBLE), Field("col0", STRING), Field("col1", BIGINT))
    assert found.returns == Array(Struct(fields))


def test_entries_are_structs_of_key_and_value() -> None:
    found = FUNCTIONS.resolve("ENTRIES", [Map(STRING, DOUBLE), BOOLEAN])
    assert found.returns == Array(Struct((Field("K", STRING), Field("V", DOUBLE))))


def test_lambdas_are_typed_by_the_other_arguments() -> None:
    asked: list[Sequence[Type]] = []

    def infer(types: Sequence[Type]) -> Type:
        asked.append(tuple(types))
        return STRING

    found = FUNCTIONS.resolve("TRANSFORM", [Array(INT), LambdaArgument(1, infer)])
    assert found.returns == Array(STRING)
    assert found.parameters == (Array(INT), None)
    assert asked[-1] == (INT,)


def test_a_reduce_widens_its_state_to_what_the_lambda_gives() -> None:
    asked: list[Sequence[Type]] = []

    def infer(types: Sequence[Type]) -> Type:
        asked.append(tuple(types))
        return BIGINT

    found = FUNCTIONS.resolve("REDUCE", [Array(BIGINT), INT, LambdaArgument(2, infer)])
    assert found.parameters == (Array(BIGINT), BIGINT, None)
    assert found.returns == BIGINT
    assert asked[-1] == (BIGINT, BIGINT)


def test_an_unknown_function_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownFunctionError, match="Did you mean 'SUBSTRING'") as caught:
        FUNCTIONS.resolve("substrin", [STRING])
    assert caught.value.name == "substrin"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("abs", [STRING]),
        ("abs", []),
        ("concat", [STRING]),
        ("substring", [STRING, DOUBLE]),
        ("greatest", [STRING, INT]),
        ("dateadd", [Scalar.DATE, INT, Scalar.DATE]),
        ("transform", [Array(INT), INT]),
        ("transform", [Array(INT), LambdaArgument(2, lambda _: INT)]),
        ("array_union", [Array(INT), Array(STRING)]),
    ],
)
def test_wrong_arguments_list_the_variants(name: str, given: list[Type]) -> None:
    with pytest.raises(WrongArgumentsError, match="It takes: ") as caught:
        FUNCTIONS.resolve(name, given)
    assert len(caught.value.variants) == len(FUNCTIONS.get(name).variants)


@pytest.mark.parametrize(
    ("name", "given"),
    [("greatest", [INT, BIGINT]), ("greatest", [None, None]), ("len", [None]), ("round", [None])],
)
def test_a_call_that_means_several_things_is_refused(name: str, given: list[Type | None]) -> None:
    with pytest.raises(AmbiguousCallError, match="CAST"):
        FUNCTIONS.resolve(name, given)


@pytest.mark.parametrize(
    ("name", "given", "parameters", "returns"),
    [
        ("array_sort", [None], [Array(STRING)], Array(STRING)),
        ("slice", [None, INT, INT], [Array(STRING), INT, INT], Array(STRING)),
        ("array_union", [None, Array(INT)], [Array(INT), Array(INT)], Array(INT)),
        ("map_keys", [None], [Map(STRING, STRING)], Array(STRING)),
        ("coalesce", [None, None], [STRING, STRING], STRING),
    ],
)
def test_a_bare_null_has_a_type(
    name: str, given: list[Type | None], parameters: list[Type], returns: Type
) -> None:
    found = FUNCTIONS.resolve(name, given)
    assert [*found.parameters] == parameters
    assert found.returns == returns


def test_users_add_functions_to_a_set_of_their_own() -> None:
    own = built_in_functions()
    shout = Function(
        "shout", "TEXT", "Louder.", (variant("text STRING", "STRING", lambda text: text + "!"),)
    )
    own.add(shout)
    assert own.resolve("SHOUT", [STRING]).apply("hey") == "hey!"
    assert "SHOUT" not in FUNCTIONS
    with pytest.raises(FunctionExistsError):
        own.add(shout)
    with pytest.raises(FunctionExistsError):
        own.add(Function("abs", "TEXT", "Mine.", ()))


def test_a_null_argument_is_not_given_to_a_function_that_does_not_ask_for_it() -> None:
    assert FUNCTIONS.resolve("UCASE", [STRING]).apply(None) is None
    assert FUNCTIONS.resolve("COALESCE", [INT, INT]).apply(None, 0) == 0


def test_a_built_in_call_travels_by_its_name() -> None:
    found = FUNCTIONS.resolve("ROUND", [Decimal(12, 7)])
    packed = pickle.dumps(found)
    assert len(packed) < 600
    assert pickle.loads(packed) == found


def test_kinds_are_told_apart() -> None:
    assert FUNCTIONS.is_aggregate("count")
    assert FUNCTIONS.is_table_function("explode")
    assert not FUNCTIONS.is_aggregate("abs")
    assert not FUNCTIONS.is_table_function("nothing")
    assert len(Functions()) == 0
