"""The command line: a module a noun; parses, calls a room, prints.

In:  words typed by a person or a script.
Out: tables that fit the terminal, or JSON; exit codes by the kind of error.
Never: logic that a room could hold, or Spark and Kafka imported before a command needs them.
"""
