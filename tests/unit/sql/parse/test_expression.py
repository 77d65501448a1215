"""Expressions: precedence, literals, names, and everything that follows them."""

import pytest

from orion.sql.parse import SqlSyntaxError, format_expression, parse_expression, tree


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a + b * c", "(`A` + (`B` * `C`))"),
        ("a - b - c", "(`A` - `B` - `C`)"),
        ("a - (b - c)", "(`A` - (`B` - `C`))"),
        ("a - b + c", "((`A` - `B`) + `C`)"),
        ("a || b + c", "(`A` || (`B` + `C`))"),
        ("(a + b) * c", "((`A` + `B`) * `C`)"),
        ("-a * b", "((-(`A`)) * `B`)"),
        ("a - -1", "(`A` - -1)"),
        ("not a and b or c", "(((NOT `A`) AND `B`) OR `C`)"),
        ("a or b and c", "(`A` OR (`B` AND `C`))"),
        ("not a = b", "(NOT (`A` = `B`))"),
        ("a != 1", "(`A` <> 1)"),
        ("a not between 1 and 2 and b", "((`A` NOT BETWEEN 1 AND 2) AND `B`)"),
        ("a in ('x', 'y')", "(`A` IN ('x', 'y'))"),
        ("a not like 'x!%' escape '!'", "(`A` NOT LIKE 'x!%' ESCAPE '!')"),
        ("a is not null", "(`A` IS NOT NULL)"),
        ("a is not distinct from b", "(`A` IS NOT DISTINCT FROM `B`)"),
        ("order_.item->price[1]->`net`", "`ORDER_`.`ITEM`->`PRICE`[1]->`net`"),
        ("array[1, 2][-1]", "ARRAY[1, 2][-1]"),
        ("map('a' := 1)['a']", "MAP('a' := 1)['a']"),
        ("struct(x := 1, `y` := 'it''s')->x", "STRUCT(`X` := 1, `y` := 'it''s')->`X`"),
        ("cast(a as array<decimal(9, 2)>)", "CAST(`A` AS ARRAY<DECIMAL(9, 2)>)"),
        ("case a when 1 then 'x' else 'y' end", "(CASE `A` WHEN 1 THEN 'x' ELSE 'y' END)"),
        ("case when a > 1 then 'x' end", "(CASE WHEN (`A` > 1) THEN 'x' END)"),
        ("count(*)", "COUNT(*)"),
        ("now()", "NOW()"),
        ("reduce(m, 0, (s, k, v) => s + v)", "REDUCE(`M`, 0, (`S`, `K`, `V`) => (`S` + `V`))"),
        ("transform(a, x => x + 1)", "TRANSFORM(`A`, `X` => (`X` + 1))"),
        ("dateadd(day, 1, d)", "DATEADD(DAYS, 1, `D`)"),
        ("dateadd(milliseconds, 1, d)", "DATEADD(MILLISECONDS, 1, `D`)"),
        ("ucase(day)", "UCASE(`DAY`)"),
        ("date '2024-02-29'", "`DATE` '2024-02-29'"),
        ("t at time zone 'UTC'", "(`T` AT TIME ZONE 'UTC')"),
        ("array", "`ARRAY`"),
        ("struct()", "STRUCT()"),
    ],
)
def test_expressions_are_read_by_precedence(text: str, written: str) -> None:
    assert format_expression(parse_expression(text)) == written


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("2147483647", tree.IntegerLiteral(2147483647)),
        ("-2147483648", tree.IntegerLiteral(-2147483648)),
        ("2147483648", tree.LongLiteral(2147483648)),
        ("-9223372036854775808", tree.LongLiteral(-9223372036854775808)),
        ("1.50", tree.DecimalLiteral("1.50")),
        ("-.5", tree.DecimalLiteral("-.5")),
        ("1e3", tree.DoubleLiteral("1e3")),
        ("true", tree.BooleanLiteral(True)),
        ("null", tree.NullLiteral()),
        ("'it''s'", tree.StringLiteral("it's")),
    ],
)
def test_literals_keep_what_was_written(text: str, literal: tree.Literal) -> None:
    assert parse_expression(text) == literal


def test_a_number_beyond_64_bits_is_refused() -> None:
    for text in ("9223372036854775808", "9" * 5000):
        with pytest.raises(SqlSyntaxError, match="64 bits"):
            parse_expression(text)


def test_a_number_has_the_digits_of_a_decimal() -> None:
    for text in (f"{'9' * 37}.9", f"0.{'0' * 37}1", f"000{'9' * 37}.9"):
        assert isinstance(parse_expression(text), tree.DecimalLiteral)
    for text in (f"{'9' * 38}.9", f"-.{'1' * 39}"):
        with pytest.raises(SqlSyntaxError, match="at most 38 digits"):
            parse_expression(text)


def test_names_are_upper_case_unless_quoted() -> None:
    assert parse_expression("user_id") == tree.ColumnRef(None, tree.Name("USER_ID"))
    assert parse_expression("`user_id`") == tree.ColumnRef(None, tree.Name("user_id"))
    assert parse_expression('"a""b"') == tree.ColumnRef(None, tree.Name('a"b'))
    assert parse_expression("2nd") == tree.ColumnRef(None, tree.Name("2ND"))


@pytest.mark.parametrize(
    "text",
    [
        "a = b = c",
        "a in ()",
        "a not b",
        "case end",
        "a like 'x' escape 'ab'",
        "cast(a as null)",
        "f(a,)",
        "a is 3",
        "select",
        "a b",
        "",
        "``",
        "map('a', 1)",
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(SqlSyntaxError):
        parse_expression(text)


def test_nodes_know_their_place() -> None:
    text = "a +\n  ucase(bcd)"
    found = parse_expression(text)
    assert isinstance(found, tree.Arithmetic)
    assert isinstance(found.right, tree.Call)
    (argument,) = found.right.arguments
    assert text[argument.place.start : argument.place.end] == "bcd"
    assert (argument.place.line, argument.place.column) == (2, 9)
    assert text[found.place.start : found.place.end] == text
