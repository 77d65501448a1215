"""Trees back to text, so that reading it again gives the same tree."""
