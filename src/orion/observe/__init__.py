"""OBSERVE: look at the rooms and at the machine; changes nothing.

In:  settings, the jar cache, the run folder.
Out: findings, each with the way to mend it.
Never: a change to anything it looks at.
"""

from orion.observe.doctor import Finding, Level, examine

__all__ = ["Finding", "Level", "examine"]
