"""Print the required packages but PyTorch, whose builds take gigabytes; `make base` installs them."""

import sys
import tomllib
from pathlib import Path

if __name__ == "__main__":
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    sys.stdout.write("\n".join(line for line in project["dependencies"] if not line.startswith("torch")) + "\n")
