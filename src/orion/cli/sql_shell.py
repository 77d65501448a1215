"""The interactive SQL shell: many lines, history, highlighting, completion."""

import re
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from orion.cli.output import fail
from orion.cli.sql_session import SqlSession
from orion.model import OrionError

_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*$")
_LEAVING = ("exit", "quit")
_WHAT_THERE_IS = "DESCRIBE STREAMS; DESCRIBE TABLES; SHOW FUNCTIONS;"
_HELP = """\
Statements end with ';'. Ctrl-C ends a running query, Ctrl-D or exit the shell.
  SHOW STREAMS|TABLES|TOPICS|QUERIES|FUNCTIONS|PROPERTIES;   DESCRIBE name [EXTENDED];
  SELECT ... EMIT CHANGES [LIMIT n];   PRINT topic [FROM BEGINNING] [LIMIT n];
  SET 'auto.offset.reset' = 'earliest';   DEFINE name = 'value';   RUN SCRIPT 'file';
  SPOOL 'file'; ... SPOOL OFF;   output table|json|csv"""
_KEYWORDS = (
    *("ALTER", "AND", "AS", "ASSERT", "BETWEEN", "BY", "CASE", "CAST", "CHANGES", "CREATE"),
    *("DEFINE", "DELETE", "TOPIC", "DESCRIBE", "DROP", "ELSE", "EMIT", "END", "EXISTS"),
    *("EXPLAIN", "EXTENDED", "FINAL", "FROM", "FULL", "FUNCTION", "FUNCTIONS", "GRACE"),
    *("GROUP", "HAVING", "HOPPING", "IF", "IN", "INNER", "INSERT", "INTO", "IS", "JOIN", "KEY"),
    *("LEFT", "LIKE", "LIMIT", "LIST", "NOT", "NULL", "ON", "OR", "OUTER", "PARTITION"),
    *("PAUSE", "PERIOD", "PRIMARY", "PRINT", "PROPERTIES", "QUERIES", "REPLACE", "RESUME"),
    *("RIGHT", "RUN", "SCRIPT", "SELECT", "SESSION", "SET", "SHOW", "SIZE", "SPOOL", "STREAM"),
    *("STREAMS", "STRUCT", "TABLE", "TABLES", "TERMINATE", "THEN", "TOPICS", "TUMBLING"),
    *("TYPE", "TYPES", "UNDEFINE", "UNSET", "VALUES", "VARIABLES", "WHEN", "WHERE", "WINDOW"),
    *("WITH", "WITHIN"),
)


class _Names(Completer):
    """Offers keywords, functions, streams, tables and their columns."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._known: list[str] = [*_KEYWORDS]

    def refresh(self) -> None:
        """Look again at what there is; a server that is away offers nothing."""
        try:
            entities = self._session.client.execute(_WHAT_THERE_IS, {}, {})
        except OrionError:
            return
        names: set[str] = set()
        functions: list[str] = []
        for entity in entities:
            functions += (function["name"] for function in entity.get("functions", ()))
            for source in entity.get("sourceDescriptions", ()):
                names |= {source["name"], *(field["name"] for field in source["fields"])}
        # The likeliest first.
        self._known = list(dict.fromkeys([*sorted(names), *_KEYWORDS, *functions]))

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield what the word before the cursor may become."""
        found = _WORD.search(document.text_before_cursor)
        word = found.group() if found else ""
        if not word:
            return
        for name in self._known:
            if name.upper().startswith(word.upper()):
                yield Completion(name, start_position=-len(word))


class Shell:
    """Reads statements and answers them until the person leaves."""

    def __init__(self, session: SqlSession, history: Path) -> None:
        history.parent.mkdir(parents=True, exist_ok=True)
        self._session = session
        self._names = _Names(session)
        self._prompt: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)),
            lexer=PygmentsLexer(SqlLexer),
            completer=self._names,
            complete_while_typing=False,
            multiline=True,
            key_bindings=_bindings(),
            prompt_continuation="   ... ",
        )

    def run(self) -> None:
        """Stay until Ctrl-D, exit or quit."""
        line = self._session.printer.line
        line(f"Connected to {self._session.client.url}; type help for help.")
        self._names.refresh()
        while True:
            try:
                text = self._prompt.prompt("orion> ").strip()
                if text.rstrip(";").lower() in _LEAVING:
                    return
                self._answer(text)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return

    def _answer(self, text: str) -> None:
        word, _, rest = text.rstrip(";").partition(" ")
        if word.lower() == "help":
            self._session.printer.line(_HELP)
            return
        try:
            if word.lower() == "output":
                from orion.cli.sql_output import Form

                self._session.printer.form = Form(rest.strip().lower() or "table")
                return
            self._session.run(text)
        except ValueError:
            self._session.printer.line("Outputs are table, json and csv.")
        except OrionError as error:
            fail(error)
        except KeyboardInterrupt:
            self._session.printer.line("Query terminated.")
        self._names.refresh()


def is_whole(text: str) -> bool:
    """Tell whether what was typed can be carried out: it ends with `;`, or is a shell word."""
    stripped = text.strip()
    word = stripped.rstrip(";").partition(" ")[0].lower()
    return not stripped or stripped.endswith(";") or word in (*_LEAVING, "help", "output")


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        if is_whole(event.current_buffer.text):
            event.current_buffer.validate_and_handle()
        else:
            event.current_buffer.insert_text("\n")

    return bindings
