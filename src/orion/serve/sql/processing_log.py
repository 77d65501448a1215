"""The stream over the processing log, by the name and columns that ksqlDB's users know."""

from orion.log import PROCESSING_LOG_TOPIC
from orion.serve.sql.rooms import SqlRooms
from orion.sql import parse_statements

_STATEMENT = f"""CREATE STREAM IF NOT EXISTS KSQL_PROCESSING_LOG (
  LOGGER VARCHAR,
  LEVEL VARCHAR,
  TIME BIGINT,
  MESSAGE STRUCT<
    type INT,
    deserializationError STRUCT<
      target VARCHAR, errorMessage VARCHAR, recordB64 VARCHAR, cause ARRAY<VARCHAR>,
      `TOPIC` VARCHAR>,
    recordProcessingError STRUCT<errorMessage VARCHAR, record VARCHAR, cause ARRAY<VARCHAR>>,
    productionError STRUCT<errorMessage VARCHAR>,
    serializationError STRUCT<
      target VARCHAR, errorMessage VARCHAR, record VARCHAR, cause ARRAY<VARCHAR>, `TOPIC` VARCHAR>,
    kafkaStreamsThreadError STRUCT<
      errorMessage VARCHAR, threadName VARCHAR, cause ARRAY<VARCHAR>>>
) WITH (KAFKA_TOPIC='{PROCESSING_LOG_TOPIC}', VALUE_FORMAT='JSON', PARTITIONS=1);"""


def declare_processing_log(rooms: SqlRooms) -> None:
    """Declare the stream, unless something of its name is there."""
    if "KSQL_PROCESSING_LOG" not in rooms.catalogue.sources:
        (statement,) = parse_statements(_STATEMENT)
        rooms.commands.accept(statement, {})
