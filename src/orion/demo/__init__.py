"""DEMO: a music service from its first event to its last account, on a platform of its own.

In:  a seed, a number of plays, a folder.
Out: a live view, and books that balance or name every difference.
Never: Kafka, Spark or Delta of its own; a setting or a port of the user's own project.
"""

from orion.demo.sheet import print_sheet, print_tour
from orion.demo.show import MusicDemo, Options, Outcome
from orion.demo.view import LinesView, LiveView, SilentView, View

__all__ = [
    "LinesView",
    "LiveView",
    "MusicDemo",
    "Options",
    "Outcome",
    "SilentView",
    "View",
    "print_sheet",
    "print_tour",
]
