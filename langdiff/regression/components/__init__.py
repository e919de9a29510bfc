"""Reliability of difficulties, short forms, and outlying cells."""
