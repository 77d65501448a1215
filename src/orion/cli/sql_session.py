"""A session of SQL: statements go to the server, settings and variables stay here."""

import json
from collections.abc import Iterator
from pathlib import Path

from orion.cli.sql_client import SqlClient, SqlRefusedError
from orion.cli.sql_output import Form, Printer
from orion.model import InvalidInputError, NotFoundError
from orion.sql import parse_statements, place_statements, show_place, tree

_DEEPEST_SCRIPT = 10


class SqlSession:
    """What a person or a script has set so far, and where answers go."""

    def __init__(self, client: SqlClient, printer: Printer) -> None:
        self.client, self.printer = client, printer
        self.properties: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.started: list[str] = []
        self._depth = 0

    def run(self, script: str) -> None:
        """Carry out the statements of a script; the first that fails ends it."""
        for text in _parts(script):
            if text.upper().lstrip().startswith("SPOOL"):
                self._spool(text)
                continue
            (statement,) = parse_statements(text, self.variables)
            try:
                self._run(statement, text)
            except SqlRefusedError as error:
                raise _placed(error, text, statement) from error

    def _run(self, statement: tree.Statement, text: str) -> None:
        match statement:
            case tree.SelectStatement():
                self._follow(text)
            case tree.PrintTopic():
                self._print(text)
            case tree.SetProperty(name, value):
                self._set(name, value, text)
            case tree.UnsetProperty(name):
                self.properties.pop(name, None)
                self._tell(f"'{name}' is no longer set.")
            case tree.DefineVariable(name, value):
                self.variables[name] = value
            case tree.UndefineVariable(name):
                self.variables.pop(name, None)
            case tree.RunScript(path):
                self.run_file(Path(path))
            case _:
                self._send(text)

    def run_file(self, path: Path) -> None:
        """Carry out the statements of a file."""
        try:
            script = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise NotFoundError(f"Script '{path}' cannot be read: {error}.") from error
        if self._depth >= _DEEPEST_SCRIPT:
            raise InvalidInputError(f"Scripts run scripts more than {_DEEPEST_SCRIPT} deep.")
        self._depth += 1
        try:
            self.run(script)
        finally:
            self._depth -= 1

    def _send(self, text: str) -> None:
        for entity in self.client.execute(text, self.properties, self.variables):
            query = (entity.get("commandStatus") or {}).get("queryId")
            if query:
                self.started.append(str(query))
            self.printer.entity(entity)

    def _set(self, name: str, value: str, text: str) -> None:
        # The server knows the names.
        self.client.execute(text, self.properties, self.variables)
        former = self.properties.get(name)
        self.properties[name] = value
        was = "" if former is None else f" (was '{former}')"
        self._tell(f"'{name}' is set to '{value}'{was}.")

    def _tell(self, text: str) -> None:
        if self.printer.form is Form.TABLE:
            self.printer.line(text)

    def _follow(self, text: str) -> None:
        with self.client.follow(text, self.properties, self.variables) as lines:
            head = json.loads(next(lines, "{}"))
            names = head.get("columnNames")
            if names is None:
                raise SqlRefusedError(0, str(head.get("message", "The server said nothing.")))
            self.printer.header(names)
            for line in lines:
                row = json.loads(line)
                if isinstance(row, dict):
                    raise SqlRefusedError(int(row["error_code"]), str(row["message"]))
                self.printer.row(names, row)

    def _print(self, text: str) -> None:
        with self.client.follow(text, self.properties, self.variables) as lines:
            for line in lines:
                self.printer.line(line)

    def _spool(self, text: str) -> None:
        word = text.strip("; \n")[len("SPOOL") :].strip()
        if self.printer.spool is not None:
            self.printer.spool.close()
            self.printer.spool = None
        if word.upper() != "OFF":
            path = Path(word.strip("'"))
            try:
                self.printer.spool = path.open("a", encoding="utf-8")
            except OSError as error:
                raise InvalidInputError(
                    f"Spool file '{path}' cannot be written: {error.strerror}."
                ) from error
            self._tell(f"Answers are also written to {path}.")


def _placed(error: SqlRefusedError, text: str, statement: tree.Statement) -> SqlRefusedError:
    """Show the place of an error in what was typed; the server saw variables by their values."""
    line = statement.place.line
    if error.place is None and line > 1:
        message = f"{error.message} (in the statement of line {line})"
        return SqlRefusedError(error.code, message)
    if error.place is None or not error.place[1] or "\n" in error.message or "${" in text:
        return error
    written, place = text.strip(), tree.Place(*error.place)
    if place.end - place.start >= len(written.rstrip("; \n")):
        # All of it underlined tells nothing.
        return error
    return SqlRefusedError(error.code, error.message, error.place, show_place(written, place))


def _parts(script: str) -> Iterator[str]:
    """Yield the statements of a script; SPOOL lines, which only the shell knows, as well.

    Each stands where it does in the script, so that the line of an error is the script's.
    """
    if "SPOOL" not in script.upper():
        yield from place_statements(script)
        return
    waiting = ""
    for number, line in enumerate(script.splitlines(keepends=True)):
        if line.strip().upper().startswith("SPOOL") and not waiting.strip():
            yield line.strip()
            waiting = ""
        else:
            waiting = (waiting or "\n" * number) + line
            if line.rstrip().endswith(";"):
                yield from place_statements(waiting)
                waiting = ""
    yield from place_statements(waiting)
