"""Values as Java has them, which results of functions follow: numbers, equality, texts, JSON."""
