"""How often each song was heard in each ten minutes: TOP_SONGS of the music demo, in PySpark.

orion demo music --keep --project music && export ORION_PROJECT=$PWD/music
orion run examples/top_songs.py
orion topics consume top_songs_spark --follow
"""

from pyspark.sql import functions as F  # noqa: N812

import orion

# SQL spells its columns in upper case.
plays = orion.stream(
    "enriched_plays",
    "SONG_ID STRING, TITLE STRING, ARTIST STRING, SECS INT, PLAYED_AT TIMESTAMP",
    event_time="PLAYED_AT",
)

# What SQL calls the grace period: a play this much older than the newest one is left out.
heard = plays.withWatermark("played_at", "2 hours")
top_songs = (
    heard.groupBy(F.window("played_at", "10 minutes"), "song_id", "title", "artist")
    .agg(F.count("*").alias("plays"), F.sum("secs").alias("secs"))
    .withColumn("window_start", F.col("window.start"))
    .drop("window")
)
orion.to_topic(top_songs, "top_songs_spark", key=("window_start", "song_id"), output_mode="update")
