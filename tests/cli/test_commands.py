"""Commands are made from the signatures and docstrings of public functions, which are read, not imported."""

import subprocess
import sys
from dataclasses import fields

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from langdiff.cli import signatures
from langdiff.cli.app import app
from langdiff.cli.commands import Command, Late, load, show
from langdiff.cli.signatures import signature_of
from langdiff.errors import ConfigError

TOY = '''
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
import numpy as np
import pandas as pd
Kind = Literal["sandwich", "bootstrap"]
Model = Literal["a", Literal["b"]]
USUAL = 7
class Errors: ...
@dataclass(frozen=True)
class Sandwich(Errors):
    correction: Literal["CR2", "CR3"] = "CR2"
@dataclass(frozen=True)
class Bootstrap(Errors):
    n_resamples: int = 500
class Found:
    def __init__(self, **given):
        self.given = given
    def plot(self): ...
    def summary(self):
        return f"found {self.given}"
def toy(
    table: pd.DataFrame,
    models: Sequence[Model] | Model = ("a",),
    *,
    errors: Kind | Errors | None = None,
    restricted: bool = True,
    size: float | None = None,
    limit: int = USUAL,
    weights: np.ndarray | None = None,
    seed: int | np.random.Generator = 0,
) -> Found:
    """Do what a toy does, as ``langdiff`` would.

    Parameters
    ----------
    table : DataFrame
        Table (in a file: a .csv), with names.
    models : sequence
        Models to fit, by `size`.
    errors : str or Errors, optional
        Source of errors: see there.
    restricted : bool
        Maximize the restricted likelihood.
    size, limit : float
        Size of the toy; larger is slower.
    seed : int
        Seed.
    """
    return Found(table=table.shape, models=models, errors=errors, restricted=restricted, size=size, limit=limit)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A function in a file beside the package, and its group of commands."""
    (tmp_path / "langdiff_toy.py").write_text(TOY)
    (tmp_path / "t.csv").write_text("name,x\na,1\nb,2\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(signatures, "_ROOT", tmp_path)
    for cached in (signatures.signature_of, signatures.summary_of, signatures._module):
        cached.cache_clear()
    group = typer.Typer()
    group.callback()(lambda: None)
    yield group
    for cached in (signatures.signature_of, signatures.summary_of, signatures._module):
        cached.cache_clear()
    sys.modules.pop("langdiff_toy", None)


def _options(group, name="toy"):
    return {param.name: param for param in get_command(group).commands[name].params}


def test_a_parameter_becomes_an_option(toy):
    Command(toy, "langdiff_toy.toy", examples=("langdiff toy t.csv",))(show)
    options = _options(toy)
    assert list(options)[:5] == ["table", "models", "errors", "correction", "n_resamples"]
    assert list(options)[5:] == ["restricted", "size", "limit", "seed", "out", "plot", "as_json"]
    assert options["table"].param_type_name == "argument"
    assert options["table"].help == "Table (in a file: a .csv), with names."
    assert options["models"].opts == ["--model"]
    assert options["models"].help == "Model of the difficulties: a, b (repeat for more)."  # as in all commands
    assert (options["models"].multiple, options["models"].default) == (True, ["a"])
    assert (options["restricted"].opts, options["restricted"].secondary_opts) == (["--restricted"], ["--no-restricted"])
    assert (options["limit"].default, options["limit"].help) == (7, "Size of the toy.")
    assert (options["seed"].default, options["seed"].required) == (0, False)
    assert options["out"].help == "Write the table here (.csv, .tsv, .parquet)."  # the class has no `save`
    assert (
        get_command(toy).commands["toy"].help == "Do what a toy does, as langdiff would.\n\nExample: langdiff toy t.csv"
    )
    assert "langdiff_toy" not in sys.modules


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "'errors': None"),
        (["--errors", "bootstrap"], "'errors': 'bootstrap'"),
        (["--correction", "CR3"], "'errors': Sandwich(correction='CR3')"),
        (["--errors", "bootstrap", "--n-resamples", "99"], "'errors': Bootstrap(n_resamples=99)"),
        (["--no-restricted"], "'restricted': False"),
        (["--model", "b", "--model", "a"], "'models': ['b', 'a']"),
    ],
)
def test_a_field_alone_chooses_its_class(toy, tmp_path, options, expected):
    Command(toy, "langdiff_toy.toy")(show)
    done = CliRunner().invoke(toy, ["toy", str(tmp_path / "t.csv"), *options])
    assert done.exit_code == 0, done.exception
    assert expected in done.stdout
    assert "'table': (2, 1)" in done.stdout


def test_fields_of_two_classes_contradict_each_other(toy, tmp_path):
    Command(toy, "langdiff_toy.toy")(show)
    given = ["toy", str(tmp_path / "t.csv"), "--errors", "bootstrap", "--correction", "CR3"]
    done = CliRunner().invoke(toy, given)
    assert isinstance(done.exception, ConfigError)
    assert "--correction does not go with --errors bootstrap" in str(done.exception)
    unknown = CliRunner().invoke(toy, ["toy", str(tmp_path / "t.csv"), "--model", "c"])
    assert unknown.exit_code == 2
    assert "'c' is not one of 'a', 'b'" in unknown.output


def _declared(group, name="langdiff"):
    for inner in getattr(group, "commands", {}).values():
        yield from _declared(inner, f"{name} {inner.name}")
    if isinstance(group, Late):
        yield name, group.callback.command, group.callback.body


DECLARED = {name: command for name, command, _ in _declared(get_command(app)) if command.function}


@pytest.mark.parametrize("name", DECLARED)
def test_declarations_name_what_there_is(name):
    command = DECLARED[name]
    known = set(signature_of(command.function).parameters)
    for function, names in command.settings.items():
        assert set(names) <= set(signature_of(function).parameters)
        known |= set(names)
    assert set(command.reads) <= known
    for reader in command.reads.values():
        if isinstance(reader, type):
            known |= {each.name for each in fields(reader)}
        elif isinstance(reader, str):
            known |= set(signature_of(reader).parameters)
    told = {*command.renamed, *command.kinds, *command.without}
    for parameter in signature_of(command.function).parameters.values():
        known |= {name for each in parameter.classes for name in signature_of(each).parameters}
    assert {each for each in told if "." not in each} - known == set()


@pytest.mark.parametrize("name", DECLARED)
def test_the_source_says_what_python_says(name):
    """Names and defaults that are read from the source are those of the function itself."""
    import inspect

    command = DECLARED[name]
    actual = inspect.signature(load(command.function)).parameters
    for parameter in signature_of(command.function).parameters.values():
        default = actual[parameter.name].default
        if parameter.default is ...:
            assert default is inspect.Parameter.empty
        elif parameter.default is not None:
            assert parameter.default == default


def test_most_commands_are_made_from_functions():
    made = list(_declared(get_command(app)))
    assert len(made) == 54
    assert sum(bool(command.function) for _, command, _ in made) >= 35
    assert all(command.describe(body) for _, command, body in made)


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["outcomes", "fit", "--help"]])
def test_help_needs_no_numpy(tmp_path, arguments):
    code = "import sys, atexit; atexit.register(lambda: print(*sys.modules)); import langdiff.cli as c; c.main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert not {"numpy", "pandas", "matplotlib"} & set(done.stdout.splitlines()[-1].split())


def test_every_option_says_what_it_is():
    without = [
        (name, parameter.name)
        for name, command, body in _declared(get_command(app))
        for parameter in get_command(app_of(command, body)).params
        if not parameter.help and parameter.name != "help"
    ]
    assert without == []


def app_of(command, body):
    """Return a group of one command, which Typer makes a command of."""
    single = typer.Typer(add_completion=False)
    single.command()(command.callback(body))
    return single
