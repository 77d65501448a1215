"""Streaming SQL: text to tree to checked plan.

In:  statements as text, the catalogue they speak of.
Out: trees, function meanings, checked plans; errors with line, column and a suggestion.
Never: Kafka, Spark, files or the network.
"""
