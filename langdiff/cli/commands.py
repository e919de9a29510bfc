"""Commands made from public functions: their parameters become options, read from the source when they are needed.

The body of a command is a function. Its parameters are options as Typer reads them; classes of options that several
commands share; or a `Call`, which stands for the options that the public function of the command has.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_origin

import typer
from typer.core import TyperCommand
from typer.main import get_command
from typer.models import OptionInfo

from langdiff.base.grids import in_lines, row_width
from langdiff.base.saving import called
from langdiff.base.types import check_resamples
from langdiff.cli.help import SHARED, print_help
from langdiff.cli.options import existing, is_given, read_frame, refuse_unused
from langdiff.cli.output import Output
from langdiff.cli.signatures import Parameter, signature_of, summary_of
from langdiff.errors import ConfigError, en, in_command, listing, option

Body = Callable[..., None]
Reader = str | type | Callable[[Any, "Call"], Any]
READER = "langdiff.read_surprisals"
LONG = {name: f"{name}_column" for name in ("intent", "edition", "bits", "lm")}  # options of READER
OF_TABLES = ("unit", *LONG, "intent_info", "verify")  # those of commands that have --edition-info of their own
LEAST = {"seed": 0, "n_seeds": 1, "folds": 2}  # numbers that options are at least
WRITTEN = {"cache", "resume"}  # paths that a function does not only read
GROUPS = {  # headings of options by their parameters; others of the reader of a file are Input
    "Input": ("edition_info",),
    "Model": ("model", "models", "restricted", "intents", "sizes", "formula", "dispersion", "groups"),
    "Errors": ("clusters", "strata", "errors", "correction", "level", "bootstrap", "n_resamples", "interval"),
}


@dataclass(frozen=True)
class Command:
    """A command, declared; calling it with a body adds it to a group.

    Attributes
    ----------
    app : Typer
        Group that gets the command.
    function : str
        Public function, such as ``"langdiff.fit"``, that a `Call` in the body stands for.
    name : str
        Name of the command; by default that of the body, or of the function if the body is `show`.
    reads : mapping
        How parameters are read: by a public function of a path, or of another value, whose other parameters become
        options, too; by a class of options with a method ``open``; or by a function of the value and the `Call`.
    settings : mapping
        Parameters of other public functions, which the body or a reader passes to these.
    renamed : mapping
        Other names of options by parameter, such as ``{"tests": "test -t"}``.
    help : mapping
        What options are, where the sentence of the docstring does not do.
    kinds : mapping
        Types of options, where the annotation has others.
    without : tuple of str
        Parameters that have no option.
    needs : mapping
        Options of which one at least must be given, by the table whose columns they name.
    only : mapping
        Parameters whose options are refused unless a condition holds, by that: ``"plot"``, if that is given;
        ``"errors bootstrap|jackknife"``, if it has one of these values; ``"without as_json"``; ``"plot or out"``.
    panels : mapping
        Headings of the help under which options stand apart.
    panel : str
        Heading of `langdiff --help` that the command is under; by default that of its group.
    brief : str
        What it does in a line of that list; by default the first sentence of the help, which is then short enough.
    also : str
        Further paragraphs of the help.
    examples : tuple of str
        Command lines.
    hidden : bool
        Whether the list of commands leaves it out.
    """

    app: typer.Typer
    function: str = ""
    _: KW_ONLY
    name: str = ""
    reads: Mapping[str, Reader] = field(default_factory=dict)
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    panel: str = ""
    brief: str = ""
    also: str = ""
    examples: tuple[str, ...] = ()
    hidden: bool = False

    def __call__(self, body: Body) -> Body:
        """Add the command to its group."""
        name = self.name or (self.function.rpartition(".")[2] if body is show else body.__name__)

        def declared() -> None: ...

        declared.command, declared.body = self, body  # type: ignore[attr-defined]
        panel = self.panel or self.app.rich_help_panel
        self.app.command(
            name.replace("_", "-"), cls=Late, hidden=self.hidden, short_help=self.brief or None, rich_help_panel=panel
        )(declared)
        return body

    def describe(self, body: Body) -> str:
        """Return the help: the docstring of the body, or what the function says of itself."""
        if body is not show:
            return inspect.getdoc(body) or ""
        examples = (f"Example: {example}" for example in self.examples)
        return "\n\n".join(filter(None, [summary_of(self.function), self.also, *examples]))

    def callback(self, body: Body) -> Body:
        """Return the function that Typer calls, with the signature that it makes options of."""
        own = inspect.signature(body).parameters
        parts = {name: {one.name: one for one in self._expanded(each)} for name, each in own.items()}
        parts[""] = {"context": inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)}

        def call(**given: Any) -> None:
            try:
                check_resamples("n_resamples", given.get("n_resamples") or 0, or_none=True)
            except ConfigError as error:
                raise typer.BadParameter(str(error)) from error
            refuse_unused(given["context"], given, self.only)
            self._refuse_tables(given)
            arguments = {}
            for name, one in own.items():
                kind = one.annotation
                values = {option: given[option] for option in parts[name]}
                arguments[name] = (
                    Call(self, given) if kind is Call else kind(**values) if is_block(kind) else given[name]
                )
            body(**arguments)

        found = {name: one for options in reversed(parts.values()) for name, one in options.items()}
        order = dict.fromkeys(name for options in parts.values() for name in options)
        signature = inspect.Signature([_unbroken(_told(found[name])) for name in order])
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
        return call

    def _refuse_tables(self, given: Mapping[str, Any]) -> None:
        """Refuse tables of which no column is named."""
        told = {one.name: one.default for one in signature_of(self.function).parameters.values()} if self.needs else {}
        for table, users in self.needs.items():
            users = tuple(name for name in users if name in given)
            usual = [given[name] in (None, "none", told.get(name)) for name in users]
            found = "clusters" in users and given["clusters"] == "auto"  # which are looked for there
            if given[table] is not None and all(usual) and not found:
                names = en(map(option, users))
                raise ConfigError(
                    f"{option(table)} is the table for {names}: name one of its columns, or leave it out."
                )

    def _expanded(self, own: inspect.Parameter) -> Iterator[inspect.Parameter]:
        """Yield the options that a parameter of the body stands for."""
        if own.annotation is Call:
            yield from self._options()
        elif own.annotation is Output:
            yield from Output.options(signature_of(self.function).offers if self.function else frozenset())
        elif is_block(own.annotation):
            yield from inspect.signature(own.annotation).parameters.values()
        else:
            yield own

    def _options(self) -> Iterator[inspect.Parameter]:
        for one in signature_of(self.function).parameters.values():
            reader = self.reads.get(one.name)
            if one.name in self.without:
                continue
            if isinstance(reader, type):
                yield from inspect.signature(reader).parameters.values()
            elif reader is not None:
                path, *others = signature_of(reader).parameters.values() if isinstance(reader, str) else [one]
                is_path = one.is_table or one.kind in (None, Path)
                told = path.help if one.default is ... else one.help
                yield self._option(replace(one, kind=Path, help=told) if is_path else one)
                panel = "Input" if is_path else "Model"
                own = {*self.without, *signature_of(self.function).parameters}
                yield from (self._option(each, panel) for each in others if each.name not in own)
            elif (one.kind and not _is_settled(one.kind)) or one.name in self.kinds:
                yield self._option(one)
            for name, each in self.fields(one).items():
                yield self._option(replace(each, name=name))
        for function, names in self.settings.items():
            yield from (self._option(signature_of(function).parameters[name]) for name in names)

    def fields(self, one: Parameter) -> dict[str, Parameter]:
        """Return the fields of a parameter's classes of options by the names that they have here."""
        found = {}
        for each in () if one.name in self.kinds else one.classes:
            for name, value in signature_of(each).parameters.items():
                if value.kind and name not in self.without:
                    found[self.renamed.get(f"{one.name}.{name}", name)] = value
        return found

    @cached_property
    def _written(self) -> dict[str, str]:
        """Repeated options, by those of their parameters."""
        lists = [one.name for one in signature_of(self.function).parameters.values() if get_origin(one.kind) is list]
        return {f"--{name.replace('_', '-')}": f"--{_singular(name).replace('_', '-')}" for name in lists}

    def _option(self, one: Parameter, usual: str | None = None) -> inspect.Parameter:
        """Return what Typer makes an option or an argument of."""
        kind, default = self.kinds.get(one.name, one.kind), one.default
        callback: Callable[[Any], Any] | None = None
        is_list = get_origin(kind) is list
        name, *short = self.renamed.get(one.name, _singular(one.name) if is_list else one.name).split()
        help = self.help.get(one.name, one.help)
        if kind in (Path, list[Path]) and one.name not in WRITTEN:
            callback = existing
        is_argument = default is ... and callback is existing
        if not is_argument:
            help = self.help.get(one.name) or SHARED.get(name.replace("_", "-"), help)
        if is_list and get_origin(get_args(kind)[0]) is Literal:
            choices, kind = get_args(get_args(kind)[0]), list[str]  # Typer knows no list of Literals
            callback, help = _one_of(choices), f"{help.removesuffix('.')}: {', '.join(choices)}."
        if is_list:
            help = _repeated(help)
        if one.name == "seed" and default is ...:
            default = 0
        help = re.sub(r"--[\w-]+", lambda written: self._written.get(written[0], written[0]), help)
        info: Any
        if is_argument:
            info = typer.Argument(help=help, metavar=name.upper() + "..." * (kind != Path), callback=callback)
        else:
            written = f"--{name}" if kind is not bool or default is False else f"--{name}/--no-{name}"
            groups = (*self.panels.items(), *GROUPS.items())
            panel = next((panel for panel, names in groups if one.name in names), usual)
            written = written.replace("_", "-")
            info = typer.Option(
                written, *short, help=help, callback=callback, rich_help_panel=panel, min=LEAST.get(name)
            )
        if isinstance(default, tuple):
            default = list(default) or None
        return inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default is ... else default,
            annotation=Annotated[kind | None if default is None else kind, info],
        )


class Call:
    """The function of a command with the values of its options; calling it reads the files that they name.

    Parameters
    ----------
    command : Command
        The command.
    given : mapping
        Values of the options by parameter.
    """

    def __init__(self, command: Command, given: Mapping[str, Any]) -> None:
        self.command = command
        self.given = given

    @property
    def offers(self) -> frozenset[str]:
        """Names that the class of the function's result defines."""
        return signature_of(self.command.function).offers

    def __call__(self, **more: Any) -> Any:
        """Call the function; arguments given here count more than options."""
        return load(self.command.function)(**(self.arguments(*more) | more))

    def arguments(self, *without: str) -> dict[str, Any]:
        """Return the arguments that options give the function, without those named."""
        names = [name for name in signature_of(self.command.function).parameters if name not in self.command.without]
        found = {name: self.read(name) for name in names if name not in without}
        return {
            name: value
            for name, value in found.items()
            if value is not None and not (isinstance(value, list) and not value)
        }

    def read(self, name: str) -> Any:
        """Return an argument: what an option names, read, or its value."""
        reader, value = self.command.reads.get(name), self.given.get(name)
        if isinstance(reader, type):
            return reader(**{each: self.given[each] for each in inspect.signature(reader).parameters}).open()
        if isinstance(reader, str):
            own = signature_of(self.command.function).parameters
            others = [
                each for each in list(signature_of(reader).parameters)[1:] if each in self.given and each not in own
            ]
            options = {each: self.given[each] for each in others}
            if isinstance(value, list) and isinstance(value[0], Path):
                found = {name: load(reader)(path, **options) for name, path in _named(value).items()}
                return found if len(found) > 1 else next(iter(found.values()))
            return None if value is None else load(reader)(value, **options)
        if reader is not None:
            return None if value is None else reader(value, self)
        parameter = signature_of(self.command.function).parameters.get(name)
        if parameter is not None and self.command.fields(parameter):
            return self._object(parameter, value)
        if name == "clusters":
            return _clusters(value)
        return read_frame(value) if parameter is not None and parameter.is_table and value is not None else value

    def reading(self, *without: str) -> dict[str, Any]:
        """Return the options of `langdiff.read_surprisals` but those named, as that takes them."""
        names = list(signature_of(READER).parameters)[1:]
        return {name: self.given[name] for name in names if name in self.given and name not in without}

    def _object(self, one: Parameter, value: str | None) -> Any:
        """Return the name of a choice, or an object if options of it were given, which alone choose it."""
        written = [name for name in self.given if is_given(self.given["context"], name)]
        given = {name: self.given[name] for name in self.command.fields(one) if name in written}  # defaults, too
        if not given:
            return value
        others = []  # choices that the options go with
        for each in one.classes:
            own = {self.command.renamed.get(f"{one.name}.{name}", name): name for name in signature_of(each).parameters}
            if given.keys() <= own.keys():
                choice = each.rpartition(":")[2].lower()
                if value in (None, choice):
                    return load(each)(**{own[name]: chosen for name, chosen in given.items()})
                others.append(choice)
        both = en(map(option, given))
        if others and one.name not in written:
            go = "go" if len(given) > 1 else "goes"
            raise ConfigError(f"{both} {go} with {option(one.name, others[0])}: add it, or leave {both} out.")
        do = "do" if len(given) > 1 else "does"
        raise ConfigError(f"{both} {do} not go with {option(one.name, value)}: leave one of them out.")


def _named(paths: list[Path]) -> dict[str, Path]:
    """Return files by their names without endings; by their folders where all have one name."""
    names = [path.stem for path in paths]
    if len(set(names)) == 1 < len(names):
        names = [path.resolve().parent.name for path in paths]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(
            f"the names of several files are those of systems, and some are given twice: {listing(twice)}."
        )
    return dict(zip(names, paths, strict=True))


def _clusters(value: str | None) -> str | list[str] | None:
    """Return clusters as Python has them: ``none`` is None, and a comma parts two columns."""
    return None if value in (None, "none") else value.split(",") if "," in value else value


class Late(TyperCommand):
    """A command whose options and help are found when they are asked for."""

    @cached_property
    def function(self) -> Body:
        """The function that is called, with its options as parameters."""
        declared: Any = self.callback
        called: Body = declared.command.callback(declared.body)
        return called

    @cached_property
    def _made(self) -> TyperCommand:
        single = typer.Typer(add_completion=False)
        single.command(self.name)(self.function)
        made: Any = get_command(single)
        return cast(TyperCommand, made)

    @property
    def params(self) -> list[Any]:
        """Options and arguments."""
        return self._made.params

    @params.setter
    def params(self, _: list[Any]) -> None: ...

    @property
    def help(self) -> str:
        """What the command does, and how it is called."""
        declared: Any = self.callback
        return str(declared.command.describe(declared.body))

    @help.setter
    def help(self, _: str) -> None: ...

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 as click calls it
        """Print the help."""
        print_help(self, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; one that takes one value is given once."""
        with in_command(self.named):
            given = self.make_parser(ctx).parse_args(args=list(args))[2]
            for one in given:
                if given.count(one) > 1 and not getattr(one, "multiple", True):
                    ctx.fail(f"{one.opts[0]} is given {given.count(one)} times, and takes one value.")
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Call the body."""
        with in_command(self.named), in_lines(row_width()), called(*_origin(ctx)):
            return self._made.invoke(ctx)

    @cached_property
    def named(self) -> dict[str, tuple[str, str]]:
        """What switches an argument on and off on the command line, by its name in Python and that of the option."""
        found: dict[str, tuple[str, str]] = {}
        for one in self.params:
            long = [name for name in one.opts if name.startswith("--")]
            if long and one.name:
                found[one.name] = named = long[0], next(iter(one.secondary_opts), "")
                found.setdefault(long[0].removeprefix("--").replace("-", "_"), named)
        return found


def _origin(ctx: Any) -> tuple[dict[str, str], list[Path]]:
    """Return the command with the options given, and the files that it reads."""
    settings, inputs = {"command": ctx.command_path}, []
    for name, value in ctx.params.items():
        if name not in ("out", "plot", "unmatched") and is_given(ctx, name):
            values = value if isinstance(value, list | tuple) else [value]
            files = [Path(one) for one in values if isinstance(one, Path) or (isinstance(one, str) and _is_file(one))]
            if files:
                inputs += files
            else:
                settings[name] = ", ".join(map(str, values))
    return settings, inputs


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # names that cannot be of files
        return False


def show(call: Call, output: Output) -> None:
    """Call the function and print its result: the usual body of a command."""
    output.check(call.offers)
    output.show(call())


def load(name: str) -> Any:
    """Import a function, such as ``"langdiff.fit"``, or a class, as ``"module:name"``."""
    module, _, attribute = name.rpartition(":" if ":" in name else ".")
    return getattr(importlib.import_module(module), attribute)


def is_block(kind: Any) -> bool:
    """Return whether a parameter of a body stands for options that several commands share."""
    return isinstance(kind, type) and is_dataclass(kind)


def _is_settled(kind: Any) -> bool:
    """Return whether a type allows one value only, which is the usual name next to a class of options."""
    return get_origin(kind) is Literal and len(get_args(kind)) == 1


def _one_of(choices: tuple[str, ...]) -> Callable[[list[str] | None], list[str] | None]:
    def check(given: list[str] | None) -> list[str] | None:
        for name in given or ():
            if name not in choices:
                raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, choices))}.")
        return given

    return check


LONGEST = 20  # characters of choices that stand beside an option; longer ones would be broken there


def _repeated(help: str) -> str:
    return f"{help.removesuffix('.')} (repeat for more)."


def _told(option: inspect.Parameter) -> inspect.Parameter:
    """Return an option with the help that it has in all commands, unless it has its own."""
    is_plain = get_origin(option.annotation) is not Annotated and option.default is not inspect.Parameter.empty
    annotation = Annotated[option.annotation, typer.Option()] if is_plain else option.annotation
    kind, *infos = get_args(annotation) if get_origin(annotation) is Annotated else (None,)
    if not infos or not isinstance(infos[0], OptionInfo) or infos[0].help is not None:
        return option
    info = copy(infos[0])  # a class of options is shared by several commands
    written = [name for name in map(str, (info.default, *(info.param_decls or ()))) if name.startswith("--")]
    name = (written[0] if written else option.name).split("/")[0].removeprefix("--").replace("_", "-")
    is_list = any(get_origin(each) is list for each in (kind, *get_args(kind)))
    info.help = _repeated(SHARED[name]) if is_list else SHARED[name]
    return option.replace(annotation=Annotated[kind, info])


def _unbroken(option: inspect.Parameter) -> inspect.Parameter:
    """Return an option with long choices moved into the text of its help."""
    kind, *infos = get_args(option.annotation) if get_origin(option.annotation) is Annotated else (None,)
    literal = next((one for one in (kind, *get_args(kind)) if get_origin(one) is Literal), None)
    if literal is not None and infos[0].metavar is None and len("|".join(get_args(literal))) > LONGEST:
        info = copy(infos[0])  # a class of options is shared by several commands
        told = re.findall(r"[\w-]+", info.help or "")
        info.metavar = "CHOICE"
        if not all(choice in told for choice in get_args(literal)):
            info.help = f"{(info.help or '').removesuffix('.')}: {', '.join(get_args(literal))}."
        option = option.replace(annotation=Annotated[kind, info])
    return option.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _singular(name: str) -> str:
    """Return the name of an option that is repeated."""
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
