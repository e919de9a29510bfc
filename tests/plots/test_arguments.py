"""Every picture says in one error what it is drawn from."""

import ast
import importlib
import inspect
import re
import sys
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import langdiff as ld
import langdiff.plots
from langdiff import plots
from langdiff.errors import ConfigError, DataError, LangdiffError
from tests.helpers import refused

EFFECTS = {"plot_by_language", "plot_difficulties", "plot_two_models"}
DRAWN = {  # what is wrong for most pictures is right for these
    "a Multitext": {"plot_corpus_sizes", "plot_intents_per_edition", "plot_languages_per_intent", "plot_presence"},
    "Surprisals": {"plot_multitext"},
    "a fit": {*EFFECTS, "plot_ranks"},
    "a frame": {*EFFECTS, "plot_goodness_of_fit", "plot_multitext", "plot_ranks"},
    "a series": {*EFFECTS, "plot_against_truth", "plot_languages_per_intent"},
}
WRONG = ["a Multitext", "Surprisals", "a fit", "a frame", "a series"]
WRONG += ["a path", "a dict", "a list", "a number", "nothing"]
CASES = [(name, what) for name in sorted(plots.__all__) for what in WRONG if name not in DRAWN.get(what, ())]


@cache
def wrong():
    surprisals = ld.simulate(40, 4, seed=0).surprisals
    return {
        "a Multitext": ld.read_frame(pd.DataFrame({"eng": ["the cat", "a dog"], "deu": ["die Katze", "ein Hund"]})),
        "Surprisals": surprisals,
        "a fit": ld.fit(surprisals),
        "a frame": pd.DataFrame({"foo": [1, 2, 3]}),
        "a series": pd.Series([1.0, 2.0]),
        "a path": Path("table.csv"),
        "a dict": {"a": 1},
        "a list": ["a"],
        "a number": 3,
        "nothing": None,
    }


def call(name, value):
    function = getattr(plots, name)
    usual = inspect.Parameter.empty
    required = [each for each in inspect.signature(function).parameters.values() if each.default is usual]
    required = [each for each in required if each.kind is each.POSITIONAL_OR_KEYWORD]
    return function(*("x" if each.annotation in (str, "str") else value for each in required))


@pytest.mark.parametrize(("name", "what"), CASES)
def test_wrong_objects_are_refused_in_words(name, what):
    with pytest.raises(LangdiffError) as caught:
        call(name, wrong()[what])
    for path in re.findall(r"langdiff\.[\w.]*\w", str(caught.value)):  # what messages name is there
        module, _, last = path.rpartition(".")
        assert hasattr(importlib.import_module(module), last)


def test_a_file_stands_for_what_is_in_it(tmp_path):
    surprisals = ld.simulate(40, 4, seed=1).surprisals
    surprisals.save(tmp_path / "bits.csv")
    ld.fit(surprisals).save(tmp_path / "fit.json")
    by_path, by_text = tmp_path / "fit.json", str(tmp_path / "fit.json")
    rows = [text.get_text() for text in plots.plot_difficulties(ld.fit(surprisals)).get_yticklabels()]
    assert [text.get_text() for text in plots.plot_difficulties(by_path).get_yticklabels()] == rows
    assert plots.plot_two_models(by_path, by_text).get_title(loc="left") == "4 editions, Pearson's r = 1.000"
    assert plots.plot_ranks(by_text).get_xlabel() == "rank (1 is hardest)"
    assert plots.plot_multitext(tmp_path / "bits.csv").get_title(loc="left").endswith("of 40 intents")
    with pytest.raises(LangdiffError, match=r"got Surprisals\. Give what langdiff.fit makes of it"):
        plots.plot_difficulties(tmp_path / "bits.csv")
    refused(LangdiffError, r"other\.json: cannot be read", plots.plot_ranks, "other.json")


TREE = ld.discourse.parse_discourse("1 1 N span\n2 2 S cause", format="spans")
SCORES = ld.datasets.bothwell2023().scores
D = pd.Series({"a": 0.1, "b": -0.1, "c": 0.0})
EMPTY = pd.DataFrame({"epoch": [], "system": [], "relation": [], "recall": [], "gold": []})


@pytest.mark.parametrize(
    ("name", "arguments", "settings", "error", "words"),
    [
        ("plot_by_language", (D, D), {"highlight": ["x"]}, DataError, "to highlight: 'x'"),
        ("plot_by_language", (D, D), {"highlight": list("abcdef")}, ConfigError, "at most 5"),
        ("plot_by_language", (D, D), {"edition_info": pd.DataFrame({"family": D})}, DataError, "a column 'language'"),
        ("plot_constructions", (pd.DataFrame({"parser": ["a"]}),), {}, DataError, "lacks"),
        ("plot_corpus_sizes", (pd.DataFrame({"intents": [1]}),), {}, DataError, "no column 'words'"),
        ("plot_difficulties", (D,), {"order": "family"}, ConfigError, "nothing is known of its editions"),
        ("plot_difficulties", (D,), {"order": "size"}, ConfigError, "one of 'estimate', 'name', 'family'; got"),
        ("plot_discourse_relations", (EMPTY,), {}, DataError, "no relations to draw"),
        ("plot_discourse_tree", (TREE.to_frame().iloc[:0],), {}, DataError, "there are no nodes"),
        ("plot_goodness_of_fit", (pd.DataFrame({"1": [0.3, None]}),), {}, DataError, "scores are missing"),
        ("plot_line_follow", ([D],), {}, DataError, "at least two sources are needed"),
        ("plot_line_follow", ([D, D.rename(dict(zip("abc", "xyz", strict=True)))],), {}, DataError, "share 0 edition"),
        ("plot_scheme_scores", (SCORES,), {}, DataError, "choose one corpus and one metric"),
        ("plot_scheme_scores", (SCORES.drop(columns="link"),), {}, DataError, "no column 'link'"),
        ("plot_tag_transitions", (pd.DataFrame(0, index=["start"], columns=["B"]),), {}, DataError, "no transitions"),
        ("plot_tag_transitions", (pd.DataFrame(1, index=["X"], columns=["B"]),), {}, DataError, "unknown tags: X"),
        ("plot_tagger_training", (wrong()["a frame"],), {}, DataError, "history has no column 'epoch'"),
    ],
)
def test_what_cannot_be_drawn_is_said(name, arguments, settings, error, words):
    refused(error, words, getattr(plots, name), *arguments, **settings)


# --- Pictures import effects only, so that every stage can draw and none depends on another through a picture.


ALLOWED = {
    "base",
    "errors",
    "plots",
    "tables.effects",
    "tables.rule",
    "tables.contrasts",
    "tables.effect_sources",
    "tables.pairs",
}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("langdiff"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("langdiff"))


def test_pictures_import_results_for_types_only():
    found = set()
    for path in Path(langdiff.plots.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = [ast.Pass()]
        for name in imported(tree):
            folder, file = [*name.split("."), ""][1:3]
            found.add(f"{folder}.{file}" if folder == "tables" else folder)
    assert found >= {"tables.effects", "tables.rule"}
    assert found <= ALLOWED


# --- The gallery shows every plot function, and its snippets draw.


@pytest.fixture(scope="module")
def gallery(root):
    """The script that draws the gallery when the handbook is built."""
    pytest.importorskip("mkdocs", reason="the handbook needs the extra docs")
    sys.path.insert(0, str(root / "docs" / "extensions"))
    import gallery

    yield gallery
    sys.path.remove(str(root / "docs" / "extensions"))


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "gallery.md").read_text(encoding="utf-8")


def test_every_function_has_a_picture(gallery, page):
    shown = set(re.findall(r"plot_\w+", " ".join(gallery.pictures_of(page).values())))
    assert set(langdiff.plots.__all__) - shown == set()


def test_every_picture_stands_below_its_snippet(gallery, page):
    class Page:
        class file:  # noqa: N801
            src_uri = "gallery.md"

    made = gallery.on_page_markdown(page, page=Page)
    for name, snippet in gallery.pictures_of(page).items():
        assert f"```python\n{snippet}```\n\n![{name}](images/gallery/{name}.svg)\n" in made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")  # the data are small
def test_every_snippet_draws(gallery, page, tmp_path, monkeypatch):
    from gallery_data import gallery_data

    monkeypatch.chdir(tmp_path)
    names = {"__name__": "gallery", **gallery_data()}
    exec("from langdiff.plots import *", names)
    for name, snippet in gallery.pictures_of(page).items():
        picture = gallery.draw(snippet, names).decode()
        assert picture.count("<text") > 5, name  # text is text
    exec(gallery.SNIPPET.findall(page)[-1], names)
    assert "<text" in (tmp_path / "difficulties.svg").read_text(encoding="utf-8")
    plt.close("all")
