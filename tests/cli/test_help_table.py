"""Names, types, defaults, … of the parameters of all commands, as they were agreed.

``python tests/cli/test_help_table.py`` writes the table again; look at what changed before it is committed.
"""

import difflib
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from langdiff.cli.app import app

TABLE = Path(__file__).with_name("help.txt")
HEAD = "command | parameter | type | default | required | multiple | metavar"


def commands(command: Any, words: str = "langdiff") -> Iterator[tuple[str, Any]]:
    """Yield commands, groups included, by the words that call them."""
    yield words, command
    for name, part in getattr(command, "commands", {}).items():
        yield from commands(part, f"{words} {name}")


def shown(value: Any) -> str:
    """Return a default as text that does not depend on the system."""
    return repr(value.as_posix() if isinstance(value, PurePath) else value)


def type_of(parameter: Any) -> str:
    """Return the type of a value with its choices or bounds."""
    described = getattr(parameter, "type_descriptor", None)  # of Typer from 0.26; earlier ones have click's types
    name = _annotated(described.annotation) if described is not None else _clicked(parameter.type)
    bounded = parameter if described is not None else parameter.type
    bounds = [f"{end} {value}" for end in ("min", "max") if (value := getattr(bounded, end, None)) is not None]
    return " ".join([name, *bounds])


def _annotated(annotation: Any) -> str:
    match get_origin(annotation):
        case kind if kind is Literal:
            return "one of " + ", ".join(get_args(annotation))
        case kind if kind is list:
            return _annotated(get_args(annotation)[0])
        case kind if kind is tuple:
            return ", ".join(map(_annotated, get_args(annotation)))
        case _:
            return {"Path": "path"}.get(annotation.__name__, annotation.__name__)


def _clicked(kind: Any) -> str:
    if choices := getattr(kind, "choices", None):
        return "one of " + ", ".join(choices)
    if parts := getattr(kind, "types", None):
        return ", ".join(map(_clicked, parts))
    words = {"text": "str", "integer": "int", "integer range": "int", "float range": "float", "boolean": "bool"}
    return words.get(kind.name, kind.name)


def row(command: str, parameter: Any) -> str:
    """Return the line of a parameter."""
    many = parameter.multiple or parameter.nargs == -1
    return " | ".join(
        [
            command,
            "/".join([*parameter.opts, *parameter.secondary_opts]),
            type_of(parameter),
            shown(parameter.default),
            "required" if parameter.required else "optional",
            "multiple" if many else "one" if parameter.nargs == 1 else str(parameter.nargs),
            parameter.metavar or "-",
        ]
    )


def table() -> str:
    """Return one line per parameter, sorted by command."""
    rows = [row(name, parameter) for name, command in commands(get_command(app)) for parameter in command.params]
    return "\n".join([HEAD, *sorted(rows)]) + "\n"


def test_every_command_has_an_example():
    without = []
    for words, command in commands(get_command(app)):
        own = not hasattr(command, "commands")
        if own and f"Example: {words}" not in str(command.help):
            without.append(words)
    assert without == []


def test_parameters_of_all_commands_are_those_agreed():
    agreed, today = TABLE.read_text(encoding="utf-8").splitlines(), table().splitlines()
    different = difflib.unified_diff(agreed, today, TABLE.name, "commands of today", n=0, lineterm="")
    assert agreed == today, "\n".join(["parameters of commands differ:", *different])


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8", newline="\n")
