"""Snippets of the handbook: those that need no files of the reader's run; of the others, names and keywords exist."""

import ast
import builtins
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import langdiff as ld

DOCS = Path(__file__).parents[1] / "docs"
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = {path.name: SNIPPET.findall(path.read_text(encoding="utf-8")) for path in sorted(DOCS.glob("*.md"))}
PAGES = {name: snippets for name, snippets in PAGES.items() if snippets}
OPTIONAL = {"dask_jobqueue"}  # installed on clusters, not here
# these have tests of their own that run them
ELSEWHERE = {
    "corpora.md",
    "experiments.md",
    "first-afternoon.md",
    "gallery.md",
}


def table(editions=("deu", "eng", "fin")):
    """Surprisals of verses in books, as a reader may have them."""
    drawn = ld.simulate(120, len(editions), model="2", missing=0.1, seed=1).surprisals
    index = [f"{number // 20 + 1:02}{number:06}" for number in range(120)]
    bits = drawn.bits.set_axis(index, axis="index").set_axis(list(editions), axis="columns")
    info = pd.DataFrame({"book": [name[:2] for name in index]}, index=index)
    return ld.Surprisals(bits=bits, intent_info=info)


def made():
    return ld.synthesize(n_intents=180, n_languages=3, seed=1).multitext


def for_inference():
    surprisals = table()
    document = {name: name[:2] for name in surprisals.intents}
    info = surprisals.intent_info.assign(
        document=list(document.values()), translator=[str(number % 12) for number in range(len(document))]
    )
    return {
        "surprisals": ld.Surprisals(bits=surprisals.bits, intent_info=info),
        "document_of_intent": document,
    }


def for_curves():
    return {"news": ld.synthesize(n_intents=600, n_languages=3, seed=1).multitext, "surprisals": table()}


RUN = {  # page → names that the page takes for granted, and replacements of text that keep the run short
    "models.md": (lambda: {"surprisals": table()}, {}),
    "inference.md": (for_inference, {}),
    "curves.md": (
        for_curves,
        {
            "(100, 200, 400, 800, 1300)": "(50, 100, 200, 300, 400)",
            "kneser-ney-6": "kneser-ney-4",
            "workers=2": "workers=1",
        },
    ),
    "selection.md": (lambda: {"ld": ld, "bibles": made()}, {"20_000": "100"}),
}


SLOW = {"curves.md"}


@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.slow if page in SLOW else ()) for page in RUN])
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_snippets_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    prepare, shorter = RUN[page]
    names = {"ld": ld, "np": np, "pd": pd, **prepare()}
    for snippet in PAGES[page]:
        for long, short in shorter.items():
            snippet = snippet.replace(long, short)
        exec(compile(snippet, page, "exec"), names)


def resolve(node, names):
    """Return what an expression of names and attributes stands for; None if it is a reader's own."""
    if isinstance(node, ast.Name):
        return names.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = resolve(node.value, names)
        if inspect.ismodule(owner) or inspect.isclass(owner):
            return getattr(owner, node.attr)  # AttributeError: the page names what does not exist
    return None


@pytest.mark.parametrize("page", PAGES)
def test_names_and_keywords_exist(page):
    names = {"ld": ld, "pd": pd, "np": np}
    checked = 0
    for snippet in PAGES[page]:
        tree = ast.parse(snippet, page)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module not in OPTIONAL:
                module = importlib.import_module(node.module)
                wanted = [alias for alias in node.names if alias.name != "*"]
                names |= {alias.asname or alias.name: getattr(module, alias.name) for alias in wanted}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            function = resolve(call.func, names)
            if not getattr(function, "__module__", None) or not function.__module__.startswith("langdiff"):
                continue
            given = {keyword.arg: None for keyword in call.keywords if keyword.arg}
            inspect.signature(function).bind(*call.args, **given)  # TypeError: an argument that does not exist
            checked += 1
    assert checked or page in RUN or page in ELSEWHERE, "nothing on the page was checked"
