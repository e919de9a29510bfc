import logging
import sys
import warnings
from dataclasses import dataclass

import pytest

from langdiff.cli import main


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def good(self):
        """Itself, after a check that the command succeeded."""
        assert self.code == 0, self.err
        return self

    @property
    def said(self):
        """What stderr says, without the frame that Typer draws around errors of options."""
        return " ".join(self.err.replace("│", " ").split())


@pytest.fixture
def langdiff(monkeypatch, capsys):
    """Run the command as a user does; give exit code, stdout and stderr."""

    def run(*arguments, columns=200):
        monkeypatch.setattr(sys, "argv", ["langdiff", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command sets its own
        monkeypatch.setattr(logging.getLogger(), "handlers", [])
        if columns is None:  # as in a pipe
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", str(columns))
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        streams = capsys.readouterr()
        return Outcome(code, streams.out, streams.err)

    return run
