"""Plays from one country to a topic within milliseconds, at least once.

orion topics create plays --partitions 2
orion run examples/realtime.py
orion topics consume plays_se --follow
"""

import orion

plays = orion.stream(
    "plays", "play_id STRING, user_id STRING, country STRING, secs INT", mode="realtime"
)

# Real-time mode runs what keeps no state: filters, projections, joins with small tables.
orion.to_topic(plays.where("country = 'SE'"), "plays_se", key="user_id", mode="realtime")
