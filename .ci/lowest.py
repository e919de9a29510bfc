"""Print the lowest versions that pyproject.toml declares, as constraints of pip: `make lowest` tests them."""

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement


def lowest(project: dict[str, object], pinned: set[str]) -> list[str]:
    """Return one constraint per package that has a lower bound and is not in `pinned`."""
    extras = project["optional-dependencies"]
    requirements = [Requirement(line) for line in (*project["dependencies"], *(r for e in extras.values() for r in e))]
    bounds = {
        r.name: bound.version
        for r in requirements
        for bound in r.specifier
        if bound.operator == ">=" and r.name not in pinned
    }
    return [f"{name}=={version}" for name, version in sorted(bounds.items())]


if __name__ == "__main__":
    sys.stdout.write(
        "\n".join(lowest(tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"], set(sys.argv[1:]))) + "\n"
    )
