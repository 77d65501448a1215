"""The process that Spark forks its Python workers from, made cheap to run tasks in.

Spark lets every task read the directories of all zip and jar files on the path anew, and collect
all that was ever imported. With small batches that is most of a worker's time; here archives are
read once, and what is imported before the fork is shared and left alone.
"""

import gc
import zipimport


def keep_archives() -> None:
    """Read the archives on the path once: they do not change while an application runs."""

    def nothing(self: zipimport.zipimporter) -> None:
        del self

    zipimport.zipimporter.invalidate_caches = nothing  # type: ignore[method-assign]


def main() -> None:
    """Import what tasks need, then serve as Spark's daemon."""
    keep_archives()
    import pyspark.worker
    from pyspark import daemon

    import orion.formats

    del pyspark, orion
    gc.collect()
    gc.freeze()
    daemon.manager()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
