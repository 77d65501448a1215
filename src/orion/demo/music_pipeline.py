"""A music service: raw plays in, clean plays, top songs and listening sessions out.

An ordinary pipeline, run by `orion run music.py`. Every step reads a topic and writes a topic or a
table, so each result can be read, checked and rebuilt from the log.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import orion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LAKE = Path(__file__).parent / "lake"

# Events may come this much later than the newest one; what is later still is left out.
WATERMARK = "120 minutes"


def keep_table(rows: DataFrame, name: str, key: str) -> DataFrame:
    """Keep a table of the last record of each key, and return it for joins.

    The table is made at once, empty, so that a join can be planned before the first record. A join
    with a stream looks at the table anew in every batch.
    """
    path = str(LAKE / name)
    empty = orion.spark.createDataFrame([], rows.schema)
    empty.write.format("delta").mode("ignore").save(path)
    orion.to_table(rows, name, key=key)
    return orion.spark.read.format("delta").load(path)


# Bronze: the plays as they came, repeated ones included, each with its place in the log.
plays = orion.stream(
    "plays",
    "play_id STRING, user_id STRING, song_id STRING, seconds INT, at TIMESTAMP",
    event_time="at",
)
orion.to_table(plays, "bronze/plays")

# Silver: who and what, one row a key, the last record wins.
users = keep_table(
    orion.stream("users", "user_id STRING, name STRING, country STRING, age INT").drop("_headers"),
    "silver/users",
    key="user_id",
)
songs = keep_table(
    orion.stream("songs", "song_id STRING, title STRING, artist STRING, year INT").drop("_headers"),
    "silver/songs",
    key="song_id",
)

# Silver: each play once, with its user and its song.
enriched = (
    plays.withWatermark("at", WATERMARK)
    .dropDuplicatesWithinWatermark(["play_id"])
    .join(users.select("user_id", "country"), "user_id", "left")
    .join(songs.select("song_id", "title", "artist"), "song_id", "left")
    .select("play_id", "at", "user_id", "country", "song_id", "title", "artist", "seconds")
)
orion.to_topic(enriched, "enriched_plays", key="user_id", timestamp="at")

heard = orion.stream(
    "enriched_plays",
    "play_id STRING, at TIMESTAMP, user_id STRING, country STRING, song_id STRING, title STRING,"
    " artist STRING, seconds INT",
    event_time="at",
)
orion.to_table(heard, "silver/plays")

# Gold: how often each song was heard in each ten minutes; a new figure replaces the last.
heard.withWatermark("at", WATERMARK).createOrReplaceTempView("heard")
top_songs = orion.spark.sql("""
    SELECT window.start AS window_start, song_id, title, artist,
           count(*) AS plays, sum(seconds) AS seconds
    FROM heard GROUP BY window(at, '10 minutes'), song_id, title, artist
""")
orion.to_topic(top_songs, "top_songs", key=("window_start", "song_id"), output_mode="update")
orion.to_table(
    orion.stream(
        "top_songs",
        "window_start TIMESTAMP, song_id STRING, title STRING, artist STRING, plays BIGINT,"
        " seconds BIGINT",
    ),
    "gold/top_songs",
    key=("window_start", "song_id"),
)

# Gold: listening sessions, which end ten minutes after the start of a user's last song.
sessions = orion.spark.sql("""
    SELECT user_id, session_window.start AS session_start, session_window.end AS session_end,
           count(*) AS plays, sum(seconds) AS seconds
    FROM heard GROUP BY user_id, session_window(at, '10 minutes')
""")
orion.to_topic(sessions, "sessions", key="user_id", timestamp="session_end")
orion.to_table(
    orion.stream(
        "sessions",
        "user_id STRING, session_start TIMESTAMP, session_end TIMESTAMP, plays BIGINT,"
        " seconds BIGINT",
        event_time="session_end",
    ),
    "gold/sessions",
)
