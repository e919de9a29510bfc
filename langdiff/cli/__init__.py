"""The `langdiff` command: it parses, calls and prints; one file a stage."""

from langdiff.cli.app import main

__all__ = ["main"]
