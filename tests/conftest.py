"""What every test may use: a real Kafka, fresh topics, projects of their own."""

pytest_plugins = ["orion.testing.kafka", "orion.testing.project", "orion.testing.server"]
