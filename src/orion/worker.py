"""The process that Spark forks its Python workers from, made cheap to run tasks in.

Spark lets every task read the directories of all zip and jar files on the path anew, and collect
all that was ever imported. With small batches that is most of a worker's time; here archives are
read once, and what is imported before the fork is shared and left alone.
"""

import atexit
import gc
import zipimport


def keep_archives() -> None:
    """Read the archives on the path once: they do not change while an application runs."""

    def nothing(self: zipimport.zipimporter) -> None:
        del self

    zipimport.zipimporter.invalidate_caches = nothing  # type: ignore[method-assign]


class NewGarbage:
    """Stands in for the gc module in Spark's daemon: collects what came since the last time."""

    def collect(self) -> None:
        """Collect, then set what lives apart: mostly imports, which no task needs to visit."""
        gc.collect()
        gc.freeze()


def main() -> None:
    """Import what tasks need, then serve as Spark's daemon."""
    keep_archives()
    import pandas
    import pyspark.worker
    from pyspark import daemon

    import orion.formats

    del pandas, pyspark, orion
    garbage = NewGarbage()
    garbage.collect()
    # What is set apart is never torn down, and DuckDB would report all of its own as leaked.
    atexit.register(gc.unfreeze)
    vars(daemon)["gc"] = garbage
    daemon.manager()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
