"""CLUSTER: a local KRaft Kafka, and Kafka's own command line tools.

In:  Kafka settings, a folder, java and the class path of the Kafka bundle.
Out: configured and formatted nodes as processes to run; tools as commands to run.
Never: a process of its own that keeps running; that is supervise's work.
"""

from orion.cluster.local import LocalKafka, NodeProcess
from orion.cluster.node import Node, plan_nodes
from orion.cluster.probe import accepts_connections, knows_broker
from orion.cluster.properties import render_properties
from orion.cluster.storage import FormatError, ShapeChangedError, Storage
from orion.cluster.tool import TOOL_CLASSES, UnknownToolError, plan_tool
from orion.cluster.tool_argument import translate

__all__ = [
    "TOOL_CLASSES",
    "FormatError",
    "LocalKafka",
    "Node",
    "NodeProcess",
    "ShapeChangedError",
    "Storage",
    "UnknownToolError",
    "accepts_connections",
    "knows_broker",
    "plan_nodes",
    "plan_tool",
    "render_properties",
    "translate",
]
