"""What 0.1 freezes: no line of `frozen.txt` may go or change without a deprecation; new lines may come.

``python tests/test_frozen.py`` writes the file again.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import langdiff as ld
from langdiff import typology
from langdiff.run import Experiment

FILE = Path(__file__).with_name("frozen.txt")
HELP = FILE.parent / "cli" / "help.txt"
FUNCTIONS = (
    *(ld.fit, ld.read_surprisals, ld.read_multitext, ld.select, ld.split, ld.compute_surprisals, ld.read_logs),
    *(ld.difficulty_shares, ld.table, ld.read, typology.correlate),
)
CLASSES = (ld.DifficultyFit, ld.Surprisals, ld.Multitext)
SECTIONS = ("corpus", "selection", "split", "lm", "fit")
COMMANDS = ("run", "select", "train", "score", "import", "fit", "table", "shares", "correlate")


def parameters_of(name: str, function: object) -> Iterator[str]:
    for one in inspect.signature(function).parameters.values():
        if one.name not in ("self", "cls"):
            default = "" if one.default is one.empty else f" = {one.default!r}"
            yield f"{name}({one.name}{default})  {one.kind.description}"


def members_of(kind: type) -> Iterator[str]:
    for name in sorted(dir(kind)):
        member = getattr(kind, name)
        if name.startswith("_"):
            continue
        yield f"{kind.__name__}.{name}"
        if inspect.isfunction(member) or inspect.ismethod(member):
            yield from parameters_of(f"{kind.__name__}.{name}", member)
    for name in getattr(kind, "__dataclass_fields__", {}):
        yield f"{kind.__name__}.{name}"


def keys() -> Iterator[str]:
    for section in SECTIONS:
        annotation = Experiment.model_fields[section].annotation
        for kind in (annotation, *getattr(annotation, "__args__", ())):
            kind = getattr(kind, "__origin__", kind)
            for key in getattr(kind, "model_fields", {}):
                yield f"[{section}] {key}"


def frozen() -> list[str]:
    lines = [line for function in FUNCTIONS for line in parameters_of(function.__name__, function)]
    lines += [line for kind in CLASSES for line in members_of(kind)]
    rows = (row.split(" | ") for row in HELP.read_text(encoding="utf-8").splitlines()[1:])
    lines += [f"{row[0]} {row[1]}" for row in rows if row[0].removeprefix("langdiff ") in COMMANDS]
    return list(dict.fromkeys((*lines, *keys())))


def test_nothing_frozen_goes_or_changes():
    kept, now = FILE.read_text(encoding="utf-8").splitlines(), frozen()
    assert [line for line in kept if line not in now] == []
    functions = {line.split("(")[0] for line in kept if "(" in line}
    new = [line for line in now if line not in kept and line.split("(")[0] in functions and "(" in line]
    assert [line for line in new if " = " not in line and "variadic" not in line] == [], "new parameters need a default"


if __name__ == "__main__":
    FILE.write_text("\n".join(frozen()) + "\n", encoding="utf-8")
