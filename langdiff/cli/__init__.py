"""The `langdiff` command: it parses options, calls the package and prints; one file per stage."""

from langdiff.cli.app import main

__all__ = ["main"]
