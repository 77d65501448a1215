"""The Spark session that SQL queries share: what a failing expression does, how names compare."""

from pyspark.sql import SparkSession

_OPTIONS = {
    # A failing expression is null, and the row goes on.
    "spark.sql.ansi.enabled": "false",
    # Quoted names differ by case.
    "spark.sql.caseSensitive": "true",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.session.timeZone": "UTC",
}


def sql_session(spark: SparkSession) -> SparkSession:
    """Return a session of the same application with the options that SQL needs."""
    session = spark.newSession()
    for name, value in _OPTIONS.items():
        session.conf.set(name, value)
    return session
