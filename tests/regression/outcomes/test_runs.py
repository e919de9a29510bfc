"""Two runs beside sums by hand, the paired t test, McNemar's test and simulated truth."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_rel

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from tests.helpers import refused

NAMES = [f"i{k}" for k in range(12)]
PASSAGES = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
OLD = {"de": "110100110101", "fi": "100100100101"}
NEW = {"de": "111101110111", "fi": "101100010111"}


def outcomes(run, system="m", names=NAMES):
    cells = {f"{language}@{system}": [float(cell) for cell in row] for language, row in run.items()}
    successes = pd.DataFrame(cells, index=names)
    columns = pd.DataFrame({"language": list(run), "system": system}, index=successes.columns)
    items = pd.DataFrame({"passage": PASSAGES[: len(names)]}, index=names)
    return ld.Outcomes(successes=successes, items=items, columns=columns)


def single(right, names=None):
    right = np.asarray(right, dtype=float)
    names = [f"q{i}" for i in range(len(right))] if names is None else names
    return ld.Outcomes(successes=pd.DataFrame({"llm": right}, index=names))


@pytest.mark.parametrize(
    ("clusters", "std_error", "p"),
    [
        (None, 12.995239, 0.137205),
        ("passage", 10.034662, 0.092515),
        (pd.Series([9, *PASSAGES[::-1]], ["other", *NAMES[::-1]], name="passage"), 10.034662, 0.092515),
    ],
)
@pytest.mark.filterwarnings("ignore:Few units")
def test_the_worked_table(clusters, std_error, p):
    found = ld.compare_runs(outcomes(OLD), outcomes(NEW, "renamed"), clusters=clusters)
    frame = found.to_frame().set_index("language")
    row = frame.loc["all"]
    assert [row["points"], row["std_error"], row["p"]] == pytest.approx([20.833333, std_error, p], abs=1e-6)
    assert frame["points"].tolist()[1:] == pytest.approx([25, 16.666667], abs=1e-6)
    assert repr(found).endswith("6 items by language gained, 1 lost of 24")
    assert frame[["gained", "lost", "ties"]].to_numpy().tolist() == [[6, 1, 17], [3, 0, 9], [3, 1, 8]]
    if clusters is None:
        assert frame["std_error"].tolist()[1:] == pytest.approx([13.055824, 16.666667], abs=1e-6)
        assert frame["mcnemar"].tolist()[1:] == pytest.approx([0.25, 0.625])
        contrast = found.effects["renamed"].contrast("fi", "de")
        assert [100 * contrast.estimate, 100 * contrast.std_error] == pytest.approx([-8.333333, 14.86471], abs=1e-5)
    assert np.isnan(frame["log_odds"].loc["de"])  # nothing was lost
    assert frame["log_odds"].loc["fi"] == pytest.approx(np.log(3), abs=1e-4)
    assert "units: 6 passages" in found.summary() or clusters is None


def test_one_language_is_the_paired_t_test_and_mcnemar():
    old = np.arange(200) < 120
    new = np.where(np.arange(200) < 15, False, old) | (np.arange(200) >= 170)
    row = ld.compare_runs(single(old), single(new), clusters=None).to_frame().iloc[0]
    assert [row["points"], row["std_error"], row["p"]] == pytest.approx([7.5, 3.3202, 0.02497], abs=1e-4)
    assert row["p"] == pytest.approx(ttest_rel(new.astype(float), old.astype(float)).pvalue, abs=1e-12)
    assert row["mcnemar"] == pytest.approx(binomtest(15, 45).pvalue, abs=1e-12)
    assert [row["log_odds"], row["log_odds_std_error"]] == pytest.approx([np.log(2), 0.316228], abs=1e-4)


def test_levels_and_order():
    whole = ld.compare_runs(outcomes(OLD), outcomes(NEW), clusters=None).to_frame()
    wide = ld.compare_runs(outcomes(OLD), outcomes(NEW), clusters=None, level=0.99).to_frame()
    assert (wide["low"] < whole["low"]).all()
    mixed = [table.sel(items=NAMES[::-1]) for table in (outcomes(OLD), outcomes(NEW))]
    again = ld.compare_runs(*mixed, clusters=None).to_frame()
    pd.testing.assert_frame_equal(again, whole, check_exact=False, rtol=1e-9)


def test_systems_are_matched_by_name_and_the_others_named():
    rng = np.random.default_rng(1)
    tables = []
    for systems in (["a", "b", "c"], ["b", "c", "d"]):
        right = pd.DataFrame(rng.random((80, 3)) < 0.5, [f"q{i}" for i in range(80)], systems, dtype=float)
        tables.append(ld.Outcomes(successes=right))
    found = ld.compare_runs(*tables)
    assert found.to_frame()["system"].tolist() == ["b", "c"]
    assert "In one run only: 'a', 'd'." in found.notes
    for name in ("b", "c"):
        expected = (tables[1].successes[name] - tables[0].successes[name]).mean()
        assert found.effects[name].estimate.iloc[0] == pytest.approx(expected)


def write_logs(folder, answers, targets):
    folder.mkdir()
    for language, row in answers.items():
        lines = [
            {"doc_id": i, "doc": {"id": f"d{i}"}, "target": str(target), "arguments": [], "filter": "none",
             "filtered_resps": [["-1.0", "False"], ["-2.0", "False"]],
             "metrics": ["acc"], "acc": float(right)}
            for i, (right, target) in enumerate(zip(row, targets, strict=True))
        ]  # fmt: skip
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_quiz_{language}_2026-01-01T00-00-00.jsonl").write_text(text)
    return folder


@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_logs_are_compared_and_other_right_answers_refused(tmp_path):
    rng = np.random.default_rng(3)
    runs = [{name: rng.integers(0, 2, 40) for name in ("deu", "fin")} for _ in range(2)]
    targets = rng.integers(0, 2, 40)
    folders = [write_logs(tmp_path / name, run, targets) for name, run in zip(("old", "new"), runs, strict=True)]
    found = ld.compare_runs(*folders, clusters=None).to_frame().set_index("language")
    for name in ("deu", "fin"):
        expected = 100 * (runs[1][name].mean() - runs[0][name].mean())
        assert found["points"].loc[name] == pytest.approx(expected)
    other = write_logs(tmp_path / "other", runs[1], 1 - targets)
    refused(DataError, "another right answer", ld.compare_runs, folders[0], other)


def test_few_shared_items_are_named_and_bad_runs_refused():
    old, new = single([1, 0] * 20), single([0, 1] * 20, [f"q{i}" for i in range(10, 50)])
    with pytest.warns(LangdiffWarning, match="30 of 40 items"):
        assert ld.compare_runs(old, new).to_frame()["items"].iloc[0] == 30
    for given, words in (
        ({"new": single([1, 0], ["x", "y"])}, "share no items"),
        ({"new": outcomes(NEW)}, "share no"),
        ({"metric": "acc"}, "metric is for files"),
        ({"level": 2}, "level must be"),
    ):
        refused((ConfigError, DataError), words, ld.compare_runs, **{"old": old, "new": new} | given)
