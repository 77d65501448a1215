"""Version 2: topics, embedded records, consumer instances."""
