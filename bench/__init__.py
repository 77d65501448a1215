"""Benchmarks of Orion against hand-written Spark on the same machine, in the same run."""
