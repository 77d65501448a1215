"""SERVE: the HTTP doors, a folder an API, in one process; thin.

In:  the rooms that `app` built; HTTP/1.1, and HTTP/2 in clear text with prior knowledge.
Out: answers in the words and codes that clients of the original APIs know.
Never: Kafka, Spark or a decision of its own; a room below never knows of HTTP.
"""

from orion.serve.body import BadBodyError, BodyTooLargeError, read_json
from orion.serve.building import build_doors
from orion.serve.door import Door, open_door
from orion.serve.errors import Wire, wire
from orion.serve.server import Server

__all__ = [
    "BadBodyError",
    "BodyTooLargeError",
    "Door",
    "Server",
    "Wire",
    "build_doors",
    "open_door",
    "read_json",
    "wire",
]
