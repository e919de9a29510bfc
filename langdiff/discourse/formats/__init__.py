"""Formats of discourse trees, one reader and writer per file."""
