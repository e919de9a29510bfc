"""The `langdiff` command: it parses options, calls the package and prints; one file per stage."""

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; its modules are imported here, so that Ctrl-C during their import shows no traceback."""
    try:
        from langdiff.cli.app import app
        from langdiff.cli.output import escaped_streams

        with escaped_streams():
            app()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)  # as shells say it
    except ModuleNotFoundError:
        from langdiff.cli.installed import missing_packages

        missing = missing_packages()
        if not missing:
            raise
        sys.exit(f"langdiff: packages are missing that it needs: pip install {' '.join(missing)}")
