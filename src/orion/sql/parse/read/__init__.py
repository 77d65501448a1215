"""Tokens to trees, a module a subject; each reads from a cursor and leaves it where it stopped."""
