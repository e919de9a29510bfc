"""Run today's code with the version numbers of an earlier installation, which are part of the keys of kept results.

The version numbers are set before langdiff is imported, in `importlib.metadata` and in ``__version__`` of the
packages, which needs a process of its own.
"""

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module, metadata
from itertools import repeat
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAM = """
import json, sys
from pathlib import Path
from tests.as_before import pretend

versions, module, function, folder = json.loads(sys.stdin.read())
pretend(versions)
found = getattr(__import__(module, fromlist=[function]), function)(Path(folder))
print("\\n" + json.dumps(found))
"""


def pretend(versions: Mapping[str, str]) -> None:
    """Make packages report these versions, and langdiff report that it requires these packages."""
    of_today, needs_today = metadata.version, metadata.requires
    others = [name for name in versions if name != "langdiff"]
    metadata.version = lambda name: versions.get(name) or of_today(name)
    metadata.requires = lambda name: others if name == "langdiff" else needs_today(name)
    for name in ("langdiff", "sentencepiece"):
        import_module(name).__version__ = versions[name]
    torch = import_module("torch")
    torch.__version__ = type(torch.__version__)(versions["torch"])


def call(versions: Mapping[str, str], module: str, function: str, folder: Path) -> Any:
    """Return the result of a function of a module, called with a folder in a process with these version numbers."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    question = json.dumps([versions, module, function, str(folder)])
    done = subprocess.run(command, cwd=ROOT, input=question, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def hashes(folder: Path) -> dict[str, tuple[str, int]]:
    """Return what the files of a folder hold, and when they were written."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {
        path.relative_to(folder).as_posix(): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in files
    }


def agree(found: Any, expected: Any, rtol: float, atol: float) -> bool:
    """Whether documents of JSON have the same text and, but for rounding, the same numbers."""
    match expected:
        case dict():
            same = isinstance(found, dict) and found.keys() == expected.keys()
            return same and all(agree(found[key], expected[key], rtol, atol) for key in expected)
        case list():
            same = isinstance(found, list) and len(found) == len(expected)
            return same and all(map(agree, found, expected, repeat(rtol), repeat(atol)))
        case float() if math.isfinite(expected):
            return isinstance(found, int | float) and math.isclose(found, expected, rel_tol=rtol, abs_tol=atol)
        case _:
            return repr(found) == repr(expected)  # NaN is NaN
