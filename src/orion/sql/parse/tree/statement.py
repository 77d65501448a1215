"""The tree of statements; each keeps the text it was read from."""

import enum
from dataclasses import dataclass, field

from orion.sql.parse.tree.element import Properties, SourceKind, TableElement
from orion.sql.parse.tree.expression import Expression
from orion.sql.parse.tree.node import Duration, Name, Node
from orion.sql.parse.tree.query import Query
from orion.sql.parse.tree.written_type import WrittenType


@dataclass(frozen=True, kw_only=True)
class Written(Node):
    """A statement as it stands in the script, comments and semicolon included."""

    text: str = field(default="", compare=False, repr=False)


# -- queries and sources


@dataclass(frozen=True)
class SelectStatement(Written):
    """A query whose answer goes to the one who asks."""

    query: Query


@dataclass(frozen=True)
class CreateSource(Written):
    """`CREATE STREAM|TABLE name (columns) WITH (...)`: declare a topic that is there."""

    kind: SourceKind
    name: Name
    elements: tuple[TableElement, ...] = ()
    properties: Properties = ()
    or_replace: bool = False
    if_not_exists: bool = False
    is_source: bool = False


@dataclass(frozen=True)
class CreateAs(Written):
    """`CREATE STREAM|TABLE name AS SELECT`: a query that runs on, and what it writes."""

    kind: SourceKind
    name: Name
    query: Query
    properties: Properties = ()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class InsertQuery(Written):
    """`INSERT INTO name SELECT`: a query that writes into a stream that is there."""

    target: Name
    query: Query
    properties: Properties = ()


@dataclass(frozen=True)
class InsertValues(Written):
    """`INSERT INTO name (columns) VALUES (values)`: one record."""

    target: Name
    columns: tuple[Name, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class DropSource(Written):
    """`DROP STREAM|TABLE`."""

    kind: SourceKind
    name: Name
    if_exists: bool = False
    delete_topic: bool = False


@dataclass(frozen=True)
class AddColumn(Node):
    """A column that ALTER adds."""

    name: Name
    type: WrittenType


@dataclass(frozen=True)
class AlterSource(Written):
    """`ALTER STREAM|TABLE name ADD COLUMN ...`."""

    kind: SourceKind
    name: Name
    columns: tuple[AddColumn, ...]


@dataclass(frozen=True)
class CreateType(Written):
    """`CREATE TYPE name AS type`."""

    name: Name
    type: WrittenType
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropType(Written):
    """`DROP TYPE`."""

    name: Name
    if_exists: bool = False


# -- connectors


class ConnectorKind(enum.Enum):
    """Brings data in, or carries it out."""

    SOURCE = "SOURCE"
    SINK = "SINK"


@dataclass(frozen=True)
class CreateConnector(Written):
    """`CREATE SOURCE|SINK CONNECTOR name WITH (...)`."""

    kind: ConnectorKind
    name: Name
    properties: Properties
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropConnector(Written):
    """`DROP CONNECTOR`."""

    name: Name
    if_exists: bool = False


# -- looking


class Listed(enum.Enum):
    """What LIST and SHOW can list."""

    PROPERTIES = "PROPERTIES"
    TOPICS = "TOPICS"
    STREAMS = "STREAMS"
    TABLES = "TABLES"
    FUNCTIONS = "FUNCTIONS"
    CONNECTORS = "CONNECTORS"
    CONNECTOR_PLUGINS = "CONNECTOR PLUGINS"
    TYPES = "TYPES"
    VARIABLES = "VARIABLES"
    QUERIES = "QUERIES"


@dataclass(frozen=True)
class Show(Written):
    """`LIST|SHOW what`; `all` shows hidden topics too, `connectors` picks one kind."""

    what: Listed
    extended: bool = False
    all: bool = False
    connectors: ConnectorKind | None = None


@dataclass(frozen=True)
class DescribeSource(Written):
    """`DESCRIBE name [EXTENDED]`."""

    name: Name
    extended: bool = False


@dataclass(frozen=True)
class DescribeSources(Written):
    """`DESCRIBE STREAMS|TABLES [EXTENDED]`."""

    kind: SourceKind
    extended: bool = False


@dataclass(frozen=True)
class DescribeFunction(Written):
    """`DESCRIBE FUNCTION name`."""

    name: Name


@dataclass(frozen=True)
class DescribeConnector(Written):
    """`DESCRIBE CONNECTOR name`."""

    name: Name


@dataclass(frozen=True)
class Explain(Written):
    """`EXPLAIN statement` or `EXPLAIN query_id`."""

    target: "Statement | Name"


@dataclass(frozen=True)
class PrintTopic(Written):
    """`PRINT topic`; a quoted or plain topic name, as written."""

    topic: str
    from_beginning: bool = False
    interval: int | None = None
    limit: int | None = None


# -- queries that run, settings, variables


@dataclass(frozen=True)
class Terminate(Written):
    """`TERMINATE query_id|ALL`; None stands for all."""

    query: Name | None


@dataclass(frozen=True)
class Pause(Written):
    """`PAUSE query_id|ALL`."""

    query: Name | None


@dataclass(frozen=True)
class Resume(Written):
    """`RESUME query_id|ALL`."""

    query: Name | None


@dataclass(frozen=True)
class SetProperty(Written):
    """`SET 'name' = 'value'`."""

    name: str
    value: str


@dataclass(frozen=True)
class UnsetProperty(Written):
    """`UNSET 'name'`."""

    name: str


@dataclass(frozen=True)
class AlterSystem(Written):
    """`ALTER SYSTEM 'name' = 'value'`."""

    name: str
    value: str


@dataclass(frozen=True)
class DefineVariable(Written):
    """`DEFINE name = 'value'`."""

    name: str
    value: str


@dataclass(frozen=True)
class UndefineVariable(Written):
    """`UNDEFINE name`."""

    name: str


@dataclass(frozen=True)
class RunScript(Written):
    """`RUN SCRIPT 'file'`."""

    path: str


# -- assertions


@dataclass(frozen=True)
class AssertTopic(Written):
    """`ASSERT [NOT EXISTS] TOPIC name [WITH (...)] [TIMEOUT n unit]`."""

    topic: str
    properties: Properties = ()
    exists: bool = True
    timeout: Duration | None = None


@dataclass(frozen=True)
class AssertSchema(Written):
    """`ASSERT [NOT EXISTS] SCHEMA [SUBJECT name] [ID n] [TIMEOUT n unit]`."""

    subject: str | None = None
    id: int | None = None
    exists: bool = True
    timeout: Duration | None = None


@dataclass(frozen=True)
class AssertValues(Written):
    """`ASSERT VALUES name (columns) VALUES (values)`."""

    source: Name
    columns: tuple[Name, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class AssertTombstone(Written):
    """`ASSERT NULL VALUES name (columns) KEY (values)`."""

    source: Name
    columns: tuple[Name, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class AssertSource(Written):
    """`ASSERT STREAM|TABLE name (columns) WITH (...)`."""

    kind: SourceKind
    name: Name
    elements: tuple[TableElement, ...] = ()
    properties: Properties = ()


Statement = (
    SelectStatement
    | CreateSource
    | CreateAs
    | InsertQuery
    | InsertValues
    | DropSource
    | AlterSource
    | CreateType
    | DropType
    | CreateConnector
    | DropConnector
    | Show
    | DescribeSource
    | DescribeSources
    | DescribeFunction
    | DescribeConnector
    | Explain
    | PrintTopic
    | Terminate
    | Pause
    | Resume
    | SetProperty
    | UnsetProperty
    | AlterSystem
    | DefineVariable
    | UndefineVariable
    | RunScript
    | AssertTopic
    | AssertSchema
    | AssertValues
    | AssertTombstone
    | AssertSource
)
