"""Masks: letters and digits of a text replaced, all or some, so that only its shape shows."""

import unicodedata
from collections.abc import Callable

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, Variant, variant

_DEFAULTS = ("X", "x", "n", "-")
_MASKS = "upper STRING, lower STRING, digit STRING, other STRING"
_KINDS = {"Lu": 0, "Ll": 1, "Nd": 2}

# Where a text of this length is masked, when so many characters were asked for.
Cut = Callable[[int, int], tuple[int, int]]


def _mask(text: str, masks: tuple[str | None, ...]) -> str:
    for mask in masks:
        if mask is not None and len(mask) != 1:
            raise FunctionFailure(f"A mask is one character, not '{mask}'.")
    return "".join(masks[_KINDS.get(unicodedata.category(c), 3)] or c for c in text)


def _masked_part(cut: Cut) -> Callable[..., str | None]:
    def masked(text: str | None, count: int | None, *masks: str | None) -> str | None:
        if count is None or count < 0:
            raise FunctionFailure(f"The number of characters is {count}, but cannot be.")
        if text is None:
            return None
        begin, end = cut(len(text), count)
        inside = _mask(text[begin:end], masks or _DEFAULTS)
        return text[:begin] + inside + text[end:]

    return masked


def _masked(text: str | None, *masks: str | None) -> str | None:
    return None if text is None else _mask(text, masks or _DEFAULTS)


def _variants(cut: Cut) -> tuple[Variant, ...]:
    meaning = _masked_part(cut)
    return (
        variant("text STRING, count INT", "STRING", meaning, takes_nulls=True),
        variant(f"text STRING, count INT, {_MASKS}", "STRING", meaning, takes_nulls=True),
    )


def _function(name: str, where: str, cut: Cut, result: str) -> Function:
    return Function(
        name,
        "STRING",
        f"The text with {where} masked: upper case letters by X, lower case ones by x, digits by "
        "n, others by -; or by the characters given, where NULL leaves a kind as it is.",
        _variants(cut),
        (Example(f"{name}('Ab-12', 2)", result),),
    )


FUNCTIONS = (
    Function(
        "MASK",
        "STRING",
        "The text with every character masked: upper case letters by X, lower case ones by x, "
        "digits by n, others by -; or by the characters given, where NULL leaves a kind as it is.",
        (
            variant("text STRING", "STRING", _masked, takes_nulls=True),
            variant(f"text STRING, {_MASKS}", "STRING", _masked, takes_nulls=True),
        ),
        (
            Example("MASK('Ab-12')", "Xx-nn"),
            Example("MASK('Ab-12', 'U', NULL, '#', NULL)", "Ub-##"),
        ),
    ),
    _function(
        "MASK_KEEP_LEFT",
        "all but its first characters",
        lambda size, count: (min(count, size), size),
        "Ab-nn",
    ),
    _function(
        "MASK_KEEP_RIGHT",
        "all but its last characters",
        lambda size, count: (0, max(size - count, 0)),
        "Xx-12",
    ),
    _function(
        "MASK_LEFT", "its first characters", lambda size, count: (0, min(count, size)), "Xx-12"
    ),
    _function(
        "MASK_RIGHT",
        "its last characters",
        lambda size, count: (max(size - count, 0), size),
        "Ab-nn",
    ),
)
