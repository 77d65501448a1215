"""Text to tree: tokens, statements, expressions, types, and the tree written out again.

In:  the text of statements, session variables.
Out: frozen trees with their places, or an error that shows the place.
Never: a catalogue, types of columns, Kafka or Spark.
"""
