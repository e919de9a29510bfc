"""Logs of language models: one file per kind, told by content; one reader, and one long table."""
