"""Plays of at least 30 seconds to a topic of their own, exactly once.

orion topics create plays --partitions 2
orion run examples/filter_to_topic.py
orion topics consume long_plays --follow
"""

import orion

plays = orion.stream(
    "plays",
    "play_id STRING, user_id STRING, song_id STRING, secs INT, played_at TIMESTAMP",
    event_time="played_at",
)

# Records that cannot be read as the schema says are in the topic filter_to_topic-long_plays.dlq.
orion.to_topic(plays.where("secs >= 30"), "long_plays", key="song_id")
