"""The statements that look around or steer back to text."""

from orion.sql.parse import tree
from orion.sql.parse.write.expression import format_name, format_string

Command = (
    tree.DropSource
    | tree.DropType
    | tree.DropConnector
    | tree.Show
    | tree.DescribeSource
    | tree.DescribeSources
    | tree.DescribeFunction
    | tree.DescribeConnector
    | tree.PrintTopic
    | tree.Terminate
    | tree.Pause
    | tree.Resume
    | tree.SetProperty
    | tree.UnsetProperty
    | tree.AlterSystem
    | tree.DefineVariable
    | tree.UndefineVariable
    | tree.RunScript
)


def format_command(statement: Command) -> str:
    """Return a command as SQL, without a semicolon."""
    match statement:
        case tree.DropSource() | tree.DropType() | tree.DropConnector():
            return _format_drop(statement)
        case tree.Show():
            return _format_show(statement)
        case tree.Terminate(query) | tree.Pause(query) | tree.Resume(query):
            verb = type(statement).__name__.upper()
            return f"{verb} {'ALL' if query is None else format_name(query)}"
        case tree.PrintTopic():
            return _format_print(statement)
        case (
            tree.DescribeSource()
            | tree.DescribeSources()
            | tree.DescribeFunction()
            | tree.DescribeConnector()
        ):
            return _format_describe(statement)
        case _:
            return _format_setting(statement)


def _format_drop(statement: tree.DropSource | tree.DropType | tree.DropConnector) -> str:
    present = "IF EXISTS " if statement.if_exists else ""
    name = f"{present}{format_name(statement.name)}"
    match statement:
        case tree.DropSource():
            topic = " DELETE TOPIC" if statement.delete_topic else ""
            return f"DROP {statement.kind.value} {name}{topic}"
        case tree.DropType():
            return f"DROP TYPE {name}"
        case tree.DropConnector():
            return f"DROP CONNECTOR {name}"


def _format_show(statement: tree.Show) -> str:
    parts = ["SHOW"]
    if statement.all:
        parts.append("ALL")
    if statement.connectors is not None:
        parts.append(statement.connectors.value)
    parts.append(statement.what.value)
    if statement.extended:
        parts.append("EXTENDED")
    return " ".join(parts)


def _format_describe(
    statement: tree.DescribeSource
    | tree.DescribeSources
    | tree.DescribeFunction
    | tree.DescribeConnector,
) -> str:
    match statement:
        case tree.DescribeSource(name, extended):
            return f"DESCRIBE {format_name(name)}{' EXTENDED' if extended else ''}"
        case tree.DescribeSources(kind, extended):
            return f"DESCRIBE {kind.value}S{' EXTENDED' if extended else ''}"
        case tree.DescribeFunction(name):
            return f"DESCRIBE FUNCTION {format_name(name)}"
        case tree.DescribeConnector(name):
            return f"DESCRIBE CONNECTOR {format_name(name)}"


def _format_print(statement: tree.PrintTopic) -> str:
    parts = ["PRINT", format_string(statement.topic)]
    if statement.from_beginning:
        parts.append("FROM BEGINNING")
    if statement.interval is not None:
        parts.append(f"INTERVAL {statement.interval}")
    if statement.limit is not None:
        parts.append(f"LIMIT {statement.limit}")
    return " ".join(parts)


def _format_setting(
    statement: tree.SetProperty
    | tree.UnsetProperty
    | tree.AlterSystem
    | tree.DefineVariable
    | tree.UndefineVariable
    | tree.RunScript,
) -> str:
    match statement:
        case tree.SetProperty(name, value):
            return f"SET {format_string(name)} = {format_string(value)}"
        case tree.UnsetProperty(name):
            return f"UNSET {format_string(name)}"
        case tree.AlterSystem(name, value):
            return f"ALTER SYSTEM {format_string(name)} = {format_string(value)}"
        case tree.DefineVariable(name, value):
            return f"DEFINE {name} = {format_string(value)}"
        case tree.UndefineVariable(name):
            return f"UNDEFINE {name}"
        case tree.RunScript(path):
            return f"RUN SCRIPT {format_string(path)}"
