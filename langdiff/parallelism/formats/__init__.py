"""Formats of annotated parallelisms, one file per format."""
