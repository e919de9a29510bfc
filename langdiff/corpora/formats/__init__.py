"""Formats of corpus files, one module per format."""
