"""The functions of one row, a module a subject; each lists its own as `FUNCTIONS`."""
