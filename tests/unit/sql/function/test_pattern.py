"""Java's regular expressions in Python's words."""

import pytest

from orion.sql.function import FunctionFailure
from orion.sql.function.value.java_pattern import compile_java


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\w+", "éab", "ab"),
        (r"(?U)\w+", "éab!", "éab"),
        (r"\D+\S", "12 ab", " ab"),
        (r"\bcafé\b", "un café!", "café"),
        (".*", "a\rb", "a"),
        ("(?s).*", "a\nb", "a\nb"),
        ("b$", "ab\n", "b"),
        ("^b", "a\nb", None),
        ("(?m)^b$", "a\r\nb\r\nc", "b"),
        (r"\Ab\Z", "b\n", "b"),
        (r"b\z", "b\n", None),
        ("A(?i)b|C", "c", "c"),
        ("(?i:A)b", "aB", None),
        ("(?i)É", "é", None),
        ("(?iu)É", "é", "é"),
        ("(?x) a b # or so", "ab", "ab"),
        (r"\Qa.b\E+", "axb a.bb", "a.bb"),
        ("[a-z&&[^aeiou]]+", "aibcd", "bcd"),
        ("[a-c[x-z]]+", "mazy", "azy"),
        (r"[^\d\s.]+", "1. ab", "ab"),
        (r"[]\w-]+", "a]-b c", "a]-b"),
        (r"\p{Lu}\p{Ll}+", "die Übung", "Übung"),
        (r"\P{Alpha}+", "ab12c", "12"),
        (r"[\p{IsAlphabetic}_]+", "1é_2", "é_"),
        (r"\pN", "a5", "5"),
        (r"\x41\u0042\x{43}\0104\cA", "ABCD\x01", "ABCD\x01"),
        (r"(?<one>a)(b)\k<one>\2", "abab", "abab"),
        (r"(a)\11", "aa1", "aa1"),
        ("a{2,3}+a", "aaa", None),
        (r"\R\h", "a\r\n\u00a0", "\r\n\u00a0"),
        ("a]}", "a]}", "a]}"),
    ],
)
def test_patterns_mean_what_they_do_in_java(pattern: str, text: str, found: str | None) -> None:
    match = compile_java(pattern).search(text)
    assert (match and match.group()) == found


@pytest.mark.parametrize(
    "pattern",
    [
        *("{", "a{", "a{,2}", "*a", "(a", "a)", "[a", "[z-a]", "(?<a_b>c)", "(?P<a>b)"),
        *("(?(1)a)", "(?a)b", r"\y", r"\p{Foo}", r"\k<", "\\", "(?<=a*)b", r"\x{110000}"),
    ],
)
def test_what_is_no_pattern_fails(pattern: str) -> None:
    with pytest.raises(FunctionFailure, match=r"pattern"):
        compile_java(pattern)
