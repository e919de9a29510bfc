"""Messages of the package in the words of the command line: options in place of Python's arguments."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from langdiff.errors import LangdiffError, UnknownColumnError

# name=value, but no word in quotes, which is of the data, nor in a path; or a name of several words
_ARGUMENT = re.compile(r"(?<!['\"\w=/\\])([a-z]\w*)=('[^']*'|\"[^\"]*\"|[\w.]*\w)")
_NAME = re.compile(r"(?<!['\"\w.=/\\-])[a-z]+(?:_[a-z]+)+(?!['\"\w(=/\\]|\.\w)")


def options_of(command: Any) -> dict[str, str]:
    """Return the options of a command, or of all commands of a group, by the name of Python's argument."""
    found: dict[str, str] = {}
    for each in getattr(command, "commands", {}).values():
        found |= options_of(each)
    for param in getattr(command, "params", ()):
        long = [option for option in param.opts if option.startswith("--")]
        if long and param.name:
            found[param.name] = long[0]
            found.setdefault(long[0].removeprefix("--").replace("-", "_"), long[0])
    return found


def saying(options: Mapping[str, str]) -> Callable[[str, str | None], str]:
    """Return what names an option, and its value, in messages for a command that has these options.

    Examples
    --------
    >>> say = saying({"errors": "--errors"})
    >>> say("errors", "replace"), say("vref", None)
    ('--errors replace', 'vref')
    """

    def say(name: str, value: str | None) -> str:
        called = options.get(name) or options.get(name.removesuffix("s"), name)  # of several values, one at a time
        return called if value is None else f"{called} {value}"

    return say


def in_options(error: LangdiffError, options: Mapping[str, str]) -> str:
    """Return the message of an error in the words of a command that has these options.

    Examples
    --------
    >>> error = UnknownColumnError("clusters='x': intent_info has no such column. There is none", "pass a Series.")
    >>> in_options(error, {"clusters": "--clusters", "intent_info": "--intent-info"})
    '--clusters x: --intent-info has no such column. There is none; give a table of ... as --intent-info.'
    """
    message = str(error)
    if isinstance(error, UnknownColumnError):
        from langdiff.tables.intent_info import without_python  # it needs pandas

        if "intent_info" in options:
            name = "name one of them, or " if error.known else ""
            message = f"{error.fault}; {name}give a table of intents that has it as intent_info."
        else:
            tables = " Long tables of surprisals may have columns intent_NAME." if "unit" in options else ""
            message = without_python(error) + tables
    return as_options(message, options)


def as_options(message: str, options: Mapping[str, str]) -> str:
    """Write options in place of arguments that a command has.

    Examples
    --------
    >>> as_options("these look like log-probabilities: pass unit='nats'.", {"unit": "--unit"})
    'these look like log-probabilities: pass --unit nats.'
    >>> as_options("Raise max_iterations.", {"max_iterations": "--max-iterations"})
    'Raise --max-iterations.'
    """

    def argument(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("'\"")
        if name not in options or value == "False":
            return match[0]
        return options[name] if value == "True" else f"{options[name]} {value}"

    return _NAME.sub(lambda match: options.get(match[0], match[0]), _ARGUMENT.sub(argument, message))
