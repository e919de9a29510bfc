"""Every block of Python and every command of README and handbook runs, page by page, as a reader would run them."""

import ast
import builtins
import importlib
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
from typer.main import get_command

import langdiff as ld
from langdiff.cli.app import app
from langdiff.constructions.queries import read_queries
from langdiff.lm import RECIPES
from langdiff.parallelism.taggers import settings as tagger_settings
from langdiff.parallelism.taggers.settings import make_settings
from langdiff.run.experiment_file import read_experiment
from tests.cli.conftest import langdiff  # noqa: F401 - a fixture
from tests.handbook import material
from tests.handbook.snippets import PAGES, ROOT, SHELLS, Snippet, snippets_of

DASK = "needs a scheduler of Dask on other machines; tests/lm/jobs runs jobs with one"
STAN = "compiles and samples for minutes; tests/regression/stan and tests/cli/test_stan.py run it"
NETWORK = "downloads gigabytes; tests/corpora/test_download.py runs it with a server of its own"
NOT_RUN = {  # (page, a line of the block, or the beginning of the command): reason
    ("docs/clusters.md", 'client = Client("tcp://node01:8786")'): DASK,
    ("docs/clusters.md", "from dask_jobqueue import SLURMCluster"): "needs Slurm",
    ("docs/clusters.md", "langdiff run study.toml"): DASK,
    ("docs/clusters.md", "langdiff score --hf models/llama"): "an array of jobs; tests/lm/external runs its shares",
    ("docs/clusters.md", "langdiff merge /shared/scored"): "joins what those jobs wrote",
    ("docs/constructions.md", "langdiff constructions check candidates.tsv"): "a person vets the candidates first",
    (
        "docs/constructions.md",
        "langdiff constructions study outputs/ --gold en_pud.conllu --out study.csv",
    ): "needs the words of English PUD; tests/constructions/test_shipped.py runs it",
    (
        "docs/constructions.md",
        "langdiff constructions study outputs/ --gold en_pud.conllu --pairs",
    ): "needs the words of English PUD; tests/constructions/test_shipped.py runs it",
    ("docs/costep.md", "langdiff corpora fetch"): NETWORK,
    ("docs/language-models.md", 'lm="char-ptb", device="cuda"'): "needs a GPU",
    ("docs/outcomes.md", "ld.sample_outcomes("): STAN,
    (
        "docs/outcomes.md",
        'ld.read_logs("samples/")',
    ): "needs logs of a benchmark; notebooks/multilingual.ipynb makes some",
    (
        "docs/predictors.md",
        "langdiff treebanks parse",
    ): "needs models of UDPipe; tests/treebanks/test_udpipe.py makes one",
    ("docs/stan.md", "ld.sample("): STAN,
}
OPTIONAL = {"dask_jobqueue"}  # installed on clusters, not here


def gallery_names() -> dict[str, Any]:
    """Return the results that the gallery draws when the handbook is built."""
    sys.path.insert(0, str(ROOT / "docs" / "extensions"))
    try:
        from gallery_data import gallery_data
    finally:
        sys.path.pop(0)
    return gallery_data()


@dataclass(frozen=True)
class Page:
    """What a page takes for granted: files, names; and what is made smaller so that it runs in seconds."""

    files: tuple[Callable[[], None], ...] = ()
    names: Callable[[], dict[str, Any]] = dict
    smaller: dict[str, str] = field(default_factory=dict)
    slow: bool = False


ONE_WORKER = {"workers=2": "workers=1"}
PREPARED = {
    "README.md": Page((material.evaluations,)),
    "docs/command-line.md": Page((material.tables,)),
    "docs/constructions.md": Page((material.constructions, material.treebanks)),
    "docs/corpora.md": Page((material.bible, material.ntrex, material.formats, material.scraps)),
    "docs/costep.md": Page(
        (material.costep,), smaller={"seed=1, compute": "seed=1, budget_words=200, compute"}, slow=True
    ),
    "docs/curves.md": Page(
        (material.ntrex, material.tables),
        smaller={
            "(100, 200, 400, 800, 1300)": "(10, 20, 40, 60, 80)",
            "100,200,400,800,1300": "10,20,40,80",
            "kneser-ney-6": "kneser-ney-4",
            **ONE_WORKER,
        },
        slow=True,
    ),
    "docs/discourse.md": Page((material.discourse,)),
    "docs/experiments.md": Page(slow=True),
    "docs/first-afternoon.md": Page(
        (material.bible,), smaller={"--min-intents 7000": "--min-intents 200", "--workers 2": "--workers 1"}
    ),
    "docs/folds.md": Page((material.ntrex,), smaller=ONE_WORKER),
    "docs/gallery.md": Page(names=gallery_names, slow=True),
    "docs/inference.md": Page((partial(material.tables, ("deu", "eng", "fin")),)),
    "docs/language-models.md": Page((material.ntrex, material.gpt), smaller=ONE_WORKER, slow=True),
    "docs/logs.md": Page((material.logs, material.evaluations)),
    "docs/models.md": Page((partial(material.tables, ("deu", "eng", "fin")),)),
    "docs/multilingual.md": Page((material.systems,), names=material.data_by_language),
    "docs/outcomes.md": Page((material.answers,)),
    "docs/parallelism.md": Page((material.sermons,)),
    "docs/parallelism-scores.md": Page((material.sermons,)),
    "docs/parallelism-taggers.md": Page(
        (material.sermons,),
        smaller={
            "seed=0, resume": "seed=0, max_epochs=2, resume",
            "--epochs 10": "--epochs 2",
            "TD --out": "TD --epochs 2 --out",
        },
        slow=True,
    ),
    "docs/parity.md": Page((material.logs,)),
    "docs/perturbations.md": Page((material.ntrex,), smaller={"kneser-ney-6": "kneser-ney-4"}),
    "docs/predictors.md": Page((material.bible, material.world, material.treebanks)),
    "docs/scores.md": Page((material.answers,)),
    "docs/selection.md": Page((material.bible,), smaller={"20_000": "200"}),
    "docs/training-runs.md": Page((material.gpt,), slow=True),
    "docs/translationese.md": Page((material.wmt, material.tables), slow=True),
    "docs/treebanks.md": Page((material.treebanks,)),
    "docs/typology.md": Page((material.bible, material.world), slow=True),
}


def is_listed(snippet: Snippet, text: str) -> bool:
    """Tell whether a block, or a command in it, is in the table of what cannot run here."""
    return any(page == snippet.page and part in text for page, part in NOT_RUN)


def can_run(snippet: Snippet) -> bool:
    return snippet.language == "python" or bool(snippet.commands())


@pytest.fixture
def tiny(monkeypatch):
    """Give all recipes and published taggers the size of toys."""
    for name, recipe in RECIPES.items():
        base = RECIPES["char-tiny"]
        kept = {key: getattr(recipe, key) for key in ("name", "units", "bpe_backend", "ngram_orders")}
        monkeypatch.setitem(RECIPES, name, replace(base, **kept, embedding_size=8, hidden_size=8, epochs=1))
    small = {"hidden_size": 8, "input_size": 8, "depth": 1}
    monkeypatch.setattr(tagger_settings, "make_settings", lambda **settings: make_settings(**settings | small))


RUN = [page for page in PAGES if any(map(can_run, snippets_of(page)))]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if PREPARED.get(page, Page()).slow else ()) for page in RUN]
)
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_page_runs(page, langdiff, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    prepared = PREPARED.get(page, Page())
    for make in prepared.files:
        make()
    names = prepared.names()
    for snippet in snippets_of(page):
        if snippet.language == "python" and not is_listed(snippet, snippet.text):
            text = shortened(snippet.text, prepared.smaller)
            exec(compile("\n" * (snippet.line - 1) + text, page, "exec"), names)
            plt.close("all")
        for command in snippet.commands():
            if is_listed(snippet, command.line):
                continue
            given, arguments = (shortened(text, prepared.smaller) for text in (command.given, command.arguments))
            short = replace(command, given=given, arguments=arguments)
            for name, value in short.environment().items():
                monkeypatch.setenv(name, value)
            done = langdiff(*short.words()).good
            if command.file:
                Path(command.file).write_text(done.out, encoding="utf-8")
    loose = [name for name, value in names.items() if getattr(value, "converged", True) is False]
    assert not loose, f"did not converge: {loose}"


def shortened(text: str, smaller: dict[str, str]) -> str:
    for long, short in smaller.items():
        text = text.replace(long, short)
    return text


@pytest.mark.parametrize("page", PAGES)
def test_no_block_and_no_command_is_overlooked(page):
    text, snippets = (ROOT / page).read_text(encoding="utf-8"), snippets_of(page)
    assert len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(snippets), "a block that is not found"
    for snippet in snippets:
        assert snippet.language in {"python", "toml", "text", "bibtex", *SHELLS}, snippet
        if snippet.language in SHELLS:
            calls = re.findall(r"^[^#\n]*\blangdiff ", snippet.text, re.MULTILINE)
            assert len(calls) == len(snippet.commands()), f"{snippet}: a command that is not found"


def test_what_is_not_run_is_on_the_page():
    for page, part in NOT_RUN:
        found = [s for s in snippets_of(page) if can_run(s) and part in s.text]
        assert found, f"{page}: no block holds {part!r}; take it out of the table"


def test_what_is_made_smaller_is_on_the_page():
    for page, prepared in PREPARED.items():
        for long in prepared.smaller:
            found = [s for s in snippets_of(page) if can_run(s) and long in s.text]
            assert found, f"{page}: no block holds {long!r}; nothing is made smaller by it"


@pytest.mark.parametrize("page", sorted(set(PAGES) - {"README.md", "docs/index.md", "docs/changelog.md"}))
def test_page_says_what_next(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    last = re.split(r"^(?:## What next|Next:)", text, flags=re.MULTILINE)[-1]
    assert last != text
    assert re.search(r"\]\((\.\./)?[\w-]+\.md", last), "no link after the heading"
    assert "\n#" not in last, "sections after it"


TOML = [
    snippet
    for page in PAGES
    for snippet in snippets_of(page)
    if snippet.language == "toml" and "--8<--" not in snippet.text
]


@pytest.mark.parametrize("snippet", TOML, ids=str)
def test_settings_exist(snippet, tmp_path):
    if snippet.page == "docs/constructions.md":
        (tmp_path / "queries.toml").write_text(snippet.text, encoding="utf-8")
        assert read_queries(tmp_path / "queries.toml")
        return
    head = 'name = "x"\n[corpus]\nformat = "synthetic"\n'
    (tmp_path / "x.toml").write_text(head + snippet.text, encoding="utf-8")
    (tmp_path / "wals").mkdir()
    read_experiment(tmp_path / "x.toml")


def resolve(node, names):
    """Return what an expression of names and attributes stands for; None if it is a reader's own."""
    if isinstance(node, ast.Name):
        return names.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = resolve(node.value, names)
        if inspect.ismodule(owner) or inspect.isclass(owner):
            return getattr(owner, node.attr)  # AttributeError: the page names what does not exist
    return None


UNRUN = [s for page in PAGES for s in snippets_of(page) if s.language == "python" and is_listed(s, s.text)]


@pytest.mark.parametrize("snippet", UNRUN, ids=str)
def test_names_and_keywords_of_blocks_that_do_not_run_exist(snippet):
    tree = ast.parse(snippet.text, snippet.page)
    names, checked = {"ld": ld}, 0
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module not in OPTIONAL:
            module = importlib.import_module(node.module)
            names |= {alias.asname or alias.name: getattr(module, alias.name) for alias in node.names}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = resolve(call.func, names)
        if not (getattr(function, "__module__", None) or "").startswith("langdiff"):
            continue
        given = {keyword.arg: None for keyword in call.keywords if keyword.arg}
        inspect.signature(function).bind(*call.args, **given)  # TypeError: an argument that does not exist
        checked += 1
    assert checked, "nothing in the block was checked"


INLINE = re.compile(r"(?:^|`|LANGDIFF_DATA=\S+ )langdiff ((?:--debug )?[a-z][^`\n#|]*)", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_on_the_page_exist(page):
    top = get_command(app)
    for words in map(str.split, INLINE.findall((ROOT / page).read_text(encoding="utf-8"))):
        command = top.commands[words.pop(0).rstrip(",")]
        if words and hasattr(command, "commands") and not words[0].startswith("-"):
            command = command.commands[words.pop(0).rstrip(",")]
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        given = {word for word in words if re.fullmatch(r"--[a-z-]+", word)}
        assert given <= known | {"--help"}, (command.name, given - known)
