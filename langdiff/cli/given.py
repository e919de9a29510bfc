"""Which options were written on the command line, so that those without effect can be refused."""

from collections.abc import Iterable

import typer


def refuse_given(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Refuse options that were written, whatever their value, and that would not be used.

    Parameters
    ----------
    context : Context
        Context of the command.
    names : iterable of str
        Names of its parameters.
    reason : str
        End of the message that begins with the option.

    Raises
    ------
    ConfigError
        If one was written; the message names the first.
    """
    from langdiff.errors import ConfigError

    for name in names:
        if getattr(context.get_parameter_source(name), "name", None) == "COMMANDLINE":
            option = next(param.opts[0] for param in context.command.params if param.name == name)
            raise ConfigError(f"{option} {reason}")
