"""`python -m langdiff` is the `langdiff` command."""

from langdiff.cli import main

main()
