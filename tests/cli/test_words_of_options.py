"""Messages of commands and experiment files name the options that are there, not Python's arguments."""

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

import langdiff as ld
from langdiff.cli.app import app
from langdiff.cli.wording import as_options, options_of

PYTHON = re.compile(r"""\w+=['"]""")
# in literals: name='value', or name= before the end of a phrase; with "<" they are XML
IN_CODE = re.compile(r"""(?<![\w<=/'"-])[a-z][a-z_]*=(?:'|[.,;)](?:\s|$)|\s)""")
PACKAGE = Path(ld.__file__).parent
ONLY_IN_PYTHON = {"estimand", "over"}  # of functions that no command calls with a choice


def literals(file):
    """Yield the texts of a module that are not docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    statements = [
        node.body[0] for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list) and node.body
    ]
    docs = {id(each.value) for each in statements if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_no_message_outside_the_regression_is_written_in_python():
    files = [file for file in sorted(PACKAGE.rglob("*.py")) if "regression" not in file.relative_to(PACKAGE).parts[:1]]
    assert len(files) > 300
    found = {(file.name, text) for file in files for text in literals(file) if IN_CODE.search(text) and "<" not in text}
    assert found == set()


def test_messages_of_the_regression_are_translated():
    options = options_of(get_command(app))
    texts = [text for file in (PACKAGE / "regression").rglob("*.py") for text in literals(file)]
    told = [as_options(text, options) for text in texts if IN_CODE.search(text)]
    assert len(told) > 20
    names = {match[0].partition("=")[0] for text in told for match in PYTHON.finditer(text)}
    assert names <= ONLY_IN_PYTHON


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
    "columns": (
        ["corpora", "describe", "verses", "--format", "pbc", "--edition-info", "about.csv"],
        "--edition-column;",
    ),
    "editions": (["corpora", "describe", "logs.csv"], "name the editions to read (--edition)"),
    "unit": (["fit", "logs.csv"], "pass --unit nats"),
    "trials": (["outcomes", "fit", "twice.csv"], "say so (--repeats sum)"),
    "wide": (["outcomes", "fit", "wide.csv", "--format", "long"], "say so (--format wide)"),
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


@pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")
def test_bytes_are_replaced_on_request(langdiff, tmp_path):
    _corpus(tmp_path)
    say = [
        "select",
        tmp_path / "texts",
        "--format",
        "moses",
        "--decode-errors",
        "replace",
        "--out",
        tmp_path / "chosen",
    ]
    done = langdiff(*say)
    assert (done.code, "faulty" in done.out) == (0, False)
    assert (tmp_path / "chosen" / "fra.txt").read_text(encoding="utf-8") == "un\nd\ufffdux\n"


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
        ({"path": "texts"}, 'decode_errors = "replace" reads it with U+FFFD'),
        ({"path": "gaps"}, 'pass incomplete = "drop" to leave such intents out or incomplete = "test"'),
        ({"path": "gaps", "more": '[fit]\nn_resamples = 30\nerrors = "jackknife"'}, 'contradicts errors = "jackknife"'),
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
    assert "[corpus]: format is missing; one of 'pbc', 'ebible', 'usfm', 'osis', 'ces', 'moses'," in done.err
    assert "discriminat" not in done.err
    assert "tag" not in done.err
