"""What every test may use: a real Kafka, fresh topics."""

pytest_plugins = ["orion.testing.kafka"]
