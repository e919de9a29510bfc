"""The blocks of code on the pages of README and handbook, and the commands in them."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHELLS = ("", "console", "bash", "sh")
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"^(?P<given>(?:\w+=\S+ )*)langdiff (?P<arguments>[^#>&\n]+?) *(?:> (?P<file>\S+) *)?&?(?: +#.*)?$", re.MULTILINE
)


@dataclass(frozen=True)
class Snippet:
    """A block of code: its language ("" if none is named), and the line of the page on which its text begins."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    def commands(self) -> list["Command"]:
        """Return the calls of `langdiff` in a block of a shell."""
        if self.language not in SHELLS:
            return []
        text = self.text.replace("\\\n", " ")
        return [
            Command(found[0], found["given"], found["arguments"], found["file"]) for found in COMMAND.finditer(text)
        ]


@dataclass(frozen=True)
class Command:
    """A line that calls `langdiff`: what is assigned before, its arguments, and the file that takes its output."""

    line: str
    given: str
    arguments: str
    file: str | None

    def words(self) -> list[str]:
        """Return the arguments as the shell of a reader would pass them on."""
        return _in_a_shell(f"printf '%s\\0' {self.arguments}")[:-1]

    def environment(self) -> dict[str, str]:
        """Return the variables that are assigned before the command."""
        names = [pair.split("=")[0] for pair in self.given.split()]
        values = [_in_a_shell(f"{self.given}; printf '%s\\0' \"${name}\"")[0] for name in names]
        return dict(zip(names, values, strict=True))


def _in_a_shell(script: str) -> list[str]:
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, text=True)
    return done.stdout.split("\0")


def snippets_of(page: str) -> list[Snippet]:
    """Return the blocks of a page, named from the root of the repository, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Snippet(page, text.count("\n", 0, found.start(2)) + 1, found[1], found[2]) for found in BLOCK.finditer(text)
    ]


FOLDERS = (ROOT / "docs", ROOT / "docs" / "evidence")
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in folder.glob("*.md"))]
