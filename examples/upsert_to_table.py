"""The last record of each user as a table; a record without a value deletes its user.

orion topics create users
orion run examples/upsert_to_table.py
orion tables show users
"""

import orion

users = orion.stream("users", "user_id STRING, name STRING, country STRING", tombstones="keep")

# A tombstone has no columns, so the key of the row is the key of the record.
rows = users.selectExpr("CAST(_key AS STRING) AS id", "* EXCEPT (user_id)")
orion.to_table(rows, "users", key="id")
