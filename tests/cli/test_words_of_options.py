"""Messages name the options that the reader has: arguments in Python, options of commands, keys of experiment files.

``python tests/cli/test_words_of_options.py`` prints all messages that name one, in the three ways.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

import langdiff as ld
from langdiff import errors
from langdiff.cli.app import app

PYTHON = re.compile(r"""\w+=['"]""")
# in literals: name='value', or name= before the end of a phrase; with "<" they are XML
IN_CODE = re.compile(r"""(?<![\w<=/'"-])[a-z][a-z_]*=(?:'|[.,;)](?:\s|$)|\s)""")
NAME = re.compile(r"(?<!['\"\w.=/\\-])[a-z]+(?:_[a-z]+)+(?!['\"\w(=/\\]|\.\w)")
PACKAGE = Path(ld.__file__).parent
# names that are also those of attributes, columns and keys, by file
ATTRIBUTES = {
    "corpora/origin.py": {"intent_info"},
    "experiments/native.py": {"intent_info", "original_language"},
    "experiments/replicates.py": {"seed_sd"},
    "plots/corpora.py": {"intent_info"},
    "plots/multitext_table.py": {"n_intents", "n_editions"},
    "regression/stan/sampling.py": {"log_lik"},
    "tables/intent_info.py": {"intent_info"},
    "tables/multitext.py": {"intent_info", "edition_info"},
}


@cache
def modules():
    """Return the nodes of all modules by their place in the package."""
    files = {file.relative_to(PACKAGE).as_posix(): file for file in sorted(PACKAGE.rglob("*.py"))}
    return {place: list(ast.walk(ast.parse(file.read_text(encoding="utf-8")))) for place, file in files.items()}


def literals(nodes):
    """Yield the texts of a module that are not docstrings."""
    statements = [node.body[0] for node in nodes if isinstance(getattr(node, "body", None), list) and node.body]
    docs = {id(each.value) for each in statements if isinstance(each, ast.Expr)}
    docs |= {id(each) for node in calls_of("words", nodes) for each in ast.walk(node)}  # the words of one reader
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def messages():
    """Yield every text of the package that names an option: its place, the node, and the names."""
    for place, nodes in modules().items():
        for node in nodes:
            calls = list(calls_of("option", ast.walk(node))) if isinstance(node, ast.JoinedStr) else []
            if calls:
                yield f"{place}:{node.lineno}", node, calls


def calls_of(function, nodes):
    """Yield the calls of a function."""
    for each in nodes:
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == function:
            yield each


def parameters():
    """Return the names of the parameters of all functions and of the fields of all classes."""
    nodes = [node for each in modules().values() for node in each]
    fields = {node.target.id for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    return fields | {node.arg for node in nodes if isinstance(node, ast.arg)}


def shown(node):
    """Return a text as it reads now; what depends on data is "…", and a value that is not written there 7."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(map(str, map(shown, parts)))
        case ast.FormattedValue(value=ast.Call(func=ast.Name(id="option" | "words")) as call):
            return shown(call)
        case ast.Call(func=ast.Name(id="option"), args=[ast.Constant(value=name)]):
            return errors.option(name)
        case ast.Call(func=ast.Name(id="option"), args=[ast.Constant(value=name), value]):
            return errors.option(name, value.value if isinstance(value, ast.Constant) else 7)
        case ast.Call(func=ast.Name(id="words"), keywords=given):
            return errors.words(**{each.arg: shown(each.value) for each in given})
    return "…"


def options_of(command):
    """Return the options of all commands by the names of arguments."""
    found = dict(getattr(command, "named", {}))
    for each in getattr(command, "commands", {}).values():
        found |= options_of(each)
    return found


@pytest.fixture(scope="module")
def options():
    return options_of(get_command(app))


def test_no_message_names_an_option_in_python(options):
    assert len(modules()) > 300
    found = set()
    for place, nodes in modules().items():
        for text in literals(nodes):
            names = {name for name in NAME.findall(text) if name in options} - ATTRIBUTES.get(place, set())
            if (
                "<" not in text
                and " " in text
                and (IN_CODE.search(text) or (names and not place.startswith(("cli/", "run/"))))
            ):
                found.add((place, text))
    assert found == set()


def test_messages_name_options_in_three_ways(options):
    found, known = list(messages()), parameters()
    assert len(found) > 150
    for place, node, calls in found:
        in_python = shown(node)
        with errors.in_command(options):
            in_command = shown(node)
        with errors.in_experiment():
            in_experiment = shown(node)
        for call in calls:
            if not isinstance(call.args[0], ast.Constant):  # one of several, which the function is given
                continue
            name, has_value = call.args[0].value, len(call.args) > 1
            assert f"{name}=" * has_value in in_python, place
            assert f"{name} = " * has_value in in_experiment, place
            if name in options or name.removesuffix("s") in options:
                assert "--" in in_command, place
                assert f"{name}=" not in in_command, place
            else:
                assert name in known, (place, name)


def _corpus(folder):
    """Write files with every kind of fault that has advice."""
    (folder / "texts").mkdir()
    (folder / "texts" / "deu.txt").write_text("eins\nzwei\n")
    (folder / "texts" / "fra.txt").write_bytes(b"un\nd\xe9ux\n")
    (folder / "verses").mkdir()
    (folder / "verses" / "deu.txt").write_text("x\n" * 1500)
    (folder / "verses" / "eng.txt").write_text("01001001\tone\n")
    (folder / "about.csv").write_text("a,b\n1,2\n")
    (folder / "logs.csv").write_text("intent,a,b\n1,-5,-6\n2,-4,-7\n")
    (folder / "twice.csv").write_text("item,system,successes\na,x,1\na,x,0\n")
    (folder / "wide.csv").write_text("item,x,y\na,1,1\n")


CASES = {
    "bytes": (["corpora", "describe", "texts", "--format", "moses"], "--decode-errors replace reads it with U+FFFD"),
    "skip": (["select", "texts", "--format", "moses", "--on-error", "skip"], "--decode-errors replace reads it"),
    "table": (
        ["corpora", "describe", "texts", "--format", "moses", "--on-error", "skip"],
        "--decode-errors replace reads it",
    ),
    "guess": (["corpora", "describe", "texts"], "pass --format moses"),
    "format": (
        ["corpora", "describe", "verses", "--format", "pbc"],
        "If this is not the right format, name it: --format.",
    ),
    "vref": (["corpora", "describe", "texts", "--format", "ebible"], "pass it as --vref"),
    "columns": (["corpora", "describe", "verses", "--format", "pbc", "--edition-info", "about.csv"], "--rename;"),
    "editions": (["corpora", "describe", "logs.csv"], "name the editions to read (--edition)"),
    "unit": (["fit", "logs.csv"], "pass --unit nats"),
    "trials": (["outcomes", "fit", "twice.csv"], "say so (--repeats sum)"),
    "dispersion": (["fit", "two.csv", "--dispersion", "edition"], "normal prior (--intents random)"),
}


@pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")  # the command prints it
@pytest.mark.parametrize("case", CASES)
def test_commands_name_their_options(langdiff, tmp_path, monkeypatch, case):
    _corpus(tmp_path)
    ld.simulate(60, 2, seed=1).surprisals.save(tmp_path / "two.csv")
    monkeypatch.chdir(tmp_path)
    arguments, told = CASES[case]
    done = langdiff(*arguments)
    assert told in done.err
    assert PYTHON.search(done.out + done.err) is None
    assert "read_multitext" not in done.out + done.err
    assert "attribute" not in done.out + done.err


EXPERIMENT = """name = "x"
[corpus]
format = "moses"
path = "{path}"
{corpus}
[lm]
models = ["kneser-ney-2"]
max_replaced = 1.0
baselines = false
{more}
"""


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"path": "texts"}, 'decode_errors = "replace" in [corpus] reads it with U+FFFD'),
        ({"path": "gaps"}, 'pass incomplete = "drop" in [split] to leave such intents out or incomplete = "test"'),
        ({"path": "gaps", "more": '[fit]\nn_resamples = 99\nerrors = "jackknife"'}, 'contradicts errors = "jackknife"'),
        ({"path": "gaps", "more": '[fit]\nstrata = "book"'}, 'add clusters = "chapter" beside strata = "book"'),
    ],
)
def test_experiments_name_their_keys(langdiff, tmp_path, settings, told):
    _corpus(tmp_path)
    (tmp_path / "gaps").mkdir()
    for name, missing in {"deu": 3, "eng": 5}.items():
        lines = "".join("\n" if k == missing else f"text {k}\n" for k in range(60))
        (tmp_path / "gaps" / f"{name}.txt").write_text(lines)
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(**{"corpus": "", "more": ""} | settings))
    done = langdiff("run", tmp_path / "x.toml", "--out", tmp_path / "run")
    assert done.code == 1
    assert told in done.err
    assert PYTHON.search(done.err) is None


def test_a_format_that_is_missing_is_named(langdiff, tmp_path):
    (tmp_path / "x.toml").write_text('name = "x"\n[corpus]\npath = "y"\n')
    done = langdiff("run", tmp_path / "x.toml")
    assert "[corpus]: format is missing; one of 'pbc', 'ebible', 'usfm', " in done.err
    assert "discriminat" not in done.err
    assert "tag" not in done.err


if __name__ == "__main__":
    of_commands = options_of(get_command(app))
    for place, node, _ in messages():
        sys.stdout.write(f"{place}\n    {shown(node)}\n")
        for reader in (errors.in_command(of_commands), errors.in_experiment()):
            with reader:
                sys.stdout.write(f"    {shown(node)}\n")
