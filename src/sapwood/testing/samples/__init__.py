"""Samples of every operation, one file per file of the table."""
