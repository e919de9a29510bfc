"""The `langdiff` command: it parses options, calls the package and prints; one file per stage."""

import sys

__all__ = ["main"]

INTERRUPTED = 130  # 128 + SIGINT, as shells say it


def main() -> None:
    """Run the command; what it needs is imported here, so that Ctrl-C shows no traceback meanwhile."""
    try:
        from langdiff.cli.app import app
        from langdiff.cli.output import escaped_streams

        with escaped_streams():
            app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError:
        from langdiff.cli.installed import missing_packages

        missing = missing_packages()
        if not missing:
            raise
        sys.exit(f"langdiff: packages are missing that it needs: pip install {' '.join(missing)}")
