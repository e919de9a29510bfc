"""Variance components, short forms and faulty cells against brute force and known truth."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.components import reliability
from langdiff.regression.components.quadratic import components

VARIANCES = {"edition": 0.04, "intent": 1.0, "residual": 0.09}


def crossed(rng, intents=300, editions=40, variances=VARIANCES):
    z = rng.normal(0, np.sqrt(variances["intent"]), (intents, 1)) + rng.normal(
        0, np.sqrt(variances["edition"]), editions
    )
    bits = np.exp(5 + z + rng.normal(0, np.sqrt(variances["residual"]), z.shape))
    return ld.Surprisals(bits=pd.DataFrame(bits).rename(index=str, columns="e{}".format))


def test_a_complete_table_has_the_estimators_of_the_analysis_of_variance():
    z = np.random.default_rng(0).normal(size=(7, 5)) + np.arange(5) + 3 * np.arange(7)[:, None]
    rows, columns = np.indices(z.shape)
    found = components(z.ravel(), [columns.ravel(), rows.ravel()])
    residual = z - z.mean(axis=0) - z.mean(axis=1, keepdims=True) + z.mean()
    error = (residual**2).sum() / 24
    of_columns = (7 * z.mean(axis=0).var(ddof=1) - error) / 7
    of_rows = (5 * z.mean(axis=1).var(ddof=1) - error) / 5
    np.testing.assert_allclose(found, [of_columns, of_rows, error])


def test_estimators_are_unbiased_with_missing_cells():
    rng, found = np.random.default_rng(1), []
    rows, columns = (part.ravel() for part in np.indices((30, 12)))
    for _ in range(300):
        z = rng.normal(0, 0.5, 12)[columns] + rng.normal(0, 1.0, 30)[rows] + rng.normal(0, 0.3, 360)
        kept = rng.random(360) < 0.3 + 0.6 * columns / 11
        found.append(components(z[kept], [columns[kept], rows[kept]]))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(300)
    assert (np.abs(mean - [0.25, 1.0, 0.09]) < 4 * error).all()


def test_shares_and_reliability_of_one_table():
    found = ld.generalizability(crossed(np.random.default_rng(2)))
    truth = pd.Series(VARIANCES)
    assert (np.abs(found.frame["share"] - truth / truth.sum()) < 4 * found.frame["share_std_error"]).all()
    edition, residual = found.frame.loc["edition", "variance"], found.frame.loc["residual", "variance"]
    assert found.reliability() == pytest.approx(edition / (edition + residual / 300))
    enough = found.intents_for(0.95)
    assert found.reliability(int(enough)) >= 0.95 > found.reliability(int(enough) - 1)
    fewest = int(found.intents_for_error(0.02))
    assert found.error_variance(fewest) <= 0.02**2 < found.error_variance(fewest - 1)
    assert found.design()["n_seeds"].unique().tolist() == [1]


def test_language_models_and_seeds_are_told_apart(monkeypatch):
    monkeypatch.setattr(reliability, "MOST_GROUPS", 3)  # of the standard errors, which are not looked at here
    rng = np.random.default_rng(3)
    base = np.log(crossed(rng, 150, 30).bits)
    of_lm = rng.normal(0, 0.1, (3, 30))
    tables, facets = {}, []
    for lm in range(3):
        for seed in range(2):
            noise = rng.normal(0, 0.05, base.shape) + rng.normal(0, 0.03, 30)
            tables[f"{lm}-{seed}"] = ld.Surprisals(bits=np.exp(base + of_lm[lm] + 0.3 * lm + noise))
            facets.append({"lm": lm, "seed": seed})
    found = ld.generalizability(tables, facets=pd.DataFrame(facets, index=list(tables)))
    variance = found.frame["variance"]
    assert found.n_lms == 3
    assert found.n_seeds == 2
    assert variance["edition:lm"] == pytest.approx(of_lm.var(axis=0, ddof=1).mean(), rel=0.25)
    assert variance["edition:seed"] == pytest.approx(0.03**2, rel=0.5)
    assert variance["edition:intent"] == pytest.approx(0.09, rel=0.1)
    assert variance["residual"] == pytest.approx(0.05**2, rel=0.1)
    assert found.intents_for(0.9999) == np.inf  # three language models cannot reach it
    assert found.reliability(n_lms=10) > found.reliability()
    assert len(found.design(n_intents=(50,), n_seeds=(1, 5))) == 2
    with pytest.raises(DataError, match="Say in facets"):
        ld.generalizability(tables)


def test_corpora_have_intents_of_their_own(monkeypatch):
    monkeypatch.setattr(reliability, "MOST_GROUPS", 3)
    rng = np.random.default_rng(4)
    language = rng.normal(0, 0.2, 30)
    tables, of_corpus = {}, []
    for corpus in ("news", "verse"):
        own = rng.normal(0, 0.1, 30)
        of_corpus.append(own)
        z = 5 + language + own + rng.normal(0, 1, (120, 1)) + rng.normal(0, 0.3, (120, 30))
        names = [f"{corpus}{j}" for j in range(30)]
        tables[corpus] = ld.Surprisals(bits=pd.DataFrame(np.exp(z), columns=names).rename(index=str))
    languages = {f"{corpus}{j}": f"l{j}" for corpus in tables for j in range(30)}
    facets = pd.DataFrame({"corpus": list(tables)}, index=list(tables))
    found = ld.generalizability(tables, facets=facets, languages=languages)
    assert found.n_corpora == 2
    assert found.n_intents == 240
    assert found.n_editions == 30
    assert found.frame.loc["edition", "variance"] == pytest.approx(0.04, rel=0.6)
    drawn = np.diff(of_corpus, axis=0).var(ddof=1) / 2
    assert found.frame.loc["edition:corpus", "variance"] == pytest.approx(drawn, rel=0.3)
    with pytest.raises(ConfigError, match="languages lack"):
        ld.generalizability(tables, facets=facets, languages={"news0": "l0"})


def test_short_forms_beat_random_choices_on_other_editions():
    truth = ld.simulate(300, 40, seed=3).surprisals
    noise = np.random.default_rng(1).normal(0, 0.05, truth.bits.shape)
    other = ld.Surprisals(bits=truth.bits * np.exp(noise))
    form = ld.short_form(truth, 25, judge=other, seed=0)
    assert not set(form.chosen_on) & set(form.judged_on)
    assert form.error < form.random["error"].mean()
    assert form.correlation > form.random["correlation"].mean()
    z = np.log(other.bits[list(form.judged_on)])
    expected = z.loc[form.intents].mean().corr(z.mean())
    assert form.correlation == pytest.approx(expected)
    assert ld.short_form(truth, 25, judge=other, seed=0).intents.equals(form.intents)


def test_tables_without_residuals_are_refused():
    one = ld.simulate(60, 1, seed=3).surprisals.bits["e1"]
    copies = ld.Surprisals(bits=pd.DataFrame({name: one * (1 + k) for k, name in enumerate("abcde")}))
    with pytest.raises(DataError, match="the residuals vanish"):
        ld.generalizability(copies)
    with pytest.raises(DataError, match="residuals of 'x' vanish in most cells"):
        ld.flag_cells({"x": copies, "y": copies})
    with pytest.raises(ConfigError, match="one table of surprisals or more"):
        ld.generalizability({})


def test_facets_have_one_complete_row_per_table():
    table = ld.simulate(60, 4, seed=3).surprisals
    for names, seeds in ((["a", "a", "b"], [1, 2, 3]), (["a", "b"], [1, None])):
        with pytest.raises(ConfigError, match="one row per table"):
            ld.generalizability({"a": table, "b": table}, facets=pd.DataFrame({"seed": seeds}, index=names))


def test_short_forms_refuse_what_they_cannot_use():
    truth = ld.simulate(60, 8, seed=3).surprisals
    with pytest.raises(ConfigError, match=r"k=5\.5: must be from 2 to 59"):
        ld.short_form(truth, 5.5, seed=0)
    with pytest.raises(ConfigError, match="named twice"):
        ld.short_form(truth, 5, chosen_on=["e1", "e2", "e2"], seed=0)
    with pytest.raises(ConfigError, match="k=60: must be from 2 to 59"):
        ld.short_form(truth, 60, seed=0)
    with pytest.raises(DataError, match="to judge on"):
        ld.short_form(truth, 10, chosen_on=list(truth.editions[:7]), seed=0)
    with pytest.raises(DataError, match="other intents"):
        ld.short_form(truth, 10, judge=ld.Surprisals(bits=truth.bits.iloc[::-1]), seed=0)
    holes = truth.bits.copy()
    holes.iloc[3] = holes.iloc[3].where(holes.columns == "e1")
    with pytest.raises(DataError, match="are missing"):
        ld.short_form(ld.Surprisals(bits=holes), 10, seed=0)


@pytest.fixture(scope="module")
def damaged():
    """Return two tables in which six rows of every edition were exchanged, and which cells these are."""
    rng = np.random.default_rng(6)
    truth = ld.simulate(300, 20, seed=2).surprisals.bits
    numbers, faulty = truth.to_numpy().copy(), np.zeros(truth.shape, dtype=bool)
    for j in range(numbers.shape[1]):
        rows = rng.permutation(300)[:6]
        numbers[rows, j], faulty[rows, j] = numbers[np.roll(rows, 1), j], True
    tables = {
        name: ld.Surprisals(bits=pd.DataFrame(numbers * np.exp(rng.normal(0, 0.1, numbers.shape)), *truth.axes))
        for name in ("one", "other")
    }
    return tables, pd.DataFrame(faulty, *truth.axes)


def test_exchanged_cells_are_flagged_and_few_others(damaged):
    tables, faulty = damaged
    found = ld.flag_cells(tables, q=0.1)
    flagged = found[found["flagged"]]
    right = [faulty.at[i, e] for i, e in zip(flagged["intent"], flagged["edition"], strict=True)]
    assert len(found) == faulty.size
    assert len(flagged) > 0.2 * faulty.to_numpy().sum()
    assert np.mean(right) > 0.8


def test_two_models_order_cells_better_than_one(damaged):
    tables, faulty = damaged

    def precision(found):
        first = found.head(int(faulty.to_numpy().sum()))
        return np.mean([faulty.at[i, e] for i, e in zip(first["intent"], first["edition"], strict=True)])

    alone = ld.flag_cells({"one": tables["one"], "same": tables["one"]})
    assert precision(ld.flag_cells(tables)) > precision(alone)


def test_nothing_is_flagged_where_nothing_is_faulty():
    rng, bits = np.random.default_rng(8), ld.simulate(300, 20, seed=5).surprisals.bits
    tables = {name: ld.Surprisals(bits=bits * np.exp(rng.normal(0, 0.1, bits.shape))) for name in "ab"}
    assert ld.flag_cells(tables)["flagged"].sum() <= 3


def test_cells_need_two_tables_of_the_same_cells(damaged):
    tables, _ = damaged
    with pytest.raises(ConfigError, match="two or more language models"):
        ld.flag_cells({"one": tables["one"]})
    with pytest.raises(DataError, match="'other' has other"):
        ld.flag_cells(tables | {"other": ld.Surprisals(bits=tables["one"].bits.iloc[1:])})
    with pytest.raises(ConfigError, match="q must be"):
        ld.flag_cells(tables, q=2)


def test_frames_of_bits_serve_as_tables(damaged):
    table = ld.simulate(100, 8, seed=1).surprisals
    assert ld.generalizability(table.bits).frame.equals(ld.generalizability(table).frame)
    assert ld.short_form(table.bits, 10, seed=0).intents.equals(ld.short_form(table, 10, seed=0).intents)
    frames = {name: given.bits for name, given in damaged[0].items()}
    assert ld.flag_cells(frames).equals(ld.flag_cells(damaged[0]))
    with pytest.raises(DataError, match="a mapping from name to table, not Surprisals"):
        ld.flag_cells(table)
    with pytest.raises(DataError, match="not DifficultyFit"):
        ld.generalizability(ld.fit(table))
