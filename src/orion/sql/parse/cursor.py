"""A place among tokens that moves forward, and remembers what could have stood where it stopped."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from orion.model import nearest
from orion.sql.parse.errors import SqlSyntaxError, SqlTooDeepError, SqlTooLongError
from orion.sql.parse.lexer import Token
from orion.sql.parse.tree import (
    Duration,
    IntegerLiteral,
    LongLiteral,
    Name,
    Place,
    Query,
    TimeUnit,
)
from orion.sql.parse.word import RESERVED, TIME_UNITS

# A level costs up to ten of the thousand calls that Python allows.
MAX_DEPTH = 60
MAX_TOKENS = 10_000

_LARGEST_INTEGER = 2**31 - 1
_LARGEST_LONG = 2**63 - 1
# Times in milliseconds stay within 64 bits when a few of these are added.
_LONGEST_MS = 100_000_000 * 24 * 3_600_000


class Cursor:
    """Reads one statement.

    Args:
        text: The statement's text; the tokens' offsets are offsets in it.
        tokens: Its tokens, without the semicolon.
        origin: Where the text begins in the script; lines and columns count from there.
    """

    def __init__(self, text: str, tokens: Sequence[Token], origin: Place | None = None) -> None:
        if len(tokens) > MAX_TOKENS:
            raise SqlTooLongError(len(tokens), MAX_TOKENS, "words and signs in one statement")
        self.text = text
        end = len(text.rstrip().removesuffix(";").rstrip())
        self._tokens = [*tokens, Token("END", "", end, end)]
        self._index = 0
        self._depth = 0
        self._origin = origin or Place()
        self._expected: list[str] = []
        self._line_starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == "\n")]
        self._extras: list[tuple[int, str]] = []
        # Reads a query inside of an expression; set by who reads the query around it.
        self.nested: Callable[[Cursor], Query] | None = None
        self.token = self._tokens[0]

    # -- looking

    def peek(self, ahead: int = 1) -> Token:
        """Return the token this far ahead, or the end."""
        return self._tokens[min(self._index + ahead, len(self._tokens) - 1)]

    def at(self, *words: str) -> bool:
        """Tell whether one of these keywords stands here."""
        if self.token.kind == "WORD" and self.token.value in words:
            return True
        self._expected.extend(words)
        return False

    def at_sequence(self, *words: str) -> bool:
        """Tell whether these keywords stand here one after the other."""
        if all(
            token.kind == "WORD" and token.value == word
            for token, word in zip(self._tokens[self._index :], words, strict=False)
        ) and len(self._tokens) - self._index > len(words):
            return True
        self._expected.append(" ".join(words))
        return False

    def at_symbol(self, *symbols: str) -> bool:
        """Tell whether one of these symbols stands here."""
        if self.token.kind == "SYMBOL" and self.token.value in symbols:
            return True
        self._expected.extend(f"'{symbol}'" for symbol in symbols)
        return False

    def at_name(self, ahead: int = 0) -> bool:
        """Tell whether a name stands here, or this far ahead."""
        token = self.peek(ahead) if ahead else self.token
        if token.kind == "WORD":
            return token.value not in RESERVED
        return token.kind in ("QUOTED", "DIGIT_WORD")

    @property
    def at_end(self) -> bool:
        """Whether all tokens are read."""
        return self.token.kind == "END"

    # -- taking

    def advance(self) -> Token:
        """Return the token here and move on."""
        token = self.token
        if token.kind != "END":
            self._index += 1
            self.token = self._tokens[self._index]
            self._expected.clear()
        return token

    def take(self, *words: str) -> bool:
        """Move past one of these keywords if it stands here."""
        if self.at(*words):
            self.advance()
            return True
        return False

    def take_sequence(self, *words: str) -> bool:
        """Move past these keywords if they all stand here."""
        if not self.at_sequence(*words):
            return False
        for _ in words:
            self.advance()
        return True

    def take_symbol(self, symbol: str) -> bool:
        """Move past this symbol if it stands here."""
        if self.at_symbol(symbol):
            self.advance()
            return True
        return False

    def expect(self, *words: str) -> str:
        """Move past one of these keywords, which must stand here; return which."""
        if not self.at(*words):
            self.fail()
        return self.advance().value

    def expect_first(self, words: Iterable[str]) -> str:
        """Return the keyword here, which must be one of these, and stay before it."""
        if not self.at(*words):
            self.fail()
        return self.token.value

    def expect_symbol(self, symbol: str) -> None:
        """Move past this symbol, which must stand here."""
        if not self.take_symbol(symbol):
            self.fail()

    def expect_end(self) -> None:
        """Require that nothing is left."""
        if not self.at_end:
            self._expected.append("the end")
            self.fail()

    # -- names and numbers

    def name(self, what: str = "a name") -> Name:
        """Read an identifier."""
        token = self.token
        if not self.at_name():
            self._expected.append(what)
            # Quoted names keep their case; without quotes it would have been upper case.
            quoted = f"As a name, write it in backquotes: `{token.value}`."
            self.fail(hint=quoted if token.kind == "WORD" else None)
        if not token.value:
            self.fail(reason="a quoted name cannot be empty")
        start = self._index
        self.advance()
        return Name(token.value, token.kind == "QUOTED", place=self.place(start))

    def word(self, what: str) -> str:
        """Read any word that is not quoted, keywords too."""
        if self.token.kind != "WORD":
            self._expected.append(what)
            self.fail()
        return self.advance().value

    def string(self, what: str = "a text in single quotes") -> str:
        """Read a text."""
        if self.token.kind != "STRING":
            self._expected.append(what)
            hint = "Texts stand in single quotes." if self.token.kind == "QUOTED" else None
            self.fail(hint=hint)
        return self.advance().value

    def resource(self) -> str:
        """Read the name of a topic or subject: a text, or a word exactly as it was written."""
        if self.token.kind == "STRING":
            return self.advance().value
        start = self.token
        name = self.name("the name of a topic or subject")
        return name.text if name.quoted else self.text[start.start : start.end]

    def integer(self, what: str = "a whole number") -> int:
        """Read a whole number without a sign."""
        if self.token.kind != "INTEGER":
            self._expected.append(what)
            self.fail()
        return self.whole_number(self.mark()).value

    def whole_number(self, start: int, *, sign: int = 1) -> IntegerLiteral | LongLiteral:
        """Read digits as the smallest type that holds them."""
        digits = self.token.value
        # Twenty digits are too many for 64 bits; int() of very long texts is refused by Python.
        value = sign * int(digits) if len(digits.lstrip("0")) <= 19 else None
        if value is None or not -_LARGEST_LONG - 1 <= value <= _LARGEST_LONG:
            self.fail(reason="this whole number does not fit into 64 bits", hint="Add a point.")
        self.advance()
        small = -_LARGEST_INTEGER - 1 <= value <= _LARGEST_INTEGER
        kind = IntegerLiteral if small else LongLiteral
        return kind(value, place=self.place(start))

    def duration(self) -> Duration:
        """Read an amount with its unit."""
        start = self.mark()
        amount = self.integer()
        found = Duration(amount, self.unit(), place=self.place(start))
        if found.ms > _LONGEST_MS:
            self.fail(reason="a duration is at most 100,000,000 days", at=start)
        return found

    def unit(self) -> TimeUnit:
        """Read a unit of time."""
        if self.token.kind == "WORD" and self.token.value in TIME_UNITS:
            return TIME_UNITS[self.advance().value]
        self._expected.extend(unit.name for unit in TimeUnit)
        return self.fail()

    # -- places, depth and failure

    def mark(self) -> int:
        """Return where the next node begins."""
        return self._index

    def place(self, start: int) -> Place:
        """Return the place from a mark to here."""
        last = max(self._index - 1, start)
        return self._place(self._tokens[start].start, self._tokens[last].end)

    def enter(self) -> None:
        """Go one level deeper; too many are refused before Python's stack ends."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SqlTooDeepError(self.text, self._here(), MAX_DEPTH)

    def leave(self) -> None:
        """Come back from a level."""
        self._depth -= 1

    def fail(
        self, *, reason: str | None = None, hint: str | None = None, at: int | None = None
    ) -> NoReturn:
        """Raise what was found here, or at a mark, and what could have stood there."""
        if at is not None:
            self._index, self.token = at, self._tokens[at]
        token = self.token
        found = "the end" if token.kind == "END" else f"'{self.text[token.start : token.end][:60]}'"
        raise SqlSyntaxError(
            self.text,
            self._here(),
            found=found,
            expected=self._expected,
            reason=reason,
            hint=hint or (None if reason else self._misspelt()),
        )

    def only_in_answers(self, reason: str) -> None:
        """Note that what stands here is for queries that answer once."""
        self._extras.append((self._index, reason))

    def refuse_extras(self, *, but: int = 0) -> None:
        """Raise at the first thing that is only for queries that answer once.

        Args:
            but: How many of those may stand here.
        """
        if len(self._extras) > but:
            at, reason = self._extras[but]
            self.fail(reason=reason, at=at)

    def expected(self, what: str) -> None:
        """Note something that could stand here, for the error."""
        self._expected.append(what)

    def _misspelt(self) -> str | None:
        # `SELECT a FORM b` reads FORM as a name for the column: the mistake shows one word later.
        if self._index == 0:
            return None
        before = self._tokens[self._index - 1]
        if before.kind != "WORD" or before.value in RESERVED:
            return None
        keywords = [word for word in self._expected if word.isupper()]
        return nearest(before.value, keywords) or None

    def _here(self) -> Place:
        return self._place(self.token.start, self.token.end)

    def _place(self, start: int, end: int) -> Place:
        row = bisect_right(self._line_starts, start) - 1
        column = start - self._line_starts[row] + 1
        if row == 0:
            column += self._origin.column - 1
        return Place(start, end, row + self._origin.line, column)
