import subprocess
import sys
from dataclasses import replace
from inspect import signature
from typing import get_args

import pytest

import langdiff as ld
from langdiff.base.types import FormatName
from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, KneserNeyRecipe
from langdiff.regression import fit
from langdiff.run import Experiment
from langdiff.run.experiment import demo_experiment
from langdiff.run.experiment_file import read_experiment
from langdiff.selection import select

FILES = 'name = "x"\n[corpus]\nformat = "pbc"\npath = "{}"\n'
MINIMAL = 'name = "x"\n[corpus]\nformat = "synthetic"\n'


def _read(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    return read_experiment(path)


def test_selection_takes_the_settings_of_select(tmp_path):
    asked = _read(tmp_path, MINIMAL + "[selection]\nn_editions = 3").selection
    assert asked.n_editions == 3
    assert set(asked.model_dump()) == set(signature(select).parameters) - {"multitext", "progress"}


def test_fit_takes_the_settings_of_an_experiment(tmp_path):
    assert set(_read(tmp_path, MINIMAL).fit.arguments()) <= set(signature(fit).parameters)


def test_two_mistakes_are_told_at_once(tmp_path):
    with pytest.raises(ConfigError, match=r"(?s)'seedd'.*\n  .*'namee'"):
        _read(tmp_path, "seedd = 1\nnamee = 1\n" + MINIMAL)


def test_paths_start_at_the_file_and_environment_is_filled_in(tmp_path, monkeypatch):
    assert _read(tmp_path, FILES.format("here/*.txt")).corpus.path == [str(tmp_path / "here" / "*.txt")]
    monkeypatch.setenv("BIBLES", str(tmp_path / "elsewhere"))
    assert _read(tmp_path, FILES.format("$BIBLES/a")).corpus.path == [str(tmp_path / "elsewhere" / "a")]


@pytest.mark.parametrize("format", get_args(FormatName))
def test_every_format_of_files(tmp_path, format):
    text = FILES.format("x").replace('"pbc"', f'"{format}"')
    assert _read(tmp_path, text).corpus.format == format
    with pytest.raises(ConfigError, match=r"unknown key 'corpus\.editons'; did you mean 'editions'\?"):
        _read(tmp_path, text + "editons = 1")


def test_options_of_some_formats(tmp_path):
    ebible = FILES.format("x").replace("pbc", "ebible") + 'ranges = "merge"\nvref = "lists/vref.txt"\n'
    assert _read(tmp_path, ebible).corpus.vref == str(tmp_path / "lists" / "vref.txt")
    with pytest.raises(ConfigError, match=r"'corpus': format 'pbc' does not have the option ranges; ebible, usfm"):
        _read(tmp_path, FILES.format("x") + 'ranges = "merge"')
    usfm = FILES.format("x").replace("pbc", "usfm")
    assert _read(tmp_path, usfm + 'markers = { untr = "char" }').corpus.markers == {"untr": "char"}
    with pytest.raises(ConfigError, match=r"markers.untr': input should be 'char', .* \(given: 'bold'\)"):
        _read(tmp_path, usfm + 'markers = { untr = "bold" }')


def test_how_models_score_is_named_with_them_or_for_all(tmp_path):
    both = _read(tmp_path, MINIMAL + '[lm]\nmodels = ["char-tiny", "char-tiny-unpriced"]')
    assert both.lm.names == ["char-tiny", "char-tiny-unpriced"]
    of_all = _read(tmp_path, MINIMAL + '[lm]\nmodels = ["char-tiny", "kneser-ney-2"]\nscoring = "unpriced"')
    assert of_all.lm.names == ["char-tiny-unpriced", "kneser-ney-2-unpriced"]


def test_example_files_are_valid(root, monkeypatch):
    monkeypatch.setenv("LANGDIFF_DATA", "somewhere")
    examples = [path for path in (root / "examples").glob("*.toml") if "[corpus]" in path.read_text("utf-8")]
    assert len(examples) >= 2
    for example in examples:
        assert read_experiment(example).name == example.stem


def test_experiment_survives_json():
    experiment = demo_experiment()
    assert Experiment.model_validate_json(experiment.model_dump_json()) == experiment


def test_own_recipes_are_ours_with_settings_changed(tmp_path):
    table = (
        '[lm]\nmodels = ["mine", "mine-unpriced", "grams"]\n[lm.recipes.mine]\nbase = "char-small"\nhidden_size = 512\n'
    )
    table += '[lm.recipes.grams]\nbase = "kneser-ney-6"\norder = 3\nmin_count = 1\n'
    lm = _read(tmp_path, MINIMAL + table).lm
    assert lm.names == ["mine", "mine-unpriced", "grams"]
    assert lm.find("mine").recipe == replace(RECIPES["char-small"], name="mine", hidden_size=512)
    assert not lm.find("mine-unpriced").scoring.price_replaced
    assert lm.find("grams").recipe == KneserNeyRecipe(name="grams", order=3, min_count=1)


def test_sections_take_the_settings_of_their_functions(tmp_path):
    sections = (
        '[compare]\n[goodness]\n[sample]\n[translationese]\n[predictors]\n[correlate]\n[parity]\nreference = "a"\n'
    )
    experiment = _read(tmp_path, MINIMAL + sections)
    functions = {"sample": ld.sample, "predictors": ld.predictors, "correlate": ld.correlate}
    functions |= {"parity": ld.measure_parity, "goodness": ld.goodness}
    for section, function in functions.items():
        others = {"predictors": {"same_as"}, "correlate": {"alpha"}}  # of read_wals and adjust
        known = {*signature(function).parameters} | others.get(section, set())
        settings = getattr(experiment, section)
        arguments = settings.arguments() if hasattr(settings, "arguments") else settings.model_dump()
        assert set(arguments) <= known


def test_paths_of_sections_start_at_the_folder_of_the_file(tmp_path):
    read = _read(tmp_path, MINIMAL + '[predictors]\nwals = "wals"\n[translationese]\norigins = "../o.csv"')
    assert read.predictors.wals == str(tmp_path / "wals")
    assert read.translationese.origins == str(tmp_path.parent / "o.csv")


def test_a_file_that_is_none_is_refused_before_what_is_slow_to_import(tmp_path):
    (tmp_path / "x.toml").write_text("a." * 40 + "a = 1")
    read = f"read_experiment({str(tmp_path / 'x.toml')!r})"
    code = "import sys, langdiff as ld\nfrom langdiff.run.experiment_file import read_experiment\n"
    code += f"try: {read}\nexcept ld.errors.LangdiffError: print(*sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "langdiff.run.experiment_file" in done.stdout
    assert not {"pandas", "scipy"} & set(done.stdout.split())


OWN = MINIMAL + '[lm]\nmodels = ["mine"]\n[lm.recipes.mine]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINIMAL + "[lm]\nmodles = []", r"x\.toml: unknown key 'lm\.modles'; did you mean 'models'\?"),
        ("sede = 1\n" + MINIMAL, r"unknown key 'sede'; did you mean 'seed'\?"),
        (MINIMAL + "qqqqqq = 1", r"unknown key 'corpus\.qqqqqq'; known here: format, n_intents, n_languages\."),
        ('[corpus]\nformat = "synthetic"', r"'name' is missing\."),
        (MINIMAL + "n_intents = 3", r"'corpus\.n_intents': input should be greater than or equal to 60"),
        ('name = "../x"\n[corpus]\nformat = "synthetic"', r"'name': string should match pattern"),
        ('name = "x"\n[corpus]\nformat = "mozes"', r"unknown format 'mozes'; did you mean 'moses'\?"),
        ("name = x", r"x\.toml: not a TOML file: .*line 1"),
        (FILES.format("${NONE}/a"), "needs the environment variable NONE, which is not set"),
        (MINIMAL + "[split]\nblock = 6", r"blocks of 6 leave nothing for training after 5 \+ 5"),
        (MINIMAL + "[split]\nfolds = 5\ndev = 3", "with folds, every intent is tested; leave dev out"),
        (MINIMAL + '[lm]\nmodels = ["char-tiny", "char-tiny"]', "a language model is named twice"),
        (MINIMAL + '[lm]\nscoring = "free"', "unknown way of scoring 'free'"),
        (MINIMAL + '[lm]\nmodels = ["char-tiny-unpriced"]\nscoring = "unpriced"', "both say how to score"),
        (MINIMAL + "[lm]\nmax_replaced = 5", r"'lm\.max_replaced': input should be less than or equal to 1"),
        (OWN + "hidden_size = 3", r"\[lm\.recipes\.mine\] needs a base"),
        (OWN + 'base = "char-small"\nhidden_size = "many"', r"\[lm\.recipes\.mine\]: hidden_size = 'many'"),
        (OWN + 'base = "kneser-ney-6"\norder = 99', "the order must be from 1 to 20"),
        (MINIMAL + '[lm.recipes."../mine"]\nbase = "char-tiny"', "has a slash"),
        (MINIMAL + '[lm.recipes.char-small]\nbase = "char-tiny"', "another recipe has this name already"),
        (MINIMAL + '[fit]\nerrors = "robust"', r"'fit\.errors': input should be .* \(given: 'robust'\)"),
        (MINIMAL + "[fit]\nclusters = 3", r"'fit\.clusters': clusters are one column about intents, or a list"),
        (MINIMAL + '[fit]\nmodel = "9"', r"'?fit\.model'?: unknown model '9'"),
        (MINIMAL + '[fit]\nmodel = "3"', "fit"),
        (MINIMAL + '[fit]\nn_resamples = 99\nerrors = "sandwich"', "fit"),
        (MINIMAL + '[fit]\nmodel = "2C"\ndispersion = "edition"', "fit"),
        (MINIMAL + "[curve]\ntrain_sizes = [80, 40]", "'curve.train_sizes': train_sizes must rise"),
        (MINIMAL + "[curve]\ntrain_sizes = [40, 80]\nlm = 'none'", "'curve.lm'"),
        (MINIMAL + '[predictors]\nfeatures = ["26A"]', "is for WALS: give its folder as wals, too"),
        (MINIMAL + '[predictors]\nsyncretism = "merge"', "syncretism is for lexicons: give their folder"),
        (MINIMAL + "[goodness]\nn = []", "at least 1 item"),
        (MINIMAL + '[goodness]\nmodels = ["1", "3"]', "laplace_scale is for model '3', which needs it"),
        (MINIMAL + '[correlate]\ntests = ["phylo"]', "needs a family tree"),
        (MINIMAL + '[correlate]\naverage = "edition"', "editions of one language are not independent"),
        (MINIMAL + "[correlate]\nn_resamples = 999", "nothing is drawn by tests"),
    ],
)
def test_bad_files_are_explained_in_one_line(tmp_path, monkeypatch, text, message):
    monkeypatch.delenv("NONE", raising=False)
    with pytest.raises(ConfigError, match=message) as caught:
        _read(tmp_path, text)
    assert "\n" not in str(caught.value)
