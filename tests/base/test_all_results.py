"""Every result of the package is saved and read again, and is shown in a notebook, in LaTeX and as text."""

import importlib
import pkgutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_index_equal, assert_series_equal

import langdiff as ld
from langdiff import parallelism
from langdiff.base.encoding import Kept
from langdiff.base.grids import markdown, tex
from langdiff.base.result import Printed
from langdiff.errors import LangdiffWarning
from langdiff.run.analysis import Analysis, Figure
from langdiff.treebanks.conllu import Tree
from langdiff.treebanks.profile import profile_treebank
from langdiff.treebanks.treebank import Treebank
from langdiff.typology.predictors.languages import language_table
from langdiff.typology.predictors.wals import Wals
from tests.golden.make import AREAS, all_cases
from tests.helpers import refused

MADE_BY = {  # the golden case that makes a result of each class
    "Agreement": "construction_annotators",
    "AnnotatorAgreement": "parallelism_annotators",
    "Asymptotes": "curve_asymptotes",
    "BalancedResult": "balanced_by_origin",
    "Bothwell2023": "published_figures",
    "CheckedClaims": "constructions_claimed",
    "ConstructionScores": "constructions_compared",
    "Correlations": "typology_categories",
    "CostepStatistics": "costep",
    "CrossMutualInformation": "mutual_information",
    "CrossValidation": "cross_validation_in_clusters",
    "DeletionBias": "bias_of_deletion",
    "DependencyLength": "treebank_dependency_length",
    "Diagnosis": "diagnosis_of_chains",
    "DifficultyCurve": "curve_clusters",
    "DifficultyFit": "fit_m1_random",
    "DiscourseEvaluation": "discourse_scores_of_classes",
    "DiscourseTree": "discourse_trees",
    "DocumentSplit": "parallelism_split",
    "Explanation": "outcomes_explained",
    "FoldComparison": "folds_compared",
    "Folds": "split_in_folds",
    "Generalizability": "variance_components_of_models",
    "GoldTargets": "construction_targets",
    "Goodness": "goodness",
    "HeadPosEntropy": "treebank_head_entropy",
    "IntentStability": "stability_of_intents",
    "LanguageSpread": "spread_of_languages",
    "Morey2017": "published_figures",
    "MultipleRegression": "typology_regression",
    "OutcomeFit": "outcomes_conditional_clusters",
    "ParallelismErrors": "parallelism_errors",
    "ParallelismScores": "parallelism_scores",
    "ParallelismStatistics": "parallelism_described",
    "ParetoFront": "selection_front",
    "Parity": "parity_with_intervals",
    "PerturbationCurve": "treebank_perturbed",
    "Predictors": "predictors_of_texts",
    "PropagatedCorrelations": "typology_errors_carried",
    "PublishedFigures": "published_figures",
    "RankComparison": "parallelism_treatments",
    "Reproduction": "published_claims",
    "RelatednessComparison": "typology_relatedness",
    "Replicates": "replicates",
    "Selection": "selection_languages",
    "ShortForm": "short_form",
    "SweepResult": "sweep_of_merges",
    "SyntheticMultitext": "synthetic_information",
    "TaggerSearch": "taggers_searched",
    "TokenScores": "token_bits",
    "TranslationeseByModel": "translationese_of_models",
    "TranslationeseResult": "native_and_translated",
    "TreeComparison": "discourse_trees",
    "TreebankComparison": "treebanks_compared",
    "TreebankMeasures": "treebanks_measured_over_types",
}
SING = Tree(("I", "sing"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))


def tagger():
    """Train a tagger for one epoch."""
    pair = parallelism.Parallelism(((0, 2), (2, 4)))
    document = parallelism.make_document("1", ["we", "sing", "they", "rest"], [pair])
    settings = parallelism.TaggerSettings(
        embedding="learned-word", encoder="none", tagset="BIO", link="BD", learning_rate=0.1, input_size=4
    )
    return parallelism.train_tagger([document], [document], settings, max_epochs=1)


def crossed(languages=12):
    """Fit two systems together."""
    return ld.fit({name: ld.simulate(60, languages, seed=seed).surprisals for seed, name in enumerate("ab")})


def shares():
    """Compare the halves of a table."""
    table = ld.simulate(60, 9, seed=1).surprisals
    halves = {"first": table.sel(intents=table.intents[:30]), "second": table.sel(intents=table.intents[30:])}
    return ld.difficulty_shares(halves, languages={name: name for name in table.editions})


def changed_texts():
    """Compare shuffled texts with texts as they are."""
    texts = ld.corpora.perturb(ld.synthesize(120, 2, seed=3).multitext, ["reverse-words", "shuffle"])
    surprisals = ld.compute_surprisals(ld.split(texts), lm="kneser-ney-3", max_replaced=1.0)
    return ld.experiments.perturbation_contrasts(surprisals, clusters=None)


def attachment():
    """Score the heads of a sentence against itself."""
    with tempfile.TemporaryDirectory() as folder:
        bank = Path(folder) / "a_b & <i>.conllu"
        bank.write_text("1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n")
        return ld.constructions.evaluate_attachment(bank, {"a_b & <i>": bank})


def languages():
    """Look up two languages, one of which is none."""
    rows = {"name": ["German"], "family": "", "codes": [("deu",)], "sample": 100, "coded": 1, "glottocode": "stan1295"}
    rows |= {"macroarea": "", "latitude": 48.0, "longitude": 12.0}
    wals = Wals(
        features=pd.Series({"81A": "Order"}),
        languages=pd.DataFrame(rows, index=pd.Index(["ger"], name="wals")),
        values=pd.DataFrame({"language": ["ger"], "feature": "81A", "number": 1, "label": "a_b & <i>"}),
    )
    return language_table(["de", "Germann"], wals=wals, features="81A")


MADE_HERE = {
    "AttachmentScores": attachment,
    "Alignment": lambda: ld.corpora.check_alignment(out_of_step()),
    "ItemFaults": lambda: ld.fit_outcomes(ld.simulate_crossed_outcomes(40, 5, 10, seed=1).outcomes).items_at_fault(),
    "DifficultyShares": shares,
    "PerturbationContrasts": changed_texts,
    "TwoWay": lambda: crossed().two_way,
    "Underserved": lambda: crossed().two_way.underserved(
        pd.DataFrame({"data": np.arange(1.0, 13)}, index=[f"e{j}" for j in range(1, 13)]), "log(data)"
    ),
    "Analysis": lambda: Analysis(
        name="a_b & <i>",
        table=pd.DataFrame({"edition": ["eng", "deu"], "bits": [1.5, 2.0]}),
        notes=("One note.",),
        figures=(Figure("one", "A picture.", b"<svg/>", "ranks"),),
    ),
    "Logs": lambda: ld.read_logs(
        {"item": ["1", "1"], "language": ["a_b & <i>", "fin"], "system": ["m", "m"], "bits": [3.0, 4.0]}
    ),
    "Pairs": lambda: ld.fit(ld.simulate(30, 3, seed=1).surprisals).pairs(),
    "Table": lambda: ld.table({f"lm {seed}": ld.fit(ld.simulate(60, 3, seed=seed).surprisals) for seed in (1, 2)}),
    "LanguageTable": languages,
    "Effects": lambda: ld.fit(ld.simulate(30, 3, seed=1).surprisals).effects,
    "Number": lambda: ld.generalizability(ld.simulate(60, 5, seed=1).surprisals).intents_for(0.95),
    "Plan": lambda: ld.plan(1, noise=0.17, seed_sd=0.006, n_seeds=3),
    "RunComparison": lambda: ld.compare_runs(*[ld.simulate_outcomes(60, 1, seed=seed).outcomes for seed in (1, 2)]),
    "EditionSpread": lambda: ld.edition_spread(4),
    "ItemPlan": lambda: ld.plan_items(0.03, sd=0.45),
    "Tagger": tagger,
    "TreebankProfile": lambda: profile_treebank(Treebank.from_trees([SING] * 3, name="a_b & <i>")),
}
OF_THEIR_OWN = {  # saved as
    "Tagger": "a folder with its weights",
    "TaggerSearch": "a folder with its best tagger and a table of the trials",
}
for _module in pkgutil.walk_packages(ld.__path__, "langdiff."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)
CLASSES = {
    kind.__name__: kind
    for kind in ld.Result.classes.values()
    if kind.__module__.startswith("langdiff.") and kind is not Printed
}


def out_of_step():
    """Return a multitext in which one edition is shifted."""
    texts = ld.synthesize(200, 4, seed=3).multitext.to_frame()
    texts.iloc[60:140, 1] = texts.iloc[61:141, 1].to_numpy()
    return ld.read_frame(texts)


def check_one(name, check, monkeypatch):
    """Check the first result of a class that its golden case describes, while files that it reads are still there."""
    if name in MADE_HERE:
        check(MADE_HERE[name]())
        return
    checked = []

    def texts(result):
        if type(result).__name__ == name and not checked:
            checked.append(name)
            check(result)
        return {}

    for module in (importlib.import_module(f"tests.golden.{area}") for area in AREAS):
        if hasattr(module, "texts"):
            monkeypatch.setattr(module, "texts", texts)
    case = all_cases()[MADE_BY[name]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        case()
    assert checked


def assert_equal(one, other):
    """Compare two values, the fields of records and the parts of sequences one by one."""
    if isinstance(one, Kept):
        one, other = one.to_record(), other.to_record()
    if isinstance(one, pd.DataFrame | pd.Series | pd.Index):
        exactly = {pd.DataFrame: assert_frame_equal, pd.Series: assert_series_equal}.get(type(one), assert_index_equal)
        exactly(one, other, exact=True) if isinstance(one, pd.Index) else exactly(one, other, check_exact=True)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, Mapping):
        assert_equal(list(one), list(other))
        assert_equal(list(one.values()), list(other.values()))
    elif isinstance(one, tuple | list):
        for left, right in zip(one, other, strict=True):
            assert_equal(left, right)
    elif is_dataclass(one):
        assert type(one) is type(other)
        assert_equal(*([getattr(each, field.name) for field in fields(one)] for each in (one, other)))
    else:
        assert one == other or (one != one and other != other)


def same_cells(result):
    """Assert that all forms show the cells that are printed, and that captions are short."""
    forms = result.summary(), result.to_markdown(), result.to_latex(), unescape(result.to_html())
    for shown in result.tables():
        assert len(shown.caption.split()) <= 40
        for line in shown.grid.lines if shown.grid else ():
            for text in (part for cell in line.cells for part in cell):
                looks = text, markdown(text), tex(text), text
                assert all(look in form for look, form in zip(looks, forms, strict=True)), (shown.name, text)


@pytest.mark.parametrize("name", CLASSES)
def test_a_result_is_saved_and_read_and_shown(name, monkeypatch, tmp_path):
    def check(result):
        assert type(result) is CLASSES[name]
        if name not in OF_THEIR_OWN:
            result.save(tmp_path / "result.json")
            assert_equal(result, again := ld.read(tmp_path / "result.json"))
            assert again.summary() == result.summary()
            assert_equal(again.to_frame(), result.to_frame())
        assert result.summary().strip()
        same_cells(result)
        if result.tables():  # a tree is an outline
            assert "<table" in result._repr_html_()
            assert "\\toprule" in result.to_latex()

    check_one(name, check, monkeypatch)


def test_classes_are_public_so_that_their_files_are_read_by_a_fresh_interpreter():
    code = (
        "import sys; from langdiff.base.result import _class_of\n"
        "missing = [kind for kind in sys.argv[1:] if _class_of(kind) is None]; sys.exit(' '.join(missing) or 0)"
    )
    kinds = [f"langdiff.{name}" for name in CLASSES]
    done = subprocess.run([sys.executable, "-c", code, *kinds], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tables_and_models_are_read_by_what_they_hold(tmp_path):
    surprisals = ld.simulate(30, 3, seed=1).surprisals
    outcomes = ld.simulate_outcomes(20, 3, seed=1).outcomes
    for ending in ("csv", "tsv", "parquet"):
        surprisals.save(path := tmp_path / f"bits.{ending}")
        assert_frame_equal(ld.read(path).bits, ld.read_surprisals(path).bits)
        outcomes.save(path := tmp_path / f"outcomes.{ending}")
        assert_frame_equal(ld.read(path).successes, ld.read_outcomes(path).successes)
    texts = ["the cat sat on the mat", "the dog lay on the log"] * 40
    model = ld.lm.train_kneser_ney(texts, texts[:9])
    model.save(tmp_path / "model")
    assert ld.read(tmp_path / "model").surprisal(texts[:2]).equals(model.surprisal(texts[:2]))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("table.csv", "a,b\n1,2\n", "not a table that langdiff has saved. langdiff.read_surprisals"),
        ("empty.csv", "", "not a table: "),
        ("table.parquet", "a,b\n", "not a table: "),
    ],
)
def test_other_files_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_text(content, encoding="utf-8")
    refused(ld.errors.DataError, message, ld.read, tmp_path / name)
    refused(ld.errors.CheckpointError, "there is no saved model", ld.read, tmp_path)
    refused(ld.errors.DataError, "cannot be read", ld.read, tmp_path / "none.csv")
