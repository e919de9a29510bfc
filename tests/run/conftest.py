"""The command, for runs, too."""

from tests.cli.conftest import langdiff as langdiff
