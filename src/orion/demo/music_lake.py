"""The lake of the music service: topics in, open tables out.

An ordinary pipeline, run by `orion run lake.py`. What becomes of the plays is said in `music.sql`;
here each result is kept as a table that anything can read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def read_result(topic: str, columns: str, key: str | None = None) -> DataFrame:
    """Return a topic that SQL writes: it spells columns in upper case, the lake in lower case."""
    rows = orion.stream(topic, columns.upper(), key_schema=key and key.upper())
    return rows.toDF(*(name.lower() for name in rows.columns))


# Bronze: the plays as they came, repeated ones included, each with its place in the log.
orion.to_table(
    orion.stream(
        "plays",
        "play_id STRING, user_id STRING, song_id STRING, secs INT, played_at TIMESTAMP",
        event_time="played_at",
    ),
    "bronze/plays",
)

# Silver: each play once, with its user and its song.
orion.to_table(
    read_result(
        "enriched_plays",
        "played_at TIMESTAMP, user_id STRING, country STRING, song_id STRING, title STRING,"
        " artist STRING, secs INT",
        key="play_id STRING",
    ),
    "silver/plays",
)

# Gold: the last figure of each song and ten minutes.
orion.to_table(
    read_result(
        "top_songs",
        "window_start BIGINT, song_id STRING, title STRING, artist STRING, plays BIGINT,"
        " secs BIGINT",
    ).selectExpr("* EXCEPT (window_start)", "timestamp_millis(window_start) AS window_start"),
    "gold/top_songs",
    key=("window_start", "song_id"),
)

# Gold: listening sessions, each told once.
orion.to_table(
    read_result(
        "sessions",
        "user_id STRING, session_start BIGINT, session_end BIGINT, plays BIGINT, secs BIGINT",
    ).selectExpr(
        "* EXCEPT (session_start, session_end)",
        "timestamp_millis(session_start) AS session_start",
        "timestamp_millis(session_end) AS session_end",
    ),
    "gold/sessions",
)
