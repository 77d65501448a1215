"""Java and the pinned jars: found, downloaded once, checked by SHA-256.

In:  the pins of `jars.lock`, a cache folder, optionally a mirror.
Out: the path of java, class paths of whole bundles, archives of their classes.
Never: a jar whose checksum differs, or a resolution at run time.
"""

from orion.jvm.archive import ClassArchive
from orion.jvm.java import Java, find_java
from orion.jvm.pin import BUNDLES, Pin, read_pins
from orion.jvm.store import JarStore, pyspark_home

__all__ = [
    "BUNDLES",
    "ClassArchive",
    "JarStore",
    "Java",
    "Pin",
    "find_java",
    "pyspark_home",
    "read_pins",
]
